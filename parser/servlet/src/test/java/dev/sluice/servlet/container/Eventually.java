package dev.sluice.servlet.container;

import static org.junit.jupiter.api.Assertions.fail;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waits for what another thread does without telling, and only as long as it takes. */
final class Eventually {
    private static final long MOST = TimeUnit.SECONDS.toNanos(20);
    private static final long BETWEEN = TimeUnit.MILLISECONDS.toNanos(1);

    private Eventually() {}

    static void isTrue(BooleanSupplier condition, Supplier<String> otherwise) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > MOST) {
                fail(otherwise.get());
            }
            LockSupport.parkNanos(BETWEEN);
        }
    }
}
