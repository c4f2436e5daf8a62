package dev.sluice.servlet;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class PaceWatchTest {
    /** Containers look for threads as soon as the application has been told to stop. */
    @Test
    void itsThreadHasEndedOnceItIsClosed() throws Exception {
        for (int round = 0; round < 500; round++) {
            CompletableFuture<Thread> thread = new CompletableFuture<>();
            PaceWatch watch = new PaceWatch(Duration.ofSeconds(5));
            watch.later(() -> thread.complete(Thread.currentThread()), Duration.ZERO);
            Thread seen = thread.get(2, TimeUnit.MINUTES);
            watch.close();
            assertFalse(seen.isAlive(), "round " + round);
        }
    }

    /** Or all of a request would stay for the time that was allowed for its end. */
    @Test
    void whatIsCalledOffIsForgotten() {
        try (PaceWatch watch = new PaceWatch(Duration.ofSeconds(5))) {
            WeakReference<Object> left = calledOff(watch);
            Eventually.isTrue(
                    () -> {
                        System.gc();
                        return left.get() == null;
                    },
                    "it is kept");
        }
    }

    private static WeakReference<Object> calledOff(PaceWatch watch) {
        Object request = new Object();
        Objects.requireNonNull(watch.later(() -> assertNotNull(request), Duration.ofMinutes(1)))
                .cancel(false);
        return new WeakReference<>(request);
    }
}
