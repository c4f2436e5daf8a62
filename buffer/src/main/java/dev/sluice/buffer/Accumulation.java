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
 * <p>Memory that a consumer may hold is never changed. Bytes that were read are dropped in place only while nobody
 * else holds the buffer ({@code refCnt() <= 1}); otherwise the unread rest moves to a new buffer and this object lets
 * go of the old one. The bound on what is gathered is the caller's.
 */
public final class Accumulation implements AutoCloseable {
    private final ByteBufAllocator allocator;
    private final int initialCapacity;
    private @Nullable ByteBuf memory;
    private byte[] array;
    private int arrayOffset;
    private int capacity;
    private int start;
    private int end;
    private boolean closed;

    /**
     * Allocates nothing before the first {@link #append}.
     *
     * @param allocator gives the heap buffers
     * @param initialCapacity bytes to allocate at first, at least 1
     */
    public Accumulation(ByteBufAllocator allocator, int initialCapacity) {
        if (initialCapacity < 1) {
            throw new IllegalArgumentException("initialCapacity " + initialCapacity + " is below 1");
        }
        this.allocator = Objects.requireNonNull(allocator);
        this.initialCapacity = initialCapacity;
        this.array = EmptyArrays.EMPTY_BYTES;
    }

    /**
     * Copies bytes of the open chunk behind those gathered so far. What a consumer holds stays as it is: if the memory
     * has to be rearranged while it is shared, the bytes move to a new buffer.
     *
     * @param index absolute index in the chunk
     * @param length in bytes
     * @throws IndexOutOfBoundsException if the range is not within the chunk
     * @throws IllegalStateException after {@link #close}
     */
    public void append(ChunkMemory chunk, int index, int length) {
        if (closed) {
            throw new IllegalStateException("closed");
        }
        makeRoom(length);
        chunk.copyTo(index, array, arrayOffset + end, length);
        end += length;
    }

    /** {@return the number of bytes gathered and not discarded} */
    public int size() {
        return end - start;
    }

    /**
     * {@return the memory that holds the bytes, from {@link #arrayOffset()} on; not to be written, valid until the
     * next append or discard}
     */
    public byte[] array() {
        return array;
    }

    /** {@return where in {@link #array()} the first unread byte is} */
    public int arrayOffset() {
        return arrayOffset + start;
    }

    /**
     * Forgets the bytes behind the first {@code size}: they were appended too early.
     *
     * @param size 0 to {@link #size()}
     */
    public void truncate(int size) {
        Objects.checkFromToIndex(0, size, size());
        end = start + size;
        ByteBuf held = memory;
        if (held != null && held.refCnt() > 1) {
            leaveMemory();
        }
    }

    /**
     * Drops the first bytes: they have been read.
     *
     * @param count 0 to {@link #size()}
     */
    public void discard(int count) {
        Objects.checkFromToIndex(0, count, size());
        start += count;
        ByteBuf held = memory;
        if (held == null) {
            return;
        }
        if (held.refCnt() > 1) {
            leaveMemory();
        } else if (start == end) {
            start = 0;
            end = 0;
        }
    }

    /**
     * {@return gathered bytes without a copy; <em>borrowed</em> until the next call of a method that changes this
     * object, retain to keep}
     *
     * @param index counted from the first unread byte
     */
    public ByteBuf slice(int index, int length) {
        Objects.checkFromIndexSize(index, length, size());
        ByteBuf held = memory;
        return held == null ? Unpooled.EMPTY_BUFFER : held.slice(start + index, length);
    }

    /** Releases the memory; what a consumer retained stays valid. Idempotent. */
    @Override
    public void close() {
        closed = true;
        letGo();
    }

    /** Leaves the memory to the consumer that holds it; what is unread moves. */
    private void leaveMemory() {
        if (size() == 0) {
            letGo();
        } else {
            moveTo(Math.max(initialCapacity, size()));
        }
    }

    private void makeRoom(int length) {
        ByteBuf held = memory;
        if (held == null) {
            moveTo(Math.max(initialCapacity, length));
        } else if (length > capacity - end) {
            int needed = Math.addExact(size(), length);
            if (needed <= capacity && held.refCnt() <= 1) {
                System.arraycopy(array, arrayOffset + start, array, arrayOffset, size());
                end -= start;
                start = 0;
            } else {
                moveTo(Math.max(needed, (int) Math.min(Integer.MAX_VALUE, 2L * size())));
            }
        }
    }

    private void moveTo(int newCapacity) {
        ByteBuf target = allocator.heapBuffer(newCapacity);
        int size = size();
        System.arraycopy(array, arrayOffset + start, target.array(), target.arrayOffset(), size);
        letGo();
        memory = target;
        array = target.array();
        arrayOffset = target.arrayOffset();
        capacity = target.capacity();
        end = size;
    }

    private void letGo() {
        ByteBuf held = memory;
        memory = null;
        array = EmptyArrays.EMPTY_BYTES;
        arrayOffset = 0;
        capacity = 0;
        start = 0;
        end = 0;
        if (held != null) {
            held.release();
        }
    }
}
