package dev.sluice.form;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * Hands a part on to a consumer on another thread that wants to block on an {@link InputStream}. Between the two is a
 * ring of fixed size: {@link #write} blocks while it is full, reading while it is empty.
 *
 * <p>Either side can leave: {@link #close()} without {@link #complete()} makes reading throw, so the consumer cannot
 * take half a part for a whole one; closing the stream makes writing throw. An interrupt of either thread is an {@link
 * InterruptedIOException}.
 *
 * <p>Neither side waits for ever: one that has waited for the time limit while the other did nothing gives up with an
 * {@link IOException}, and so ends the hand-off for the other one too. The time starts anew with each byte that
 * passes, so a slow side is waited for, and a stalled one is not.
 *
 * <p>Blocks threads, virtual ones without pinning their carriers; never write on an event loop.
 */
public final class HandOff implements PartSink {
    private static final Duration USUAL = Duration.ofMinutes(1);

    private final byte[] ring;
    private final long maxWaitNanos;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final SinkState state = new SinkState();
    private final InputStream stream = new Stream();
    private int head;
    private int count;
    private boolean ended;
    private boolean aborted;
    private boolean abandoned;

    private HandOff(int capacity, Duration maxWait) {
        if (capacity < 1) {
            throw new IllegalArgumentException("capacity is " + capacity + ", must be 1 or more");
        }
        if (maxWait.isNegative() || maxWait.isZero()) {
            throw new IllegalArgumentException("maxWait is " + maxWait + ", must be positive");
        }
        this.ring = new byte[capacity];
        this.maxWaitNanos = TimeUnit.NANOSECONDS.convert(maxWait);
    }

    /**
     * {@return a hand-off whose sides wait for each other for one minute}
     *
     * @param capacity of the ring, in bytes, 1 or more
     */
    public static HandOff create(int capacity) {
        return new HandOff(capacity, USUAL);
    }

    /**
     * {@return a hand-off}
     *
     * @param capacity of the ring, in bytes, 1 or more
     * @param maxWait how long a side waits while the other does nothing, positive; for ever with {@code
     *     ChronoUnit.FOREVER.getDuration()}. The consumer waits for the peer too, so let it be longer than the pauses
     *     of a peer that is still acceptable
     */
    public static HandOff create(int capacity, Duration maxWait) {
        return new HandOff(capacity, maxWait);
    }

    /** {@return the stream for the consumer, always the same; it has to be closed} */
    public InputStream inputStream() {
        return stream;
    }

    /**
     * Puts all of {@code data} into the ring; blocks while it is full.
     *
     * @throws InterruptedIOException if the thread is interrupted while it waits
     * @throws IOException if the consumer has closed its stream, if either side has waited too long, or if this was
     *     closed meanwhile
     */
    @Override
    public void write(ByteBuf data) throws IOException {
        lock.lock();
        try {
            state.checkWritable();
            while (data.isReadable()) {
                if (!await(() -> count < ring.length)) {
                    aborted = true;
                    changed.signalAll();
                    throw new IOException("the consumer of the part has not read anything" + forTooLong());
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

    /** {@return whether the other side has done something, or left, in time} */
    private boolean await(BooleanSupplier ready) throws InterruptedIOException {
        try {
            long left = maxWaitNanos;
            while (!ready.getAsBoolean() && !aborted && !abandoned && left > 0) {
                left = changed.awaitNanos(left);
            }
            return left > 0 || ready.getAsBoolean() || aborted || abandoned;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted while waiting for the other side of a hand-off");
        }
    }

    private String forTooLong() {
        return " for " + TimeUnit.NANOSECONDS.toMillis(maxWaitNanos) + " ms (maxWait of the hand-off)";
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
                if (!await(() -> count > 0 || ended)) {
                    abandoned = true;
                    changed.signalAll();
                    throw new IOException("nothing of the part has come" + forTooLong());
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
