package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.Throwing;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SubmissionPublisher;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Forms from a publisher or from callbacks. */
class FormSubscriberTest extends SpooledTest {
    private static final FormHead HEAD = FormHead.of("multipart/form-data; boundary=x");

    /** A subscription that counts the requested buffers. */
    private static final class Requests implements Flow.Subscription {
        long count;
        boolean cancelled;

        @Override
        public void request(long more) {
            count += more;
        }

        @Override
        public void cancel() {
            cancelled = true;
        }
    }

    private final Queue<Runnable> queued = new ArrayDeque<>();
    private final Requests requests = new Requests();

    private FormSubscriber subscriber(FormOptions.Builder options, FormHead head, Executor executor) {
        FormOptions built = options.build();
        return FormSubscriber.of(Forms.of(built), built, head, executor);
    }

    private FormOptions.Builder options() {
        return FormOptions.builder(spool, budget).spillThreshold(1000);
    }

    /** {@return a sink that is ready again when {@code written} is ready} */
    private static PartSink sink(Readiness written) {
        return new IdleSink() {
            @Override
            public Readiness write(ByteBuf data) {
                return written;
            }
        };
    }

    private void runQueued() {
        for (Runnable task = queued.poll(); task != null; task = queued.poll()) {
            task.run();
        }
    }

    private static Throwable failure(FormSubscriber form) {
        CompletableFuture<MultipartForm> future = form.completion().toCompletableFuture();
        assertTrue(future.isDone(), "the form has not ended");
        return assertThrows(ExecutionException.class, future::get).getCause();
    }

    private static ByteBuf bytes(byte[] body, int from, int to) {
        return Unpooled.copiedBuffer(body, from, to - from);
    }

    @Test
    void form_fromPublisher_isReceived() throws Exception {
        byte[] body =
                new Upload().field("a", "1").file("f", "f", "y".repeat(500_000)).toBytes();
        ExecutorService workers = Executors.newFixedThreadPool(2);
        FormSubscriber form = subscriber(options(), HEAD, workers);
        try (SubmissionPublisher<ByteBuf> publisher = new SubmissionPublisher<>()) {
            publisher.subscribe(form);
            for (int at = 0; at < body.length; at += 10_000) {
                publisher.submit(bytes(body, at, Math.min(at + 10_000, body.length)));
            }
        }
        try (MultipartForm received = form.completion().toCompletableFuture().get(2, TimeUnit.MINUTES)) {
            assertEquals("1", received.text("a"));
            assertEquals(500_000, received.requireFile("f").size());
        }
        assertTrue(form.isAtEnd());
        workers.shutdown();
        assertTrue(workers.awaitTermination(2, TimeUnit.MINUTES));
    }

    @Test
    void buffers_areRequested_whileThereIsDemand() throws Exception {
        Readiness slow = Readiness.pending();
        FormSubscriber form = subscriber(options().decider(part -> PartDecision.to(sink(slow))), HEAD, Runnable::run);
        form.start(requests::request);
        assertEquals(1, requests.count);
        byte[] body = new Upload().file("f", "f", "y".repeat(1000)).toBytes();
        form.onNext(bytes(body, 0, 200));
        assertEquals(1, requests.count, "requests while the sink is not ready");
        slow.ready();
        assertEquals(2, requests.count);
        form.onNext(bytes(body, 200, body.length));
        form.onComplete();
        form.completion().toCompletableFuture().get(2, TimeUnit.MINUTES).close();
        Requests second = new Requests();
        form.onSubscribe(second);
        assertTrue(second.cancelled);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void rejectedBody_isDiscardedBeforeTheFailureIsReported(boolean ends) {
        FormSubscriber form = subscriber(options().maxPartBytes(10).maxDrainBytes(5000), HEAD, queued::add);
        form.onSubscribe(requests);
        byte[] body = new Upload().file("f", "f", "y".repeat(20_000)).toBytes();
        form.onNext(bytes(body, 0, 1000));
        assertEquals(2, requests.count);
        runQueued();
        assertEquals(2, requests.count, "requests before the second buffer has arrived");
        CompletableFuture<MultipartForm> future = form.completion().toCompletableFuture();
        assertFalse(future.isDone(), "the form ended while the client was sending");
        if (ends) {
            form.onComplete();
        } else {
            form.onNext(bytes(body, 1000, 7000));
        }
        MultipartException rejected = assertInstanceOf(MultipartException.class, failure(form));
        assertEquals(413, rejected.httpStatus());
        assertEquals(ends, form.isAtEnd());
        assertEquals(!ends, requests.cancelled);
    }

    /** A client that waits for 100 (Continue) has sent nothing that could be discarded. */
    @ParameterizedTest
    @ValueSource(longs = {100, 1L << 40})
    void rejectedHead_ofClientThatExpectsContinue_failsAtOnce(long length) {
        FormHead head = new FormHead("multipart/form-data; boundary=x", length, true);
        FormSubscriber form = subscriber(options().maxBodyBytes(50), head, Runnable::run);
        assertInstanceOf(MultipartException.class, failure(form));
        form.onSubscribe(requests);
        assertEquals(0, requests.count);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void lostConnection_endsForm(boolean executorRejects) throws IOException {
        IOException lost = new IOException("lost");
        FormSubscriber form = subscriber(options(), HEAD, task -> {
            if (!queued.isEmpty() && executorRejects) {
                throw new RejectedExecutionException();
            }
            task.run();
        });
        form.onSubscribe(requests);
        form.onNext(bytes(new Upload().file("f", "f", "y".repeat(5000)).toBytes(), 0, 3000));
        assertEquals(1, spool.files());
        queued.add(() -> {});
        form.onError(lost);
        form.onError(new IOException("again"));
        assertSame(lost, failure(form));
        assertFalse(requests.cancelled);
    }

    @Test
    void lostConnection_filesAreDeletedOnTheExecutor() {
        FormSubscriber form = subscriber(options(), HEAD, queued::add);
        form.onSubscribe(requests);
        form.onNext(bytes(new Upload().file("f", "f", "y".repeat(5000)).toBytes(), 0, 3000));
        runQueued();
        form.onError(new IOException("lost"));
        assertEquals(1, spool.files(), "files deleted on the thread of the server");
        runQueued();
        assertEquals(0, spool.files());
    }

    /** As after {@link ExecutorService#shutdownNow}. */
    @Test
    void executor_discardsTheTaskOfAnOffer_lostConnectionEndsForm() {
        IOException lost = new IOException("lost");
        boolean[] isShutDown = new boolean[1];
        FormSubscriber form = subscriber(options(), HEAD, task -> {
            if (isShutDown[0]) {
                throw new RejectedExecutionException();
            }
            queued.add(task);
        });
        form.onSubscribe(requests);
        form.onNext(bytes(new Upload().field("f", "1").toBytes(), 0, 10));
        isShutDown[0] = true;
        Runnable discarded = queued.remove();
        form.onError(lost);
        assertSame(lost, failure(form));
        discarded.run(); // has no effect if it was not discarded after all
    }

    @Test
    void slowClient_isRejected() throws Exception {
        ExecutorService workers = Executors.newFixedThreadPool(1);
        FormSubscriber form =
                subscriber(options().minBytesPerSecond(1000).minRateGrace(Duration.ofMillis(200)), HEAD, workers);
        form.onSubscribe(requests);
        assertEquals(408, rejection(form).httpStatus());
        workers.shutdown();
        assertTrue(workers.awaitTermination(2, TimeUnit.MINUTES));
    }

    /** An executor that runs tasks on the calling thread until it is closed. */
    private static final class ClosedLater implements Executor {
        volatile boolean closed;

        @Override
        public void execute(Runnable task) {
            if (closed) {
                throw new RejectedExecutionException("on purpose");
            }
            task.run();
        }
    }

    private static MultipartException rejection(FormSubscriber form) {
        CompletableFuture<MultipartForm> future = form.completion().toCompletableFuture();
        ExecutionException failed = assertThrows(ExecutionException.class, () -> future.get(2, TimeUnit.MINUTES));
        return assertInstanceOf(MultipartException.class, failed.getCause());
    }

    @Test
    void timerTask_rejectedByExecutor_endsForm() throws Exception {
        ClosedLater executor = new ClosedLater();
        FormSubscriber form = subscriber(options().noMinimumRate().minRateGrace(Duration.ofMillis(40)), HEAD, executor);
        form.onSubscribe(requests);
        form.onNext(bytes(new Upload().file("f", "f", "y".repeat(5000)).toBytes(), 0, 3000));
        assertEquals(1, spool.files());
        executor.closed = true;
        MultipartException rejected = rejection(form);
        assertEquals(MultipartException.Reason.UNAVAILABLE, rejected.reason());
        assertInstanceOf(RejectedExecutionException.class, rejected.getCause());
        assertTrue(requests.cancelled);
        assertEquals(0, spool.files());
    }

    /** As by a pool whose bounded queue is full for a moment. */
    @Test
    void timerTask_rejectedForAMoment_formContinues() throws Exception {
        FormOptions options =
                options().noMinimumRate().minRateGrace(Duration.ofMillis(40)).build(); // a check every 10 ms
        AtomicInteger checks = new AtomicInteger();
        CompletableFuture<Object> acceptedTwice = new CompletableFuture<>();
        FormSubscriber form = FormSubscriber.of(Forms.of(options), options, HEAD, Runnable::run, task -> {
            int check = checks.incrementAndGet();
            if (check % 8 != 0) { // seven in a row
                throw new RejectedExecutionException("on purpose");
            } else if (check == 16) {
                acceptedTwice.complete(check);
            }
            task.run();
        });
        form.onSubscribe(requests);
        byte[] body = new Upload().field("a", "1").toBytes();
        form.onNext(bytes(body, 0, body.length));
        CompletableFuture<MultipartForm> received = form.completion().toCompletableFuture();
        CompletableFuture.anyOf(acceptedTwice, received).get(2, TimeUnit.MINUTES);
        form.onComplete();
        received.get(2, TimeUnit.MINUTES).close();
    }

    @Test
    void timerTask_rejectedByExecutor_stillLimitsTheRestOfARejectedBody() throws Exception {
        ClosedLater executor = new ClosedLater();
        FormOptions.Builder options =
                options().maxPartBytes(10).minBytesPerSecond(1000).minRateGrace(Duration.ofSeconds(1));
        FormSubscriber form = subscriber(options, HEAD, executor);
        form.onSubscribe(requests);
        form.onNext(bytes(new Upload().file("f", "f", "y".repeat(5000)).toBytes(), 0, 300));
        executor.closed = true;
        assertEquals(MultipartException.Reason.PART_TOO_LARGE, rejection(form).reason());
        assertTrue(requests.cancelled);
    }

    @Test
    void offer_rejectedByExecutor_endsForm() throws Exception {
        ClosedLater executor = new ClosedLater();
        FormSubscriber form = subscriber(options(), HEAD, executor);
        form.onSubscribe(requests);
        executor.closed = true;
        form.onNext(bytes(new Upload().field("a", "1").toBytes(), 0, 10));
        assertEquals(MultipartException.Reason.UNAVAILABLE, rejection(form).reason());
        assertTrue(requests.cancelled);
    }

    @Test
    void subscription_isUsedByOneThreadAtATime() throws Exception {
        Readiness slow = Readiness.pending();
        FormSubscriber form = subscriber(options().decider(part -> PartDecision.to(sink(slow))), HEAD, Runnable::run);
        byte[] body = new Upload().file("f", "f", "y".repeat(1000)).toBytes();
        AtomicInteger callers = new AtomicInteger();
        AtomicInteger calls = new AtomicInteger();
        AtomicBoolean overlap = new AtomicBoolean();
        form.start(count -> {
            overlap.compareAndSet(false, callers.incrementAndGet() > 1);
            if (calls.incrementAndGet() == 1) {
                form.onNext(bytes(body, 0, 200));
                CompletableFuture.runAsync(slow::ready).join(); // another thread finds that there is demand again
            }
            callers.decrementAndGet();
        });
        assertFalse(overlap.get());
        assertEquals(2, calls.get());
        form.onNext(bytes(body, 200, body.length));
        form.onComplete();
        form.completion().toCompletableFuture().get(2, TimeUnit.MINUTES).close();
    }

    @Test
    void subscription_throwing_endsForm() {
        Exception closed = new Exception("closed"); // a checked exception, as in Kotlin
        FormSubscriber form = subscriber(options(), HEAD, Runnable::run);
        form.start(count -> {
            throw Throwing.<RuntimeException>unchecked(closed);
        });
        assertSame(closed, failure(form));
    }

    @Test
    void subscription_throwingWhileRestIsDiscarded_reportsTheRejection() {
        FormSubscriber form = subscriber(options().maxPartBytes(10).noMinimumRate(), HEAD, Runnable::run);
        byte[] body = new Upload().file("f", "f", "y".repeat(5000)).toBytes();
        AtomicInteger calls = new AtomicInteger();
        form.start(count -> {
            if (calls.incrementAndGet() == 2) {
                throw new IllegalStateException("closed");
            }
            form.onNext(bytes(body, 0, 300));
        });
        assertEquals(
                MultipartException.Reason.PART_TOO_LARGE,
                assertInstanceOf(MultipartException.class, failure(form)).reason());
    }

    @ParameterizedTest
    @ValueSource(strings = {"is cancelled", "times out", "is completed"})
    void completion_endedByReceiver_abortsForm(String event) {
        FormSubscriber form = subscriber(options(), HEAD, queued::add);
        form.onSubscribe(requests);
        form.onNext(bytes(new Upload().file("f", "f", "y".repeat(5000)).toBytes(), 0, 3000));
        runQueued();
        assertEquals(1, spool.files());
        CompletableFuture<MultipartForm> future = form.completion().toCompletableFuture();
        switch (event) {
            case "is cancelled" -> future.cancel(true);
            case "times out" -> future.completeExceptionally(new TimeoutException()); // as orTimeout() does
            default -> future.complete(null);
        }
        assertTrue(requests.cancelled, "the subscription was not cancelled before the executor ran");
        runQueued();
        assertEquals(0, spool.files());
    }

    @Test
    void completion_timedOutWhileRestIsDiscarded_cancelsSubscription() {
        FormSubscriber form = subscriber(options().maxPartBytes(10), HEAD, Runnable::run);
        form.onSubscribe(requests);
        form.onNext(bytes(new Upload().file("f", "f", "y".repeat(5000)).toBytes(), 0, 3000));
        assertFalse(requests.cancelled);
        form.completion().toCompletableFuture().completeExceptionally(new TimeoutException());
        assertTrue(requests.cancelled);
    }

    /** Nested turns would overflow the stack if a body of several GiB arrives faster than it is decoded. */
    @Test
    void turns_onCallingThread_areNotNested() throws Exception {
        int[] depth = new int[2]; // now, and at most
        Executor caller = task -> {
            depth[1] = Math.max(depth[1], ++depth[0]);
            task.run();
            depth[0]--;
        };
        Readiness slow = Readiness.pending();
        FormSubscriber form = subscriber(options().decider(part -> PartDecision.to(sink(slow))), HEAD, caller);
        byte[] body = new Upload().file("f", "f", "y").toBytes();
        int close = "\r\n--x--\r\n".length();
        Queue<ByteBuf> buffers = new ArrayDeque<>();
        buffers.add(bytes(body, 0, body.length - close));
        for (int i = 0; i < 20; i++) {
            buffers.add(Unpooled.buffer(1 << 20).writeZero(1 << 20));
        }
        buffers.add(bytes(body, body.length - close, body.length));
        form.start(count -> {
            ByteBuf next = buffers.poll();
            if (next == null) {
                form.onComplete();
            } else {
                form.onNext(next);
            }
        });
        slow.ready(); // the rest is decoded on this thread
        form.completion().toCompletableFuture().get(2, TimeUnit.MINUTES).close();
        assertTrue(depth[1] <= 2, "nested tasks: " + depth[1]);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void completion_cancelledDuringCommit_formIsClosed(boolean clientHasLeft) {
        Readiness commit = Readiness.pending();
        FormAdmission admission = new FormAdmission() {
            @Override
            public Readiness admit() {
                return Readiness.READY;
            }

            @Override
            public Readiness commit() {
                return commit;
            }
        };
        FormSubscriber form = subscriber(options().admission(admission), HEAD, Runnable::run);
        form.onSubscribe(requests);
        byte[] body = new Upload().file("f", "f", "y".repeat(5000)).toBytes();
        form.onNext(bytes(body, 0, body.length));
        form.onComplete();
        if (clientHasLeft) {
            form.onError(new IOException("gone"));
        }
        form.completion().toCompletableFuture().cancel(true);
        assertEquals(1, spool.files(), "files after the commit");
        commit.ready();
        assertEquals(0, spool.files());
    }
}
