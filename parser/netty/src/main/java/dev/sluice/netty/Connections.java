package dev.sluice.netty;

import dev.sluice.form.Forms;
import io.netty.channel.ChannelHandlerContext;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * What the handlers of a server share. Thread-safe.
 *
 * @param executor null where everything is done on the event loop
 * @param open how to stop each handler within a time, by what is complete when it is over
 * @param held how many bytes of bodies have come and wait, of all connections
 */
record Connections(
        Forms forms,
        FormRoute route,
        @Nullable Executor executor,
        int bytesPerTurn,
        long idleNanos,
        long drainNanos,
        Map<CompletableFuture<Void>, Consumer<Duration>> open,
        AtomicBoolean stopping,
        AtomicLong held) {
    /** {@return how much is worth dropping, in bytes, where no form says otherwise} */
    long maxDrainBytes() {
        return forms.options().maxDrainBytes();
    }

    /** Has {@link #stop} run these on the event loop: at once, and at its deadline; until {@code over} is complete. */
    void add(ChannelHandlerContext ctx, CompletableFuture<Void> over, Runnable proceed, Runnable close) {
        open.put(over, deadline -> {
            try {
                ctx.executor().execute(proceed);
                ctx.executor().schedule(close, deadline.toNanos(), TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException e) {
                over.complete(null); // the event loop has ended
            }
        });
        over.whenComplete((nothing, failure) -> open.remove(over));
    }

    CompletionStage<Void> stop(Duration deadline) {
        stopping.set(true);
        open.values().forEach(stop -> stop.accept(deadline));
        return CompletableFuture.allOf(open.keySet().toArray(CompletableFuture<?>[]::new));
    }
}
