package dev.sluice.testkit;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.function.IntFunction;

/**
 * An assertion that work is linear in the size of its input. It compares processor times of the current thread, so
 * other threads, garbage collection and the JIT compiler do not count. Linear work takes the same time for one large
 * input and for 16 small inputs with as many bytes in total. Quadratic work takes 16 times as long for the large input.
 * The assertion allows four times.
 */
public final class LinearWork {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();
    private static final int FACTOR = 16;
    private static final int BOUND = 4;
    private static final long MAX_NANOS = 5_000_000_000L;

    private LinearWork() {}

    /**
     * Fails if the work is not linear.
     *
     * @param what the description of the input for the message
     * @param largeSize the size of the large input
     * @param work creates a run over an input of the given size; only the run is measured
     */
    public static void require(Object what, int largeSize, IntFunction<Runnable> work) {
        Runnable large = work.apply(largeSize);
        Runnable small = work.apply(largeSize / FACTOR);
        long largeTime = Long.MAX_VALUE;
        long smallTime = Long.MAX_VALUE;
        long end = THREADS.getCurrentThreadCpuTime() + MAX_NANOS;
        // Only the time limits the rounds: many short rounds can end before the JIT compiler has replaced slow code.
        while (THREADS.getCurrentThreadCpuTime() < end) {
            // The large input comes first, so that code that is not compiled yet cannot hide slow work.
            largeTime = Math.min(largeTime, time(large, 1));
            smallTime = Math.min(smallTime, time(small, FACTOR));
            if (largeTime <= BOUND * smallTime) {
                return;
            }
        }
        throw new AssertionError(what + ": " + largeTime + " ns for an input of " + largeSize + ", but " + smallTime
                + " ns for 16 inputs of " + largeSize / FACTOR);
    }

    private static long time(Runnable run, int times) {
        long start = THREADS.getCurrentThreadCpuTime();
        for (int i = 0; i < times; i++) {
            run.run();
        }
        return THREADS.getCurrentThreadCpuTime() - start;
    }
}
