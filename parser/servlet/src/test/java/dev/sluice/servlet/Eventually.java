package dev.sluice.servlet;

import static org.junit.jupiter.api.Assertions.fail;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits for conditions that another thread makes true. */
public final class Eventually {
    private static final long MOST = TimeUnit.MINUTES.toNanos(2);
    private static final long BETWEEN = TimeUnit.MICROSECONDS.toNanos(100);

    private Eventually() {}

    public static void isTrue(BooleanSupplier condition, String otherwise) {
        isTrue(condition, () -> otherwise);
    }

    public static void isTrue(BooleanSupplier condition, Supplier<String> otherwise) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > MOST) {
                fail(otherwise.get());
            }
            LockSupport.parkNanos(BETWEEN);
        }
    }

    /** Waits for a fixed time, for tests that show that nothing happens. */
    public static void after(long millis) {
        long start = System.nanoTime();
        isTrue(() -> System.nanoTime() - start >= TimeUnit.MILLISECONDS.toNanos(millis), "the clock does not advance");
    }
}
