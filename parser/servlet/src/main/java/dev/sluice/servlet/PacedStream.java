package dev.sluice.servlet;

import dev.sluice.form.ClientPace;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The body of a request as the blocking face reads it: with the minimum rate, and knowing whose exception is whose. */
final class PacedStream extends InputStream {
    private final InputStream in;
    private final Reception reception;
    private final @Nullable ClientPace pace;
    private boolean started;
    private boolean ended;
    private @Nullable IOException clientFailure;

    private final ReentrantLock lock = new ReentrantLock();

    /** Who waits for the client, while he does, unless he was woken; under the lock. */
    private @Nullable Thread waiting;

    PacedStream(InputStream in, Reception reception) {
        this.in = in;
        this.reception = reception;
        this.pace = reception.newPace();
    }

    /** Wakes whoever waits for the client, where the container waits so that this is possible. */
    void shutDown() {
        lock.lock();
        try {
            if (waiting != null) {
                waiting.interrupt();
                waiting = null;
            }
        } finally {
            lock.unlock();
        }
    }

    private void mayBeWoken() {
        lock.lock();
        try {
            waiting = Thread.currentThread();
        } finally {
            lock.unlock();
        }
    }

    private void mayNotBeWoken() {
        lock.lock();
        try {
            if (waiting == null) {
                Thread.interrupted(); // by shutDown, and not for whatever the thread does next
            }
            waiting = null;
        } finally {
            lock.unlock();
        }
    }

    /** {@return whether {@code e} came from the connection} */
    boolean isClientFailure(Throwable e) {
        return clientFailure == e;
    }

    /** {@return whether anything was asked for yet} */
    boolean hasStarted() {
        return started;
    }

    boolean hasEnded() {
        return ended;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] target, int index, int length) throws IOException {
        started = true;
        if (pace != null) {
            pace.waits(reception.now());
        }
        int count;
        mayBeWoken();
        try {
            if (reception.isClosed()) { // only now: whoever closes it later wakes this thread
                throw stopped(null);
            }
            count = in.read(target, index, length);
        } catch (IOException e) {
            if (reception.isClosed() && clientFailure != e) {
                throw stopped(e);
            }
            clientFailure = e;
            throw e;
        } finally {
            mayNotBeWoken();
        }
        ended = count < 0;
        if (pace != null && !ended) {
            pace.goesOn(reception.now());
            pace.received(count);
            if (pace.isTooSlow(reception.now())) {
                throw new SlowClientException(reception.minBytesPerSecond());
            }
        }
        return count;
    }

    private IOException stopped(@Nullable Throwable cause) {
        IOException stopped = new IOException("the web application is being stopped", cause);
        clientFailure = stopped;
        return stopped;
    }

    /** Reads and drops up to {@code most} bytes. {@return whether that was all there was} */
    boolean drain(long most) {
        byte[] scrap = new byte[4096];
        long left = most;
        try {
            while (!ended && left >= 0) { // the end shows only when one byte more is asked for
                int count = read(scrap, 0, (int) Math.min(scrap.length, left + 1));
                left -= Math.max(count, 0);
            }
        } catch (IOException e) {
            return false;
        }
        return ended;
    }
}
