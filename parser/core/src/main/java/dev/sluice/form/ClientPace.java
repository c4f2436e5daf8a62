package dev.sluice.form;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * The rate at which a client sends its body. Only the time during which the server waits for the client counts.
 *
 * <p>A client starts with credit for its grace period. Each byte that arrives adds to the credit, and waiting for the
 * client uses it up at the minimum rate. Clients send in bursts, so the credit of a burst can last for a pause of up to
 * twelve grace periods. It is capped there, so that a client that has sent a lot cannot stall for a long time. Not
 * thread-safe. Times are values of {@link System#nanoTime()}.
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
     * {@return the pace of a client that has not sent anything yet}
     *
     * @param minBytesPerSecond 1 or more
     * @param grace how long the client may send nothing at the start, more than 0
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

    /** {@return whether the client is too slow at {@code now}} */
    public boolean isTooSlow(long now) {
        charge(now);
        return credit < 0;
    }

    /** {@return how much longer the client may send nothing, in nanoseconds; negative if it is already too slow} */
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
