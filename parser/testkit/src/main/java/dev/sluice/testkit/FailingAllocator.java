package dev.sluice.testkit;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import java.util.concurrent.atomic.AtomicInteger;

/** A {@link CountingAllocator} of which one allocation fails, with an error that is always the same. Thread-safe. */
public final class FailingAllocator extends AbstractByteBufAllocator {
    /** Never fails. */
    public static final int NEVER = Integer.MAX_VALUE;

    /** What it gives, and what of that is not released. */
    public final CountingAllocator memory = new CountingAllocator();

    /** What is thrown. */
    public final OutOfMemoryError error = new OutOfMemoryError("planned");

    private final int failsAt;
    private final AtomicInteger count = new AtomicInteger();

    /**
     * Makes one.
     *
     * @param failsAt which allocation fails, 1 for the first
     */
    public FailingAllocator(int failsAt) {
        this.failsAt = failsAt;
    }

    /** {@return how many allocations there were, with the one that failed} */
    public int allocations() {
        return count.get();
    }

    private void count() {
        if (count.incrementAndGet() == failsAt) {
            throw error;
        }
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        count();
        return memory.heapBuffer(initialCapacity, maxCapacity);
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        count();
        return memory.directBuffer(initialCapacity, maxCapacity);
    }

    @Override
    public boolean isDirectBufferPooled() {
        return false;
    }
}
