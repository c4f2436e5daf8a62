package dev.sluice.s3;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.MemoryBudget;
import dev.sluice.task.IsolatedCall;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The memory of the content that waits to be sent. Thread-safe.
 *
 * <p>A form is admitted with {@link #SMALL} bytes, before its first byte is read. If its content is larger, it leases one segment after the
 * other. If there is no memory for a segment, the form waits. Forms that have already stored something are served first. Such a form fails
 * only if no such form gets memory within the maximum wait. If each form had its own limit, the content that a slow store has already
 * received would be lost.
 *
 * <p><b>Forms cannot block each other.</b> As long as a form is admitted, the memory of one segment is reserved for all forms. A form waits
 * for a segment only while it fills none. It then holds only its small content, and segments that are being sent, whose memory returns
 * without more memory being needed. If a form that fills a segment needs a second one, because the same content is written to two of its
 * files, it waits at most until its own segments have been sent. If there is no memory then, it fails. So the memory of each segment returns
 * as fast as the client and the store allow, and the reserved memory then goes to the first form that waits, even if other uses exhaust the
 * budget.
 */
final class SegmentMemory {
    /** The memory of a form whose content is small. */
    static final int SMALL = 32 << 10;

    /** The minimum size of a piece that is not the last one of its object. */
    static final int MIN_SEGMENT = 5 << 20;

    /** One 16th of the budget is kept free for the chunks and fields of forms. */
    private static final int KEPT_FREE = 16;

    /** Segments have the wanted size only while a quarter of the budget stays free. */
    private static final int KEPT_FREE_BY_LARGE = 4;

    /** The interval of new attempts. Other users of the budget do not report what they release. */
    private static final Duration POLL = Duration.ofMillis(50);

    /** @param attempt returns the granted bytes, or 0 if there is no memory now */
    private record Waiting(LongSupplier attempt, long since, CompletableFuture<Long> granted) {}

    private final MemoryBudget budget;
    private final MemoryBudget.Account account;
    private final long maxWaitNanos;
    private final ObjectStore store;
    private final LongSupplier clock;
    private final ArrayDeque<Waiting> continuing = new ArrayDeque<>();
    private final ArrayDeque<Waiting> beginning = new ArrayDeque<>();
    private final ArrayDeque<Waiting> arriving = new ArrayDeque<>();
    private final List<ArrayDeque<Waiting>> queues = List.of(continuing, beginning, arriving);
    private long admitted;
    private long leased;

    /** The time at which a form of the queue {@link #continuing} was served last. */
    private long continuedNanos;

    private volatile boolean polling;

    /**
     * @param clock {@link System#nanoTime}, except in tests
     * @throws IllegalArgumentException if the budget never has room for a form
     */
    SegmentMemory(MemoryBudget budget, Duration maxWait, ObjectStore store, LongSupplier clock) {
        this.budget = budget;
        if (!budget.hasRoom(MIN_SEGMENT + SMALL + keptFree() - budget.used())) {
            throw new IllegalArgumentException("budget is " + budget.capacity()
                    + " bytes, which is too small for one segment: use MemoryBudget.of(8 << 20) or more");
        }
        this.account = budget.open();
        this.maxWaitNanos = maxWait.toNanos();
        this.store = store;
        this.clock = clock;
        this.continuedNanos = clock.getAsLong();
    }

    /** Admits a form. {@return a future that completes when the form has its memory, and fails if there is none in time} */
    CompletableFuture<Long> admit() {
        return ask(arriving, () -> {
            if (!tryReserve(charge(admitted + 1, leased) - charge(admitted, leased), keptFree())) {
                return 0;
            }
            admitted++;
            return SMALL;
        });
    }

    /** Ends an admitted form. */
    void end() {
        synchronized (this) {
            account.release(charge(admitted, leased) - charge(admitted - 1, leased));
            admitted--;
        }
        serve(null);
    }

    /**
     * {@return the capacity of a new segment, or 0 if there is no memory for it now}
     *
     * @param wanted the capacity if there is plenty of memory
     */
    synchronized long tryLease(long wanted) {
        return isShort() ? 0 : leaseNow(wanted);
    }

    /** {@return a future of the capacity of a new segment, completed when there is memory for it; it fails if there is none in time} */
    CompletableFuture<Long> lease(long wanted, boolean continues) {
        return ask(continues ? continuing : beginning, () -> leaseNow(wanted));
    }

    private long leaseNow(long wanted) {
        for (long capacity : new long[] {wanted, MIN_SEGMENT}) {
            long after = leased + capacity;
            long more = charge(admitted, after) - charge(admitted, leased);
            if (tryReserve(more, capacity > MIN_SEGMENT ? budget.capacity() / KEPT_FREE_BY_LARGE : keptFree())) {
                leased = after;
                return capacity;
            }
        }
        return 0;
    }

    void returnSegment(long capacity) {
        synchronized (this) {
            long after = leased - capacity;
            account.release(charge(admitted, leased) - charge(admitted, after));
            leased = after;
        }
        serve(null);
    }

    /** {@return the memory that is charged for this number of forms, and for segments of this total capacity} */
    private static long charge(long admitted, long leased) {
        return admitted * SMALL + (admitted == 0 ? leased : Math.max(leased, MIN_SEGMENT));
    }

    private long keptFree() {
        return budget.capacity() / KEPT_FREE;
    }

    private boolean tryReserve(long bytes, long left) {
        return bytes == 0 || budget.hasRoom(bytes + left) && account.tryReserve(bytes);
    }

    /** {@return whether forms wait for segments; segments that are being filled should then be sent early} */
    synchronized boolean isShort() {
        return !continuing.isEmpty() || !beginning.isEmpty();
    }

    private CompletableFuture<Long> ask(ArrayDeque<Waiting> queue, LongSupplier attempt) {
        Waiting waiting = new Waiting(attempt, clock.getAsLong(), new CompletableFuture<>());
        synchronized (this) {
            boolean isNext = queue.isEmpty() && (queue == arriving || continuing.isEmpty());
            long now = isNext ? attempt.getAsLong() : 0;
            if (now > 0) {
                return CompletableFuture.completedFuture(now);
            }
            waiting.granted.whenComplete((bytes, failure) ->
                    IsolatedCall.run(() -> store.metrics().waited(clock.getAsLong() - waiting.since, failure == null)));
            queue.add(waiting);
        }
        poll();
        return waiting.granted;
    }

    /** @param closed the failure of all waiting forms because the store was closed; null to serve them */
    private void serve(@Nullable Throwable closed) {
        for (Runnable turn = next(closed); turn != null; turn = next(closed)) {
            turn.run(); // without the lock
        }
    }

    /** {@return a task that ends the wait of one form; null if all must continue to wait} */
    private synchronized @Nullable Runnable next(@Nullable Throwable closed) {
        for (ArrayDeque<Waiting> queue : queues) {
            Waiting first = queue.peek();
            if (first == null) {
                continue;
            }
            boolean isOver = closed != null || first.granted.isDone();
            long bytes = isOver ? 0 : first.attempt.getAsLong();
            if (bytes == 0 && !isOver && waited(first, queue) <= maxWaitNanos) {
                continue;
            }
            queue.remove();
            long now = clock.getAsLong();
            if (bytes > 0) {
                continuedNanos = queue == continuing ? now : continuedNanos;
                return () -> grant(first, bytes, queue);
            }
            return () -> first.granted.completeExceptionally(
                    closed != null
                            ? closed
                            : MultipartException.because(Reason.MEMORY_FULL)
                                    .limit(budget.capacity())
                                    .build());
        }
        return null;
    }

    /** {@return how long a form has waited; for a continuing form, how long no continuing form was served if that is less} */
    private long waited(Waiting first, ArrayDeque<Waiting> queue) {
        long now = clock.getAsLong();
        return queue == continuing ? Math.min(now - first.since, now - continuedNanos) : now - first.since;
    }

    private void grant(Waiting first, long bytes, ArrayDeque<Waiting> queue) {
        if (!first.granted.complete(bytes)) { // cancelled in the meantime
            if (queue == arriving) {
                end();
            } else {
                returnSegment(bytes);
            }
        }
    }

    /** Serves waiting forms from time to time, as long as there are any. They fail if the store is closed. */
    private void poll() {
        synchronized (this) {
            if (polling || !isShort() && arriving.isEmpty()) {
                return;
            }
            polling = true;
        }
        Futures.tryCall(() -> store.after(POLL)).whenComplete((passed, failure) -> { // without the lock
            polling = false;
            serve(failure == null ? null : Futures.unwrap(failure));
            poll();
        });
    }
}
