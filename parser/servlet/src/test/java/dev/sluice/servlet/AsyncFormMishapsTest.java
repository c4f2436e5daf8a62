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
import dev.sluice.servlet.container.WithApp;
import dev.sluice.testkit.RawHttp;
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

/** What the container, a sink or the virtual machine may do to an asynchronous form. */
@Timeout(300)
@Execution(ExecutionMode.CONCURRENT) // most of the time is waiting
class AsyncFormMishapsTest extends WithApp {
    private static final Duration GRACE = Duration.ofMillis(200);

    private static final Form FORM = new Form().field("a", "1").file("f", "f.txt", new byte[100_000]);

    private final CompletableFuture<AsyncForm> received = new CompletableFuture<>();
    private final CompletableFuture<AsyncContext> context = new CompletableFuture<>();

    /** What the completion of the form fails with. */
    private final CompletableFuture<Throwable> failure = new CompletableFuture<>();

    /** What a sink does when it is called. */
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

    /** Receives forms, and completes their requests without another word. */
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
    void anErrorOfWhoeverIsToldOfTheEndFailsTheForm() throws Exception {
        AssertionError error = new AssertionError("of the listener");
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
    void anErrorOfASinkAtTheEndOfItsPartFailsTheForm() throws Exception {
        AssertionError error = new AssertionError("of the sink");
        Throwable thrown =
                failureOf(new ScriptedSink(AsyncFormMishapsTest::nothing, fails(error), AsyncFormMishapsTest::nothing));
        assertSame(error, thrown);
    }

    @Test
    void anErrorOfASinkThatIsClosedDoesNotHideTheFirst() throws Exception {
        StackOverflowError error = new StackOverflowError();
        Runnable first = () -> {
            throw new IllegalArgumentException("of the sink");
        };
        Throwable thrown = failureOf(new ScriptedSink(first, AsyncFormMishapsTest::nothing, fails(error)));
        assertEquals("of the sink", thrown.getMessage());
        assertSame(error, thrown.getSuppressed()[0]);
    }

    @Test
    void anErrorOfASinkOfAFormThatIsCancelledDoesNotKeepIt() throws Exception {
        CompletableFuture<Void> written = new CompletableFuture<>();
        PartSink sink = new ScriptedSink(
                () -> written.complete(null), AsyncFormMishapsTest::nothing, fails(new StackOverflowError()));
        serve(options -> options.decider(
                part -> part.filename() == null ? PartDecision.storeInMemory() : PartDecision.to(sink)));
        try (RawHttp client = app.begin(FORM)) {
            written.get(2, TimeUnit.MINUTES);
            received.get(2, TimeUnit.MINUTES).cancel();
            assertEquals(200, client.answer().status());
        }
    }

    /** As Jetty does with workers that have not begun when the request ends: the form ends all the same. */
    @Test
    void aFormThatIsTooSlowEndsWithItsRequestThoughItsWorkerIsDropped() throws Exception {
        CompletableFuture<Runnable> dropped = dropWorkers();
        app.options(options ->
                options.spillThreshold(0).minBytesPerSecond(1_000_000).minRateGrace(GRACE));
        serve(options -> options);
        try (RawHttp client = app.begin(FORM)) {
            dropped.get(2, TimeUnit.MINUTES); // the form was found too slow
            assertEquals(1, app.filter().live());
            assertTrue(client.channel().isOpen());
            context.get().complete();
            app.assertNothingLeft("a request whose worker was dropped");
        }
    }

    @Test
    void aFormThatWasToGoOnEndsWithItsRequestThoughItsWorkerIsDropped() throws Exception {
        CompletableFuture<Runnable> dropped = dropWorkers();
        GateSink gate = new GateSink().shut();
        serve(options -> options.decider(part -> PartDecision.to(gate)));
        try (RawHttp client = app.begin(FORM)) {
            awaitPause(gate);
            gate.open();
            dropped.get(2, TimeUnit.MINUTES);
            assertTrue(client.channel().isOpen());
            context.get().complete();
            app.assertNothingLeft("a request whose worker was dropped");
        }
    }

    /** Waits until the form has seen that its sink is not ready: what opens the gate earlier lets it go on by itself. */
    private void awaitPause(GateSink gate) {
        Eventually.isTrue(() -> gate.bytes() > 0, "nothing is written to the sink");
        Eventually.isTrue(() -> received.isDone() && received.join().intake.demand() == 0, "it has not paused");
    }

    /** Jetty fails a worker whose request is over: the application is told when it may be completed, and not before. */
    @Test
    void cancelledForm_whoseWorkerIsHeld_endsAfterTheWorker() throws Exception {
        Runnable worker = cancelledWhileItsWorkerIsHeld();
        Eventually.after(100);
        assertFalse(failure.isDone(), "the request would be completed under its worker");
        worker.run();
        assertInstanceOf(CancellationException.class, failure.get(2, TimeUnit.MINUTES));
        app.assertNothingLeft("a form that was cancelled");
    }

    @Test
    void cancelledForm_whoseWorkerIsDropped_ends() throws Exception {
        cancelledWhileItsWorkerIsHeld();
        assertInstanceOf(CancellationException.class, failure.get(2, TimeUnit.MINUTES));
        app.assertNothingLeft("a form that was cancelled");
    }

    /** {@return the worker that was to end a form that is too slow, and is not left more than its request} */
    private Runnable cancelledWhileItsWorkerIsHeld() throws Exception {
        BlockingQueue<Runnable> workers = holdWorkers();
        app.options(options ->
                options.spillThreshold(0).minBytesPerSecond(1_000_000).minRateGrace(GRACE));
        serve(options -> options);
        try (RawHttp client = app.begin(FORM)) {
            Runnable worker = workers.poll(2, TimeUnit.MINUTES);
            received.get(2, TimeUnit.MINUTES).cancel();
            // The container's thread may still be decoding: it then releases the form.
            Eventually.isTrue(() -> app.memory.used() == 0 && app.spool.files() == 0, "the cancelled form keeps something");
            assertTrue(client.channel().isOpen());
            return worker;
        }
    }

    /** One worker reads on after the sink, and looks for what else is to be done. */
    @Test
    void aSinkThatIsReadyAgainTakesOneWorker() throws Exception {
        BlockingQueue<Runnable> workers = holdWorkers();
        GateSink gate = new GateSink().shut();
        serve(options -> options.decider(part -> PartDecision.to(gate)));
        byte[] request = FORM.post("/");
        try (RawHttp client = app.connect()) {
            client.send(request, 0, request.length / 2);
            awaitPause(gate);
            gate.open();
            Objects.requireNonNull(workers.poll(2, TimeUnit.MINUTES)).run();
            assertEquals(List.of(), List.copyOf(workers));
            client.send(request, request.length / 2, request.length);
            assertEquals(200, client.answer().status());
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
            chain.doFilter(new WorkersTo(where, (HttpServletRequest) request), response);
            context.complete(request.getAsyncContext());
        });
    }

    /** As Payara where the client is gone. */
    @Test
    void aRequestWhoseFormFailedIsForgottenThoughNobodyTellsOfItsEnd() throws Exception {
        app.before((request, response, chain) -> chain.doFilter(
                new WorkersTo(Runnable::run, (HttpServletRequest) request).withoutListeners(), response));
        serve(options -> options);
        try (RawHttp client = app.begin(FORM)) {
            client.reset();
        }
        assertNotNull(failure.get(2, TimeUnit.MINUTES));
        app.assertNothingLeft("a request that has not ended");
    }

    /** Cannot become asynchronous. */
    private static final class Unready extends HttpServletRequestWrapper {
        Unready(HttpServletRequest request) {
            super(request);
        }

        @Override
        public AsyncContext startAsync() {
            throw new IllegalStateException("not now");
        }
    }

    @Test
    void aRequestThatCannotBecomeAsynchronousIsNotRememberedWithoutTheFilter() throws Exception {
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
    void aRequestThatCannotBecomeAsynchronousStillHasItsForm() throws Exception {
        app.on((request, response) -> {
            assertEquals(
                    "not now",
                    assertThrows(IllegalStateException.class, () -> MultipartRequests.receive(new Unready(request)))
                            .getMessage());
            response.getWriter().print(request.getParts().size());
        });
        app.start();
        assertEquals("2", app.post("/", FORM).body());
    }

    @Test
    void aBodyThatSomebodyElseHasLeavesNothing() throws Exception {
        try (AsyncForms forms = AsyncForms.create(app.formOptions())) {
            app.on((request, response) -> {
                AsyncContext async = request.startAsync();
                if (request.getQueryString() == null) {
                    request.getInputStream().setReadListener(new Idle());
                } else {
                    request.getReader(); // there is no stream any more
                }
                assertThrows(IllegalStateException.class, () -> forms.receive(request));
                response.getWriter().print(app.memory.used());
                async.complete();
            });
            app.startBare();
            for (String target : List.of("/", "/?reader")) {
                assertEquals("0", app.post(target, FORM).body());
                Eventually.isTrue(() -> forms.live() == 0, "it is remembered");
            }
        }
    }

    /** Takes nothing. */
    private static final class Idle implements ReadListener {
        @Override
        public void onDataAvailable() {}

        @Override
        public void onAllDataRead() {}

        @Override
        public void onError(Throwable failure) {}
    }

    @Test
    void aContainerWithoutMemoryForThreadsDoesNotStopTheWatch() throws Exception {
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
                HttpServletRequest poor = new WorkersTo(
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
                    client.send(Form.head(each == first ? "/?1" : "/?2", 1000));
                    MultipartException slow = assertInstanceOf(MultipartException.class, each.get(2, TimeUnit.MINUTES));
                    assertEquals(Reason.CLIENT_TOO_SLOW, slow.reason());
                }
            }
        }
    }
}
