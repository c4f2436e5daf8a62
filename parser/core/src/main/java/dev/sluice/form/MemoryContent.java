package dev.sluice.form;

import dev.sluice.MultipartException;
import dev.sluice.transfer.ChannelOutput;
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
 * Bytes copied into memory of their own, so that a small part does not pin the chunk it came in. Grows by segments:
 * nothing is copied twice, and what is charged is what is taken. Written by one thread, then read by any.
 */
final class MemoryContent implements PartContent.Storage {
    private static final int FIRST_SEGMENT = 256;

    /** The share of its memory that content may leave free. */
    private static final int WORTH_TRIMMING = 16;

    /** What there is once it is closed. */
    private static final byte[][] GONE = {};

    private static final byte[][] NONE = {};

    private final FormMemory memory;
    private final boolean mayMoveToFile;
    private byte[][] segments = NONE;
    private int count;
    private long capacity;
    private long size;
    private volatile boolean closed;

    /** Content that may give way to other things in memory; where its growth is refused, it goes elsewhere. */
    MemoryContent(FormMemory memory, boolean mayMoveToFile) {
        this.memory = memory;
        this.mayMoveToFile = mayMoveToFile;
    }

    /** {@return how much memory it would give back if it gave way; 0 where it may not} */
    long movableBytes() {
        return mayMoveToFile ? capacity : 0;
    }

    /** Takes bytes until memory is refused. */
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

    /** Most fields come at once: what there is of them fits, and there is nothing to trim. */
    private boolean grow(int wanted) throws IOException {
        int next = (int) Math.min(capacity == 0 ? wanted : Math.max(capacity, FIRST_SEGMENT), MemoryBudget.SEGMENT);
        next = next > MemoryBudget.SEGMENT / 2 && capacity > 0 ? MemoryBudget.SEGMENT : next;
        if (mayMoveToFile ? !memory.tryReserve(next) : !memory.reserveMakingRoom(next)) {
            return false;
        }
        if (count == segments.length) {
            segments = Arrays.copyOf(segments, Math.max(1, 2 * count));
        }
        segments[count++] = memory.budget.segment(next);
        capacity += next;
        return true;
    }

    /** Gives back what the last segment has too much, where that is worth a copy. */
    @Override
    public void complete() {
        int free = (int) (capacity - size);
        if (free > capacity / WORTH_TRIMMING) {
            byte[] last = segments[count - 1];
            segments[count - 1] = Arrays.copyOf(last, last.length - free);
            capacity = size;
            memory.release(free);
            memory.budget.recycle(last);
        }
    }

    @Override
    public long size() {
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

    @Override
    public void moveTo(Path target, boolean replace) throws IOException {
        AtomicFile.write(target, replace, this::writeTo);
        close();
    }

    /** {@return the lock of all content that the form keeps in memory} */
    @Override
    public ReentrantLock lock() {
        return memory.lock;
    }

    /** {@return the same bytes, charged to an account of their own} */
    @Override
    public MemoryContent detach() throws MultipartException {
        FormMemory own = memory.detached();
        if (!own.tryReserveForProcess(capacity)) {
            throw own.refusal();
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
                memory.budget.recycle(segments[i]);
            }
            segments = GONE;
            memory.release(capacity);
        }
    }

    @Override
    public InputStream read() {
        return new Reader();
    }

    /** Reads segment after segment; nothing once it is closed, or the content is. */
    private final class Reader extends InputStream {
        private final byte[][] segments = MemoryContent.this.segments;
        private long left = size;
        private int segment;
        private int index;
        private volatile boolean over;

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            Objects.checkFromIndexSize(offset, length, target.length);
            if (capacity < MemoryBudget.SEGMENT) {
                return copy(target, offset, length);
            }
            lock().lock(); // or another form may write to the segment while it is copied
            try {
                return copy(target, offset, length);
            } finally {
                lock().unlock();
            }
        }

        private int copy(byte[] target, int offset, int length) throws IOException {
            if (over || closed || segments == GONE) {
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
            over = true;
        }
    }
}
