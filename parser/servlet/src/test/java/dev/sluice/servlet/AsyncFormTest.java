package dev.sluice.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.form.FormIntake;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import dev.sluice.servlet.container.AppTestBase;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import io.netty.buffer.ByteBuf;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Asynchronous forms in one container. {@code ContainerAsyncFormTest} tests each container. */
@Timeout(300)
class AsyncFormTest extends AppTestBase {
    private static final TestForm FORM = new TestForm().field("a", "1").file("f", "f.txt", new byte[100_000]);

    private final CompletableFuture<AsyncForm> received = new CompletableFuture<>();
    private final CompletableFuture<MultipartForm> result = new CompletableFuture<>();

    /** Receives a form and answers with its parts or its failure. */
    private void serve(UnaryOperator<FormOptions.Builder> change) throws Exception {
        app.on((request, response) -> {
            AsyncForm form = MultipartRequests.receive(request, change);
            received.complete(form);
            form.completion().whenComplete((done, failure) -> answer(request.getAsyncContext(), done, failure));
        });
        app.start();
    }

    private void answer(AsyncContext async, MultipartForm done, Throwable failure) {
        HttpServletResponse response = (HttpServletResponse) async.getResponse();
        try {
            if (failure == null) {
                response.getWriter().print(done.parts().size() + " " + app.spool.files());
                result.complete(done);
            } else {
                if (!MultipartRequests.sendError(response, failure)) {
                    response.sendError(500, failure.toString());
                }
                result.completeExceptionally(failure);
            }
        } catch (IOException e) {
            result.completeExceptionally(e);
        } finally {
            async.complete();
        }
    }

    private <T extends Throwable> T failure(Class<T> type) {
        return assertInstanceOf(
                type,
                result.handle((done, failure) -> failure)
                        .orTimeout(2, TimeUnit.MINUTES)
                        .join());
    }

    @Test
    void dispatch_afterForm_hasPartsAndParameters() throws Exception {
        app.on((request, response) -> {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                response.getWriter().print(request.getParts().size() + request.getParameter("a"));
            } else {
                AsyncForm form = MultipartRequests.receive(request);
                assertThrows(IllegalStateException.class, request::getParts);
                assertThrows(IllegalStateException.class, request::getInputStream);
                assertThrows(IllegalStateException.class, () -> MultipartRequests.receive(request));
                form.completion().thenRun(request.getAsyncContext()::dispatch);
            }
        });
        app.start();
        assertEquals("21", app.post("/", FORM).body());
    }

    @Test
    void receive_withoutFilter_returnsForm() throws Exception {
        try (AsyncForms forms = AsyncForms.create(app.formOptions())) {
            app.on((request, response) -> {
                AsyncContext async = request.startAsync();
                forms.receive(request).completion().whenComplete((done, failure) -> answer(async, done, failure));
            });
            app.startBare();
            assertEquals("2 1", app.post("/", FORM).body());
            Eventually.isTrue(() -> forms.live() == 0, "the request does not end");
        }
    }

    @Test
    void receive_withoutFilter_otherBody_isRejected() throws Exception {
        try (AsyncForms forms = AsyncForms.create(app.formOptions())) {
            app.on((request, response) -> forms.receive(request)
                    .completion()
                    .whenComplete((done, failure) -> answer(request.getAsyncContext(), done, failure)));
            app.startBare();
            byte[] mixed = TestForm.request("POST", "/", "multipart/mixed; boundary=" + TestForm.BOUNDARY, FORM.body());
            assertEquals(415, app.send(mixed).status());
            byte[] unbounded = TestForm.request("POST", "/", "multipart/form-data", FORM.body());
            assertEquals(400, app.send(unbounded).status());
        }
    }

    @Test
    void malformedBody_isAnsweredAfterTheRestWasRead() throws Exception {
        serve(options -> options);
        RawHttp.Response response = app.post("/", TestForm.malformed().file("f", "x", new byte[500_000]));
        assertEquals(400, response.status());
        assertEquals(null, response.headers().get("connection"));
        failure(MultipartException.class);
    }

    @Test
    void malformedBody_dispatch_keepsConnection() throws Exception {
        app.on((request, response) -> {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                request.getParts();
            } else {
                AsyncContext async = request.startAsync();
                MultipartRequests.receive(request).completion().whenComplete((done, failure) -> async.dispatch());
            }
        });
        app.start();
        RawHttp.Response answer = app.post("/", TestForm.malformed().file("f", "x", new byte[500_000]));
        assertEquals(400, answer.status());
        assertNull(answer.headers().get("connection"), "the connection is closed although the whole body was read");
    }

    @Test
    void completeForm_rejectedByApplication_keepsConnection() throws Exception {
        app.on((request, response) -> {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                MultipartRequests.form(request).requireText("missing");
            } else {
                AsyncContext async = request.startAsync();
                MultipartRequests.receive(request).completion().whenComplete((done, failure) -> async.dispatch());
            }
        });
        app.start();
        RawHttp.Response answer = app.post("/", FORM);
        assertEquals(400, answer.status());
        assertNull(answer.headers().get("connection"), "the connection is closed although the whole body was read");
    }

    @Test
    void bodyBeyondLimit_largeRest_isAnsweredAtOnce() throws Exception {
        serve(options -> options.maxBodyBytes(50_000).maxDrainBytes(10_000));
        try (RawHttp client = app.connect()) {
            byte[] chunked = TestForm.chunked("/", FORM.open(), 1 << 20);
            client.send(chunked, 0, chunked.length - 1);
            RawHttp.Response response = client.response();
            assertEquals(413, response.status());
            assertTrue(response.body().contains("maxBodyBytes"), response.body());
        }
    }

    /** An exception that a stage wrapped would hide its status. */
    @Test
    void completion_formRejected_isNotWrapped() throws Exception {
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        app.on((request, response) -> {
            AsyncForm form = MultipartRequests.receive(request);
            AsyncContext context = request.getAsyncContext();
            CompletionStage<Boolean> handled = form.completion().handle((done, failure) -> failures.add(failure));
            form.completion()
                    .exceptionally(failure -> {
                        failures.add(failure);
                        return null;
                    })
                    .thenCombine(handled, (none, added) -> added)
                    .whenComplete((added, failure) -> context.complete());
        });
        app.start();
        app.post("/", TestForm.malformed());
        assertEquals(2, failures.size());
        failures.forEach(failure -> assertInstanceOf(MultipartException.class, failure));
    }

    @Test
    void completion_completedByCaller_staysOpenForOthers() throws Exception {
        app.on((request, response) -> {
            AsyncForm form = MultipartRequests.receive(request);
            AsyncContext context = request.getAsyncContext();
            form.completion().toCompletableFuture().cancel(false);
            form.completion().whenComplete((parts, failure) -> {
                response.setStatus(failure == null ? 202 : 500);
                context.complete();
            });
        });
        app.start();
        assertEquals(202, app.post("/", FORM).status());
    }

    @Test
    void data_beforeIsReadyReturns_isRead() throws Exception {
        byte[] body = new TestForm().field("a", "1").body();
        InMemoryContainer container = new InMemoryContainer(body);
        Queue<InMemoryContainer.Task> events =
                new ArrayDeque<>(List.of(() -> container.arrive(body.length - 10), container::end));
        container.beforeNotReady =
                () -> Objects.requireNonNullElse(events.poll(), () -> {}).run();
        FormOptions options = FormOptions.inMemory(MemoryBudget.unlimited()).build();
        try (FormService service = new FormService(options, List.of(), null)) {
            RequestState state = RequestState.attach(container.request, service);
            AsyncForm form = AsyncForm.start(state, container.request, options);
            container.arrive(10);
            container.join();
            CompletableFuture<MultipartForm> whole = form.completion().toCompletableFuture();
            assertTrue(whole.isDone(), "the form waits for a notification that it has had");
            assertEquals("1", whole.join().text("a"));
        }
    }

    @Test
    void cancel_afterCompletion_hasNoEffect() throws Exception {
        serve(options -> options);
        assertEquals("2 1", app.post("/", FORM).body());
        received.get().cancel();
        assertEquals(2, result.get().parts().size());
    }

    @Test
    void sink_readyBeforeWriteReturns_continues() throws Exception {
        AtomicLong bytes = new AtomicLong();
        serve(options -> options.decider(part ->
                part.filename() == null ? PartDecision.storeInMemory() : PartDecision.to(new ImpatientSink(bytes))));
        TestForm form = new TestForm().field("a", "1").file("g", "g", new byte[1_000_000]);
        assertEquals("1 0", app.post("/", form).body());
        assertEquals(1_000_000, bytes.get());
    }

    /** A sink that another thread makes ready, perhaps before {@code write} returns. */
    private record ImpatientSink(AtomicLong bytes) implements PartSink {
        private static Readiness soon() {
            Readiness soon = Readiness.pending();
            CompletableFuture.runAsync(soon::ready);
            return soon;
        }

        @Override
        public Readiness write(ByteBuf data) {
            bytes.addAndGet(data.readableBytes());
            return soon();
        }

        @Override
        public Readiness complete() {
            return soon();
        }

        @Override
        public Readiness publish() {
            return soon();
        }

        @Override
        public void close() {}
    }

    @Test
    void decider_throws_failsFormWithThatException() throws Exception {
        serve(options -> options.decider(part -> {
            throw new ArithmeticException("mine");
        }));
        assertEquals(500, app.post("/", FORM).status());
        failure(ArithmeticException.class);
    }

    @Test
    void decider_throwsIoException_isAnsweredWith500() throws Exception {
        serve(options -> options.decider(part -> {
            throw new IOException("disk");
        }));
        assertEquals(500, app.post("/", FORM).status());
        assertEquals(500, failure(MultipartRequestException.class).httpStatus());
    }

    @Test
    void dispatch_afterAbortedForm_hasQueryParameters() throws Exception {
        app.on((request, response) -> {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                assertThrows(CancellationException.class, request::getParts);
                response.getWriter().print(request.getParameter("q") + request.getParameter("a"));
            } else {
                AsyncForm form = MultipartRequests.receive(request);
                form.completion()
                        .whenComplete(
                                (done, failure) -> request.getAsyncContext().dispatch());
                form.cancel();
            }
        });
        app.start();
        assertEquals("1null", app.post("/?q=1", FORM).body());
    }

    @Test
    void endedForm_isNotReachable() throws Exception {
        CompletableFuture<WeakReference<FormIntake>> intake = new CompletableFuture<>();
        app.on((request, response) -> {
            AsyncForm form = MultipartRequests.receive(request);
            intake.complete(new WeakReference<>(form.intake));
            form.completion().thenRun(request.getAsyncContext()::complete);
        });
        app.start();
        assertEquals(200, app.post("/", FORM).status());
        Eventually.isCollected(intake.join(), "the form is still reachable");
    }

    @Test
    void requestLimits_applyToParameters() throws Exception {
        app.on((request, response) -> {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                response.getWriter().print(request.getParameter("a").length());
            } else {
                AsyncForm form = MultipartRequests.receive(
                        request, options -> options.maxInMemoryBytes(4 << 20).maxFieldBytes(4 << 20));
                form.completion().thenRun(request.getAsyncContext()::dispatch);
            }
        });
        app.start();
        TestForm form = new TestForm().field("a", "x".repeat(3_000_000));
        assertEquals("3000000", app.post("/", form).body());
    }

    @Test
    void complete_beforeForm_abortsForm() throws Exception {
        app.on((request, response) -> {
            AsyncForm form = MultipartRequests.receive(request);
            form.completion().whenComplete((done, failure) -> result.completeExceptionally(failure));
            request.getAsyncContext().complete();
        });
        app.start();
        try (RawHttp client = app.begin(FORM)) {
            failure(CancellationException.class);
            assertTrue(client.channel().isOpen());
        }
    }

    @Test
    void pendingSink_doesNotCountAgainstClient() throws Exception {
        GatedSink gate = new GatedSink().shut();
        app.options(options -> options.minBytesPerSecond(240).minRateGrace(Duration.ofSeconds(4)));
        serve(options -> options.decider(part -> PartDecision.to(gate)));
        try (RawHttp client = app.connect()) {
            client.send(new TestForm().field("a", "1").post("/"));
            Eventually.isTrue(() -> gate.bytes() > 0, "no data arrived");
            Eventually.after(5_500);
            gate.open();
            assertEquals("0 0", client.response().body());
        }
    }
}
