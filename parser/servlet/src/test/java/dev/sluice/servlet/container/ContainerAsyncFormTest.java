package dev.sluice.servlet.container;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.FormOptions;
import dev.sluice.form.FormPart;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import dev.sluice.servlet.AsyncForm;
import dev.sluice.servlet.GateSink;
import dev.sluice.servlet.MultipartFilter;
import dev.sluice.servlet.MultipartRequestException;
import dev.sluice.servlet.MultipartRequests;
import io.netty.buffer.ByteBuf;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Forms that come in without a thread, over sockets whose other end does as it likes. */
@Timeout(120)
class ContainerAsyncFormTest {
    private static final byte[] CONTENT = Form.noise(20_000, 7);
    private static final Form FORM = new Form().field("a", "1").file("f", "f.bin", CONTENT);
    private static final int LARGE = 32 << 20;

    @TempDir
    Path directory;

    private final WorkServlet servlet = new WorkServlet();
    private final CompletableFuture<AsyncForm> started = new CompletableFuture<>();
    private final CompletableFuture<String> outcome = new CompletableFuture<>();
    private Store store;

    @BeforeEach
    void open() throws IOException {
        store = new Store(Files.createDirectory(directory.resolve("spool")));
    }

    @AfterEach
    void close() throws IOException {
        store.close();
    }

    private RunningContainer start(ServletContainer kind) throws Exception {
        return start(kind, builder -> builder);
    }

    private RunningContainer start(ServletContainer kind, UnaryOperator<FormOptions.Builder> change) throws Exception {
        MultipartFilter filter = MultipartFilter.of(
                change.apply(store.options().spillThreshold(0)).build());
        return kind.start(new WebApp(Files.createDirectory(directory.resolve("container")))
                .largeBodies()
                .servlet("/app/*", servlet)
                .filter("/app/*", filter));
    }

    /** Receives the form and answers with its parts, or as the failure says. */
    private void receive(HttpServletRequest request, HttpServletResponse response) throws IOException {
        answer(request, response, MultipartRequests.receive(request));
    }

    private void answer(HttpServletRequest request, HttpServletResponse response, AsyncForm form) {
        AsyncContext context = request.getAsyncContext();
        started.complete(form);
        form.completion().whenComplete((parts, failure) -> {
            if (failure == null) {
                write(response, describe(parts));
                outcome.complete("a form");
            } else {
                outcome.completeExceptionally(failure);
                refuse(response, failure);
            }
            if (!(failure instanceof TimeoutException)) {
                context.complete();
            }
        });
    }

    private static void refuse(HttpServletResponse response, Throwable failure) {
        try {
            if (!MultipartRequests.sendError(response, failure)) {
                response.setStatus(500);
            }
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String describe(MultipartForm form) {
        StringBuilder text = new StringBuilder();
        for (FormPart part : form.parts()) {
            text.append(part.name()).append(':').append(part.size()).append(' ');
        }
        return text.toString();
    }

    private static void write(HttpServletResponse response, String text) {
        try {
            response.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private Throwable failure() throws Exception {
        return assertThrows(ExecutionException.class, () -> outcome.get(20, TimeUnit.SECONDS))
                .getCause();
    }

    @ParameterizedTest
    @EnumSource
    void aFormComesInAtOnce(ServletContainer kind) throws Exception {
        servlet.at("/work", this::receive);
        try (RunningContainer container = start(kind);
                RawHttp connection = container.connect()) {
            assertEquals(
                    "a:1 f:20000 ",
                    Question.describe(connection.send(FORM.post("/app/work")).answer()));
            store.assertEmpty(kind);
            assertEquals(
                    "a:1 f:20000 ",
                    Question.describe(connection.send(FORM.post("/app/work")).answer()),
                    "the second on the same connection");
            store.assertEmpty(kind);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aFormComesInByteByByte(ServletContainer kind) throws Exception {
        servlet.at("/work", this::receive);
        byte[] request =
                new Form().field("a", "1").file("f", "f.bin", new byte[300]).post("/app/work");
        try (RunningContainer container = start(kind);
                RawHttp connection = container.connect()) {
            for (int i = 0; i < request.length; i++) {
                connection.send(request, i, i + 1);
            }
            assertEquals("a:1 f:300 ", Question.describe(connection.answer()));
            store.assertEmpty(kind);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aChunkedFormComesInByteByByte(ServletContainer kind) throws Exception {
        servlet.at("/work", this::receive);
        byte[] head =
                Form.head("POST", "/app/work", "Content-Type: " + Form.CONTENT_TYPE, "Transfer-Encoding: chunked");
        byte[] chunks = Form.chunked(
                new Form().field("a", "1").file("f", "f.bin", new byte[100]).body(), 7);
        try (RunningContainer container = start(kind);
                RawHttp connection = container.connect()) {
            connection.send(head);
            for (int i = 0; i < chunks.length; i++) {
                connection.send(chunks, i, i + 1);
            }
            assertEquals("a:1 f:100 ", Question.describe(connection.answer()));
            store.assertEmpty(kind);
        }
    }

    @ParameterizedTest
    @EnumSource
    void partsAreHandedOnWhileOthersAreNotSentYet(ServletContainer kind) throws Exception {
        CompletableFuture<byte[]> first = new CompletableFuture<>();
        servlet.at("/work", (request, response) -> {
            AsyncForm form = MultipartRequests.receive(
                    request,
                    options -> options.decider(part ->
                            part.name().equals("f") ? PartDecision.to(new Collecting(first)) : PartDecision.memory()));
            answer(request, response, form);
        });
        byte[] request = new Form().file("f", "f.bin", CONTENT).field("a", "1").post("/app/work");
        int cut = request.length - 40;
        try (RunningContainer container = start(kind);
                RawHttp connection = container.connect()) {
            connection.send(request, 0, cut);
            assertArrayEquals(CONTENT, first.get(20, TimeUnit.SECONDS));
            assertEquals(
                    "a:1 ",
                    Question.describe(
                            connection.send(request, cut, request.length).answer()));
            store.assertEmpty(kind);
        }
    }

    /** Keeps a part for the test. */
    private record Collecting(java.io.ByteArrayOutputStream bytes, CompletableFuture<byte[]> all) implements PartSink {
        Collecting(CompletableFuture<byte[]> all) {
            this(new java.io.ByteArrayOutputStream(), all);
        }

        @Override
        public Readiness write(ByteBuf data) throws IOException {
            data.getBytes(data.readerIndex(), bytes, data.readableBytes());
            return Readiness.READY;
        }

        @Override
        public Readiness complete() {
            all.complete(bytes.toByteArray());
            return Readiness.READY;
        }

        @Override
        public void close() {
            all.completeExceptionally(new IOException("the part was not complete"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void aSinkThatIsNotReadyHoldsTheClientBackUntilItIs(ServletContainer kind) throws Exception {
        GateSink gate = new GateSink().shut();
        CompletableFuture<byte[]> digest = new CompletableFuture<>();
        servlet.at("/work", (request, response) -> {
            MessageDigest sum = sha256();
            AsyncForm form = MultipartRequests.receive(
                    request, options -> options.decider(part -> PartDecision.to(PartSink.digest(sum, gate))));
            form.completion().thenRun(() -> digest.complete(sum.digest()));
            answer(request, response, form);
        });
        byte[] content = Form.noise(LARGE, 11);
        ByteBuffer request =
                ByteBuffer.wrap(new Form().file("f", "f.bin", content).post("/app/work"));
        try (RunningContainer container = start(kind);
                RawHttp connection = container.connect();
                Selector selector = Selector.open()) {
            SocketChannel channel = connection.channel();
            channel.configureBlocking(false);
            SelectionKey key = channel.register(selector, SelectionKey.OP_WRITE);
            while (request.hasRemaining() && selector.select(1000) > 0) {
                selector.selectedKeys().clear();
                channel.write(request);
            }
            int sent = request.position();
            long before = gate.bytes();
            assertTrue(sent < LARGE, "all was sent to a sink that is not ready");
            assertTrue(before < 1 << 20, before + " bytes went on to a sink that is not ready");
            assertEquals(0, selector.select(1000), "the client may send although the sink is not ready");
            assertEquals(before, gate.bytes());

            gate.open();
            key.cancel();
            selector.selectNow();
            channel.configureBlocking(true);
            connection.send(request.array(), sent, request.capacity());
            assertEquals(200, connection.answer().status());
            assertEquals(LARGE, gate.bytes());
            assertArrayEquals(MessageDigest.getInstance("SHA-256").digest(content), digest.get());
            store.assertEmpty(kind);
        }
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aCancelledFormLeavesNothing(ServletContainer kind) throws Exception {
        servlet.at("/work", this::receive);
        byte[] request = FORM.post("/app/work");
        try (RunningContainer container = start(kind);
                RawHttp connection = container.connect()) {
            connection.send(request, 0, request.length - 5000);
            Eventually.isTrue(() -> store.files() == 2, () -> "no files of a form that comes in");
            started.get().cancel();
            assertInstanceOf(CancellationException.class, failure());
            store.assertEmpty(kind);
            assertEquals(500, connection.answer().status());
        }
    }

    @ParameterizedTest
    @EnumSource
    void aFormThatIsCancelledWhileItsSinkIsNotReadyLeavesNothing(ServletContainer kind) throws Exception {
        GateSink gate = new GateSink().shut();
        servlet.at("/work", (request, response) -> {
            AsyncForm form = MultipartRequests.receive(
                    request,
                    options ->
                            options.decider(part -> part.index() == 0 ? PartDecision.spill() : PartDecision.to(gate)));
            started.complete(form);
            answer(request, response, form);
        });
        byte[] request = FORM.post("/app/work");
        try (RunningContainer container = start(kind);
                RawHttp connection = container.connect()) {
            connection.send(request, 0, request.length - 5000);
            Eventually.isTrue(() -> gate.bytes() > 0, () -> "no bytes of a form that comes in");
            started.get().cancel();
            assertInstanceOf(CancellationException.class, failure());
            store.assertEmpty(kind);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aClientThatIsGoneLeavesNothing(ServletContainer kind) throws Exception {
        servlet.at("/work", this::receive);
        byte[] request = FORM.post("/app/work");
        try (RunningContainer container = start(kind)) {
            for (int cut = request.length - 1; cut > request.length / 2; cut -= 3001) {
                try (RawHttp connection = container.connect()) {
                    connection.send(request, 0, cut);
                    Eventually.isTrue(() -> store.files() == 2, () -> "no files of a form that comes in");
                    if (cut % 2 == 0) {
                        connection.reset();
                    }
                }
                store.assertEmpty(kind + " after " + cut + " bytes");
            }
            assertTrue(outcome.isCompletedExceptionally());
        }
    }

    @ParameterizedTest
    @EnumSource
    void aTruncatedFormIsABadRequest(ServletContainer kind) throws Exception {
        servlet.at("/work", this::receive);
        byte[] body = FORM.body();
        byte[] request =
                Form.request("POST", "/app/work", Form.CONTENT_TYPE, java.util.Arrays.copyOf(body, body.length - 100));
        try (RunningContainer container = start(kind);
                RawHttp connection = container.connect()) {
            assertEquals(400, connection.send(request).answer().status());
            assertInstanceOf(MultipartRequestException.class, failure());
            store.assertEmpty(kind);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aFormLargerThanAllowedIsRefusedAndItsClientReadsThat(ServletContainer kind) throws Exception {
        servlet.at(
                "/work",
                (request, response) -> answer(
                        request,
                        response,
                        MultipartRequests.receive(request, options -> options.maxPartBytes(10_000))));
        try (RunningContainer container = start(kind);
                RawHttp connection = container.connect()) {
            assertEquals(413, connection.send(FORM.post("/app/work")).answer().status());
            store.assertEmpty(kind);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aFormWhoseRequestTimesOutLeavesNothing(ServletContainer kind) throws Exception {
        servlet.at("/work", (request, response) -> {
            request.startAsync().setTimeout(300);
            receive(request, response);
        });
        byte[] request = FORM.post("/app/work");
        try (RunningContainer container = start(kind);
                RawHttp connection = container.connect()) {
            connection.send(request, 0, request.length - 5000);
            assertInstanceOf(TimeoutException.class, failure());
            store.assertEmpty(kind);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aClientSlowerThanTheMinimumRateIsSentAway(ServletContainer kind) throws Exception {
        servlet.at("/work", this::receive);
        byte[] request = FORM.post("/app/work");
        try (RunningContainer container =
                        start(kind, options -> options.minBytesPerSecond(1_000).minRateGrace(Duration.ofMillis(300)));
                RawHttp connection = container.connect()) {
            connection.send(request, 0, request.length - 5000);
            RawHttp.Answer answer = connection.answer();
            assertEquals(408, answer.status());
            store.assertEmpty(kind);
        }
    }

    @ParameterizedTest
    @EnumSource
    void aContainerStoppedWhileFormsComeInLeavesNothing(ServletContainer kind) throws Exception {
        servlet.at("/work", this::receive);
        byte[] request = FORM.post("/app/work");
        RawHttp connection;
        try (RunningContainer container = start(kind)) {
            connection = container.connect().send(request, 0, request.length - 5000);
            Eventually.isTrue(() -> store.files() == 2, () -> "no files of a form that comes in");
        }
        store.assertEmpty(kind);
        assertTrue(outcome.isDone());
        connection.close();
    }
}
