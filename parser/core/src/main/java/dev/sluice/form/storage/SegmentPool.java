package dev.sluice.form.storage;

import java.util.concurrent.ArrayBlockingQueue;

/** Released segments that are kept for later parts of all forms. They are not charged to the budget. Thread-safe, without locks. */
public final class SegmentPool {
    /** The size of the segments that are reused. */
    static final int SEGMENT = 8 << 10;

    private static final int MAX_KEPT = 128;

    private final ArrayBlockingQueue<byte[]> free = new ArrayBlockingQueue<>(MAX_KEPT);

    /** {@return a segment of {@code size} bytes, which the caller has reserved; its content is arbitrary} */
    byte[] take(int size) {
        byte[] used = size == SEGMENT ? free.poll() : null;
        return used == null ? new byte[size] : used;
    }

    /** Takes back a segment that is no longer read. */
    void give(byte[] segment) {
        if (segment.length == SEGMENT) {
            free.offer(segment); // if the queue is full, the garbage collector frees the segment
        }
    }
}
