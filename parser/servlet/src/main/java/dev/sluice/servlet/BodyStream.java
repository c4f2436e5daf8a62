package dev.sluice.servlet;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.ClientPace;
import dev.sluice.form.FormOptions;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The body of a request, read by a blocking thread. The stream of the container is opened by the first read, because opening it may ask a
 * client with {@code Expect: 100-continue} for the body, even if the form is rejected because of its head. {@link #shutDown} interrupts that thread. {@link #isClientFailure}
 * distinguishes failures of the connection from failures of the code that reads.
 */
final class BodyStream extends InputStream {
    interface Source {
        InputStream open() throws IOException;
    }

    private final Source source;
    private @Nullable InputStream in;
    private final BooleanSupplier stopped;
    private final @Nullable FormOptions options;
    private final @Nullable ClientPace pace;
    private volatile boolean ended;
    private long total;
    private @Nullable IOException clientFailure;
    private final ReentrantLock lock = new ReentrantLock();

    /** The thread that waits for the client; null if there is none or it was interrupted. */
    private final AtomicReference<@Nullable Thread> waiting = new AtomicReference<>();

    /**
     * @param stopped whether the request has ended or the web application is stopping
     * @param options the options with the minimum rate to enforce here; null if another class enforces it
     */
    BodyStream(Source source, BooleanSupplier stopped, @Nullable FormOptions options) {
        this.source = source;
        this.stopped = stopped;
        this.options = options;
        this.pace = options == null ? null : options.newPace();
    }

    /** Interrupts the thread that waits for the client. Not every container reacts to the interrupt. */
    void shutDown() {
        lock.lock();
        try {
            Thread thread = waiting.getAndSet(null);
            if (thread != null) {
                thread.interrupt();
            }
        } finally {
            lock.unlock();
        }
    }

    private void stopWaiting() {
        if (waiting.getAndSet(null) == null) {
            lock.lock(); // waits for shutDown, which interrupts while it holds the lock
            try {
                Thread.interrupted(); // clears the interrupt of shutDown, which is meant for this read only
            } finally {
                lock.unlock();
            }
        }
    }

    /** {@return whether {@code e} came from the connection, or reports the end of the request} */
    boolean isClientFailure(Throwable e) {
        return clientFailure == e;
    }

    boolean hasEnded() {
        return ended;
    }

    long count() {
        return total;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] target, int index, int length) throws IOException {
        if (pace != null) {
            pace.startWaiting(System.nanoTime());
        }
        int count;
        waiting.set(Thread.currentThread());
        try {
            // Checked after waiting is set, so that a later shutDown interrupts this thread.
            if (stopped.getAsBoolean()) {
                throw stopped(null);
            }
            count = in().read(target, index, length);
        } catch (IOException e) {
            if (stopped.getAsBoolean() && clientFailure != e) {
                throw stopped(e);
            }
            clientFailure = e;
            throw MultipartRequestException.translated(e);
        } finally {
            stopWaiting();
        }
        if (stopped.getAsBoolean()) { // stopped during the read: the bytes may belong to the next request
            throw stopped(null);
        }
        ended = count < 0;
        total += Math.max(count, 0);
        if (pace != null && options != null && !ended) {
            pace.stopWaiting(System.nanoTime());
            pace.received(count);
            if (pace.isTooSlow(System.nanoTime())) {
                throw MultipartException.because(Reason.CLIENT_TOO_SLOW)
                        .limit(options.minBytesPerSecond())
                        .build();
            }
        }
        return count;
    }

    /** Delegates and records failures, because a container reports a broken connection only once. */
    @Override
    public int available() throws IOException {
        try {
            return in().available();
        } catch (IOException e) {
            clientFailure = e;
            throw MultipartRequestException.translated(e);
        }
    }

    private InputStream in() throws IOException {
        InputStream opened = in;
        if (opened == null) {
            opened = source.open();
            in = opened;
        }
        return opened;
    }

    private IOException stopped(@Nullable Throwable cause) {
        IOException stopped = new IOException("the request has ended, or the web application is being stopped", cause);
        clientFailure = stopped;
        return stopped;
    }
}
