package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.form.StoreMetrics;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** {@link BodyLimit} in front of a simulated store, whose bodies share its rate equally. */
class BodyLimitTest {
    private static final int SIZE = 8 << 20;
    private static final Duration ATTEMPT = Duration.ofSeconds(15);
    private static final Duration TIME = ATTEMPT.plus(BodyLimit.moreTime(SIZE));
    private static final Duration STEP = Duration.ofMillis(50);

    /** The number of time-outs after which a test ends, so that it fails instead of running forever. */
    private static final int MOST_TIMED_OUT = 200;

    private static final int RACES = 200;

    private static final Segment LARGE = Segment.of(new byte[SIZE]);

    /** A body on its way to the store. */
    private static final class Body {
        final long since;
        final CompletableFuture<Void> response = new CompletableFuture<>();
        double left = SIZE;

        Body(long since) {
            this.since = since;
        }
    }

    private final List<Body> sending = new ArrayList<>();
    private final List<Throwable> failures = new ArrayList<>();
    private long now;
    private int most;
    private int begun;
    private int stored;
    private int timedOut;
    private final BodyLimit limit = new BodyLimit(StoreMetrics.NONE, ATTEMPT, () -> now);

    private CompletableFuture<Void> begin() {
        Body body = new Body(now);
        begun++;
        sending.add(body);
        most = Math.max(most, sending.size());
        return body.response;
    }

    private void end(Body body, Throwable failure) {
        sending.remove(body);
        if (failure == null) {
            body.response.complete(null);
        } else {
            body.response.completeExceptionally(failure);
        }
    }

    /** Sends a body, and again after each time-out. */
    private CompletableFuture<Void> send() {
        CompletableFuture<Void> sent = limit.send(LARGE, this::begin);
        sent.whenComplete((response, failure) -> {
            if (failure == null) {
                stored++;
            } else if (failure instanceof MultipartException) {
                failures.add(failure);
            } else if (failure instanceof IOException) {
                timedOut++;
                send();
            }
        });
        return sent;
    }

    /** Lets time pass until the store is idle. {@return the seconds} */
    private double untilIdle(double bytesPerSecond) {
        long before = now;
        while (!sending.isEmpty() && failures.isEmpty() && timedOut < MOST_TIMED_OUT) {
            now += STEP.toNanos();
            double share = bytesPerSecond * STEP.toMillis() / 1000 / sending.size();
            for (Body body : List.copyOf(sending)) {
                body.left -= share;
                if (body.left <= 0) {
                    end(body, null);
                } else if (now - body.since > TIME.toNanos()) {
                    end(body, new IOException("timed out"));
                }
            }
        }
        return (now - before) / 1e9;
    }

    @ParameterizedTest
    @ValueSource(ints = {192 << 10, 256 << 10, 512 << 10, 1 << 20, 4 << 20, 100 << 20})
    void bodies_areAllStored_atAnyRate(int bytesPerSecond) {
        for (int i = 0; i < 24; i++) {
            send();
        }
        double least = 24.0 * SIZE / bytesPerSecond;
        double seconds = untilIdle(bytesPerSecond);
        assertEquals(24, stored);
        assertTrue(seconds < 1.25 * least + 1, seconds + " s instead of " + least);
        assertTrue(timedOut <= 4, timedOut + " time-outs");
    }

    @Test
    void limit_growsIfTheStoreIsFast_andFallsIfItBecomesSlow() {
        for (int i = 0; i < 200; i++) {
            send();
        }
        assertEquals(4, sending.size());
        untilIdle(100 << 20);
        assertEquals(32, most);
        for (int i = 0; i < 50; i++) {
            send();
        }
        assertEquals(32, sending.size());
        untilIdle(1 << 20);
        assertEquals(250, stored);
        assertTrue(timedOut <= 32, timedOut + " time-outs");
    }

    @Test
    void limit_isHalvedByABusyStore() {
        for (int i = 0; i < 20; i++) {
            send();
        }
        end(sending.get(0), S3Exception.builder().statusCode(503).build());
        assertEquals(3, sending.size()); // no other body was begun, because the limit is 2 now
        end(sending.get(0), new IllegalStateException("says nothing about the load"));
        now += TIME.toNanos() / 2; // too slow to raise the limit
        end(sending.get(0), null);
        assertEquals(2, sending.size());
    }

    @Test
    void store_takingNothing_failsAllBodiesThatWait() {
        for (int i = 0; i < 10; i++) {
            send();
        }
        double seconds = untilIdle(0);
        assertTrue(seconds < 3.1 * TIME.toSeconds(), seconds + " s");
        assertEquals(List.of(), sending);
        assertEquals(10, failures.size());
        assertEquals(
                "the object store accepts no content at present",
                assertInstanceOf(MultipartException.class, failures.get(0)).getMessage());
        failures.clear();
        send();
        untilIdle(1 << 20);
        assertEquals(1, stored, "the store has recovered, but the body is not stored");
    }

    @Test
    void bodies_timingOutTogether_doNotCountAsSentAlone() {
        for (int i = 0; i < 2; i++) {
            var unused = limit.send(LARGE, this::begin);
        }
        timeOutAll();
        for (boolean isSecond : new boolean[] {false, true}) {
            CompletableFuture<Void> alone = limit.send(LARGE, this::begin);
            timeOutAll();
            assertEquals(
                    isSecond,
                    alone.handle((done, failure) -> failure instanceof MultipartException)
                            .join());
        }
    }

    private void timeOutAll() {
        now += TIME.toNanos();
        List.copyOf(sending).forEach(body -> end(body, new IOException("no response in time")));
    }

    @Test
    void cancelledBody_givesUpItsPlaceInTheQueue() {
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            all.add(send());
        }
        now += TIME.toNanos() / 2;
        all.get(4).cancel(true); // waits
        all.get(0).cancel(true); // is sent
        assertTrue(sending.remove(0).response.isCancelled(), "the request continues");
        assertEquals(4, sending.size(), "a cancelled body has changed the limit");
        untilIdle(4 << 20);
        assertEquals(4, stored);
        assertEquals(5, begun);
    }

    /** Another thread may cancel a body between its turn and its request. */
    @Test
    void turnOfABody_cancelledAtTheSameTime_isFreeAgain() throws Exception {
        ExecutorService other = Executors.newSingleThreadExecutor();
        for (int i = 0; i < RACES; i++) {
            BodyLimit raced = new BodyLimit(StoreMetrics.NONE, ATTEMPT, () -> now);
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (int body = 0; body < 500; body++) {
                all.add(raced.send(LARGE, CompletableFuture::new));
            }
            CyclicBarrier start = new CyclicBarrier(2);
            Future<?> cancelled = other.submit(() -> {
                start.await();
                all.subList(4, all.size()).forEach(waiting -> waiting.cancel(true));
                return null;
            });
            start.await();
            all.forEach(body -> body.cancel(true)); // each one that is sent gives its turn to the next
            cancelled.get();
            AtomicInteger again = new AtomicInteger();
            for (int body = 0; body < 4; body++) {
                var unused = raced.send(LARGE, () -> {
                    again.incrementAndGet();
                    return new CompletableFuture<>();
                });
            }
            assertEquals(4, again.get(), "turns in round " + i);
        }
        other.shutdown();
    }

    @Test
    void smallBody_doesNotWait() {
        for (int i = 0; i < 10; i++) {
            send();
        }
        CompletableFuture<Void> small =
                limit.send(Segment.of(new byte[SegmentMemory.SMALL]), () -> CompletableFuture.completedFuture(null));
        assertTrue(small.isDone());
        assertFalse(limit.send(Segment.of(new byte[SegmentMemory.SMALL + 1]), this::begin)
                .isDone());
    }
}
