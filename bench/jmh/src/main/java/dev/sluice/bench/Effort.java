package dev.sluice.bench;

/** How long one figure is measured: JVMs one after the other, each with warm-up and measured iterations. */
enum Effort {
    // Netty's decoder, the largest, is compiled to the end after 12 iterations, not sooner.

    /** For the rows that claims are made of: two JVMs compile the same code differently, so there are many of them. */
    MAIN(4, 12, 4),
    /** For the tables beside them. */
    WIDE(2, 12, 4),
    /** For the widest tables, whose rows differ by more than their errors. */
    FRINGE(1, 12, 6),
    /** For single methods, which are compiled at once. */
    SMALL(1, 5, 5),
    /** Where one operation takes longer than an iteration should, a few of them are enough. */
    SLOW(1, 1, 3);

    /** Of one iteration. */
    static final int MILLIS = 100;
    /** Start of a JVM, making of the body and its check. */
    private static final double FORK_SECONDS = 0.95;

    final int forks;
    final int warmups;
    final int iterations;

    Effort(int forks, int warmups, int iterations) {
        this.forks = forks;
        this.warmups = warmups;
        this.iterations = iterations;
    }

    double secondsOfFork() {
        return FORK_SECONDS + (warmups + iterations) * MILLIS / 1000.0;
    }

    double seconds() {
        return forks * secondsOfFork();
    }
}
