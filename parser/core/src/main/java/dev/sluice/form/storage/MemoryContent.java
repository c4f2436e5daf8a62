package dev.sluice.form.storage;

import dev.sluice.MultipartException;
import dev.sluice.PartHead;
import dev.sluice.buffer.ChannelOutput;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The content of a part in memory. The bytes are copied, so that a small part does not keep a whole chunk in memory.
 *
 * <p>The content grows by segments, so growing copies no bytes. Exactly the allocated memory is charged. Full-size segments come from
 * the {@link SegmentPool} and return to it. Written by one thread, then read by any.
 */
final class MemoryContent implements StoredContent.Storage {
    private static final int FIRST_SEGMENT = 256;

    /** The last segment is trimmed if more than 1/16 of the allocated memory is free. */
    private static final int WORTH_TRIMMING = 16;

    /** Replaces the segments of closed content. */
    private static final byte[][] GONE = {};

    private static final byte[][] NONE = {};

    private final FormMemory memory;
    private final boolean mayMoveToFile;
    private byte[][] segments = NONE;
    private int count;
    private long capacity;
    private long size;
    private volatile boolean closed;

    /**
     * @param mayMoveToFile if true, {@link #write} returns false when memory runs short; if false, other parts then move to files, and
     *     {@code write} returns false only if that is not enough
     */
    MemoryContent(FormMemory memory, boolean mayMoveToFile) {
        this.memory = memory;
        this.mayMoveToFile = mayMoveToFile;
    }

    /**
     * {@return the number of bytes of memory that a move to a file would release; 0 if the content must stay in memory}
     */
    long movableBytes() {
        return mayMoveToFile ? capacity : 0;
    }

    @Override
    public boolean write(ByteBuf data) throws IOException {
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

    /**
     * Adds a segment. The first segment has the size of the first bytes, but at most 8 KiB, because most fields arrive in one piece.
     */
    private boolean grow(int wanted) throws IOException {
        int next = (int) Math.min(capacity == 0 ? wanted : Math.max(capacity, FIRST_SEGMENT), SegmentPool.SEGMENT);
        next = next > SegmentPool.SEGMENT / 2 && capacity > 0 ? SegmentPool.SEGMENT : next;
        if (mayMoveToFile ? !memory.tryReserve(next) : !memory.reserveMakingRoom(next)) {
            return false;
        }
        if (count == segments.length) {
            segments = Arrays.copyOf(segments, Math.max(1, 2 * count));
        }
        segments[count++] = memory.segments.take(next);
        capacity += next;
        return true;
    }

    /** Shrinks the last segment if that saves enough memory. */
    @Override
    public void complete() {
        int free = (int) (capacity - size);
        if (free > capacity / WORTH_TRIMMING) {
            byte[] last = segments[count - 1];
            segments[count - 1] = Arrays.copyOf(last, last.length - free);
            capacity = size;
            memory.release(free);
            memory.segments.give(last);
        }
    }

    @Override
    public long size() {
        return size;
    }

    private void writeTo(WritableByteChannel channel) throws IOException {
        long left = size;
        for (int i = 0; i < count; i++) {
            ByteBuffer bytes = ByteBuffer.wrap(segments[i], 0, (int) Math.min(left, segments[i].length));
            left -= bytes.remaining();
            ChannelOutput.writeFully(channel, bytes);
        }
    }

    /** {@return a file with the bytes of this content, to which more bytes can be written} Closes this content. */
    SpoolFile moveToFile(PartHead head) throws IOException {
        if (!mayMoveToFile) {
            throw memory.rejection(head, size);
        }
        SpoolFile file = memory.newFile(head);
        try {
            file.write(size, this::writeTo);
        } catch (IOException | RuntimeException | Error e) { // also after an Error: writing allocates memory
            try (file) {
                throw e;
            }
        }
        close();
        return file;
    }

    @Override
    public void moveTo(Path target, boolean replace) throws IOException {
        AtomicFile.write(target, replace, this::writeTo);
        close();
    }

    /** {@return the lock that is shared by all in-memory content of the form} */
    @Override
    public ReentrantLock lock() {
        return memory.lock;
    }

    /** {@return content with the same segments and its own account} Closes this content. */
    @Override
    public MemoryContent detach() throws MultipartException {
        FormMemory own = memory.detached();
        if (!own.tryReserveFromBudget(capacity)) {
            throw own.rejection();
        }
        MemoryContent moved = new MemoryContent(own, false);
        moved.segments = segments;
        moved.count = count;
        moved.capacity = capacity;
        moved.size = size;
        count = 0;
        close();
        return moved;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            for (int i = 0; i < count; i++) {
                memory.segments.give(segments[i]);
            }
            segments = GONE;
            memory.release(capacity);
        }
    }

    @Override
    public InputStream read() {
        return new Reader();
    }

    /** A stream over the segments. Reading fails after the stream or the content is closed. */
    private final class Reader extends InputStream {
        private final byte[][] segments = MemoryContent.this.segments;
        private long left = size;
        private int segment;
        private int index;
        private volatile boolean ended;

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            Objects.checkFromIndexSize(offset, length, target.length);
            if (capacity < SegmentPool.SEGMENT) {
                return copy(target, offset, length);
            }
            lock().lock(); // full-size segments are reused: another form could write to them during the copy
            try {
                return copy(target, offset, length);
            } finally {
                lock().unlock();
            }
        }

        private int copy(byte[] target, int offset, int length) throws IOException {
            if (ended || closed || segments == GONE) {
                throw new IOException("the stream is closed");
            } else if (length == 0 || left == 0) {
                return length == 0 ? 0 : -1;
            }
            byte[] bytes = segments[segment];
            int taken = (int) Math.min(Math.min(length, bytes.length - index), left);
            System.arraycopy(bytes, index, target, offset, taken);
            left -= taken;
            index += taken;
            if (index == bytes.length) {
                segment++;
                index = 0;
            }
            return taken;
        }

        @Override
        public int available() {
            return (int) Math.min(left, Integer.MAX_VALUE);
        }

        @Override
        public void close() {
            ended = true;
        }
    }
}
