package dev.sluice.servlet.container;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.MultipartReader;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.servlet.AsyncForm;
import dev.sluice.servlet.GatedSink;
import dev.sluice.servlet.MultipartRequests;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Asynchronous forms in each container, with clients that send slowly, stop or disconnect. */
@Timeout(300)
class ContainerAsyncFormTest extends AppTestBase {
    private static final byte[] CONTENT = TestForm.noise(20_000, 7);
    private static final TestForm FORM = new TestForm().field("a", "1").file("f", "f.bin", CONTENT);
    private static final int FILES = 1;
    private static final int LARGE = 32 << 20;

    private final BlockingQueue<AsyncForm> started = new LinkedBlockingQueue<>();
    private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();

    private void start(ServletContainer kind) throws Exception {
        start(kind, options -> options);
    }

    /** Starts an application that receives a form and answers with its parts or its failure. */
    private void start(ServletContainer kind, UnaryOperator<FormOptions.Builder> change) throws Exception {
        app.options(options -> options.spillThreshold(0));
        app.on((request, response) -> {
            AsyncForm form = MultipartRequests.receive(request, change);
            AsyncContext context = request.getAsyncContext();
            started.add(form);
            form.completion().whenComplete((parts, failure) -> {
                if (failure != null) {
                    failures.add(failure);
                }
                try {
                    if (failure == null) {
                        response.getOutputStream().write(describe(parts).getBytes(StandardCharsets.UTF_8));
                    } else if (!MultipartRequests.sendError(response, failure)) {
                        response.setStatus(500);
                    }
                } catch (IOException e) {
                    app.thrown().add(e);
                } finally {
                    context.complete();
                }
            });
        });
        app.start(kind);
    }

    private static String describe(MultipartForm form) {
        return form.parts().stream()
                .map(part -> part.name() + ":" + part.size())
                .collect(Collectors.joining(" "));
    }

    private static <T> T next(BlockingQueue<T> queue) throws Exception {
        T next = queue.poll(2, TimeUnit.MINUTES);
        if (next == null) {
            throw new TimeoutException();
        }
        return next;
    }

    @ParameterizedTest
    @EnumSource
    void forms_sentAtOnce_areReceived(ServletContainer kind) throws Exception {
        start(kind);
        try (RawHttp connection = app.connect()) {
            for (String times : new String[] {"first", "second on the same connection"}) {
                String response =
                        Question.describe(connection.send(FORM.post("/")).response());
                assertEquals("a:1 f:20000", response, times);
                app.assertNothingLeft(times);
            }
            connection.send(TestForm.request("GET", "/", "text/plain", new byte[0]));
            assertEquals(500, connection.response().status(), "the status of a GET request without a form");
        }
    }

    @ParameterizedTest
    @EnumSource
    void forms_sentByteByByte_areReceived(ServletContainer kind) throws Exception {
        start(kind);
        TestForm form = new TestForm().field("a", "1").file("f", "f.bin", new byte[100]);
        for (byte[] request : new byte[][] {form.post("/"), TestForm.chunked("/", form.body(), 7)}) {
            try (RawHttp connection = app.connect()) {
                for (int i = 0; i < request.length; i++) {
                    connection.send(request, i, i + 1);
                }
                assertEquals("a:1 f:100", Question.describe(connection.response()));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void pendingSink_slowsClientDown(ServletContainer kind) throws Exception {
        GatedSink gate = new GatedSink().shut();
        MessageDigest sum = MessageDigest.getInstance("SHA-256");
        start(kind, options -> options.decider(part -> PartDecision.to(PartSink.digest(sum, gate))));
        byte[] content = TestForm.noise(LARGE, 11);
        ByteBuffer request =
                ByteBuffer.wrap(new TestForm().file("f", "f.bin", content).post("/"));
        try (RawHttp connection = app.connect();
                Selector selector = Selector.open()) {
            SocketChannel channel = connection.channel();
            channel.configureBlocking(false);
            SelectionKey key = channel.register(selector, SelectionKey.OP_WRITE);
            while (request.hasRemaining() && selector.select(500) > 0) {
                selector.selectedKeys().clear();
                channel.write(request);
            }
            int sent = request.position();
            assertTrue(sent < LARGE, "all was sent to a sink that is not ready");
            assertTrue(gate.bytes() <= 32 << 10, gate.bytes() + " bytes were written to a sink that is not ready");

            gate.open();
            key.cancel();
            selector.selectNow();
            channel.configureBlocking(true);
            connection.send(request.array(), sent, request.capacity());
            assertEquals(200, connection.response().status());
            assertEquals(LARGE, gate.bytes());
            assertArrayEquals(MessageDigest.getInstance("SHA-256").digest(content), sum.digest());
        }
    }

    @ParameterizedTest
    @EnumSource
    void cancelledForm_leavesNothing(ServletContainer kind) throws Exception {
        start(kind);
        try (RawHttp connection = app.begin(FORM, FILES)) {
            AsyncForm form = next(started);
            form.cancel();
            assertInstanceOf(CancellationException.class, next(failures));
            app.assertNothingLeft(kind);
            assertEquals(500, connection.response().status());
            form.cancel();
        }
    }

    @ParameterizedTest
    @EnumSource
    void cancelledForm_pendingSink_leavesNothing(ServletContainer kind) throws Exception {
        GatedSink gate = new GatedSink().shut();
        start(
                kind,
                options -> options.decider(part -> part.index() == 0 ? PartDecision.store() : PartDecision.to(gate)));
        TestForm two = new TestForm().file("e", "e.bin", CONTENT).file("f", "f.bin", CONTENT);
        try (RawHttp connection = app.begin(two, 1)) {
            Eventually.isTrue(() -> gate.bytes() > 0, "the sink received no bytes");
            next(started).cancel();
            assertInstanceOf(CancellationException.class, next(failures));
            app.assertNothingLeft(connection);
        }
    }

    @ParameterizedTest
    @EnumSource
    void disconnectedClient_leavesNothing(ServletContainer kind) throws Exception {
        start(kind);
        byte[] request = FORM.post("/");
        for (int cut = request.length - 1; cut > request.length / 2; cut -= 3001) {
            try (RawHttp connection = app.connect()) {
                connection.send(request, 0, cut);
                Eventually.isTrue(() -> app.spool.files() == FILES, "the spool does not have the files");
                if (cut % 2 == 0) {
                    connection.reset();
                }
            }
            app.assertNothingLeft(cut + " bytes");
            assertInstanceOf(IOException.class, next(failures));
        }
    }

    @ParameterizedTest
    @EnumSource
    void rejectedForm_isAnsweredWithItsStatus(ServletContainer kind) throws Exception {
        start(kind, options -> options.maxPartBytes(10_000));
        assertEquals(413, app.post("/", FORM).status());
        byte[] cut = new TestForm().field("a", "1").open();
        assertEquals(400, app.send(TestForm.request("/", cut)).status());
        for (int i = 0; i < 2; i++) {
            assertInstanceOf(MultipartException.class, next(failures));
        }
    }

    /** Jetty and Tomcat close such a connection by themselves, but Undertow does not. */
    @ParameterizedTest
    @EnumSource
    void body_rejected_responseClosesConnection(ServletContainer kind) throws Exception {
        MultipartException refusal =
                MultipartException.because(Reason.PART_REFUSED).httpStatus(422).build();
        Map<String, Integer> statuses = new LinkedHashMap<>();
        app.options(options -> options.maxPartBytes(10_000).maxDrainBytes(0));
        statuses.put("/async", 422);
        app.on("/async", (request, response) -> {
            AsyncContext context = request.startAsync();
            MultipartRequests.receive(request).completion().whenComplete((form, failure) -> {
                response.setStatus(422);
                context.complete();
            });
        });
        statuses.put("/async-context", 422);
        app.on("/async-context", (request, response) -> {
            AsyncContext context = request.startAsync();
            MultipartRequests.receive(request).completion().whenComplete((form, failure) -> {
                HttpServletResponse rejected = (HttpServletResponse) context.getResponse();
                rejected.setStatus(422);
                if (!rejected.containsHeader("Connection")) { // Jetty and Tomcat may add it later
                    rejected.setStatus(500);
                }
                context.complete();
            });
        });
        statuses.put("/blocking", 422);
        app.on("/blocking", (request, response) -> {
            assertThrows(MultipartException.class, () -> MultipartRequests.form(request));
            response.setStatus(422);
        });
        statuses.put("/error", 409);
        app.on("/error", (request, response) -> {
            assertThrows(MultipartException.class, () -> MultipartRequests.form(request));
            response.sendError(409);
        });
        statuses.put("/redirect", 302);
        app.on("/redirect", (request, response) -> {
            assertThrows(MultipartException.class, () -> MultipartRequests.form(request));
            response.sendRedirect("/too-large");
        });
        statuses.put("/refused-again", 422);
        app.on("/refused-again", (request, response) -> {
            assertThrows(MultipartException.class, () -> MultipartRequests.form(request));
            throw refusal;
        });
        statuses.put("/refused-unread", 422);
        app.on("/refused-unread", (request, response) -> {
            throw refusal;
        });
        statuses.put("/reader", 413);
        app.on("/reader", (request, response) -> readAll(request));
        statuses.put("/reader-reported", 413);
        app.on("/reader-reported", (request, response) -> {
            MultipartException failure = assertThrows(MultipartException.class, () -> readAll(request));
            assertTrue(MultipartRequests.sendError(response, failure));
        });
        app.start(kind);
        for (Map.Entry<String, Integer> each : statuses.entrySet()) {
            String path = each.getKey();
            try (RawHttp client = app.connect()) {
                client.send(TestForm.head(path, 1 << 30)).send(FORM.open());
                RawHttp.Response response = client.response();
                assertEquals(each.getValue(), response.status(), path);
                assertEquals("close", response.headers().get("connection"), path);
            }
        }
    }

    /** Undertow sends this response when the client disconnects. The other containers set the header by themselves. */
    @Test
    void sendError_whileTheFormIsReceived_closesConnection() throws Exception {
        CompletableFuture<Boolean> closes = new CompletableFuture<>();
        app.on((request, response) -> {
            AsyncContext context = request.startAsync();
            MultipartRequests.receive(request);
            MultipartRequests.sendError(
                    response, MultipartException.because(Reason.PART_REFUSED).build());
            closes.complete(response.containsHeader("Connection"));
            context.complete();
        });
        app.start(ServletContainer.UNDERTOW);
        try (RawHttp client = app.connect()) {
            client.send(TestForm.head("/", 1 << 20)).send(FORM.open());
            assertTrue(closes.get(1, TimeUnit.MINUTES), "no Connection: close");
        }
    }

    private static void readAll(HttpServletRequest request) throws IOException {
        try (MultipartReader reader = MultipartRequests.reader(request)) {
            while (reader.nextPart() != null) {}
        }
    }

    @ParameterizedTest
    @EnumSource
    void timeout_leavesNothing(ServletContainer kind) throws Exception {
        app.before((request, response, chain) -> {
            request.startAsync().setTimeout(200);
            chain.doFilter(request, response);
        });
        start(kind);
        try (RawHttp connection = app.begin(FORM)) {
            assertInstanceOf(TimeoutException.class, next(failures));
            app.assertNothingLeft(connection);
        }
    }

    @ParameterizedTest
    @EnumSource
    void slowClient_isAnsweredWith408(ServletContainer kind) throws Exception {
        start(kind, options -> options.minBytesPerSecond(1_000_000).minRateGrace(Duration.ofMillis(300)));
        try (RawHttp connection = app.begin(FORM)) {
            RawHttp.Response response = connection.response();
            assertEquals(408, response.status());
            assertEquals("close", response.headers().get("connection"));
        }
        MultipartException slow = assertInstanceOf(MultipartException.class, next(failures));
        assertEquals(Reason.CLIENT_TOO_SLOW, slow.reason());
    }

    @ParameterizedTest
    @EnumSource
    void stoppedContainer_leavesNeitherFormNorThread(ServletContainer kind) throws Exception {
        Set<Thread> before = threads();
        start(kind);
        try (RawHttp connection = app.begin(FORM, FILES)) {
            app.stop();
            app.assertNothingLeft(connection);
            next(failures); // fails with an exception of the container, or a CancellationException
        }
        Eventually.isTrue(() -> before.containsAll(threads()), () -> "threads: " + threads());
    }

    /** {@return the threads that Sluice has started in this JVM, including those of other tests} */
    private static Set<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("sluice-") && thread.isAlive())
                .collect(Collectors.toSet());
    }
}
