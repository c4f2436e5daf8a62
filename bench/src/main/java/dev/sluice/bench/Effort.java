package dev.sluice.bench;

/**
 * How long one figure is measured.
 *
 * @param forks JVMs, one after the other
 * @param warmups iterations in each fork that are thrown away
 * @param iterations measured iterations in each fork
 * @param millis length of one iteration
 */
record Effort(int forks, int warmups, int iterations, int millis) {

    /** Start of a JVM, making of the body and its check. */
    private static final double FORK_SECONDS = 1.3;

    /** Many short iterations: the error shrinks with their number, and a disturbed one counts for less. */
    static final Effort QUICK = new Effort(1, 6, 10, 100);
    /** For the rows that claims are made of. */
    static final Effort MAIN = new Effort(2, 6, 10, 100);
    /** For the tables beside them. */
    static final Effort WIDE = QUICK;
    /** For the widest tables, whose rows differ by more than their errors. */
    static final Effort FRINGE = new Effort(1, 4, 8, 80);

    /** Where one operation takes longer than an iteration should, a few of them are enough. */
    Effort forSlowOperations() {
        return new Effort(1, 1, 3, millis);
    }

    double seconds() {
        return forks * (FORK_SECONDS + (warmups + iterations) * millis / 1000.0);
    }
}
