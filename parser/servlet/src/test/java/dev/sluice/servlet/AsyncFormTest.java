package dev.sluice.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import io.netty.buffer.ByteBuf;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(30)
class AsyncFormTest {
    @TempDir
    private Path directory;

    private final BlockingQueue<AsyncForm> received = new ArrayBlockingQueue<>(1);
    private final CompletableFuture<MultipartForm> result = new CompletableFuture<>();
    private JettyApp app;

    @BeforeEach
    void open() throws IOException {
        app = new JettyApp(directory);
    }

    @AfterEach
    void close() throws Exception {
        app.close();
    }

    private static FormBody form() {
        return new FormBody().field("a", "1").file("f", "f.txt", FormBody.bytes(100_000));
    }

    private AsyncForm next() throws Exception {
        AsyncForm next = received.poll(10, TimeUnit.SECONDS);
        if (next == null) {
            throw new TimeoutException();
        }
        return next;
    }

    /** Receives a form, and answers its parts, or the failure. */
    private void serve(UnaryOperator<FormOptions.Builder> change) throws Exception {
        app.on("/*", (request, response) -> {
            AsyncForm form = MultipartRequests.receive(request, change);
            received.add(form);
            AsyncContext async = request.getAsyncContext();
            form.completion().whenComplete((done, failure) -> {
                try {
                    if (failure == null) {
                        response.getWriter().print(done.parts().size() + " " + app.spool.files());
                    } else if (!MultipartRequests.sendError(response, failure)) {
                        response.sendError(500, failure.toString());
                    }
                } catch (IOException e) {
                    app.thrown.add(e);
                }
                if (failure == null) {
                    result.complete(done);
                } else {
                    result.completeExceptionally(failure);
                }
                async.complete();
            });
        });
        app.start();
    }

    private <T extends Throwable> T failure(Class<T> type) {
        return assertInstanceOf(
                type,
                assertThrows(ExecutionException.class, () -> result.get(10, TimeUnit.SECONDS))
                        .getCause());
    }

    @Test
    void aFormComesInWithoutAThread() throws Exception {
        serve(options -> options);
        byte[] body = form().closed();
        try (RawClient client = app.connect()) {
            client.send(FormBody.head("POST", "/", FormBody.TYPE, body.length));
            next();
            for (int from = 0; from < body.length; from += 9_973) {
                client.send(Arrays.copyOfRange(body, from, Math.min(from + 9_973, body.length)));
            }
            assertEquals("2 1", client.answer().body());
            client.send(FormBody.request("GET", "/", "text/plain", new byte[0]));
            assertEquals(500, client.answer().status(), "the connection is good for more; a GET is no form");
        }
    }

    @Test
    void aChunkedBodyComesInToo() throws Exception {
        serve(options -> options);
        byte[] body = form().closed();
        try (RawClient client = app.connect()) {
            client.send(FormBody.head("POST", "/", FormBody.TYPE, -1));
            client.send(Integer.toHexString(body.length) + "\r\n").send(body).send("\r\n0\r\n\r\n");
            assertEquals("2 1", client.answer().body());
        }
    }

    @Test
    void aDispatchAfterwardsSeesPartsAndParametersWithoutWaiting() throws Exception {
        app.on("/*", (request, response) -> {
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
        assertEquals("21", app.post("/", form()).body());
    }

    @Test
    void itWorksWithoutTheFilter() throws Exception {
        try (AsyncForms forms = AsyncForms.create(app.formOptions())) {
            app.on("/*", (request, response) -> {
                AsyncContext async = request.startAsync();
                forms.receive(request).completion().whenComplete((form, failure) -> {
                    try {
                        response.getWriter().print(form.parts().size());
                    } catch (IOException e) {
                        app.thrown.add(e);
                    }
                    async.complete();
                });
            });
            app.startBare();
            assertEquals("2", app.post("/", form()).body());
            JettyApp.eventually("the request ends", () -> forms.live() == 0);
        }
    }

    @Test
    void whatIsNoFormIsRefusedWithoutTheFilterToo() throws Exception {
        try (AsyncForms forms = AsyncForms.create(app.formOptions())) {
            app.on("/*", (request, response) -> {
                AsyncForm form = forms.receive(request);
                form.completion().whenComplete((done, failure) -> answer(request.getAsyncContext(), failure));
            });
            app.startBare();
            try (RawClient client = app.connect()) {
                client.send(FormBody.request("POST", "/", "multipart/mixed; boundary=B", form().closed()));
                assertEquals(415, client.answer().status());
            }
            try (RawClient client = app.connect()) {
                client.send(FormBody.request("POST", "/", "multipart/form-data", form().closed()));
                assertEquals(400, client.answer().status());
            }
        }
    }

    private static void answer(AsyncContext async, Throwable failure) {
        try {
            MultipartRequests.sendError((HttpServletResponse) async.getResponse(), failure);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } finally {
            async.complete();
        }
    }

    @Test
    void aMalformedBodyIsAnsweredOnceTheRestHasBeenRead() throws Exception {
        serve(options -> options);
        RawClient.Answer answer =
                app.post("/", new FormBody().text("--Bgarbage\r\n").file("f", "x", FormBody.bytes(500_000)));
        assertEquals(400, answer.status());
        assertEquals(null, answer.headers().get("connection"));
        assertTrue(!failure(MultipartRequestException.class).closesConnection());
    }

    @Test
    void aBodyBeyondALimitWithALargeRestIsAnsweredAtOnce() throws Exception {
        serve(options -> options.maxBodyBytes(50_000).maxDrainBytes(10_000));
        try (RawClient client = app.connect()) {
            client.send(FormBody.head("POST", "/", FormBody.TYPE, -1));
            client.send("100000\r\n").send(form().open());
            RawClient.Answer answer = client.answer();
            assertEquals(413, answer.status());
            assertTrue(answer.body().contains("maxBodyBytes"), answer.body());
        }
    }

    @Test
    void aBodyThatSaysThatItIsTooLargeIsAnsweredBeforeItComes() throws Exception {
        serve(options -> options.maxBodyBytes(50_000).maxDrainBytes(10_000));
        try (RawClient client = app.connect()) {
            client.send(FormBody.head("POST", "/", FormBody.TYPE, 1 << 30));
            RawClient.Answer answer = client.answer();
            assertEquals(413, answer.status());
            assertEquals("close", answer.headers().get("connection"));
        }
    }

    @Test
    void aTruncatedBodyIs400() throws Exception {
        serve(options -> options);
        try (RawClient client = app.connect()) {
            client.send(FormBody.request("POST", "/", FormBody.TYPE, form().open()));
            assertEquals(400, client.answer().status());
        }
        failure(MultipartRequestException.class);
    }

    @Test
    void cancellingLeavesNothing() throws Exception {
        serve(options -> options);
        try (RawClient client = app.connect()) {
            client.send(FormBody.head("POST", "/", FormBody.TYPE, 1 << 20)).send(form().open());
            AsyncForm form = next();
            JettyApp.eventually("the body is being read", () -> app.spool.files() == 1);
            form.cancel();
            failure(CancellationException.class);
            assertEquals(0, app.spool.files());
            assertEquals(500, client.answer().status());
            form.cancel();
        }
    }

    @Test
    void cancellingWhatIsCompleteDoesNothing() throws Exception {
        serve(options -> options);
        assertEquals("2 1", app.post("/", form()).body());
        next().cancel();
        assertEquals(2, result.get().parts().size());
    }

    @Test
    void aSinkThatIsNotReadyStopsTheClientAndNoThread() throws Exception {
        GateSink gate = new GateSink();
        serve(options ->
                options.decider(part -> part.filename() == null ? PartDecision.memory() : PartDecision.to(gate)));
        try (RawClient client = app.connect()) {
            byte[] start = form().open();
            client.send(FormBody.head("POST", "/", FormBody.TYPE, start.length + 200_000 + 9));
            client.send(start);
            JettyApp.eventually("what was sent comes in", () -> gate.bytes() > 99_990);
            gate.shut();
            long before = gate.bytes();
            client.send(FormBody.bytes(200_000));
            client.send("\r\n--B--\r\n");
            long begin = System.nanoTime();
            JettyApp.eventually("time goes by", () -> System.nanoTime() - begin > 200_000_000L);
            assertTrue(gate.bytes() - before <= 32 << 10, gate.bytes() + " after " + before);
            gate.open();
            assertEquals("1 0", client.answer().body());
        }
    }

    @Test
    void aSinkThatIsReadyBeforeItHasReturnedGoesOnAtOnce() throws Exception {
        AtomicLong bytes = new AtomicLong();
        serve(options -> options.decider(
                part -> part.filename() == null ? PartDecision.memory() : PartDecision.to(new ImpatientSink(bytes))));
        try (RawClient client = app.connect()) {
            byte[] body = form().file("g", "g", FormBody.bytes(1_000_000)).closed();
            client.send(FormBody.head("POST", "/", FormBody.TYPE, body.length));
            client.send(body);
            assertEquals("1 0", client.answer().body());
            assertEquals(1_100_000, bytes.get());
        }
    }

    /** Has somebody else say that it is ready, who may be faster. */
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
    void whatASinkThrowsIsWhatTheFormFailsWith() throws Exception {
        serve(options -> options.decider(part -> {
            throw new ArithmeticException("mine");
        }));
        assertEquals(500, app.post("/", form()).status());
        failure(ArithmeticException.class);
    }

    @Test
    void troubleOfTheDiskIs500() throws Exception {
        serve(options -> options.decider(part -> {
            throw new IOException("disk");
        }));
        assertEquals(500, app.post("/", form()).status());
        assertEquals(500, failure(MultipartRequestException.class).httpStatus());
    }

    @Test
    void aClientThatVanishesFailsTheForm() throws Exception {
        serve(options -> options);
        try (RawClient client = app.connect()) {
            client.send(FormBody.head("POST", "/", FormBody.TYPE, 1 << 20)).send(form().open());
            JettyApp.eventually("the body is being read", () -> app.spool.files() == 1);
            client.vanish();
        }
        failure(IOException.class);
    }

    @Test
    void anAsynchronousRequestThatTimesOutAbortsItsForm() throws Exception {
        app.on("/*", (request, response) -> {
            request.startAsync().setTimeout(100);
            MultipartRequests.receive(request).completion().whenComplete((form, failure) -> {
                result.completeExceptionally(failure);
            });
        });
        app.start();
        try (RawClient client = app.connect()) {
            client.send(FormBody.head("POST", "/", FormBody.TYPE, 1 << 20)).send(form().open());
            failure(TimeoutException.class);
            assertEquals(500, client.answer().status());
        }
    }

    @Test
    void afterAnAbortedFormADispatchHasTheParametersOfTheQuery() throws Exception {
        app.on("/*", (request, response) -> {
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
        assertEquals("1null", app.post("/?q=1", form()).body());
    }

    @Test
    void theLimitsOfOneRequestHoldForItsParametersToo() throws Exception {
        app.on("/*", (request, response) -> {
            if (request.getDispatcherType() == DispatcherType.ASYNC) {
                response.getWriter().print(request.getParameter("a").length());
            } else {
                AsyncForm form = MultipartRequests.receive(
                        request, options -> options.maxInMemoryBytes(4 << 20).maxFieldBytes(4 << 20));
                form.completion().thenRun(request.getAsyncContext()::dispatch);
            }
        });
        app.start();
        assertEquals(
                "3000000",
                app.post("/", new FormBody().field("a", "x".repeat(3_000_000))).body());
    }

    @Test
    void aRequestThatIsCompletedAbortsItsForm() throws Exception {
        app.on("/*", (request, response) -> {
            AsyncForm form = MultipartRequests.receive(request);
            form.completion().whenComplete((done, failure) -> result.completeExceptionally(failure));
            request.getAsyncContext().complete();
        });
        app.start();
        try (RawClient client = app.connect()) {
            client.send(FormBody.head("POST", "/", FormBody.TYPE, 1 << 20)).send(form().open());
            failure(CancellationException.class);
        }
    }

    @Test
    void aClientThatSendsNothingIsTooSlow() throws Exception {
        app.options(options -> options.minBytesPerSecond(240).minRateGrace(Duration.ofMillis(200)));
        serve(options -> options);
        try (RawClient client = app.connect()) {
            client.send(FormBody.head("POST", "/", FormBody.TYPE, 1 << 20));
            RawClient.Answer answer = client.answer();
            assertEquals(408, answer.status());
            assertEquals("close", answer.headers().get("connection"));
        }
        MultipartException slow = assertInstanceOf(
                MultipartException.class,
                failure(MultipartRequestException.class).getCause());
        assertEquals(Reason.CLIENT_TOO_SLOW, slow.reason());
    }

    @Test
    void theTimeInWhichASinkIsNotReadyIsNotTheClients() throws Exception {
        GateSink gate = new GateSink().shut();
        app.options(options -> options.minRateGrace(Duration.ofMillis(300)));
        serve(options -> options.decider(part -> PartDecision.to(gate)));
        byte[] body = new FormBody().field("a", "1").closed();
        try (RawClient client = app.connect()) {
            client.send(FormBody.head("POST", "/", FormBody.TYPE, body.length));
            client.send(body);
            long begin = System.nanoTime();
            JettyApp.eventually("time goes by", () -> System.nanoTime() - begin > 700_000_000L);
            gate.open();
            assertEquals("0 0", client.answer().body());
        }
    }

    @Test
    void stoppingTheApplicationEndsFormsAndThreads() throws Exception {
        serve(options -> options);
        try (RawClient client = app.connect()) {
            client.send(FormBody.head("POST", "/", FormBody.TYPE, 1 << 20)).send(form().open());
            JettyApp.eventually("the body is being read", () -> app.spool.files() == 1);
            app.filter().destroy();
            failure(CancellationException.class);
        }
        assertTrue(Thread.getAllStackTraces().keySet().stream()
                .noneMatch(thread -> thread.getName().startsWith("sluice-") && thread.isAlive()));
    }
}
