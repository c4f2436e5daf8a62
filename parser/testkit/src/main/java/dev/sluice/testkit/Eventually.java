package dev.sluice.testkit;

import java.lang.ref.WeakReference;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits for conditions that another thread makes true, for up to two minutes. */
public final class Eventually {
    private static final long MOST = TimeUnit.MINUTES.toNanos(2);

    private Eventually() {}

    /** Assertions that may fail at first. */
    public interface Check {
        void run() throws Exception;
    }

    public static void isTrue(BooleanSupplier condition, String otherwise) {
        isTrue(condition, () -> otherwise);
    }

    public static void isTrue(BooleanSupplier condition, Supplier<String> otherwise) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > MOST) {
                throw new AssertionError(otherwise.get());
            }
            LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(100));
        }
    }

    /** Repeats assertions until they pass. */
    public static void passes(Check assertions) {
        long start = System.nanoTime();
        for (; ; ) {
            try {
                assertions.run();
                return;
            } catch (Exception | AssertionError e) {
                if (System.nanoTime() - start > MOST) {
                    throw new AssertionError("still fails after two minutes: " + e, e);
                }
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
    }

    /** Runs the garbage collector until nothing refers to an object. */
    public static void isCollected(WeakReference<?> object, String otherwise) {
        isTrue(
                () -> {
                    System.gc();
                    return object.get() == null;
                },
                otherwise);
    }

    /** Waits for a fixed time, for tests that show that nothing happens. */
    public static void after(long millis) {
        long start = System.nanoTime();
        isTrue(() -> System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(millis), "the clock does not advance");
    }
}
