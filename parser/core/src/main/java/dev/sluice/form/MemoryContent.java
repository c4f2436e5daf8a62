package dev.sluice.form;

import dev.sluice.MultipartException;
import dev.sluice.transfer.ChannelOutput;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.Arrays;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Bytes copied into memory of their own, so that a small part does not pin the chunk it came in. Grows by segments:
 * nothing is copied twice, and what is charged is what is taken. Written by one thread, then read by any.
 */
final class MemoryContent {
    private static final int FIRST_SEGMENT = 256;

    /** The share of its memory that content may leave free. */
    private static final int WORTH_TRIMMING = 16;

    /** What there is after the release. */
    static final byte[][] GONE = {};

    private static final byte[][] NONE = {};

    private final FormMemory memory;
    private final boolean isEvictable;
    private byte[][] segments = NONE;
    private int count;
    private long capacity;
    private long size;
    private boolean released;

    /** Content that may give way to other things in memory; where its growth is refused, it goes elsewhere. */
    MemoryContent(FormMemory memory, boolean isEvictable) {
        this.memory = memory;
        this.isEvictable = isEvictable;
    }

    /** {@return how much memory it would give back if it gave way; 0 where it may not} */
    long evictable() {
        return isEvictable ? capacity : 0;
    }

    /**
     * Takes bytes from {@code data} until it is empty or memory is refused.
     *
     * @return whether all were taken
     */
    boolean append(ByteBuf data) throws IOException {
        for (int left; (left = data.readableBytes()) > 0; ) {
            if (size == capacity && !grow(left)) {
                return false;
            }
            byte[] last = segments[count - 1];
            int free = (int) (capacity - size);
            int taken = Math.min(free, left);
            data.readBytes(last, last.length - free, taken);
            size += taken;
        }
        return true;
    }

    /** Most fields come at once: what there is of them fits, and there is nothing to trim. */
    private boolean grow(int wanted) throws IOException {
        int next = (int) Math.min(capacity == 0 ? wanted : Math.max(capacity, FIRST_SEGMENT), MemoryBudget.SEGMENT);
        next = next > MemoryBudget.SEGMENT / 2 && capacity > 0 ? MemoryBudget.SEGMENT : next;
        if (isEvictable ? !memory.tryReserve(next) : !memory.reserveOrEvict(next)) {
            return false;
        }
        if (count == segments.length) {
            segments = Arrays.copyOf(segments, Math.max(1, 2 * count));
        }
        segments[count++] = memory.budget().segment(next);
        capacity += next;
        return true;
    }

    /** Gives back what the last segment has too much, where that is worth a copy. */
    void trim() {
        int free = (int) (capacity - size);
        if (free > capacity / WORTH_TRIMMING) {
            byte[] last = segments[count - 1];
            segments[count - 1] = Arrays.copyOf(last, last.length - free);
            capacity = size;
            memory.release(free);
            memory.budget().recycle(last);
        }
    }

    long size() {
        return size;
    }

    void writeTo(WritableByteChannel channel) throws IOException {
        long left = size;
        for (int i = 0; i < count; i++) {
            ByteBuffer bytes = ByteBuffer.wrap(segments[i], 0, (int) Math.min(left, segments[i].length));
            left -= bytes.remaining();
            ChannelOutput.writeFully(channel, bytes);
        }
    }

    /** {@return the lock of all content that the form keeps in memory} */
    ReentrantLock lock() {
        return memory.lock();
    }

    /** {@return the segments, each full but the last; {@link #GONE} after the release} */
    byte[][] segments() {
        return segments;
    }

    /** {@return whether another form may write to the segments after the release} */
    boolean isRecycled() {
        return capacity >= MemoryBudget.SEGMENT;
    }

    /** {@return the same bytes, charged to an account of their own; this has none any more} */
    MemoryContent chargedElsewhere() throws MultipartException {
        FormMemory own = memory.another();
        if (!own.tryReserveForProcess(capacity)) {
            throw own.refusal();
        }
        MemoryContent moved = new MemoryContent(own, false);
        moved.segments = segments;
        moved.count = count;
        moved.capacity = capacity;
        moved.size = size;
        count = 0;
        return moved;
    }

    void release() {
        if (!released) {
            released = true;
            for (int i = 0; i < count; i++) {
                memory.budget().recycle(segments[i]);
            }
            segments = GONE;
            memory.release(capacity);
        }
    }
}
