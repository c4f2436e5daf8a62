package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.MemoryBudget;
import dev.sluice.form.StoreMetrics;
import dev.sluice.s3.Uploads.File;
import dev.sluice.testkit.FaultProxy.Fault;
import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

@ExtendWith(Weed.IsThere.class)
@Execution(ExecutionMode.CONCURRENT) // most of the time is waiting
class MetricsTest {
    private static final int MIB = 1 << 20;
    private static final List<File> FILES = List.of(new File("a", 8 * MIB + 100_000), new File("b", 10));
    private static final String PIECES = "PUT .*partNumber=.*";

    /** The sums of all events. */
    private static final class Sums implements StoreMetrics {
        private final Map<Cause, Integer> retries = new EnumMap<>(Cause.class);
        private int segments;
        private long bytes;
        private long mostBytes;
        private int admitted;
        private int rejected;
        private int aborts;
        private int uploads;
        private int objects;

        @Override
        public synchronized void retried(Cause cause) {
            retries.merge(cause, 1, Integer::sum);
        }

        @Override
        public synchronized void waited(long nanos, boolean isAdmitted) {
            assertTrue(nanos > 0, "no time");
            admitted += isAdmitted ? 1 : 0;
            rejected += isAdmitted ? 0 : 1;
        }

        @Override
        public synchronized void sending(int moreSegments, long moreBytes) {
            segments += moreSegments;
            bytes += moreBytes;
            mostBytes = Math.max(mostBytes, bytes);
        }

        @Override
        public synchronized void aborted() {
            aborts++;
        }

        @Override
        public synchronized void swept(int moreUploads, int moreObjects) {
            uploads += moreUploads;
            objects += moreObjects;
        }

        synchronized String summary() {
            return segments + " segments, " + bytes + " bytes, waits " + admitted + '+' + rejected + ", aborts "
                    + aborts + ", swept " + uploads + '+' + objects;
        }
    }

    private static Bench bench(StoreMetrics metrics) throws Exception {
        return new Bench(
                store -> store.attempts(9)
                        .pauseMillis(5)
                        .attemptTimeout(Duration.ofSeconds(15))
                        .metrics(metrics),
                sinks -> sinks.maxWait(Duration.ofMillis(500)));
    }

    @Test
    void retries_areCountedByCause() throws Exception {
        Sums sums = new Sums();
        try (Bench bench = bench(sums)) {
            List<Fault> faults = List.of(
                    Fault.BUSY,
                    Fault.HANG,
                    Fault.RESET,
                    Fault.EXPIRED_TOKEN,
                    Fault.CONFLICT,
                    Fault.DAMAGED_BODY,
                    Fault.SERVER_ERROR);
            for (Fault fault : faults) { // each rule counts only requests that the earlier rules have let through
                bench.proxy.on(request -> request.matches("PUT .*partNumber=2&.*"), 1, 1, fault);
            }
            S3Form form = bench.stored(FILES);
            assertEquals(EnumSet.allOf(StoreMetrics.Cause.class), sums.retries.keySet());
            // On a busy machine, requests may time out and connections may fail without a fault.
            Set<StoreMetrics.Cause> ofFaults =
                    EnumSet.complementOf(EnumSet.of(StoreMetrics.Cause.TIMEOUT, StoreMetrics.Cause.CONNECTION));
            assertTrue(ofFaults.stream().allMatch(cause -> sums.retries.get(cause) == 1), sums.retries::toString);
            assertTrue(sums.mostBytes >= 8 * MIB, "bytes on their way: " + sums.mostBytes);
            bench.assertNothingLeftBut(form);
            assertTrue(sums.summary().startsWith("0 segments, 0 bytes, waits 0+0, aborts 0"), sums.summary());
        }
    }

    @Test
    void aborts_areCounted() throws Exception {
        Sums sums = new Sums();
        try (Bench bench = bench(sums)) {
            bench.proxy.on(request -> request.matches(PIECES), 1, 1000, Fault.FORBIDDEN);
            bench.failure(FILES);
            bench.assertNothingHeld();
            Weed.await(() ->
                    assertTrue(sums.summary().startsWith("0 segments, 0 bytes, waits 0+0, aborts 1"), sums.summary()));
        }
    }

    @Test
    void waits_areCounted() throws Exception {
        Sums sums = new Sums();
        try (Bench bench = bench(sums)) {
            try (MemoryBudget.Account others = bench.budget.open()) {
                others.reserve(180 * MIB);
                bench.failure(FILES);
            }
            // the form may fail before the wait is reported
            Weed.await(() -> assertTrue(sums.summary().contains("waits 0+1,"), sums.summary()));
        }
    }

    @Test
    void metrics_throwing_changeNothing() throws Exception {
        StoreMetrics broken = new StoreMetrics() {
            @Override
            public void sending(int segments, long bytes) {
                throw new IllegalStateException("broken");
            }
        };
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        List<String> seen = new CopyOnWriteArrayList<>();
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> seen.add(failure.getMessage()));
        try (Bench bench = bench(broken)) {
            bench.stored(FILES);
            assertTrue(seen.contains("broken"), seen::toString);
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
    }
}
