package dev.sluice.testkit;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * An allocator of which one allocation fails. A {@link CountingAllocator} makes all others. The error is always the same instance.
 * Thread-safe.
 */
public final class FailingAllocator extends AbstractByteBufAllocator {
    /** The argument of the constructor for which no allocation fails. */
    public static final int NEVER = Integer.MAX_VALUE;

    /** The allocator that creates the buffers and counts the unreleased ones. */
    public final CountingAllocator memory = new CountingAllocator();

    public final OutOfMemoryError error = new OutOfMemoryError("planned");

    private final int failsAt;
    private final AtomicInteger count = new AtomicInteger();

    /** @param failsAt the number of the failing allocation, 1 for the first */
    public FailingAllocator(int failsAt) {
        this.failsAt = failsAt;
    }

    /** {@return the number of allocations, including the failed one} */
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
