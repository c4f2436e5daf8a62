package dev.sluice.form;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * A tracker of the rate at which a client sends its body. Only the time during which the server waits for the client counts.
 *
 * <p>The credit of a client is a number of bytes. It starts at the minimum rate times the grace period. Each received byte adds 1 to it.
 * While the server waits for the client, the credit falls at the minimum rate. The client is too slow if its credit is below 0. Clients
 * send in bursts, so a burst can save credit for a pause. The credit is capped at twelve times its initial value, so that no client can
 * pause for longer than twelve grace periods. Not thread-safe. Times are values of {@link System#nanoTime()}.
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
     * @param minBytesPerSecond the minimum rate, 1 or more
     * @param grace the time at the start during which the client need not send anything, more than 0
     */
    public static ClientPace of(long minBytesPerSecond, Duration grace) {
        return new ClientPace(minBytesPerSecond, Objects.requireNonNull(grace, "grace"));
    }

    /** Starts to reduce the credit: the server has read all bytes and waits for more. */
    public void startWaiting(long now) {
        charge(now);
        since = waiting ? since : now;
        waiting = true;
    }

    /** Stops reducing the credit: bytes have arrived, or the server is busy. */
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

    /** {@return the time in nanoseconds until the waiting client is too slow; negative if it already is} */
    public long patience() {
        return (long) (credit / bytesPerNano);
    }

    private void charge(long now) {
        if (waiting && now - since > 0) { // false if another thread has already charged the time up to a later point
            credit -= (now - since) * bytesPerNano;
            since = now;
        }
    }
}
