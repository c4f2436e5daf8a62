package dev.sluice.s3;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.StoreMetrics;
import dev.sluice.task.IsolatedCall;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The limit on the number of large request bodies that are sent to the store at the same time. Thread-safe.
 *
 * <p>All bodies share the bandwidth of the store. If a slow store gets too many at once, each of them exceeds its time limit and is sent
 * again, and nothing is ever stored. The number of bodies therefore adapts to the store: it starts at 4, grows by one when a body has
 * taken less than a quarter of its time limit while others waited, and is halved when a body exceeds its time limit or the store responds
 * that it is busy. Bodies are sent in the order of their requests. Small bodies do not wait, because they take little bandwidth.
 *
 * <p>Each failure after the time limit of a request without a body counts as such, except a cancellation. If the store takes no bytes, the
 * time limits of the client for reads and writes may end the request before its own time limit, with the failure of a lost connection.
 *
 * <p>If two bodies in a row exceed their time limit although each was sent alone, the store is considered stuck: the second body and all
 * that wait fail.
 */
final class BodyLimit {
    private static final int INITIAL_LIMIT = 4;

    /** The SDK's client has 50 connections by default, and requests without a body need some of them. */
    private static final int MAX_LIMIT = 32;

    /** A body that takes less than its time limit divided by this number is fast: the store can receive more bodies at a time. */
    private static final int FAST = 4;

    private static final int MAX_FAILED_ALONE = 2;
    private static final long MIN_BYTES_PER_SECOND = 256 << 10;

    private final StoreMetrics metrics;
    private final long attemptNanos;
    private final LongSupplier clock;
    /** The turns of the bodies that wait. The value of a completed turn is whether its body is the only one that is being sent. */
    private final Queue<CompletableFuture<Boolean>> waiting = new ArrayDeque<>();

    private int limit = INITIAL_LIMIT;
    private int sending;
    private int failedAlone;

    /**
     * @param attemptTimeout the time of an attempt without a body
     * @param clock {@link System#nanoTime}, except in tests
     */
    BodyLimit(StoreMetrics metrics, Duration attemptTimeout, LongSupplier clock) {
        this.metrics = metrics;
        this.attemptNanos = attemptTimeout.toNanos();
        this.clock = clock;
    }

    /** {@return the additional time for an attempt that sends {@code bytes}} */
    static Duration moreTime(long bytes) {
        return Duration.ofSeconds(bytes / MIN_BYTES_PER_SECOND);
    }

    /** Makes a request when its body's turn comes. {@return the response; cancelling it cancels the request or the wait for it} */
    <T> CompletableFuture<T> send(Segment body, Supplier<CompletableFuture<T>> request) {
        if (body.size() <= SegmentMemory.SMALL) {
            return sendNow(body, request);
        }
        CompletableFuture<Boolean> turn = new CompletableFuture<>();
        CompletableFuture<T> outcome = new CompletableFuture<>();
        // Not thenCompose: if the outcome were cancelled just before its turn, the function would not run, and the turn
        // would never end.
        turn.whenComplete((isAlone, rejection) -> {
            if (rejection != null) {
                outcome.completeExceptionally(rejection);
                return;
            }
            long since = clock.getAsLong();
            CompletableFuture<T> sent = sendNow(body, request);
            outcome.whenComplete((response, failure) -> sent.cancel(true));
            sent.whenComplete((response, failure) -> {
                Throwable reason = ended(body.size(), clock.getAsLong() - since, isAlone, failure);
                if (reason == null) {
                    outcome.complete(response);
                } else {
                    outcome.completeExceptionally(reason);
                }
            });
        });
        synchronized (this) {
            waiting.add(turn);
        }
        outcome.whenComplete((response, failure) -> giveUp(turn));
        beginNext();
        return outcome;
    }

    private <T> CompletableFuture<T> sendNow(Segment body, Supplier<CompletableFuture<T>> request) {
        long bytes = body.size();
        IsolatedCall.run(() -> metrics.sending(1, bytes));
        CompletableFuture<T> sent = Futures.tryCall(request);
        sent.whenComplete((response, failure) -> IsolatedCall.run(() -> metrics.sending(-1, -bytes)));
        return sent;
    }

    /** Begins as many bodies as the limit allows. */
    private void beginNext() {
        for (; ; ) {
            CompletableFuture<Boolean> turn;
            boolean isAlone;
            synchronized (this) {
                turn = sending < limit ? waiting.poll() : null;
                if (turn == null) {
                    return;
                }
                isAlone = ++sending == 1;
            }
            turn.complete(isAlone); // without the lock
        }
    }

    private synchronized void giveUp(CompletableFuture<Boolean> turn) {
        waiting.remove(turn);
    }

    /**
     * Adapts the limit.
     *
     * @param isAlone whether the body was the only one when it was begun
     * @param failure why the request failed, or null
     * @return {@code failure}, or another exception if the body must not be sent again
     */
    private @Nullable Throwable ended(long bytes, long nanos, boolean isAlone, @Nullable Throwable failure) {
        boolean takesNothing = false;
        List<CompletableFuture<Boolean>> rejected = List.of();
        synchronized (this) {
            sending--;
            boolean isSlow = nanos >= attemptNanos;
            if (failure == null) {
                failedAlone = 0;
                boolean isFast = nanos < (attemptNanos + moreTime(bytes).toNanos()) / FAST;
                limit += isFast && limit < MAX_LIMIT && !waiting.isEmpty() ? 1 : 0;
            } else if (Retries.transientCause(Futures.unwrap(failure)) == StoreMetrics.Cause.BUSY
                    || isSlow && !(Futures.unwrap(failure) instanceof CancellationException)) {
                limit = Math.max(1, limit / 2);
                failedAlone += isSlow && isAlone && sending == 0 ? 1 : 0;
                takesNothing = isSlow && failedAlone >= MAX_FAILED_ALONE;
            }
            if (takesNothing) {
                rejected = List.copyOf(waiting);
                waiting.clear();
            }
        }
        rejected.forEach(turn -> turn.completeExceptionally(rejection(failure)));
        beginNext();
        return takesNothing ? rejection(failure) : failure;
    }

    private static MultipartException rejection(@Nullable Throwable failure) {
        return MultipartException.because(Reason.UNAVAILABLE)
                .saying("the object store accepts no content at present")
                .cause(failure)
                .build();
    }
}
