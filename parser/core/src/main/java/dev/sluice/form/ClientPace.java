package dev.sluice.form;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * Whether a client sends its body fast enough. Only the client's own time counts: that in which the server waits for
 * it.
 *
 * <p>A client starts with credit for its time of grace, gains as much as it sends, and pays the minimum rate. Credit is
 * capped, so that one that has sent much cannot stall for ever; but clients send in bursts, and one burst pays for a
 * pause of up to twelve times the grace. Not thread-safe; times are {@link System#nanoTime()}.
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
     * @param grace how long it may send nothing at first; more than 0
     */
    public static ClientPace of(long minBytesPerSecond, Duration grace) {
        return new ClientPace(minBytesPerSecond, Objects.requireNonNull(grace, "grace"));
    }

    /** Says that the server has read all there is and waits for more. */
    public void waits(long now) {
        charge(now);
        since = waiting ? since : now;
        waiting = true;
    }

    /** Says that something came, or that the server has something else to do. */
    public void goesOn(long now) {
        charge(now);
        waiting = false;
    }

    /** Says how many bytes came. */
    public void received(int bytes) {
        credit = Math.min(credit + bytes, grace * MAX_GRACES);
    }

    /** {@return whether it has been too slow up to now} */
    public boolean isTooSlow(long now) {
        charge(now);
        return credit < 0;
    }

    /** {@return how long it may go on sending nothing while it is waited for, in nanoseconds; less than 0 if too slow} */
    public long patience() {
        return (long) (credit / bytesPerNano);
    }

    private void charge(long now) {
        if (waiting && now - since > 0) { // somebody with a later time may have been here before
            credit -= (now - since) * bytesPerNano;
            since = now;
        }
    }
}
