package dev.sluice.samples.upload;

import java.time.Duration;

/**
 * Whether a client sends its body fast enough. Only the client's own time counts: that in which the server waits for
 * it.
 *
 * <p>A client starts with credit for its time of grace, gains as much as it sends, and pays
 * {@value ServerConfig#MIN_BYTES_PER_SECOND} octets per second. Credit is capped, so that one that has sent much cannot
 * stall for ever; but clients send in bursts, and one burst pays for a pause of up to twelve times the grace. Not
 * thread-safe; times are {@link System#nanoTime()}.
 */
final class ClientPace {
    private static final int MAX_GRACES = 12;
    private static final double OCTETS_PER_NANO = ServerConfig.MIN_BYTES_PER_SECOND / 1e9;

    private final double grace;
    private double credit;
    private boolean waiting;
    private long since;

    ClientPace(Duration grace) {
        this.grace = grace.toNanos() * OCTETS_PER_NANO;
        this.credit = this.grace;
    }

    /** The server has read all there is and waits for more. */
    void waits(long now) {
        waiting = true;
        since = now;
    }

    /** Something came, or the server has something else to do. */
    void goesOn(long now) {
        charge(now);
        waiting = false;
    }

    void received(int octets) {
        credit = Math.min(credit + octets, grace * MAX_GRACES);
    }

    boolean isTooSlow(long now) {
        charge(now);
        return credit < 0;
    }

    private void charge(long now) {
        if (waiting) {
            credit -= (now - since) * OCTETS_PER_NANO;
            since = now;
        }
    }
}
