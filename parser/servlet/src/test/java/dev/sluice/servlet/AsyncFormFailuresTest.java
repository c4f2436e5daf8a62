package dev.sluice.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.FormOptions;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import dev.sluice.servlet.container.AppTestBase;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import io.netty.buffer.ByteBuf;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.ReadListener;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Asynchronous forms when the container, a sink or the virtual machine fails. */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT) // most of the time is waiting
class AsyncFormFailuresTest extends AppTestBase {
    private static final Duration GRACE = Duration.ofSeconds(2);

    private static final TestForm FORM = new TestForm().field("a", "1").file("f", "f.txt", new byte[100_000]);

    private final CompletableFuture<AsyncForm> received = new CompletableFuture<>();
    private final CompletableFuture<AsyncContext> context = new CompletableFuture<>();

    private final CompletableFuture<Throwable> failure = new CompletableFuture<>();

    private record ScriptedSink(Runnable onWrite, Runnable onComplete, Runnable onClose) implements PartSink {
        @Override
        public Readiness write(ByteBuf data) {
            onWrite.run();
            return Readiness.READY;
        }

        @Override
        public Readiness complete() {
            onComplete.run();
            return Readiness.READY;
        }

        @Override
        public void close() {
            onClose.run();
        }
    }

    private static void nothing() {}

    private static Runnable fails(Error error) {
        return () -> {
            throw error;
        };
    }

    private Throwable failureOf(PartSink sink) throws Exception {
        return failureOf(options -> options.decider(part -> PartDecision.to(sink)));
    }

    private Throwable failureOf(UnaryOperator<FormOptions.Builder> change) throws Exception {
        serve(change);
        app.post("/", FORM);
        return failure.get(2, TimeUnit.MINUTES);
    }

    /** Receives forms and completes their requests without a response. */
    private void serve(UnaryOperator<FormOptions.Builder> change) throws Exception {
        app.on((request, response) -> {
            AsyncForm form = MultipartRequests.receive(request, change);
            AsyncContext async = request.getAsyncContext();
            form.completion().whenComplete((done, thrown) -> {
                failure.complete(thrown);
                async.complete();
            });
            received.complete(form);
        });
        app.start();
    }

    @Test
    void progressListener_throwsError_failsForm() throws Exception {
        AssertionError error = new AssertionError("thrown by the listener");
        assertSame(
                error,
                failureOf(options -> options.progress(
                        progress -> {
                            if (progress.ended()) {
                                throw error;
                            }
                        },
                        Duration.ZERO)));
    }

    @Test
    void sink_completeThrowsError_failsForm() throws Exception {
        AssertionError error = new AssertionError("thrown by the sink");
        Throwable thrown = failureOf(
                new ScriptedSink(AsyncFormFailuresTest::nothing, fails(error), AsyncFormFailuresTest::nothing));
        assertSame(error, thrown);
    }

    @Test
    void sink_closeThrows_keepsFirstFailure() throws Exception {
        StackOverflowError error = new StackOverflowError();
        Runnable first = () -> {
            throw new IllegalArgumentException("thrown by the sink");
        };
        Throwable thrown = failureOf(new ScriptedSink(first, AsyncFormFailuresTest::nothing, fails(error)));
        assertEquals("thrown by the sink", thrown.getMessage());
        assertSame(error, thrown.getSuppressed()[0]);
    }

    @Test
    void cancel_sinkThrowsError_releasesForm() throws Exception {
        CompletableFuture<Void> written = new CompletableFuture<>();
        PartSink sink = new ScriptedSink(
                () -> written.complete(null), AsyncFormFailuresTest::nothing, fails(new StackOverflowError()));
        serve(options -> options.decider(
                part -> part.filename() == null ? PartDecision.storeInMemory() : PartDecision.to(sink)));
        try (RawHttp client = app.begin(FORM)) {
            written.get(2, TimeUnit.MINUTES);
            received.get(2, TimeUnit.MINUTES).cancel();
            assertEquals(200, client.response().status());
        }
    }

    /** Jetty discards workers that have not begun when the request ends. */
    @Test
    void slowForm_workerDiscarded_endsWithRequest() throws Exception {
        CompletableFuture<Runnable> dropped = dropWorkers();
        app.options(options ->
                options.spillThreshold(0).minBytesPerSecond(1_000_000).minRateGrace(GRACE));
        serve(options -> options);
        try (RawHttp client = app.begin(FORM)) {
            dropped.get(2, TimeUnit.MINUTES); // the timer found the form too slow
            assertEquals(1, app.filter().live());
            assertTrue(client.channel().isOpen());
            context.get().complete();
            app.assertNothingLeft("a request whose worker was discarded");
        }
    }

    @Test
    void resumedForm_workerDiscarded_endsWithRequest() throws Exception {
        CompletableFuture<Runnable> dropped = dropWorkers();
        GatedSink gate = new GatedSink().shut();
        serve(options -> options.decider(part -> PartDecision.to(gate)));
        try (RawHttp client = app.begin(FORM)) {
            awaitPause(gate);
            gate.open();
            dropped.get(2, TimeUnit.MINUTES);
            assertTrue(client.channel().isOpen());
            context.get().complete();
            app.assertNothingLeft("a request whose worker was discarded");
        }
    }

    /** Waits until the form has paused. If the gate opened earlier, no worker would be started. */
    private void awaitPause(GatedSink gate) {
        Eventually.isTrue(() -> gate.bytes() > 0, "nothing was written to the sink");
        Eventually.isTrue(() -> received.isDone() && received.join().intake.demand() == 0, "the form has not paused");
    }

    /** Jetty rejects a worker whose request has ended. Therefore a form ends only after its worker. */
    @Test
    void cancelledForm_pendingWorker_endsAfterWorker() throws Exception {
        Runnable worker = cancelWithPendingWorker();
        Eventually.after(100);
        assertFalse(failure.isDone(), "the form ended before its worker");
        worker.run();
        assertInstanceOf(CancellationException.class, failure.get(2, TimeUnit.MINUTES));
        app.assertNothingLeft("a form that was cancelled");
    }

    @Test
    void cancelledForm_discardedWorker_ends() throws Exception {
        cancelWithPendingWorker();
        assertInstanceOf(CancellationException.class, failure.get(2, TimeUnit.MINUTES));
        app.assertNothingLeft("a form that was cancelled");
    }

    /** {@return the pending worker of a cancelled form that has released its memory and files} */
    private Runnable cancelWithPendingWorker() throws Exception {
        BlockingQueue<Runnable> workers = holdWorkers();
        app.options(options ->
                options.spillThreshold(0).minBytesPerSecond(1_000_000).minRateGrace(GRACE));
        serve(options -> options);
        try (RawHttp client = app.begin(FORM)) {
            Runnable worker = workers.poll(2, TimeUnit.MINUTES);
            received.get(2, TimeUnit.MINUTES).cancel();
            // If the container's thread is still decoding, it releases the form afterwards.
            Eventually.isTrue(
                    () -> app.memory.used() == 0 && app.spool.files() == 0,
                    "the cancelled form still holds memory or files");
            assertTrue(client.channel().isOpen());
            return worker;
        }
    }

    /** One worker both calls the sink again and reads more of the body. */
    @Test
    void sink_readyAgain_usesOneWorker() throws Exception {
        BlockingQueue<Runnable> workers = holdWorkers();
        GatedSink gate = new GatedSink().shut();
        serve(options -> options.decider(part -> PartDecision.to(gate)));
        byte[] request = FORM.post("/");
        try (RawHttp client = app.connect()) {
            client.send(request, 0, request.length / 2);
            awaitPause(gate);
            gate.open();
            Objects.requireNonNull(workers.poll(2, TimeUnit.MINUTES)).run();
            assertEquals(List.of(), List.copyOf(workers));
            client.send(request, request.length / 2, request.length);
            assertEquals(200, client.response().status());
        }
    }

    private CompletableFuture<Runnable> dropWorkers() {
        CompletableFuture<Runnable> dropped = new CompletableFuture<>();
        workersTo(dropped::complete);
        return dropped;
    }

    private BlockingQueue<Runnable> holdWorkers() {
        BlockingQueue<Runnable> workers = new LinkedBlockingQueue<>();
        workersTo(workers::add);
        return workers;
    }

    private void workersTo(Consumer<Runnable> where) {
        app.before((request, response, chain) -> {
            chain.doFilter(new DivertedRequest(where, (HttpServletRequest) request), response);
            context.complete(request.getAsyncContext());
        });
    }

    /** Payara does not notify listeners after the client has disconnected. */
    @Test
    void failedForm_withoutOnComplete_requestEnds() throws Exception {
        app.wrap(request -> new DivertedRequest(Runnable::run, request).withoutListeners());
        serve(options -> options);
        try (RawHttp client = app.begin(FORM)) {
            client.reset();
        }
        assertNotNull(failure.get(2, TimeUnit.MINUTES));
        app.assertNothingLeft("a request that has not ended");
    }

    /** A request whose {@code startAsync} fails. */
    private static final class Unready extends HttpServletRequestWrapper {
        Unready(HttpServletRequest request) {
            super(request);
        }

        @Override
        public AsyncContext startAsync() {
            throw new IllegalStateException("startAsync is not available");
        }
    }

    @Test
    void receive_withoutFilter_asyncUnavailable_leavesNothing() throws Exception {
        try (AsyncForms forms = AsyncForms.create(app.formOptions())) {
            app.on((request, response) -> {
                assertThrows(IllegalStateException.class, () -> forms.receive(new Unready(request)));
                response.getWriter().print(forms.live());
            });
            app.startBare();
            assertEquals("0", app.post("/", FORM).body());
        }
    }

    @Test
    void receive_asyncUnavailable_formCanStillBeParsed() throws Exception {
        app.on((request, response) -> {
            assertEquals(
                    "startAsync is not available",
                    assertThrows(IllegalStateException.class, () -> MultipartRequests.receive(new Unready(request)))
                            .getMessage());
            response.getWriter().print(request.getParts().size());
        });
        app.start();
        assertEquals("2", app.post("/", FORM).body());
    }

    @Test
    void receive_bodyAlreadyClaimed_leavesNothing() throws Exception {
        try (AsyncForms forms = AsyncForms.create(app.formOptions())) {
            app.on((request, response) -> {
                AsyncContext async = request.startAsync();
                if (request.getQueryString() == null) {
                    request.getInputStream().setReadListener(new Idle());
                } else {
                    request.getReader(); // makes the stream unavailable
                }
                assertThrows(IllegalStateException.class, () -> forms.receive(request));
                response.getWriter().print(app.memory.used());
                async.complete();
            });
            app.startBare();
            for (String target : List.of("/", "/?reader")) {
                assertEquals("0", app.post(target, FORM).body());
                Eventually.isTrue(() -> forms.live() == 0, "the request is still live");
            }
        }
    }

    /** A read listener that does nothing. */
    private static final class Idle implements ReadListener {
        @Override
        public void onDataAvailable() {}

        @Override
        public void onAllDataRead() {}

        @Override
        public void onError(Throwable failure) {}
    }

    @Test
    void timer_threadCannotBeCreated_keepsRunning() throws Exception {
        CompletableFuture<Throwable> first = new CompletableFuture<>();
        CompletableFuture<Throwable> second = new CompletableFuture<>();
        try (AsyncForms forms = AsyncForms.create(app.formOptions().toBuilder()
                .minBytesPerSecond(1)
                .minRateGrace(GRACE)
                .build())) {
            app.on((request, response) -> {
                request.startAsync().setTimeout(0);
                AsyncContext async = request.getAsyncContext();
                CompletableFuture<Throwable> mine = request.getQueryString().equals("1") ? first : second;
                HttpServletRequest poor = new DivertedRequest(
                        worker -> {
                            throw new OutOfMemoryError("unable to create native thread");
                        },
                        request);
                forms.receive(poor).completion().whenComplete((done, failure) -> {
                    async.complete();
                    mine.complete(failure);
                });
            });
            app.startBare();
            for (CompletableFuture<Throwable> each : List.of(first, second)) {
                try (RawHttp client = app.connect()) {
                    client.send(TestForm.head(each == first ? "/?1" : "/?2", 1000));
                    MultipartException slow = assertInstanceOf(MultipartException.class, each.get(2, TimeUnit.MINUTES));
                    assertEquals(Reason.CLIENT_TOO_SLOW, slow.reason());
                }
            }
        }
    }
}
