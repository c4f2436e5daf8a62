package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.MemoryBudget;
import dev.sluice.form.StoreMetrics;
import dev.sluice.s3.Uploads.File;
import dev.sluice.testkit.FaultProxy;
import java.time.Duration;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(Weed.IsThere.class)
class MetricsTest {
    private static final int MIB = 1 << 20;
    private static final List<File> FILES = List.of(new File("a", 11 * MIB), new File("b", 10));
    private static final String PIECES = "PUT .*partNumber=.*";

    /** Adds up what it is told. */
    private static final class Sums implements StoreMetrics {
        private final Map<Cause, Integer> retries = new EnumMap<>(Cause.class);
        private int segments;
        private long bytes;
        private long mostBytes;
        private int admitted;
        private int refused;
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
            refused += isAdmitted ? 0 : 1;
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

        synchronized String told() {
            return segments + " segments, " + bytes + " bytes, waits " + admitted + '+' + refused + ", aborts " + aborts
                    + ", swept " + uploads + '+' + objects;
        }
    }

    private static Bench bench(StoreMetrics metrics) throws Exception {
        return new Bench(
                MemoryBudget.of(64 * MIB),
                store -> store.attempts(9)
                        .pauseMillis(5)
                        .attemptTimeout(Duration.ofSeconds(15))
                        .metrics(metrics),
                sinks -> sinks.maxWait(Duration.ofMillis(500)));
    }

    private static FaultProxy.Fault error(int status, String code) {
        return FaultProxy.answer(status, "<Error><Code>" + code + "</Code><Message>m</Message></Error>");
    }

    @Test
    void retriesAreToldByCauseAndWhatIsOnItsWayIsNothingInTheEnd() throws Exception {
        Sums sums = new Sums();
        try (Bench bench = bench(sums)) {
            List<FaultProxy.Fault> faults = List.of(
                    error(503, "SlowDown"),
                    FaultProxy.HANG,
                    FaultProxy.RESET,
                    error(403, "ExpiredToken"),
                    error(409, "OperationAborted"),
                    error(400, "BadDigest"),
                    error(500, "InternalError"));
            for (FaultProxy.Fault fault : faults) { // each counts the requests that those before it let through
                bench.proxy.on(request -> request.matches("PUT .*partNumber=2&.*"), 1, 1, fault);
            }
            bench.stored(FILES);
            EnumSet<StoreMetrics.Cause> causes = EnumSet.allOf(StoreMetrics.Cause.class);
            assertEquals(causes, sums.retries.keySet());
            assertTrue(sums.retries.values().stream().allMatch(count -> count == 1), sums.retries::toString);
            assertTrue(sums.mostBytes >= 8 * MIB, "bytes on their way: " + sums.mostBytes);
            assertEquals("0 segments, 0 bytes, waits 0+0, aborts 0, swept 0+0", sums.told());
        }
    }

    @Test
    void abortsAndSweepsAreTold() throws Exception {
        Sums sums = new Sums();
        try (Bench bench = bench(sums)) {
            bench.proxy.on(request -> request.matches(PIECES), 1, 1000, error(403, "AccessDenied"));
            bench.failure(FILES);
            assertEquals("0 segments, 0 bytes, waits 0+0, aborts 1, swept 0+0", sums.told());
            bench.client
                    .createMultipartUpload(
                            request -> request.bucket(bench.bucket).key(bench.prefix + "left"))
                    .join();
            bench.impatient().sweep().get();
            assertEquals("0 segments, 0 bytes, waits 0+0, aborts 1, swept 1+0", sums.told());
        }
    }

    @Test
    void whatFormsWaitForIsTold() throws Exception {
        Sums sums = new Sums();
        try (Bench bench = bench(sums)) {
            try (MemoryBudget.Account others = bench.budget.open()) {
                others.reserve(40 * MIB);
                Uploads.Sending refused = bench.send(bench.sinks.newForm(), FILES);
                assertThrows(ExecutionException.class, refused.form()::get);
            }
            bench.assertNothingLeft();
            assertEquals("0 segments, 0 bytes, waits 0+1, aborts 0, swept 0+0", sums.told());
        }
    }

    @Test
    void metricsThatThrowChangeNothing() throws Exception {
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
