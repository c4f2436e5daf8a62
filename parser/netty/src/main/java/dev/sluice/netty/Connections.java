package dev.sluice.netty;

import dev.sluice.form.Forms;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * What the handlers of a server share. Thread-safe.
 *
 * @param executor null where everything is done on the event loop
 * @param open how to stop each handler within a time
 */
record Connections(
        Forms forms,
        FormRoute route,
        @Nullable Executor executor,
        int bytesPerTurn,
        long idleNanos,
        long drainBytes,
        long drainNanos,
        Set<Function<Duration, CompletableFuture<Void>>> open,
        AtomicBoolean stopping) {
    Connections(
            Forms forms,
            FormRoute route,
            @Nullable Executor executor,
            int bytesPerTurn,
            long idleNanos,
            long drainBytes,
            long drainNanos) {
        this(
                forms,
                route,
                executor,
                bytesPerTurn,
                idleNanos,
                drainBytes,
                drainNanos,
                ConcurrentHashMap.newKeySet(),
                new AtomicBoolean());
    }

    boolean isStopping() {
        return stopping.get();
    }

    CompletionStage<Void> stop(Duration deadline) {
        stopping.set(true);
        return CompletableFuture.allOf(
                open.stream().map(stop -> stop.apply(deadline)).toArray(CompletableFuture<?>[]::new));
    }
}
