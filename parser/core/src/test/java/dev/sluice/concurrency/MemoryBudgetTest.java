package dev.sluice.concurrency;

import dev.sluice.form.MemoryBudget;
import java.util.concurrent.Callable;
import org.jetbrains.lincheck.Lincheck;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests of the shared memory budget with model-checked schedules of threads. */
@Tag("sized")
class MemoryBudgetTest {
    private static final int CAPACITY = 10;

    /** Two requests with one thread each, and readers. */
    public static final class Requests {
        private final MemoryBudget budget = MemoryBudget.of(CAPACITY, 3, 2);
        private final MemoryBudget.Account one = budget.open();
        private final MemoryBudget.Account two = budget.open();

        @Operation(nonParallelGroup = "one")
        public boolean oneReserves(@Param(gen = IntGen.class, conf = "1:8") int bytes) {
            return one.tryReserve(bytes);
        }

        @Operation(nonParallelGroup = "one")
        public void oneReleases(@Param(gen = IntGen.class, conf = "1:8") int bytes) {
            one.release(bytes);
        }

        @Operation(nonParallelGroup = "one")
        public void oneCloses() {
            one.close();
        }

        @Operation(nonParallelGroup = "two")
        public boolean twoReserves(@Param(gen = IntGen.class, conf = "1:8") int bytes) {
            return two.tryReserve(bytes);
        }

        @Operation(nonParallelGroup = "two")
        public void twoReleases(@Param(gen = IntGen.class, conf = "1:8") int bytes) {
            two.release(bytes);
        }

        @Operation(nonParallelGroup = "two")
        public void twoCloses() {
            two.close();
        }

        @Operation
        public long used() {
            return budget.used();
        }
    }

    /** One request whose account several threads use, with enough memory for all. */
    public static final class SharedAccount {
        private final MemoryBudget.Account account = MemoryBudget.of(1000).open();

        @Operation
        public boolean reserves(@Param(gen = IntGen.class, conf = "1:4") int bytes) {
            return account.tryReserve(bytes);
        }

        @Operation
        public void releases(@Param(gen = IntGen.class, conf = "1:4") int bytes) {
            account.release(bytes);
        }

        @Operation
        public void closes() {
            account.close();
        }

        @Operation
        public long held() {
            return account.held();
        }
    }

    /** Many short scenarios find more errors than a few long ones. */
    private static ModelCheckingOptions schedules() {
        return new ModelCheckingOptions()
                .iterations(Race.times(25))
                .invocationsPerIteration(100)
                .threads(2)
                .actorsPerThread(2)
                .actorsBefore(1)
                .actorsAfter(2);
    }

    @Test
    void requests_sharingBudget_areLinearizable() {
        schedules().check(Requests.class);
    }

    @Test
    void threads_sharingAccount_areLinearizable() {
        schedules().check(SharedAccount.class);
    }

    @Test
    void close_duringReservations_releasesExactlyTheReservedBytes() {
        Lincheck.runConcurrentTest(Race.times(150), () -> {
            MemoryBudget budget = MemoryBudget.of(CAPACITY, 0, 0);
            MemoryBudget.Account one = budget.open();
            MemoryBudget.Account two = budget.open();
            Callable<Void> reserving = () -> {
                try {
                    if (one.tryReserve(6)) {
                        one.release(2);
                    }
                } catch (IllegalStateException e) {
                    // the account was already closed
                }
                requireWithin(budget);
                return null;
            };
            Race.explore(
                    reserving,
                    () -> {
                        two.tryReserve(5);
                        requireWithin(budget);
                        two.close();
                        return null;
                    },
                    () -> {
                        one.close();
                        requireWithin(budget);
                        return null;
                    });
            if (budget.used() != 0 || budget.peak() > CAPACITY) {
                throw new AssertionError("used " + budget.used() + ", peak " + budget.peak());
            }
        });
    }

    private static void requireWithin(MemoryBudget budget) {
        long used = budget.used();
        if (used < 0 || used > CAPACITY) {
            throw new AssertionError("used " + used);
        }
    }
}
