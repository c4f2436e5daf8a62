package dev.sluice.servlet;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import dev.sluice.testkit.Eventually;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class FormTimerTest {
    /** Containers search for leaked threads as soon as the application has stopped. */
    @Test
    void close_waitsForEndOfThread() throws Exception {
        for (int round = 0; round < 100; round++) {
            CompletableFuture<Thread> thread = new CompletableFuture<>();
            FormTimer timer = new FormTimer(TimeUnit.SECONDS.toNanos(1));
            timer.schedule(() -> thread.complete(Thread.currentThread()), Duration.ZERO);
            Thread seen = thread.get(2, TimeUnit.MINUTES);
            timer.close();
            assertFalse(seen.isAlive(), "round " + round);
        }
    }

    /** A scheduled task refers to all objects of a request, which would stay reachable for the grace period. */
    @Test
    void schedule_cancelledTask_isNotReachable() {
        try (FormTimer timer = new FormTimer(TimeUnit.SECONDS.toNanos(1))) {
            WeakReference<Object> left = cancelledTask(timer);
            Eventually.isCollected(left, "the task is still reachable");
        }
    }

    private static WeakReference<Object> cancelledTask(FormTimer timer) {
        Object request = new Object();
        Objects.requireNonNull(timer.schedule(() -> assertNotNull(request), Duration.ofMinutes(1)))
                .cancel(false);
        return new WeakReference<>(request);
    }
}
