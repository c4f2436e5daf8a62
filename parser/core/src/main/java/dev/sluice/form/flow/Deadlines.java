package dev.sluice.form.flow;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.ClientPace;
import dev.sluice.form.FormOptions;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The two time limits of one form: the client must keep a minimum rate, and a sink must become ready within a maximum
 * wait.
 *
 * <p>Time counts against the client only while the form waits for it: no received bytes wait to be decoded, and no sink
 * is pending. Thread-safe.
 */
public final class Deadlines {
    private final FormOptions options;
    private final LongSupplier clock;
    private final long maxSinkWaitNanos;
    private final @Nullable ClientPace pace;
    private final ReentrantLock paceLock = new ReentrantLock();
    private volatile long sinkWaitStart;

    public Deadlines(FormOptions options, LongSupplier clock) {
        this.options = options;
        this.clock = clock;
        this.maxSinkWaitNanos = options.maxSinkWait().toNanos();
        this.pace = options.newPace();
    }

    // ---- the client

    /** Starts the clock of the client, unless bytes have arrived in the meantime. */
    public void awaitClient(BodyQueue queue) {
        if (pace != null) {
            paceLock.lock();
            try {
                if (queue.needsBytes()) {
                    pace.startWaiting(clock.getAsLong());
                }
            } finally {
                paceLock.unlock();
            }
        }
    }

    /**
     * Stops the clock of the client, because bytes or the end of the body have arrived. Call this method after the
     * bytes are in the queue, so that {@link #awaitClient} cannot start the clock again too early.
     *
     * <p>If the queue discards the bytes, the clock starts again immediately, unless the body has ended.
     *
     * @return whether the client was fast enough
     */
    public boolean received(int bytes, BodyQueue queue) {
        if (pace == null) {
            return true;
        }
        long now = clock.getAsLong();
        paceLock.lock();
        try {
            pace.stopWaiting(now);
            pace.received(bytes);
            boolean inTime = !pace.isTooSlow(now);
            // Under the lock: discard() precedes awaitClient(), so one of the two starts the clock.
            if (queue.isDiscarding() && !queue.isFinished()) {
                pace.startWaiting(now);
            }
            return inTime;
        } finally {
            paceLock.unlock();
        }
    }

    public boolean isClientTooSlow(long now) {
        if (pace == null) {
            return false;
        }
        paceLock.lock();
        try {
            return pace.isTooSlow(now);
        } finally {
            paceLock.unlock();
        }
    }

    public MultipartException clientTooSlow() {
        return MultipartException.because(Reason.CLIENT_TOO_SLOW)
                .limit(options.minBytesPerSecond())
                .build();
    }

    // ---- the sink

    /** Starts the clock of the sink. Call this method before other threads can see that a sink is pending. */
    public void startSinkWait() {
        sinkWaitStart = System.nanoTime();
    }

    /** {@return whether the pending sink has exceeded the maximum wait} */
    public boolean isSinkOverdue(long now) {
        return now - sinkWaitStart > maxSinkWaitNanos;
    }

    public MultipartException sinkStalled() {
        return MultipartException.because(Reason.SINK_STALLED)
                .limit(maxSinkWaitNanos)
                .build();
    }
}
