package dev.sluice.form;

import dev.sluice.MultipartException;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * Bytes copied into memory of their own, so that a small part does not pin the chunk it came in. Grows by segments:
 * nothing is copied twice, and what is charged is what is taken. Written by one thread, then read by any.
 */
final class MemoryContent {
    private static final int FIRST_SEGMENT = 256;
    private static final int LARGEST_SEGMENT = 16 << 10;

    private final FormMemory memory;
    private final List<byte[]> segments = new ArrayList<>(1);
    private long capacity;
    private long size;
    private final boolean isEvictable;
    private boolean released;

    /** Content that may give way to other things in memory; where its growth is refused, it goes elsewhere. */
    MemoryContent(FormMemory memory, boolean isEvictable) {
        this.memory = memory;
        this.isEvictable = isEvictable;
    }

    boolean isEvictable() {
        return isEvictable;
    }

    /**
     * Takes bytes from {@code data} until it is empty or memory is refused.
     *
     * @return whether all were taken
     */
    boolean append(ByteBuf data) throws IOException {
        while (data.isReadable()) {
            if (size == capacity && !grow(data.readableBytes())) {
                return false;
            }
            byte[] last = segments.get(segments.size() - 1);
            int free = (int) (capacity - size);
            int count = Math.min(free, data.readableBytes());
            data.readBytes(last, last.length - free, count);
            size += count;
        }
        return true;
    }

    /** Most fields come at once: what there is of them fits, and there is nothing to trim. */
    private boolean grow(int wanted) throws IOException {
        int next = (int) Math.min(capacity == 0 ? wanted : Math.max(capacity, FIRST_SEGMENT), LARGEST_SEGMENT);
        if (isEvictable ? !memory.tryReserve(next) : !memory.reserveOrEvict(next)) {
            return false;
        }
        segments.add(new byte[next]);
        capacity += next;
        return true;
    }

    /** Gives back what the last segment has too much. */
    void trim() {
        int free = (int) (capacity - size);
        if (free > 0) {
            int last = segments.size() - 1;
            byte[] segment = segments.get(last);
            segments.set(last, Arrays.copyOf(segment, segment.length - free));
            capacity = size;
            memory.release(free);
        }
    }

    long size() {
        return size;
    }

    void writeTo(WritableByteChannel channel) throws IOException {
        long left = size;
        for (byte[] segment : segments) {
            ByteBuffer bytes = ByteBuffer.wrap(segment, 0, (int) Math.min(left, segment.length));
            left -= bytes.remaining();
            while (bytes.hasRemaining()) {
                if (channel.write(bytes) == 0) {
                    throw new IOException("the channel takes no bytes");
                }
            }
        }
    }

    byte[] toArray() {
        byte[] bytes = new byte[Math.toIntExact(size)];
        int index = 0;
        for (byte[] segment : segments) {
            int count = Math.min(segment.length, bytes.length - index);
            System.arraycopy(segment, 0, bytes, index, count);
            index += count;
        }
        return bytes;
    }

    InputStream open() {
        return new Stream(List.copyOf(segments), size);
    }

    /** {@return the same bytes, charged to an account of their own} */
    MemoryContent chargedElsewhere() throws MultipartException {
        FormMemory own = memory.another();
        own.reserve(capacity);
        MemoryContent moved = new MemoryContent(own, false);
        moved.segments.addAll(segments);
        moved.capacity = capacity;
        moved.size = size;
        return moved;
    }

    void release() {
        if (!released) {
            released = true;
            segments.clear();
            memory.release(capacity);
        }
    }

    /** Reads segment after segment. */
    private static final class Stream extends InputStream {
        private final List<byte[]> segments;
        private long left;
        private int segment;
        private int index;

        Stream(List<byte[]> segments, long size) {
            this.segments = segments;
            this.left = size;
        }

        @Override
        public int read() {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] target, int offset, int length) {
            Objects.checkFromIndexSize(offset, length, target.length);
            if (length == 0 || left == 0) {
                return length == 0 ? 0 : -1;
            }
            byte[] bytes = segments.get(segment);
            int count = (int) Math.min(Math.min(length, bytes.length - index), left);
            System.arraycopy(bytes, index, target, offset, count);
            index += count;
            left -= count;
            if (index == bytes.length) {
                segment++;
                index = 0;
            }
            return count;
        }

        @Override
        public int available() {
            return (int) Math.min(left, Integer.MAX_VALUE);
        }
    }
}
