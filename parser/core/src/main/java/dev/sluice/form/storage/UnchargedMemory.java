package dev.sluice.form.storage;

import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Memory of forms that is not charged to their {@link dev.sluice.form.MemoryBudget}: chunks that wait to be decoded, and released
 * segments that are kept for later parts. Thread-safe, without locks.
 */
public final class UnchargedMemory {
    /** The size of the segments that are reused. */
    static final int SEGMENT = 8 << 10;

    private static final int MAX_SPARE = 128;
    private static final int WAITING_SHARE = 8;
    private static final long MIN_WAITING_LIMIT = 1 << 20;

    private final long maxWaiting;
    private final AtomicLong waiting = new AtomicLong();
    private final ArrayBlockingQueue<byte[]> spare = new ArrayBlockingQueue<>(MAX_SPARE);

    /** @param capacity the capacity of the budget */
    public UnchargedMemory(long capacity) {
        this.maxWaiting = Math.max(capacity / WAITING_SHARE, MIN_WAITING_LIMIT);
    }

    /** Adds {@code bytes}, which may be negative, to the memory of the chunks that wait to be decoded. */
    public void addWaiting(long bytes) {
        waiting.addAndGet(bytes);
    }

    /** {@return the memory of the chunks that wait to be decoded} */
    public long waiting() {
        return waiting.get();
    }

    /** {@return whether the waiting chunks take more than 1 MiB and more than an eighth of the capacity} */
    public boolean isCrowded() {
        return waiting.get() > maxWaiting;
    }

    /** {@return a segment of {@code size} bytes, which the caller has reserved; its content is arbitrary} */
    byte[] segment(int size) {
        byte[] used = size == SEGMENT ? spare.poll() : null;
        return used == null ? new byte[size] : used;
    }

    /** Takes back a segment that is no longer read. */
    void recycle(byte[] segment) {
        if (segment.length == SEGMENT) {
            spare.offer(segment); // if the queue is full, the garbage collector frees the segment
        }
    }
}
