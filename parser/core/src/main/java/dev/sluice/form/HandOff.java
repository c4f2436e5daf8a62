package dev.sluice.form;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.util.Objects;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Hands a part on to a consumer on another thread that wants to block on an {@link InputStream}. Between the two is a
 * ring of fixed size: {@link #write} blocks while it is full, reading while it is empty.
 *
 * <p>Either side can leave: {@link #close()} without {@link #complete()} makes reading throw, so the consumer cannot
 * take half a part for a whole one; closing the stream makes writing throw. Never write on an event loop: it blocks. An
 * interrupt of either thread is an {@link InterruptedIOException}.
 *
 * <p>There is no time limit: while the consumer neither reads nor closes its stream, {@code write} blocks, and with it
 * whatever feeds the part. So the consumer closes the stream on every path, its failures included; to end the wait from
 * elsewhere, say from a timer, close the stream or this sink from any thread, or interrupt the one that writes.
 */
public final class HandOff implements PartSink {
    private final byte[] ring;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final SinkState state = new SinkState();
    private final InputStream stream = new Stream();
    private int head;
    private int count;
    private boolean ended;
    private boolean aborted;
    private boolean abandoned;

    private HandOff(int capacity) {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity is " + capacity + ", must be 1 or more");
        }
        this.ring = new byte[capacity];
    }

    /**
     * {@return a hand-off}
     *
     * @param capacity of the ring, in octets, 1 or more
     */
    public static HandOff create(int capacity) {
        return new HandOff(capacity);
    }

    /** {@return the stream for the consumer, always the same; it has to be closed} */
    public InputStream inputStream() {
        return stream;
    }

    /**
     * Puts all of {@code data} into the ring; blocks, without a time limit, while it is full and the consumer does not
     * read.
     *
     * @throws InterruptedIOException if the thread is interrupted while it waits
     * @throws IOException if the consumer has closed its stream, or this was closed meanwhile
     */
    @Override
    public void write(ByteBuf data) throws IOException {
        lock.lock();
        try {
            state.checkWritable();
            while (data.isReadable()) {
                while (count == ring.length && !abandoned && !aborted) {
                    await();
                }
                if (abandoned || aborted) {
                    throw new IOException(
                            abandoned ? "the consumer of the part has closed its stream" : "the part was aborted");
                }
                int tail = (head + count) % ring.length;
                int free = Math.min(ring.length - count, ring.length - tail);
                int moved = Math.min(free, data.readableBytes());
                data.readBytes(ring, tail, moved);
                count += moved;
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    private void await() throws InterruptedIOException {
        try {
            changed.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for the other side of a hand-off");
        }
    }

    @Override
    public void complete() {
        lock.lock();
        try {
            state.complete();
            ended = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Aborts the part unless it is complete, also while another thread is blocked in {@link #write}. */
    @Override
    public void close() {
        lock.lock();
        try {
            if (state.close() && !state.isComplete()) {
                aborted = true;
                changed.signalAll();
            }
        } finally {
            lock.unlock();
        }
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
            lock.lock();
            try {
                while (count == 0 && !ended && !aborted && !abandoned) {
                    await();
                }
                if (abandoned) {
                    throw new IOException("the stream is closed");
                }
                if (aborted) {
                    throw new IOException("the upload was aborted before the part was complete");
                }
                if (count == 0) {
                    return -1;
                }
                int moved = Math.min(Math.min(count, ring.length - head), length);
                System.arraycopy(ring, head, target, index, moved);
                head = (head + moved) % ring.length;
                count -= moved;
                changed.signalAll();
                return moved;
            } finally {
                lock.unlock();
            }
        }

        @Override
        public int available() {
            lock.lock();
            try {
                return abandoned || aborted ? 0 : count;
            } finally {
                lock.unlock();
            }
        }

        @Override
        public void close() {
            lock.lock();
            try {
                abandoned = true;
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }
}
