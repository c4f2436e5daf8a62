package dev.sluice.bench;

/**
 * The effort spent on one figure: the number of forks and iterations. Most comparisons of decoders have 12 warm-up
 * iterations, because the JVM needs that long to compile the largest decoder, Netty's.
 */
enum Effort {
    /** Figures that the README states. Each JVM compiles the code differently, so several forks are needed. */
    MAIN(4, 12, 4),
    /** Figures that are compared by their fastest iteration. */
    LEAST(5, 8, 4),
    /** Other important tables. */
    WIDE(2, 12, 4),
    /** Large tables whose rows differ by more than the measurement error. */
    FRINGE(1, 12, 6),
    /** Single methods, which are compiled quickly. */
    SMALL(1, 5, 5),
    /** Operations that take longer than an iteration. */
    SLOW(1, 1, 3);

    /** The duration of an iteration. */
    static final int MILLIS = 100;
    /** The time to start a JVM, create the body and check the result. */
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
