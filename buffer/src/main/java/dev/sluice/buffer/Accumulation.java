package dev.sluice.buffer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.util.internal.EmptyArrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A growing buffer for bytes that span several chunks, such as a header section split by the network. Not thread-safe.
 *
 * <p>The bytes are in one heap buffer. Callers may retain slices of it, which are never overwritten: if a slice is retained
 * ({@code refCnt() > 1}), {@link #truncate} copies the remaining bytes to a new buffer and releases the old one. The size is not limited
 * here; the caller must limit it.
 */
public final class Accumulation implements AutoCloseable {
    private final ByteBufAllocator allocator;
    private final int initialCapacity;
    private @Nullable ByteBuf memory;
    private byte[] array;
    private int arrayOffset;
    private int capacity;
    private int size;
    private boolean closed;

    /** @param initialCapacity the number of bytes to allocate at the first {@link #append}, or more if it needs more */
    public Accumulation(ByteBufAllocator allocator, int initialCapacity) {
        this.allocator = Objects.requireNonNull(allocator);
        this.initialCapacity = initialCapacity;
        this.array = EmptyArrays.EMPTY_BYTES;
    }

    /** Appends a copy of {@code length} bytes of the chunk, starting at {@code index}. */
    public void append(ChunkMemory chunk, int index, int length) {
        if (closed) {
            throw new IllegalStateException("the accumulation is closed");
        }
        if (length > capacity - size) {
            int needed = Math.max(Math.addExact(size, length), initialCapacity);
            moveTo(Math.max(needed, (int) Math.min(Integer.MAX_VALUE, 2L * size)));
        }
        chunk.copyTo(index, array, arrayOffset + size, length);
        size += length;
    }

    public int size() {
        return size;
    }

    /**
     * {@return the array that contains the bytes, starting at {@link #arrayOffset()}; do not write to it}
     *
     * <p>The array is valid until the next append or truncation.
     */
    public byte[] array() {
        return array;
    }

    /** {@return the index of the first byte in {@link #array()}} */
    public int arrayOffset() {
        return arrayOffset;
    }

    /** Keeps the first {@code newSize} bytes and discards the others. */
    public void truncate(int newSize) {
        Objects.checkFromToIndex(0, newSize, size);
        size = newSize;
        if (memory == null || memory.refCnt() <= 1) {
            return;
        }
        if (newSize == 0) {
            releaseMemory();
        } else {
            moveTo(Math.max(initialCapacity, newSize));
        }
    }

    /**
     * {@return the first {@code length} bytes without a copy, <em>borrowed</em> until the next call that changes this
     * object; retain the slice to keep it}
     */
    public ByteBuf slice(int length) {
        Objects.checkFromToIndex(0, length, size);
        return memory == null ? Unpooled.EMPTY_BUFFER : memory.slice(0, length);
    }

    /** Releases the memory. Retained slices stay valid. Idempotent. */
    @Override
    public void close() {
        closed = true;
        releaseMemory();
    }

    private void moveTo(int newCapacity) {
        ByteBuf target = allocator.heapBuffer(newCapacity);
        int moved = size;
        System.arraycopy(array, arrayOffset, target.array(), target.arrayOffset(), moved);
        releaseMemory();
        memory = target;
        array = target.array();
        arrayOffset = target.arrayOffset();
        capacity = target.capacity();
        size = moved;
    }

    private void releaseMemory() {
        ByteBuf held = memory;
        memory = null;
        array = EmptyArrays.EMPTY_BYTES;
        arrayOffset = 0;
        capacity = 0;
        size = 0;
        if (held != null) {
            held.release();
        }
    }
}
