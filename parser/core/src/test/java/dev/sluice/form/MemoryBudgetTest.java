package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** The memory of the process is shared fairly and never overdrawn. */
class MemoryBudgetTest {
    @Test
    void whatIsReservedIsCountedAndGivenBack() throws MultipartException {
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
            MultipartException refused = assertThrows(MultipartException.class, () -> one.reserve(Long.MAX_VALUE));
            assertEquals(503, refused.httpStatus());
        }
        assertEquals(0, budget.used());
        assertEquals(100, budget.peak());
    }

    @Test
    void closingGivesEverythingBackOnce() {
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
    void largeRequestsCannotLockSmallOnesOut() {
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
    void settingsThatMakeNoSenseAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> MemoryBudget.of(-1));
        assertThrows(IllegalArgumentException.class, () -> MemoryBudget.of(10, 11, 0));
        assertThrows(IllegalArgumentException.class, () -> MemoryBudget.of(10, 1, -1));
        assertTrue(MemoryBudget.unlimited().open().tryReserve(Long.MAX_VALUE));
    }

    @Test
    void manyThreadsNeverOverdrawItAndLeaveNothing() throws InterruptedException, ExecutionException {
        MemoryBudget budget = MemoryBudget.of(10_000, 2_000, 300);
        int threads = 8;
        CyclicBarrier start = new CyclicBarrier(threads);
        ExecutorService executor = Executors.newFixedThreadPool(threads);
        try {
            List<Future<Long>> results = new ArrayList<>();
            for (int seed = 0; seed < threads; seed++) {
                SplittableRandom random = new SplittableRandom(seed);
                results.add(executor.submit(() -> {
                    start.await();
                    long refused = 0;
                    for (int request = 0; request < 3_000; request++) {
                        refused += request(budget, random);
                    }
                    return refused;
                }));
            }
            long refused = 0;
            for (Future<Long> result : results) {
                refused += result.get();
            }
            assertEquals(refused, budget.refusals());
        } finally {
            executor.shutdownNow();
        }
        assertEquals(0, budget.used());
        assertTrue(budget.peak() <= 10_000, "peak: " + budget.peak());
    }

    private static long request(MemoryBudget budget, SplittableRandom random) {
        long refused = 0;
        try (MemoryBudget.Account account = budget.open()) {
            for (int step = 0; step < 8; step++) {
                if (!account.tryReserve(random.nextInt(1_000))) {
                    refused++;
                }
                long used = budget.used();
                if (used > 10_000 || used < account.held()) {
                    throw new AssertionError("used: " + used);
                }
                account.release(random.nextLong(account.held() + 1));
            }
        }
        return refused;
    }
}
