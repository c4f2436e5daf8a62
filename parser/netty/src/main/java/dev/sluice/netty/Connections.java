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
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What the handlers of a server share. Thread-safe.
 *
 * @param executor null where everything is done on the event loop
 * @param open how to stop each handler by a time, by what is complete when it is over
 * @param stopping by when, as {@link System#nanoTime()}; null before
 * @param held how many bytes of bodies have come and wait, of all connections
 */
record Connections(
        Forms forms,
        FormRoute route,
        @Nullable Executor executor,
        int bytesPerTurn,
        long idleNanos,
        long drainNanos,
        Map<CompletableFuture<Void>, LongConsumer> open,
        AtomicReference<@Nullable Long> stopping,
        AtomicLong held) {
    /** {@return how much is worth dropping, in bytes, where no form says otherwise} */
    long maxDrainBytes() {
        return forms.options().maxDrainBytes();
    }

    /** Has {@link #stop} run these on the event loop: at once, and at its deadline; until {@code over} is complete. */
    void add(ChannelHandlerContext ctx, CompletableFuture<Void> over, Runnable proceed, Runnable close) {
        LongConsumer stop = deadline -> {
            try {
                ctx.executor().execute(proceed);
                ctx.executor().schedule(close, deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException e) {
                over.complete(null); // the event loop has ended
            }
        };
        open.put(over, stop);
        over.whenComplete((nothing, failure) -> open.remove(over));
        Long deadline = stopping.get();
        if (deadline != null) { // one that was accepted before, and is late
            stop.accept(deadline);
        }
    }

    boolean isStopping() {
        return stopping.get() != null;
    }

    CompletionStage<Void> stop(Duration within) {
        long deadline = System.nanoTime() + within.toNanos();
        stopping.set(deadline);
        open.values().forEach(stop -> stop.accept(deadline));
        return whenNoneIsOpen();
    }

    private CompletableFuture<Void> whenNoneIsOpen() {
        CompletableFuture<?>[] left =
                open.keySet().stream().filter(over -> !over.isDone()).toArray(CompletableFuture<?>[]::new);
        return left.length == 0
                ? CompletableFuture.completedFuture(null)
                : CompletableFuture.allOf(left).thenCompose(nothing -> whenNoneIsOpen());
    }
}
