package dev.sluice.form;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * The rate at which a client sends its body. Only time in which the server waits for the client counts.
 *
 * <p>A client starts with credit for its time of grace. It gains the bytes that it sends and pays the minimum rate. Clients send in
 * bursts, so one burst can pay for a pause of up to twelve times the grace. The credit has no higher value, so that a client that has
 * sent much cannot stall for ever. Not thread-safe. Times are {@link System#nanoTime()}.
 */
public final class ClientPace {
    private static final int MAX_GRACES = 12;

    private final double bytesPerNano;
    private final double grace;
    private double credit;
    private boolean waiting;
    private long since;

    private ClientPace(long minBytesPerSecond, Duration grace) {
        if (minBytesPerSecond < 1 || grace.isZero() || grace.isNegative()) {
            throw new IllegalArgumentException("minBytesPerSecond is " + minBytesPerSecond
                    + ", must be 1 or more; grace is " + grace + ", must be more than 0");
        }
        this.bytesPerNano = minBytesPerSecond / 1e9;
        this.grace = TimeUnit.NANOSECONDS.convert(grace) * bytesPerNano;
        this.credit = this.grace;
    }

    /**
     * {@return the pace of one client, which has sent nothing yet}
     *
     * @param minBytesPerSecond 1 or more
     * @param grace how long it may send nothing at first, more than 0
     */
    public static ClientPace of(long minBytesPerSecond, Duration grace) {
        return new ClientPace(minBytesPerSecond, Objects.requireNonNull(grace, "grace"));
    }

    /** Starts charging the client: the server has read all bytes and waits for more. */
    public void startWaiting(long now) {
        charge(now);
        since = waiting ? since : now;
        waiting = true;
    }

    /** Stops charging the client: bytes have arrived, or the server is busy. */
    public void stopWaiting(long now) {
        charge(now);
        waiting = false;
    }

    /** Adds the bytes that have arrived to the credit. */
    public void received(int bytes) {
        credit = Math.min(credit + bytes, grace * MAX_GRACES);
    }

    /** {@return whether the client has been too slow until {@code now}} */
    public boolean isTooSlow(long now) {
        charge(now);
        return credit < 0;
    }

    /** {@return how long the server waits if no byte arrives, in nanoseconds; negative if the client is too slow} */
    public long patience() {
        return (long) (credit / bytesPerNano);
    }

    private void charge(long now) {
        if (waiting && now - since > 0) { // another thread may have charged up to a later time
            credit -= (now - since) * bytesPerNano;
            since = now;
        }
    }
}
