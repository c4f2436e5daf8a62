package dev.sluice.s3;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.MemoryBudget;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The memory of the content that waits to be sent. Thread-safe.
 *
 * <p>A form is admitted with {@link #SMALL} bytes, before its first byte is read. If its content is larger, it leases one segment after the
 * other. If the memory for a segment is missing, the form waits: first the forms that have leased one already, then the others.
 *
 * <p><b>Forms cannot block each other.</b> As long as a form is admitted, the memory of one segment is reserved for all forms. A form
 * waits for a segment only while it fills none; what it holds then is its small content, and segments that are being sent, which
 * return without more memory. A form that fills a segment does not wait for memory. So each segment returns, as fast as the client and
 * the store are, and the reserved one then goes to the first form that waits, even if other uses exhaust the budget.
 */
final class SegmentMemory {
    /** The memory of a form whose content is small. */
    static final int SMALL = 32 << 10;

    /** The least size of a piece that is not the last one of its object. */
    static final int LEAST_SEGMENT = 5 << 20;

    private static final long RESERVED = Segment.memory(LEAST_SEGMENT);

    /** The share of the budget that is left to the forms for chunks and fields. */
    private static final int LEFT = 16;

    /** Segments are as large as wanted only while this share of the budget stays free. */
    private static final int PLENTY = 4;

    /** Others use the budget, too, and their releases are not reported. */
    private static final Duration POLL = Duration.ofMillis(50);

    /** @param attempt returns the granted bytes, or 0 if the memory is missing now */
    private record Waiting(LongSupplier attempt, long since, CompletableFuture<Long> granted) {}

    private final MemoryBudget budget;
    private final MemoryBudget.Account account;
    private final long maxWaitNanos;
    private final ObjectStore store;
    private final StoreEvents events;
    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<Waiting> continuing = new ArrayDeque<>();
    private final ArrayDeque<Waiting> beginning = new ArrayDeque<>();
    private final ArrayDeque<Waiting> arriving = new ArrayDeque<>();
    private long admitted;
    private long leased;
    private boolean polling;

    /** @throws IllegalArgumentException if the budget never has room for a form */
    SegmentMemory(MemoryBudget budget, Duration maxWait, ObjectStore store, StoreEvents events) {
        this.budget = budget;
        if (!budget.hasRoom(RESERVED + SMALL + left() - budget.used())) {
            throw new IllegalArgumentException("budget is " + budget.capacity()
                    + " bytes, which is too small for one segment: use MemoryBudget.of(8 << 20) or more");
        }
        this.account = budget.open();
        this.maxWaitNanos = maxWait.toNanos();
        this.store = store;
        this.events = events;
    }

    /** Admits a form. {@return complete when it has its memory; fails if there is none in time} */
    CompletableFuture<Long> admit() {
        return ask(arriving, () -> {
            if (!tryReserve(SMALL + (admitted == 0 ? RESERVED : 0), left())) {
                return 0;
            }
            admitted++;
            return SMALL;
        });
    }

    /** Ends an admitted form. */
    void end() {
        lock.lock();
        try {
            admitted--;
            account.release(SMALL + (admitted == 0 ? RESERVED : 0));
        } finally {
            lock.unlock();
        }
        serve();
    }

    /**
     * {@return the capacity of a new segment, or 0 if the memory is missing now}
     *
     * @param wanted the capacity if there is plenty of memory
     */
    long tryLease(long wanted) {
        lock.lock();
        try {
            return isShort() ? 0 : leaseNow(wanted);
        } finally {
            lock.unlock();
        }
    }

    /** {@return the capacity of a new segment, when there is memory for it; fails if there is none in time} */
    CompletableFuture<Long> lease(long wanted, boolean continues) {
        return ask(continues ? continuing : beginning, () -> leaseNow(wanted));
    }

    private long leaseNow(long wanted) {
        for (long capacity : new long[] {wanted, LEAST_SEGMENT}) {
            long after = leased + Segment.memory(capacity);
            long more = Math.max(after, RESERVED) - Math.max(leased, RESERVED);
            if (tryReserve(more, capacity > LEAST_SEGMENT ? budget.capacity() / PLENTY : left())) {
                leased = after;
                return capacity;
            }
        }
        return 0;
    }

    void returnSegment(long capacity) {
        lock.lock();
        try {
            long after = leased - Segment.memory(capacity);
            account.release(Math.max(leased, RESERVED) - Math.max(after, RESERVED));
            leased = after;
        } finally {
            lock.unlock();
        }
        serve();
    }

    private long left() {
        return budget.capacity() / LEFT;
    }

    private boolean tryReserve(long bytes, long left) {
        return bytes == 0 || budget.hasRoom(bytes + left) && account.tryReserve(bytes);
    }

    /** {@return whether forms wait for segments, which should be sent before they are full} */
    boolean isShort() {
        lock.lock();
        try {
            return !continuing.isEmpty() || !beginning.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    private CompletableFuture<Long> ask(ArrayDeque<Waiting> queue, LongSupplier attempt) {
        lock.lock();
        try {
            long now = queue.isEmpty() ? attempt.getAsLong() : 0;
            if (now > 0) {
                return CompletableFuture.completedFuture(now);
            }
            Waiting waiting = new Waiting(attempt, System.nanoTime(), new CompletableFuture<>());
            waiting.granted.whenComplete((bytes, failure) ->
                    events.report(metrics -> metrics.waited(System.nanoTime() - waiting.since, failure == null)));
            queue.add(waiting);
            poll();
            return waiting.granted;
        } finally {
            lock.unlock();
        }
    }

    private void serve() {
        for (Runnable answer = next(); answer != null; answer = next()) {
            answer.run(); // without the lock
        }
    }

    /** {@return the answer to a form that waits, or null if all must go on waiting} */
    private @Nullable Runnable next() {
        lock.lock();
        try {
            for (ArrayDeque<Waiting> queue : List.of(continuing, beginning, arriving)) {
                Waiting first = queue.peek();
                if (first == null) {
                    continue;
                }
                long bytes = first.granted.isDone() ? 0 : first.attempt.getAsLong();
                if (bytes > 0) {
                    queue.remove();
                    return () -> grant(first, bytes, queue);
                } else if (first.granted.isDone()) {
                    queue.remove();
                    return () -> {};
                } else if (System.nanoTime() - first.since > maxWaitNanos) {
                    queue.remove();
                    return () -> first.granted.completeExceptionally(MultipartException.because(Reason.MEMORY_FULL)
                            .limit(budget.capacity())
                            .build());
                }
            }
            return null;
        } finally {
            lock.unlock();
        }
    }

    private void grant(Waiting first, long bytes, ArrayDeque<Waiting> queue) {
        if (!first.granted.complete(bytes)) { // cancelled meanwhile
            if (queue == arriving) {
                end();
            } else {
                returnSegment(bytes);
            }
        }
    }

    /** Serves those that wait from time to time, as long as there are any. They fail if the store is closed. */
    private void poll() {
        if (!polling) {
            polling = true;
            store.after(POLL).whenComplete((passed, closed) -> {
                if (closed != null) {
                    failAll(Retries.unwrap(closed));
                    return;
                }
                serve();
                lock.lock();
                try {
                    polling = false;
                    if (isShort() || !arriving.isEmpty()) {
                        poll();
                    }
                } finally {
                    lock.unlock();
                }
            });
        }
    }

    private void failAll(Throwable reason) {
        List<Waiting> all = new ArrayList<>();
        lock.lock();
        try {
            polling = false;
            for (ArrayDeque<Waiting> queue : List.of(continuing, beginning, arriving)) {
                all.addAll(queue);
                queue.clear();
            }
        } finally {
            lock.unlock();
        }
        all.forEach(each -> each.granted.completeExceptionally(reason)); // without the lock
    }
}
