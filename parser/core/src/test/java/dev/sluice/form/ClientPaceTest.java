package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ClientPaceTest {
    private final ClientPace pace = ClientPace.of(240, Duration.ofSeconds(5));

    private static long seconds(double seconds) {
        // Starts near the overflow of nanoTime, which has no particular origin.
        return Long.MAX_VALUE - TimeUnit.SECONDS.toNanos(10) + (long) (seconds * 1e9);
    }

    @Test
    void silentClient_isTooSlowAfterTheGrace() {
        pace.startWaiting(seconds(0));
        assertEquals(5.0, pace.patience() / 1e9, 1e-6);
        assertFalse(pace.isTooSlow(seconds(4.9)));
        assertTrue(pace.isTooSlow(seconds(5.1)));
        assertTrue(pace.patience() < 0);
    }

    @Test
    void clientAtTheMinimumRate_isNotTooSlow() {
        for (int second = 0; second < 1000; second++) {
            pace.startWaiting(seconds(second));
            pace.stopWaiting(seconds(second + 1));
            pace.received(240);
            assertFalse(pace.isTooSlow(seconds(second + 1)));
        }
        for (int second = 1000; second < 1100; second++) {
            pace.startWaiting(seconds(second));
            pace.stopWaiting(seconds(second + 1));
            pace.received(200);
        }
        assertTrue(pace.isTooSlow(seconds(1100)));
    }

    @Test
    void burst_allowsPauseOfUpToOneMinute() {
        pace.received(1 << 30);
        pace.startWaiting(seconds(0));
        assertEquals(60.0, pace.patience() / 1e9, 1e-6);
        assertFalse(pace.isTooSlow(seconds(59)));
        assertTrue(pace.isTooSlow(seconds(61)));
    }

    @Test
    void client_isNotChargedWhileServerIsBusy() {
        pace.startWaiting(seconds(0));
        pace.stopWaiting(seconds(1));
        assertFalse(pace.isTooSlow(seconds(500)));
        pace.startWaiting(seconds(500));
        assertFalse(pace.isTooSlow(seconds(503.9)));
        assertTrue(pace.isTooSlow(seconds(504.1)));
    }

    @Test
    void wait_endedBeforeItBegan_givesNoCredit() {
        pace.startWaiting(seconds(2));
        pace.stopWaiting(seconds(1));
        assertEquals(5.0, pace.patience() / 1e9, 1e-6);
    }

    /** Two threads may pass their clock readings in the wrong order. */
    @Test
    void overlappingTimes_areChargedOnce() {
        pace.startWaiting(seconds(0));
        assertFalse(pace.isTooSlow(seconds(3)));
        assertFalse(pace.isTooSlow(seconds(1)));
        assertFalse(pace.isTooSlow(seconds(4.9)));
        pace.received(240);
        pace.startWaiting(seconds(2));
        assertFalse(pace.isTooSlow(seconds(5.9)));
        assertTrue(pace.isTooSlow(seconds(6.1)));
    }

    @Test
    void invalidRate_isRejected() {
        assertThrows(IllegalArgumentException.class, () -> ClientPace.of(0, Duration.ofSeconds(5)));
        assertThrows(IllegalArgumentException.class, () -> ClientPace.of(240, Duration.ZERO));
        assertThrows(IllegalArgumentException.class, () -> ClientPace.of(240, Duration.ofSeconds(-1)));
    }
}
