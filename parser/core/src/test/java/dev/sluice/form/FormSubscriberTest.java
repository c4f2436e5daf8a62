package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
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
        IdleSink sink = new IdleSink() {
            @Override
            public Readiness write(ByteBuf data) {
                return slow;
            }
        };
        FormSubscriber form = subscriber(options().decider(part -> PartDecision.to(sink)), HEAD, Runnable::run);
        form.start(requests::request);
        assertEquals(1, requests.count);
        byte[] body = new Upload().file("f", "f", "y".repeat(1000)).toBytes();
        form.onNext(bytes(body, 0, 200));
        assertEquals(1, requests.count, "the sink is not ready");
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
    void rejectedBody_isDiscarded_beforeFailure(boolean ends) {
        FormSubscriber form = subscriber(options().maxPartBytes(10).maxDrainBytes(5000), HEAD, queued::add);
        form.onSubscribe(requests);
        byte[] body = new Upload().file("f", "f", "y".repeat(20_000)).toBytes();
        form.onNext(bytes(body, 0, 1000));
        runQueued();
        CompletableFuture<MultipartForm> future = form.completion().toCompletableFuture();
        assertFalse(future.isDone(), "the client is still sending");
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

    @Test
    void head_rejectedWithExpectation_failsAtOnce() {
        FormHead head = new FormHead("multipart/form-data; boundary=x", 1L << 40, true);
        FormSubscriber form = subscriber(options(), head, Runnable::run);
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
    void slowClient_isRejected() throws Exception {
        ExecutorService workers = Executors.newFixedThreadPool(1);
        FormSubscriber form =
                subscriber(options().minBytesPerSecond(1000).minRateGrace(Duration.ofMillis(200)), HEAD, workers);
        form.onSubscribe(requests);
        CompletableFuture<MultipartForm> future = form.completion().toCompletableFuture();
        ExecutionException failed = assertThrows(ExecutionException.class, () -> future.get(2, TimeUnit.MINUTES));
        assertEquals(
                408,
                assertInstanceOf(MultipartException.class, failed.getCause()).httpStatus());
        workers.shutdown();
        assertTrue(workers.awaitTermination(2, TimeUnit.MINUTES));
    }
}
