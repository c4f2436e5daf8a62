package dev.sluice.form.flow;

import java.util.concurrent.atomic.AtomicLong;

/** The total memory of all chunks that wait to be decoded, which is not charged to the budget. Thread-safe, without locks. */
public final class WaitingMemory {
    private static final int SHARE = 8;
    private static final long MIN_LIMIT = 1 << 20;

    private final long limit;
    private final AtomicLong bytes = new AtomicLong();

    /** @param capacity the capacity of the budget */
    public WaitingMemory(long capacity) {
        this.limit = Math.max(capacity / SHARE, MIN_LIMIT);
    }

    /** Adds {@code count} bytes, which may be negative. */
    void add(long count) {
        bytes.addAndGet(count);
    }

    public long bytes() {
        return bytes.get();
    }

    /** {@return whether the chunks take more than 1 MiB and more than an eighth of the capacity} */
    public boolean isCrowded() {
        return bytes.get() > limit;
    }
}
