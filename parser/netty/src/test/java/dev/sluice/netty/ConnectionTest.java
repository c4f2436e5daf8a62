package dev.sluice.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.netty.NettyServer.Transport;
import dev.sluice.testkit.CountingAllocator;
import dev.sluice.testkit.RawHttp;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpServerCodec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The form handler on HTTP/1.1 sockets. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // a blocked socket write ignores interrupts
@ParameterizedClass
@MethodSource("transports")
class ConnectionTest {
    private static final String HEAD =
            "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Type: " + Upload.TYPE + "\r\nContent-Length: ";

    private final ExecutorService workers = Executors.newFixedThreadPool(2);
    private final MemoryBudget memory = MemoryBudget.of(16 << 20);
    private final CountingAllocator buffers = new CountingAllocator();
    private final Upload upload = new Upload();
    private final Transport transport;
    private boolean allowHalfClosure;
    private MultipartHandlers handlers;
    private NettyServer server;

    ConnectionTest(Transport transport) {
        this.transport = transport;
    }

    static Transport[] transports() {
        return Transport.selected();
    }

    private void start(UnaryOperator<MultipartHandlers.Builder> change, UnaryOperator<FormOptions.Builder> options) {
        Forms forms = Forms.of(options.apply(FormOptions.inMemory(memory)).build());
        handlers = change.apply(MultipartHandlers.builder(
                        forms, request -> request.uri().equals("/upload") ? upload : null, workers))
                .build();
        server = new NettyServer(transport, channel -> {
            channel.config().setAllocator(buffers);
            channel.config().setOption(ChannelOption.ALLOW_HALF_CLOSURE, allowHalfClosure);
            channel.pipeline().addLast(new HttpServerCodec(), handlers.newHandler());
        });
    }

    private void start() {
        start(handlers -> handlers, options -> options);
    }

    @AfterEach
    void assertNothingLeft() throws InterruptedException {
        server.close();
        workers.shutdown();
        assertTrue(workers.awaitTermination(2, TimeUnit.MINUTES));
        assertEquals(0, memory.used());
        assertEquals(List.of(), buffers.unreleased());
    }

    private static void assertAnswer(int status, boolean closes, RawHttp from) throws IOException {
        RawHttp.Response response = from.anyResponse();
        assertEquals(status, response.status(), response::body);
        assertEquals(closes ? "close" : null, response.headers().get("connection"), response::body);
    }

    /** Asserts only the status: the server may respond before or after it has read the client's FIN. */
    private static void assertStatus(int status, RawHttp from) throws IOException {
        RawHttp.Response response = from.anyResponse();
        assertEquals(status, response.status(), response::body);
    }

    private static void post(RawHttp to, byte[] body) throws IOException {
        to.send(HEAD + body.length + "\r\n\r\n").send(body);
    }

    private Throwable failure() throws Exception {
        return upload.failure.get(2, TimeUnit.MINUTES);
    }

    @Test
    void sinks_withAnExecutor_runOnItsThreads() throws Exception {
        start();
        byte[] body = Upload.body(3_000_000);
        try (RawHttp client = server.connect()) {
            for (int i = 1; i <= 3; i++) {
                post(client, body);
                assertAnswer(200, false, client);
                assertEquals(i * 3_000_000, upload.bytes.get());
                assertFalse(upload.thread.getName().startsWith(NettyServer.LOOP), upload.thread.getName());
            }
        }
        assertEquals(3, upload.published);
    }

    @Test
    void slowSink_stopsTheClient() throws Exception {
        start(handlers -> handlers, options -> options.maxBodyBytes(128 << 20));
        upload.shut();
        int size = 64 << 20;
        byte[] body = Upload.body(size);
        try (RawHttp client = server.connect()) {
            client.send(HEAD + body.length + "\r\n\r\n");
            CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
                try {
                    client.send(body);
                } catch (IOException e) {
                    throw new AssertionError(e);
                }
            });
            assertThrows(TimeoutException.class, () -> sent.get(2, TimeUnit.SECONDS));
            long most = 0;
            for (long taken = 0; taken < size - 1; ) {
                taken = upload.awaitMoreThan(taken);
                most = Math.max(most, buffers.liveBytes());
                upload.openForOne();
            }
            upload.open();
            assertAnswer(200, false, client);
            assertTrue(most <= 1 << 20, "held: " + most);
        }
    }

    @Test
    void thousandForms_atOnce_areReceived() throws Exception {
        start();
        byte[] body = Upload.body(2000);
        List<RawHttp> clients = new ArrayList<>();
        try {
            for (int i = 0; i < 1000; i++) {
                RawHttp client = server.connect();
                clients.add(client);
                client.send(HEAD + body.length + "\r\n\r\n");
                client.send(body, 0, 1000);
            }
            for (RawHttp client : clients) {
                client.send(body, 1000, body.length);
            }
            for (RawHttp client : clients) {
                assertAnswer(200, false, client);
            }
            assertEquals(2_000_000, upload.bytes.get());
        } finally {
            for (RawHttp client : clients) {
                client.close();
            }
        }
    }

    // ---- rejected bodies

    @Test
    void malformedBody_withMegabytesAfterTheFault_responseIsReadable() throws Exception {
        start(handlers -> handlers.drainTimeout(Duration.ofMinutes(1)), options -> options.maxDrainBytes(16 << 20));
        try (RawHttp client = server.connect()) {
            client.send(HEAD + (12 << 20) + "\r\n\r\n--x\r\nbad\r\n\r\n");
            for (int i = 0; i < 8; i++) {
                client.send(new byte[1 << 20]);
            }
            assertAnswer(400, true, client);
            assertTrue(client.isAtEnd(), "the output is still open while the body is drained");
            client.send(new byte[1 << 20]); // the server reads it
        }
    }

    /** If the server closed the connection at once, these bytes would reset it, and the response could be lost. */
    @Test
    void connectionClose_bytesAfterTheBody_areDrained() throws Exception {
        start();
        byte[] body = Upload.body(10);
        try (RawHttp client = server.connect()) {
            client.send(HEAD + body.length + "\r\nConnection: close\r\n\r\n");
            client.send(body);
            assertAnswer(200, true, client);
            assertTrue(client.isAtEnd());
            for (int i = 0; i < 20; i++) {
                client.send("x");
                TimeUnit.MILLISECONDS.sleep(10);
            }
        }
    }

    @Test
    void rejectedClient_sendsForever_isDisconnected() throws Exception {
        start(handlers -> handlers.drainTimeout(Duration.ofMinutes(1)), options -> options);
        try (RawHttp client = server.connect()) {
            client.send(HEAD + (1L << 40) + "\r\nExpect: 100-continue\r\n\r\n");
            assertAnswer(413, true, client);
            assertThrows(IOException.class, () -> {
                for (int i = 0; i < 1000; i++) {
                    client.send(new byte[1 << 20]);
                }
            });
        }
    }

    @Test
    void rejectedClient_sendsNothingMore_isDisconnectedAfterTheDrainTimeout() throws Exception {
        start(handlers -> handlers.drainTimeout(Duration.ofMillis(200)), options -> options);
        try (RawHttp client = server.connect()) {
            client.send(HEAD + "1000\r\n\r\n--x\r\nbad\r\n\r\n");
            assertAnswer(400, true, client);
            assertTrue(client.isAtEnd());
            assertDisconnected(client);
        }
    }

    /** Writes until a write fails. Reading is not enough: it also ends on a half-closed connection. */
    private static void assertDisconnected(RawHttp client) {
        assertThrows(IOException.class, () -> {
            for (int i = 0; i < 1000; i++) {
                client.send("x");
                TimeUnit.MILLISECONDS.sleep(10);
            }
        });
    }

    // ---- slow and disconnected clients

    @Test
    void slowClient_isRejected() throws Exception {
        start(handlers -> handlers, options -> options.minRateGrace(Duration.ofMillis(300)));
        try (RawHttp client = server.connect()) {
            client.send(HEAD + "1000\r\n\r\n--x\r\n");
            assertAnswer(408, true, client);
        }
        assertEquals(Reason.CLIENT_TOO_SLOW, ((MultipartException) failure()).reason());
    }

    @Test
    void idleConnection_isClosedAfterTheIdleTimeout() throws Exception {
        start(handlers -> handlers.idleTimeout(Duration.ofMillis(200)), options -> options);
        try (RawHttp client = server.connect()) {
            client.send("POST /up");
            assertTrue(client.isAtEnd());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void disconnect_whileTheFormIsPaused_isNoticed(boolean reset) throws Exception {
        start();
        upload.shut();
        byte[] body = Upload.body(100_000);
        try (RawHttp client = server.connect()) {
            client.send(HEAD + 2 * body.length + "\r\n\r\n");
            client.send(body, 0, 60_000); // so little that the handler reads all of it ahead
            upload.awaitMoreThan(0);
            if (reset) {
                client.reset();
            }
        }
        Throwable found = upload.failure.get(2, TimeUnit.MINUTES);
        assertEquals(
                Reason.TRUNCATED,
                assertInstanceOf(MultipartException.class, found).reason());
        assertEquals(0, upload.published);
    }

    @Test
    void disconnect_beforeTheResponse_isNoticed() throws Exception {
        start();
        upload.response = new CompletableFuture<>();
        byte[] body = Upload.body(100);
        try (RawHttp client = server.connect()) {
            post(client, body);
            upload.trailers.get(2, TimeUnit.MINUTES);
        }
        handlers.shutdown(Duration.ofMinutes(1)).toCompletableFuture().get(2, TimeUnit.MINUTES);
        upload.response.complete(Upload.text(200, "too late"));
    }

    @Test
    void response_afterTheEventLoopHasEnded_isReleased() throws Exception {
        start();
        upload.response = new CompletableFuture<>();
        byte[] body = Upload.body(100);
        FullHttpResponse late = Upload.text(200, "too late");
        try (RawHttp client = server.connect()) {
            post(client, body);
            upload.trailers.get(2, TimeUnit.MINUTES);
            server.close();
            upload.response.complete(late);
        }
        workers.shutdown(); // a worker may not have received the response yet
        assertTrue(workers.awaitTermination(2, TimeUnit.MINUTES));
        assertEquals(0, late.refCnt());
    }

    // ---- clients that close their half of the connection after the request

    @Test
    void halfClosed_whileTheSinkIsSlow_uploadIsCompleted() throws Exception {
        allowHalfClosure = true;
        start();
        upload.shut();
        byte[] body = Upload.body(2_000_000);
        try (RawHttp client = server.connect()) {
            client.send(HEAD + body.length + "\r\n\r\n");
            CompletableFuture<Void> sent = sendAndHalfClose(client, body);
            for (long taken = 0; taken < 1_000_000; ) {
                taken = upload.awaitMoreThan(taken);
                upload.openForOne();
                TimeUnit.MILLISECONDS.sleep(1); // slower than the client
            }
            upload.open();
            assertStatus(200, client);
            assertEquals(2_000_000, upload.bytes.get());
            assertTrue(client.isAtEnd());
            sent.get(2, TimeUnit.MINUTES);
        }
    }

    @Test
    void halfClosed_whileTheSinkIsPausedForSeconds_uploadIsCompleted() throws Exception {
        allowHalfClosure = true;
        start();
        upload.shut();
        byte[] body = Upload.body(100_000);
        try (RawHttp client = server.connect()) {
            client.send(HEAD + body.length + "\r\n\r\n");
            sendAndHalfClose(client, body).get(2, TimeUnit.MINUTES);
            upload.awaitMoreThan(0);
            assertFalse(upload.failure
                    .handle((failure, none) -> true)
                    .completeOnTimeout(false, 3, TimeUnit.SECONDS)
                    .get());
            upload.open();
            assertStatus(200, client);
            assertEquals(100_000, upload.bytes.get());
        }
    }

    @Test
    void halfClosed_afterTwoPipelinedRequests_bothAreAnswered() throws Exception {
        allowHalfClosure = true;
        start();
        byte[] body = Upload.body(100);
        String request = HEAD + body.length + "\r\n\r\n" + new String(body, StandardCharsets.ISO_8859_1);
        try (RawHttp client = server.connect()) {
            client.send(request + request);
            client.sendEnd();
            assertAnswer(200, false, client);
            assertStatus(200, client);
            assertTrue(client.isAtEnd());
        }
    }

    private static CompletableFuture<Void> sendAndHalfClose(RawHttp client, byte[] body) {
        return CompletableFuture.runAsync(() -> {
            try {
                client.send(body);
                client.sendEnd();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
    }

    // ---- shutdown

    @Test
    void shutdown_beforeItsDeadline_letsFormsEnd() throws Exception {
        start();
        byte[] body = Upload.body(1_000_000);
        try (RawHttp client = server.connect();
                RawHttp idle = server.connect()) {
            client.send(HEAD + body.length + "\r\n\r\n");
            client.send(body, 0, 500_000);
            upload.awaitMoreThan(0);
            server.stopAccepting();
            CompletableFuture<Void> done =
                    handlers.shutdown(Duration.ofSeconds(20)).toCompletableFuture();
            assertTrue(idle.isAtEnd());
            client.send(body, 500_000, body.length);
            assertAnswer(200, true, client);
            client.sendEnd();
            done.get(2, TimeUnit.MINUTES);
        }
    }
}
