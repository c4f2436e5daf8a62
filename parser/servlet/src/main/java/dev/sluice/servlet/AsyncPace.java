package dev.sluice.servlet;

import dev.sluice.form.ClientPace;
import org.jspecify.annotations.Nullable;

/** The minimum rate of a form that no thread waits for: whoever works on the form tells, the watch asks. */
final class AsyncPace {
    private final Reception reception;
    private final @Nullable ClientPace pace;
    private volatile boolean waiting;
    private volatile long tooSlowAt;
    private volatile long pausedAt;

    AsyncPace(Reception reception) {
        this.reception = reception;
        this.pace = reception.newPace();
    }

    /** All there is has been read. */
    void waits() {
        if (pace != null) {
            long now = reception.now();
            pace.waits(now);
            tooSlowAt = now + pace.patience();
            waiting = true;
        }
    }

    /** Something came. {@return whether soon enough} */
    boolean received(int bytes) {
        waiting = false;
        if (pace == null) {
            return true;
        }
        long now = reception.now();
        pace.goesOn(now);
        pace.received(bytes);
        return !pace.isTooSlow(now);
    }

    /** Nothing is wanted from now on; any thread. */
    void pause() {
        pausedAt = reception.now();
    }

    /** Nobody is waited for; any thread. */
    void stop() {
        waiting = false;
    }

    /** The time since {@link #pause()} was not the client's. */
    void goesOn(boolean awaiting) {
        if (pace != null) {
            pace.goesOn(pausedAt);
            if (awaiting) {
                waits();
            }
        }
    }

    /** {@return whether nothing has come for too long; any thread} */
    boolean isTooSlow(long now) {
        return waiting && now - tooSlowAt > 0;
    }
}
