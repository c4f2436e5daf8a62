package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import org.junit.jupiter.api.Test;

/** The budget of the process: its shares and its limit. */
class MemoryBudgetTest {
    @Test
    void reservations_areCountedAndLimited() throws MultipartException {
        MemoryBudget budget = MemoryBudget.of(100, 0, 0);
        try (MemoryBudget.Account one = budget.open();
                MemoryBudget.Account two = budget.open()) {
            one.reserve(60);
            assertTrue(two.tryReserve(40));
            assertFalse(two.tryReserve(1));
            assertEquals(1, budget.refusals());
            one.release(1);
            assertTrue(two.tryReserve(1));
            assertEquals(59, one.held());
            assertEquals(100, budget.used());
            assertThrows(IllegalStateException.class, () -> one.release(60));
            assertThrows(IllegalArgumentException.class, () -> one.release(-1));
            assertThrows(IllegalArgumentException.class, () -> one.tryReserve(-1));
            MultipartException rejected = assertThrows(MultipartException.class, () -> one.reserve(Long.MAX_VALUE));
            assertEquals(503, rejected.httpStatus());
        }
        assertEquals(0, budget.used());
        assertEquals(100, budget.peak());
    }

    @Test
    void close_releasesEverythingOnce() {
        MemoryBudget budget = MemoryBudget.of(100, 0, 0);
        MemoryBudget.Account account = budget.open();
        account.tryReserve(50);
        account.close();
        account.close();
        account.release(50);
        assertEquals(0, budget.used());
        assertThrows(IllegalStateException.class, () -> account.tryReserve(1));
    }

    @Test
    void smallRequests_haveAShareThatLargeOnesCannotUse() {
        MemoryBudget budget = MemoryBudget.of(1000, 250, 50);
        try (MemoryBudget.Account large = budget.open();
                MemoryBudget.Account small = budget.open();
                MemoryBudget.Account other = budget.open()) {
            assertTrue(large.tryReserve(750));
            assertFalse(large.tryReserve(1));
            assertTrue(small.tryReserve(50));
            assertFalse(small.tryReserve(1));
            assertTrue(other.tryReserve(49));
            assertTrue(other.tryReserve(1));
            assertEquals(850, budget.used());
        }
    }

    @Test
    void invalidSettings_areRejected() {
        assertThrows(IllegalArgumentException.class, () -> MemoryBudget.of(-1));
        assertThrows(IllegalArgumentException.class, () -> MemoryBudget.of(10, 11, 0));
        assertThrows(IllegalArgumentException.class, () -> MemoryBudget.of(10, 1, -1));
        long capacity = MemoryBudget.unlimited().capacity();
        assertTrue(MemoryBudget.of(capacity).open().tryReserve(Long.MAX_VALUE));
    }
}
