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

    static final Effort QUICK = new Effort(1, 3, 5, 150);
    /** For the rows that claims are made of. */
    static final Effort MAIN = new Effort(2, 3, 5, 250);
    /** For the wide tables. */
    static final Effort WIDE = new Effort(1, 3, 5, 200);

    /** Where one operation takes longer than an iteration should, a few of them are enough. */
    Effort forSlowOperations() {
        return new Effort(1, 1, 3, millis);
    }

    double seconds() {
        return forks * (FORK_SECONDS + (warmups + iterations) * millis / 1000.0);
    }
}
