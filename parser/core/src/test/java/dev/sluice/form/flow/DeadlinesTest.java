package dev.sluice.form.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class DeadlinesTest {
    private static FormOptions.Builder options() {
        return FormOptions.inMemory(MemoryBudget.of(1 << 20));
    }

    /** Bytes may still arrive after another thread has ended the form. The client's time for the next bytes starts at once. */
    @Test
    void received_afterDiscard_restartsTheClockOfTheClient() {
        AtomicLong clock = new AtomicLong();
        Deadlines deadlines = new Deadlines(options().build(), clock::get);
        BodyQueue queue = new BodyQueue(new WaitingMemory(1 << 20));
        queue.discard(100);
        deadlines.awaitClient(queue);
        deadlines.received(1, queue);
        clock.set(TimeUnit.HOURS.toNanos(1));
        assertTrue(deadlines.isClientTooSlow(clock.get()));
    }

    @Test
    void paceCheckNanos_isAQuarterOfTheShorterTime_withinBounds() {
        Duration hour = Duration.ofHours(1);
        assertEquals(1_000_000, pace(Duration.ofNanos(1), hour));
        assertEquals(5_000_000, pace(hour, Duration.ofMillis(20)));
        assertEquals(1_000_000_000, pace(hour, hour));
    }

    private static long pace(Duration grace, Duration sinkWait) {
        return options()
                .minRateGrace(grace)
                .maxSinkWait(sinkWait)
                .progress(progress -> {}, Duration.ofSeconds(Long.MAX_VALUE))
                .build()
                .paceCheckNanos();
    }
}
