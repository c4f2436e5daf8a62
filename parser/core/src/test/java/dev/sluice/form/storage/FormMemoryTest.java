package dev.sluice.form.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.form.MemoryBudget;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** The memory of one form: its limit and its account. */
class FormMemoryTest {
    /** The most memory that a form reserves in advance. */
    private static final long AHEAD = 8 << 10;

    @Test
    void form_isChargedForReservedBytesAndFewMore() throws MultipartException {
        Random random = new Random(12);
        for (int round = 0; round < 2000; round++) {
            long kept = random.nextInt(2) * 10_000L;
            MemoryBudget budget = MemoryBudget.of(40_000, kept, 5_000);
            long max = 1 + random.nextInt(60_000);
            long limited = 0;
            long charged = 0;
            try (FormMemory memory = new FormMemory(budget, new SegmentPool(), max, null, 0, missing -> false)) {
                for (int step = 0; step < 30; step++) {
                    long bytes = random.nextInt(12_000);
                    int kind = random.nextInt(5);
                    if (kind == 0) {
                        memory.release(Math.min(bytes, limited));
                        charged -= Math.min(bytes, limited);
                        limited -= Math.min(bytes, limited);
                    } else if (kind == 1 && charged + bytes <= 40_000 - kept) {
                        assertTrue(memory.tryReserveFromBudget(bytes), "rejected in spite of free memory");
                        charged += bytes;
                    } else if (memory.tryReserve(bytes)) {
                        limited += bytes;
                        charged += bytes;
                        assertTrue(limited <= max);
                    } else {
                        assertTrue(
                                limited + bytes > max || charged + bytes > 40_000 - kept, "rejected in spite of room");
                    }
                    long ahead = budget.used() - charged;
                    assertTrue(ahead >= 0 && ahead <= AHEAD, "round " + round + ": " + ahead + " bytes ahead");
                }
                memory.releaseAhead();
                assertEquals(charged, budget.used(), "round " + round);
            }
            assertEquals(0, budget.used());
        }
    }
}
