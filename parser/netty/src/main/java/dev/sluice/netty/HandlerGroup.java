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
 * @param open for each open handler, a future that completes when the handler has ended, mapped to the action that
 *     shuts the handler down by a given deadline
 * @param shutdownDeadline the time at which open handlers are closed, in terms of {@link System#nanoTime()}; null
 *     before the shutdown
 * @param queuedMemory the memory that the inbound queues of all connections keep
 * @param order checks the order of handlers once, and logs a warning if it is wrong
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
        AtomicLong queuedMemory,
        PipelineOrder order) {
    /**
     * {@return the number of bytes to drain after the response to a request without a form; forms have their own limit}
     */
    long maxDrainBytes() {
        return forms.options().maxDrainBytes();
    }

    /**
     * Registers a handler for the shutdown.
     *
     * @param ended a future that completes when the handler has been removed and its form has ended
     * @param advance the action that begins the shutdown, run on the event loop
     * @param close the action at the deadline, run on the event loop
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
        if (deadline != null) { // a connection that was accepted before the shutdown began, and initialized after that
            shutdown.accept(deadline);
        }
    }

    boolean isShuttingDown() {
        return shutdownDeadline.get() != null;
    }

    CompletionStage<Void> shutdown(Duration within) {
        long deadline = System.nanoTime() + TimeUnit.NANOSECONDS.convert(within);
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
