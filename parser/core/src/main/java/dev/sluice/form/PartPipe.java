package dev.sluice.form;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Hands a part on to a consumer on another thread that wants to block on an {@link InputStream}. The form waits for the
 * consumer without a thread; the consumer's thread waits for the client.
 *
 * <p>The stream ends when the <em>whole form</em> ended well; if that fails, reading throws, so that the consumer cannot
 * mistake half an upload for a whole one. If the consumer closes its stream early, the form fails.
 */
public final class PartPipe implements PartSink {
    private static final int COPY_BELOW = 2048;

    private enum End {
        NONE,
        COMPLETE,
        PUBLISHED,
        FAILED,
        ABANDONED
    }

    private final int capacity;
    private final long maxWaitNanos;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Queue<ByteBuf> queue = new ArrayDeque<>();
    private final InputStream stream = new Stream();
    private long size;
    private End end = End.NONE;
    private @Nullable Readiness full;

    private PartPipe(int capacity, Duration maxWait) {
        if (capacity < 1 || maxWait.isNegative() || maxWait.isZero()) {
            throw new IllegalArgumentException(
                    "capacity is " + capacity + ", must be 1 or more; maxWait is " + maxWait + ", must be positive");
        }
        this.capacity = capacity;
        this.maxWaitNanos = TimeUnit.NANOSECONDS.convert(maxWait);
    }

    /** {@return as {@link #create(int, Duration)}, with one minute} */
    public static PartPipe create(int capacity) {
        return create(capacity, Duration.ofMinutes(1));
    }

    /**
     * {@return a pipe}
     *
     * @param capacity how many bytes may wait for the consumer, 1 or more; one chunk more may
     * @param maxWait how long the consumer waits while nothing comes, positive; for ever with {@code
     *     ChronoUnit.FOREVER.getDuration()}
     */
    public static PartPipe create(int capacity, Duration maxWait) {
        return new PartPipe(capacity, maxWait);
    }

    /** {@return the stream for the consumer, always the same; it has to be closed} */
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
            // what is small would keep a whole chunk in memory
            queue.add(data.readableBytes() < COPY_BELOW ? Unpooled.copiedBuffer(data) : data.retainedSlice());
            size += data.readableBytes();
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

    @Override
    public void retract() throws IOException {
        throw new IOException("a consumer has been told that the form ended well");
    }

    /** Fails the part for the consumer, unless it was published. */
    @Override
    public void close() {
        lock.lock();
        try {
            if (end == End.NONE || end == End.COMPLETE) {
                end = End.FAILED;
                drop();
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void drop() {
        for (ByteBuf data; (data = queue.poll()) != null; ) {
            data.release();
        }
        size = 0;
    }

    /** The side of the consumer. */
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
                ByteBuf data = queue.peek();
                if (data == null) {
                    return -1;
                }
                int count = Math.min(length, data.readableBytes());
                data.readBytes(target, index, count);
                size -= count;
                if (!data.isReadable()) {
                    queue.remove().release();
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

        /** Waits for bytes, or for the form to end well; not for ever while bytes are to come. */
        private void await() throws IOException {
            long left = maxWaitNanos;
            try {
                while (queue.isEmpty() && (end == End.COMPLETE || end == End.NONE && left > 0)) {
                    if (end == End.COMPLETE) {
                        changed.await();
                    } else {
                        left = changed.awaitNanos(left);
                    }
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("interrupted while waiting for bytes of a part");
            }
            if (end == End.FAILED) {
                throw new IOException("the upload failed before it was whole");
            } else if (end == End.ABANDONED) {
                throw new IOException("the stream is closed");
            } else if (queue.isEmpty() && end == End.NONE) {
                leave();
                throw new IOException("nothing of the part has come for " + TimeUnit.NANOSECONDS.toMillis(maxWaitNanos)
                        + " ms (maxWait of the pipe)");
            }
        }

        private @Nullable Readiness leave() {
            end = end == End.FAILED ? end : End.ABANDONED;
            drop();
            Readiness waiting = full;
            full = null;
            return waiting;
        }

        @Override
        public int available() {
            lock.lock();
            try {
                return (int) Math.min(size, Integer.MAX_VALUE); // nothing is left of what failed
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void close() {
            Readiness waiting;
            lock.lock();
            try {
                boolean read = end == End.PUBLISHED && queue.isEmpty();
                waiting = read ? null : leave();
            } finally {
                lock.unlock();
            }
            if (waiting != null) {
                waiting.fail(abandoned());
            }
        }
    }
}
