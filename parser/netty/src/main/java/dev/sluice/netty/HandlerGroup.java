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
 * The settings and the shared state of all handlers of a {@link MultipartHandlers}. Thread-safe.
 *
 * @param executor null if forms are decoded on the event loop
 * @param open for each open handler: its end, and the action that shuts it down by a deadline
 * @param shutdownDeadline in terms of {@link System#nanoTime()}; null before the shutdown
 * @param queuedBytes the bytes in the inbound queues of all connections
 * @param order reports a wrong order of handlers once
 */
record HandlerGroup(
        Forms forms,
        FormRoute route,
        @Nullable Executor executor,
        int bytesPerTurn,
        long idleNanos,
        long drainNanos,
        Map<CompletableFuture<Void>, LongConsumer> open,
        AtomicReference<@Nullable Long> shutdownDeadline,
        AtomicLong queuedBytes,
        PipelineOrder order) {
    /** {@return the number of bytes to drain after a response if no form has another limit} */
    long maxDrainBytes() {
        return forms.options().maxDrainBytes();
    }

    /**
     * Registers a handler for the shutdown.
     *
     * @param ended completed when nothing of the handler is left
     * @param advance run on the event loop when the shutdown begins
     * @param close run on the event loop at the deadline
     */
    void register(ChannelHandlerContext ctx, CompletableFuture<Void> ended, Runnable advance, Runnable close) {
        LongConsumer shutdown = deadline -> {
            try {
                ctx.executor().execute(advance);
                ctx.executor().schedule(close, deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
            } catch (RejectedExecutionException e) {
                ended.complete(null); // the event loop has ended
            }
        };
        open.put(ended, shutdown);
        ended.whenComplete((nothing, failure) -> open.remove(ended));
        Long deadline = shutdownDeadline.get();
        if (deadline != null) { // a connection that was accepted before the shutdown, and is initialized after it
            shutdown.accept(deadline);
        }
    }

    boolean isShuttingDown() {
        return shutdownDeadline.get() != null;
    }

    CompletionStage<Void> shutdown(Duration within) {
        long deadline = System.nanoTime() + within.toNanos();
        shutdownDeadline.set(deadline);
        open.values().forEach(shutdown -> shutdown.accept(deadline));
        return whenAllHaveEnded();
    }

    private CompletableFuture<Void> whenAllHaveEnded() {
        CompletableFuture<?>[] left =
                open.keySet().stream().filter(ended -> !ended.isDone()).toArray(CompletableFuture<?>[]::new);
        return left.length == 0
                ? CompletableFuture.completedFuture(null)
                : CompletableFuture.allOf(left).thenCompose(nothing -> whenAllHaveEnded());
    }
}
