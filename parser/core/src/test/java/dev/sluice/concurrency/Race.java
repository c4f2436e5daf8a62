package dev.sluice.concurrency;

import dev.sluice.testkit.ProofSize;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * A race between threads that start at the same moment, repeated in rounds. Each build runs an eighth of all rounds and
 * of all Lincheck schedules; {@code -Dsluice.races=N} runs N eighths.
 */
final class Race implements AutoCloseable {
    private static final int FACTOR = ProofSize.of("sluice.races", 1, 8);
    private static final int PATIENCE_SECONDS = 180;

    private final CyclicBarrier start;
    private final ExecutorService threads;

    Race(int runners) {
        this.start = new CyclicBarrier(runners);
        this.threads = Executors.newFixedThreadPool(runners);
    }

    /** {@return the number of repetitions in this build; the argument is the number for {@code sluice.races=8}} */
    static int times(int usual) {
        return Math.max(1, usual * FACTOR / 8);
    }

    /**
     * Runs all tasks at once on separate threads.
     *
     * @return their results
     */
    @SafeVarargs
    final <T> List<T> run(Callable<T>... runners) throws Exception {
        List<Future<T>> running = new ArrayList<>();
        for (Callable<T> runner : runners) {
            running.add(threads.submit(() -> {
                start.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
                return runner.call();
            }));
        }
        List<T> results = new ArrayList<>();
        for (Future<T> runner : running) {
            try {
                results.add(runner.get(PATIENCE_SECONDS, TimeUnit.SECONDS));
            } catch (ExecutionException e) {
                throw new AssertionError("a runner has failed", e.getCause());
            }
        }
        return results;
    }

    /** Runs all tasks on threads between which a model checker can switch. */
    static void explore(Callable<?>... runners) {
        Throwable[] failures = new Throwable[runners.length];
        Thread[] threads = new Thread[runners.length];
        for (int i = 0; i < runners.length; i++) {
            int number = i;
            threads[i] = new Thread(() -> {
                try {
                    runners[number].call();
                } catch (Throwable e) {
                    failures[number] = e;
                }
            });
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (int i = 0; i < threads.length; i++) {
            try {
                threads[i].join();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
            if (failures[i] != null) {
                throw new AssertionError("a runner has failed", failures[i]);
            }
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
