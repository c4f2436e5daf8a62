package dev.sluice.buffer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.util.internal.EmptyArrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Bytes gathered over several chunks, such as a header section that straddles them, in one pooled heap buffer. Not
 * thread-safe.
 *
 * <p>Memory that a consumer holds ({@code refCnt() > 1}) is not written again: this object lets go of it. The bound on what
 * is gathered is the caller's.
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

    /** @param initialCapacity bytes to allocate with the first {@link #append}, at least 1 */
    public Accumulation(ByteBufAllocator allocator, int initialCapacity) {
        if (initialCapacity < 1) {
            throw new IllegalArgumentException("initialCapacity " + initialCapacity + " is below 1");
        }
        this.allocator = Objects.requireNonNull(allocator);
        this.initialCapacity = initialCapacity;
        this.array = EmptyArrays.EMPTY_BYTES;
    }

    /** Copies bytes of the open chunk, from an absolute index on, behind those gathered so far. */
    public void append(ChunkMemory chunk, int index, int length) {
        if (closed) {
            throw new IllegalStateException("closed");
        }
        if (length > capacity - size) {
            int needed = Math.max(Math.addExact(size, length), initialCapacity);
            moveTo(Math.max(needed, (int) Math.min(Integer.MAX_VALUE, 2L * size)));
        }
        chunk.copyTo(index, array, arrayOffset + size, length);
        size += length;
    }

    /** {@return the number of bytes gathered} */
    public int size() {
        return size;
    }

    /**
     * {@return the memory that holds the bytes, from {@link #arrayOffset()} on; not to be written, valid until the
     * next append or truncation}
     */
    public byte[] array() {
        return array;
    }

    /** {@return where in {@link #array()} the first byte is} */
    public int arrayOffset() {
        return arrayOffset;
    }

    /** Forgets the bytes behind the first ones: they were appended too early, or have been read. */
    public void truncate(int newSize) {
        Objects.checkFromToIndex(0, newSize, size);
        size = newSize;
        if (memory == null || memory.refCnt() <= 1) {
            return;
        }
        if (newSize == 0) {
            letGo();
        } else {
            moveTo(Math.max(initialCapacity, newSize));
        }
    }

    /**
     * {@return the first {@code length} bytes without a copy; <em>borrowed</em> until the next call of a method that
     * changes this object, retain to keep}
     */
    public ByteBuf slice(int length) {
        Objects.checkFromToIndex(0, length, size);
        return memory == null ? Unpooled.EMPTY_BUFFER : memory.slice(0, length);
    }

    /** Releases the memory; what a consumer retained stays valid. Idempotent. */
    @Override
    public void close() {
        closed = true;
        letGo();
    }

    private void moveTo(int newCapacity) {
        ByteBuf target = allocator.heapBuffer(newCapacity);
        int moved = size;
        System.arraycopy(array, arrayOffset, target.array(), target.arrayOffset(), moved);
        letGo();
        memory = target;
        array = target.array();
        arrayOffset = target.arrayOffset();
        capacity = target.capacity();
        size = moved;
    }

    private void letGo() {
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
