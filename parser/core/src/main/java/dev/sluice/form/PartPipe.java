package dev.sluice.form;

import dev.sluice.form.flow.KeptMemory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A sink whose content a consumer on another thread reads from an {@link InputStream}. No thread is blocked while
 * the form waits for the consumer. The thread of the consumer blocks while it waits for the client.
 *
 * <p>The stream ends when the <em>whole form</em> has succeeded. If the form fails, reading throws, so that the consumer cannot mistake
 * half an upload for a whole one. If the consumer closes its stream before the part is published, the form fails. Neither another sink of
 * the form nor {@link FormAdmission#commit()} may wait for the end of the stream, because the stream ends only after the commit.
 *
 * <p><b>Memory.</b> Bytes that wait for the consumer are charged to a {@link MemoryBudget} until they are read or discarded. A
 * retained slice keeps its whole chunk in memory, so the whole chunk is charged until the slice is read. A slice of at most half
 * of its chunk is copied instead, and slices of less than 512 bytes are collected, so the charge is at most about three times the
 * size of the slices. If the budget has no room, the form is rejected with {@code MEMORY_FULL} (503), because the bytes have
 * already arrived and cannot be written to disk.
 */
public final class PartPipe implements PartSink {
    private enum End {
        NONE,
        COMPLETE,
        PUBLISHED,
        SUCCEEDED,
        FAILED,
        ABANDONED
    }

    /** The size of a buffer in which the bytes of smaller slices are collected, because each buffer needs memory for its objects. */
    private static final int SMALLEST_COPY = 512;

    /** Bytes for the consumer, and the number of bytes charged for them. */
    private record Waiting(ByteBuf data, long charge) {}

    private final int capacity;
    private final long maxWaitNanos;
    private final MemoryBudget.Account memory;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Deque<Waiting> queue = new ArrayDeque<>();
    private final InputStream stream = new Stream();
    private long size;
    private End end = End.NONE;
    private @Nullable Readiness full;

    private PartPipe(int capacity, Duration maxWait, MemoryBudget memory) {
        if (capacity < 1 || maxWait.isNegative() || maxWait.isZero()) {
            throw new IllegalArgumentException(
                    "capacity is " + capacity + ", must be 1 or more; maxWait is " + maxWait + ", must be positive");
        }
        this.capacity = capacity;
        this.maxWaitNanos = TimeUnit.NANOSECONDS.convert(maxWait);
        this.memory = memory.open();
    }

    /** {@return a pipe like {@link #create(int, Duration, MemoryBudget)}, whose consumer waits at most one minute} */
    public static PartPipe create(int capacity, MemoryBudget memory) {
        return create(capacity, Duration.ofMinutes(1), memory);
    }

    /**
     * {@return a pipe}
     *
     * @param capacity the number of bytes that may wait for the consumer, 1 or more. The last chunk may exceed it
     * @param maxWait the maximum time that the consumer waits for bytes, positive; {@code ChronoUnit.FOREVER.getDuration()} for no
     *     limit
     * @param memory the budget that is charged, usually {@link FormOptions#memory()}
     */
    public static PartPipe create(int capacity, Duration maxWait, MemoryBudget memory) {
        return new PartPipe(capacity, maxWait, memory);
    }

    /** {@return the stream for the consumer, who must close it; each call returns the same stream} */
    public InputStream inputStream() {
        return stream;
    }

    @Override
    public Readiness write(ByteBuf data) throws IOException {
        lock.lock();
        try {
            if (end == End.ABANDONED) {
                throw abandoned();
            } else if (end != End.NONE) {
                throw new IllegalStateException("the sink is " + end + ": use one sink per part");
            }
            int count = data.readableBytes();
            long kept = KeptMemory.of(data);
            if (count >= SMALLEST_COPY && count > kept / 2) {
                memory.reserve(kept);
                queue.add(new Waiting(data.retainedSlice(), kept));
            } else {
                copy(data, count);
            }
            size += count;
            changed.signalAll();
            if (size <= capacity) {
                return Readiness.READY;
            }
            full = Readiness.pending();
            return full;
        } finally {
            lock.unlock();
        }
    }

    /** Copies {@code data} to the last waiting buffer, or to a new one if the last one has no room or is a slice. */
    private void copy(ByteBuf data, int count) throws IOException {
        Waiting last = queue.peekLast();
        if (last == null || last.data.writableBytes() < count) {
            int room = Math.max(count, SMALLEST_COPY);
            memory.reserve(room);
            last = new Waiting(Unpooled.buffer(room, room), room);
            queue.add(last);
        }
        last.data.writeBytes(data, data.readerIndex(), count);
    }

    private static IOException abandoned() {
        return new IOException("the consumer of the part has closed its stream");
    }

    @Override
    public Readiness complete() {
        advance(End.NONE, End.COMPLETE);
        return Readiness.READY;
    }

    @Override
    public Readiness publish() throws IOException {
        if (!advance(End.COMPLETE, End.PUBLISHED)) {
            throw abandoned();
        }
        return Readiness.READY;
    }

    private boolean advance(End from, End to) {
        lock.lock();
        try {
            boolean moved = end == from;
            end = moved ? to : end;
            changed.signalAll();
            return moved;
        } finally {
            lock.unlock();
        }
    }

    /** Makes the stream of the consumer fail, unless the consumer has already read its end or closed it. */
    @Override
    public void retract() {
        if (advance(End.PUBLISHED, End.COMPLETE) || advance(End.SUCCEEDED, End.COMPLETE)) {
            close();
        }
    }

    /** Ends the stream of the consumer if the part was published and not retracted. Otherwise, makes the stream fail. */
    @Override
    public void close() {
        lock.lock();
        try {
            if (end == End.PUBLISHED) {
                end = End.SUCCEEDED;
            } else if (end == End.NONE || end == End.COMPLETE) {
                end = End.FAILED;
                discardAll();
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void discardAll() {
        queue.forEach(next -> next.data.release());
        queue.clear();
        size = 0;
        memory.close();
    }

    /** The stream for the consumer. */
    private final class Stream extends InputStream {
        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] target, int index, int length) throws IOException {
            Objects.checkFromIndexSize(index, length, target.length);
            if (length == 0) {
                return 0;
            }
            Readiness room = null;
            lock.lock();
            try {
                await();
                Waiting next = queue.peek();
                if (next == null) {
                    return -1;
                }
                int count = Math.min(length, next.data.readableBytes());
                next.data.readBytes(target, index, count);
                size -= count;
                if (!next.data.isReadable()) {
                    queue.remove();
                    next.data.release();
                    memory.release(next.charge);
                }
                if (full != null && size <= capacity / 2) {
                    room = full;
                    full = null;
                }
                return count;
            } finally {
                lock.unlock();
                if (room != null) {
                    room.ready();
                }
            }
        }

        /** Waits for bytes or for the end of the form. The time limit applies only until the part is complete. */
        private void await() throws IOException {
            long left = maxWaitNanos;
            try {
                while (queue.isEmpty()
                        && (end == End.NONE && left > 0 || end == End.COMPLETE || end == End.PUBLISHED)) {
                    if (end == End.NONE) {
                        left = changed.awaitNanos(left);
                    } else {
                        changed.await();
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted while waiting for bytes of a part");
            }
            if (end == End.FAILED) {
                throw new IOException("the upload failed before it was complete");
            } else if (end == End.ABANDONED) {
                throw new IOException("the stream is closed");
            } else if (queue.isEmpty() && end == End.NONE) {
                abandon();
                throw new IOException("no bytes of the part arrived for " + TimeUnit.NANOSECONDS.toMillis(maxWaitNanos)
                        + " ms (maxWait of the pipe)");
            }
        }

        /** Discards all bytes and marks the stream as abandoned. Returns the readiness for which the form waits, or null. */
        private @Nullable Readiness abandon() {
            end = end == End.FAILED ? end : End.ABANDONED;
            discardAll();
            Readiness waiting = full;
            full = null;
            return waiting;
        }

        @Override
        public int available() {
            lock.lock();
            try {
                return (int) Math.min(size, Integer.MAX_VALUE); // 0 after a failure
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void close() {
            Readiness waiting;
            lock.lock();
            try {
                boolean read = end == End.SUCCEEDED && queue.isEmpty();
                waiting = read ? null : abandon();
            } finally {
                lock.unlock();
            }
            if (waiting != null) {
                waiting.fail(abandoned());
            }
        }
    }
}
