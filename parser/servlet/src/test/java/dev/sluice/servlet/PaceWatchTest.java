package dev.sluice.servlet;

import static org.junit.jupiter.api.Assertions.assertFalse;

import java.time.Duration;
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
            Thread seen = thread.get(20, TimeUnit.SECONDS);
            watch.close();
            assertFalse(seen.isAlive(), "round " + round);
        }
    }
}
