package dev.sluice.s3;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Calls when a time has passed since it was last started. Under the lock of its owner, but for that call. */
final class Watch {
    private final Duration time;
    private final Runnable call;
    private @Nullable CompletableFuture<Void> timer;

    Watch(Duration time, Runnable call) {
        this.time = time;
        this.call = call;
    }

    void start() {
        stop();
        CompletableFuture<Void> started =
                new CompletableFuture<Void>().orTimeout(Math.max(time.toMillis(), 1), TimeUnit.MILLISECONDS);
        timer = started;
        started.whenComplete((never, cause) -> {
            if (cause instanceof TimeoutException) {
                call.run();
            }
        });
    }

    void stop() {
        CompletableFuture<Void> started = timer;
        if (started != null) {
            started.cancel(false);
        }
    }
}
