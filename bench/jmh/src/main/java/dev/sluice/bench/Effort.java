package dev.sluice.bench;

import java.util.Map;

/** How long one figure is measured: JVMs one after the other, each with warm-up and measured iterations of so many ms. */
record Effort(int forks, int warmups, int iterations, int millis) {
    /** Start of a JVM, making of the body and its check. */
    private static final double FORK_SECONDS = 0.95;

    /** In iterations of 100 ms: netty's decoder, the largest, is compiled to the end after 1.2 seconds, not sooner. */
    private static final int WARMUPS = 12;

    /** For the rows that claims are made of: two JVMs compile the same code differently, so there are many of them. */
    static final Effort MAIN = new Effort(4, WARMUPS, 4, 100);
    /** For the tables beside them. */
    static final Effort WIDE = new Effort(2, WARMUPS, 4, 100);
    /** For the widest tables, whose rows differ by more than their errors. */
    static final Effort FRINGE = new Effort(1, WARMUPS, 6, 100);
    /** For single methods, which are compiled at once. */
    static final Effort SMALL = new Effort(1, 5, 5, 100);

    /** By their names in the table of what is measured. */
    static final Map<String, Effort> ALL = Map.of("MAIN", MAIN, "WIDE", WIDE, "FRINGE", FRINGE, "SMALL", SMALL);

    /** Where one operation takes longer than an iteration should, a few of them are enough. */
    Effort forSlowOperations() {
        return new Effort(1, 1, 3, millis);
    }

    double secondsOfFork() {
        return FORK_SECONDS + (warmups + iterations) * millis / 1000.0;
    }

    double seconds() {
        return forks * secondsOfFork();
    }
}
