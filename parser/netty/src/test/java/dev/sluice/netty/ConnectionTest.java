package dev.sluice.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.netty.NettyServer.Transport;
import dev.sluice.testkit.CountingAllocator;
import io.netty.channel.ChannelOption;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpServerCodec;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
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

    private static void assertAnswer(int status, boolean closes, Socket from) throws IOException {
        String response = NettyServer.response(from);
        assertTrue(response.startsWith("HTTP/1.1 " + status), response);
        assertEquals(closes, response.contains("connection: close"), response);
    }

    /** Asserts only the status: the server may respond before or after it has read the client's FIN. */
    private static void assertStatus(int status, Socket from) throws IOException {
        String response = NettyServer.response(from);
        assertTrue(response.startsWith("HTTP/1.1 " + status), response);
    }

    private static void post(Socket to, byte[] body) throws IOException {
        NettyServer.send(to, HEAD + body.length + "\r\n\r\n");
        to.getOutputStream().write(body);
    }

    private Throwable failure() throws Exception {
        return upload.failure.get(2, TimeUnit.MINUTES);
    }

    @Test
    void sinks_withAnExecutor_runOnItsThreads() throws Exception {
        start();
        byte[] body = Upload.body(3_000_000);
        try (Socket socket = server.connect()) {
            for (int i = 1; i <= 3; i++) {
                post(socket, body);
                assertAnswer(200, false, socket);
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
        try (Socket socket = server.connect()) {
            NettyServer.send(socket, HEAD + body.length + "\r\n\r\n");
            CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
                try {
                    socket.getOutputStream().write(body);
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
            assertAnswer(200, false, socket);
            assertTrue(most <= 1 << 20, "held: " + most);
        }
    }

    @Test
    void thousandForms_atOnce_areReceived() throws Exception {
        start();
        byte[] body = Upload.body(2000);
        List<Socket> sockets = new ArrayList<>();
        try {
            for (int i = 0; i < 1000; i++) {
                Socket socket = server.connect();
                sockets.add(socket);
                NettyServer.send(socket, HEAD + body.length + "\r\n\r\n");
                socket.getOutputStream().write(body, 0, 1000);
            }
            for (Socket socket : sockets) {
                socket.getOutputStream().write(body, 1000, body.length - 1000);
            }
            for (Socket socket : sockets) {
                assertAnswer(200, false, socket);
            }
            assertEquals(2_000_000, upload.bytes.get());
        } finally {
            for (Socket socket : sockets) {
                socket.close();
            }
        }
    }

    // ---- rejected bodies

    @Test
    void malformedBody_withMegabytesAfterTheFault_responseIsReadable() throws Exception {
        start(handlers -> handlers.drainTimeout(Duration.ofMinutes(1)), options -> options.maxDrainBytes(16 << 20));
        try (Socket socket = server.connect()) {
            NettyServer.send(socket, HEAD + (12 << 20) + "\r\n\r\n--x\r\nbad\r\n\r\n");
            for (int i = 0; i < 8; i++) {
                socket.getOutputStream().write(new byte[1 << 20]);
            }
            assertAnswer(400, true, socket);
            assertEquals(-1, socket.getInputStream().read(), "the output is still open while the body is drained");
            socket.getOutputStream().write(new byte[1 << 20]); // the server reads it
        }
    }

    /** If the server closed the connection at once, these bytes would reset it, and the response could be lost. */
    @Test
    void connectionClose_bytesAfterTheBody_areDrained() throws Exception {
        start();
        byte[] body = Upload.body(10);
        try (Socket socket = server.connect()) {
            NettyServer.send(socket, HEAD + body.length + "\r\nConnection: close\r\n\r\n");
            socket.getOutputStream().write(body);
            assertAnswer(200, true, socket);
            assertEquals(-1, socket.getInputStream().read());
            for (int i = 0; i < 20; i++) {
                socket.getOutputStream().write('x');
                TimeUnit.MILLISECONDS.sleep(10);
            }
        }
    }

    @Test
    void rejectedClient_sendsForever_isDisconnected() throws Exception {
        start(handlers -> handlers.drainTimeout(Duration.ofMinutes(1)), options -> options);
        try (Socket socket = server.connect()) {
            NettyServer.send(socket, HEAD + (1L << 40) + "\r\nExpect: 100-continue\r\n\r\n");
            assertAnswer(413, true, socket);
            assertThrows(SocketException.class, () -> {
                for (int i = 0; i < 1000; i++) {
                    socket.getOutputStream().write(new byte[1 << 20]);
                }
            });
        }
    }

    @Test
    void rejectedClient_sendsNothingMore_isDisconnectedAfterTheDrainTimeout() throws Exception {
        start(handlers -> handlers.drainTimeout(Duration.ofMillis(200)), options -> options);
        try (Socket socket = server.connect()) {
            NettyServer.send(socket, HEAD + "1000\r\n\r\n--x\r\nbad\r\n\r\n");
            assertAnswer(400, true, socket);
            assertEquals(-1, socket.getInputStream().read());
            assertDisconnected(socket);
        }
    }

    /** Writes until a write fails. Reading is not enough: it also ends on a half-closed connection. */
    private static void assertDisconnected(Socket socket) {
        assertThrows(IOException.class, () -> {
            for (int i = 0; i < 1000; i++) {
                socket.getOutputStream().write('x');
                TimeUnit.MILLISECONDS.sleep(10);
            }
        });
    }

    // ---- slow and disconnected clients

    @Test
    void slowClient_isRejected() throws Exception {
        start(handlers -> handlers, options -> options.minRateGrace(Duration.ofMillis(300)));
        try (Socket socket = server.connect()) {
            NettyServer.send(socket, HEAD + "1000\r\n\r\n--x\r\n");
            assertAnswer(408, true, socket);
        }
        assertEquals(Reason.CLIENT_TOO_SLOW, ((MultipartException) failure()).reason());
    }

    @Test
    void stuckSink_formEndsAfterMaxSinkWait() throws Exception {
        start(handlers -> handlers, options -> options.maxSinkWait(Duration.ofMillis(300)));
        upload.shut();
        byte[] body = Upload.body(1000);
        try (Socket socket = server.connect()) {
            post(socket, body);
            assertAnswer(503, false, socket);
        }
    }

    @Test
    void idleConnection_isClosedAfterTheIdleTimeout() throws Exception {
        start(handlers -> handlers.idleTimeout(Duration.ofMillis(200)), options -> options);
        try (Socket socket = server.connect()) {
            NettyServer.send(socket, "POST /up");
            assertEquals(-1, socket.getInputStream().read());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void disconnect_whileTheFormIsPaused_isNoticed(boolean reset) throws Exception {
        start();
        upload.shut();
        byte[] body = Upload.body(100_000);
        try (Socket socket = server.connect()) {
            NettyServer.send(socket, HEAD + 2 * body.length + "\r\n\r\n");
            socket.getOutputStream().write(body, 0, 60_000); // so little that the handler reads all of it ahead
            upload.awaitMoreThan(0);
            if (reset) {
                socket.setSoLinger(true, 0);
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
        try (Socket socket = server.connect()) {
            post(socket, body);
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
        try (Socket socket = server.connect()) {
            post(socket, body);
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
        try (Socket socket = server.connect()) {
            NettyServer.send(socket, HEAD + body.length + "\r\n\r\n");
            CompletableFuture<Void> sent = sendAndHalfClose(socket, body);
            for (long taken = 0; taken < 1_000_000; ) {
                taken = upload.awaitMoreThan(taken);
                upload.openForOne();
                TimeUnit.MILLISECONDS.sleep(1); // slower than the client
            }
            upload.open();
            assertStatus(200, socket);
            assertEquals(2_000_000, upload.bytes.get());
            assertEquals(-1, socket.getInputStream().read());
            sent.get(2, TimeUnit.MINUTES);
        }
    }

    @Test
    void halfClosed_whileTheSinkIsPausedForSeconds_uploadIsCompleted() throws Exception {
        allowHalfClosure = true;
        start();
        upload.shut();
        byte[] body = Upload.body(100_000);
        try (Socket socket = server.connect()) {
            NettyServer.send(socket, HEAD + body.length + "\r\n\r\n");
            sendAndHalfClose(socket, body).get(2, TimeUnit.MINUTES);
            upload.awaitMoreThan(0);
            assertFalse(upload.failure
                    .handle((failure, none) -> true)
                    .completeOnTimeout(false, 3, TimeUnit.SECONDS)
                    .get());
            upload.open();
            assertStatus(200, socket);
            assertEquals(100_000, upload.bytes.get());
        }
    }

    @Test
    void halfClosed_afterTwoPipelinedRequests_bothAreAnswered() throws Exception {
        allowHalfClosure = true;
        start();
        byte[] body = Upload.body(100);
        String request = HEAD + body.length + "\r\n\r\n" + new String(body, StandardCharsets.ISO_8859_1);
        try (Socket socket = server.connect()) {
            NettyServer.send(socket, request + request);
            socket.shutdownOutput();
            assertAnswer(200, false, socket);
            assertStatus(200, socket);
            assertEquals(-1, socket.getInputStream().read());
        }
    }

    private static CompletableFuture<Void> sendAndHalfClose(Socket socket, byte[] body) {
        return CompletableFuture.runAsync(() -> {
            try {
                socket.getOutputStream().write(body);
                socket.shutdownOutput();
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
        try (Socket socket = server.connect();
                Socket idle = server.connect()) {
            NettyServer.send(socket, HEAD + body.length + "\r\n\r\n");
            socket.getOutputStream().write(body, 0, 500_000);
            upload.awaitMoreThan(0);
            server.stopAccepting();
            CompletableFuture<Void> done =
                    handlers.shutdown(Duration.ofSeconds(20)).toCompletableFuture();
            assertEquals(-1, idle.getInputStream().read());
            socket.getOutputStream().write(body, 500_000, body.length - 500_000);
            assertAnswer(200, true, socket);
            socket.shutdownOutput();
            done.get(2, TimeUnit.MINUTES);
        }
    }

    @Test
    void shutdown_atItsDeadline_abortsForms() throws Exception {
        start();
        try (Socket socket = server.connect()) {
            NettyServer.send(socket, HEAD + "1000\r\n\r\n");
            NettyServer.send(socket, new String(Arrays.copyOf(Upload.body(100), 100), StandardCharsets.ISO_8859_1));
            upload.awaitMoreThan(0);
            handlers.shutdown(Duration.ofMillis(200)).toCompletableFuture().get(2, TimeUnit.MINUTES);
            assertNotNull(failure());
            InputStream in = socket.getInputStream();
            assertEquals(-1, in.read());
        }
    }
}
