package dev.sluice.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.netty.NettyServer.Transport;
import dev.sluice.testkit.CountingAllocator;
import dev.sluice.testkit.RawHttp;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpChunkedInput;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpContentCompressor;
import io.netty.handler.codec.http.HttpContentDecompressor;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObjectAggregator;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpServerExpectContinueHandler;
import io.netty.handler.codec.http.HttpServerKeepAliveHandler;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.cors.CorsConfigBuilder;
import io.netty.handler.codec.http.cors.CorsHandler;
import io.netty.handler.codec.http.websocketx.TextWebSocketFrame;
import io.netty.handler.codec.http.websocketx.WebSocketServerProtocolHandler;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.stream.ChunkedStream;
import io.netty.handler.stream.ChunkedWriteHandler;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.IdleStateHandler;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.zip.GZIPOutputStream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Netty's own HTTP handlers before and after the form handler: the behavior that {@link MultipartHandlers} documents. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // a blocked socket write ignores interrupts
@ParameterizedClass
@MethodSource("transports")
class PipelineOrderTest {
    private static final int FILE_SIZE = 300_000;
    private static final String UPLOAD = "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Type: ";
    private static final String FORM = UPLOAD + Upload.TYPE + "\r\nContent-Length: ";
    private static final String TEXT = UPLOAD + "text/plain\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n";

    /**
     * The application: responds to any request at its end, to a malformed one at once, and to a WebSocket frame with a copy. It closes
     * idle connections.
     */
    private static final class Application extends SimpleChannelInboundHandler<Object> {
        private String uri = "";
        private int size;

        @Override
        protected void channelRead0(ChannelHandlerContext ctx, Object message) {
            if (message instanceof TextWebSocketFrame frame) {
                ctx.writeAndFlush(new TextWebSocketFrame(frame.text()));
            }
            if (message instanceof HttpRequest head) {
                uri = head.uri();
                size = 0;
            }
            if (message instanceof HttpContent content) {
                size += content.content().readableBytes();
            }
            if (message instanceof LastHttpContent
                    || message instanceof HttpRequest head
                            && head.decoderResult().isFailure()) {
                respond(ctx);
            }
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
            if (event instanceof IdleStateEvent) {
                ctx.close();
            }
            ctx.fireUserEventTriggered(event);
        }

        private void respond(ChannelHandlerContext ctx) {
            if (uri.equals("/file")) {
                HttpResponse head = new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK);
                head.headers().set(HttpHeaderNames.CONTENT_LENGTH, FILE_SIZE);
                ctx.write(head);
                ctx.writeAndFlush(
                        new HttpChunkedInput(new ChunkedStream(new ByteArrayInputStream(new byte[FILE_SIZE]))));
                return;
            }
            FullHttpResponse response = new DefaultFullHttpResponse(
                    HttpVersion.HTTP_1_1,
                    HttpResponseStatus.OK,
                    Unpooled.copiedBuffer("size: " + size, StandardCharsets.US_ASCII));
            response.headers()
                    .set(HttpHeaderNames.CONTENT_LENGTH, response.content().readableBytes());
            ctx.writeAndFlush(response);
        }
    }

    private final ExecutorService workers = Executors.newFixedThreadPool(2);
    private final MemoryBudget memory = MemoryBudget.of(16 << 20);
    private final CountingAllocator buffers = new CountingAllocator();
    private final Upload upload = new Upload();
    private final ErrorLog log = new ErrorLog();
    private final Transport transport;
    private NettyServer server;
    private RawHttp client;
    private Duration idleTimeout = Duration.ofSeconds(30);
    /** The start of the warning that the test expects, or empty. */
    private String warning = "";

    PipelineOrderTest(Transport transport) {
        this.transport = transport;
    }

    static Transport[] transports() {
        return Transport.selected();
    }

    /** Connects to a server that has {@code other} before or after the form handler. */
    private void connect(boolean before, Supplier<ChannelHandler> other) throws IOException {
        FormOptions options =
                FormOptions.inMemory(memory).maxDrainBytes(16 << 20).build();
        MultipartHandlers handlers = MultipartHandlers.builder(
                        Forms.of(options), request -> request.uri().equals("/upload") ? upload : null, workers)
                .idleTimeout(idleTimeout)
                .drainTimeout(Duration.ofSeconds(30))
                .build();
        server = new NettyServer(transport, channel -> {
            channel.config().setAllocator(buffers);
            ChannelHandler form = handlers.newHandler();
            ChannelHandler placed = other.get();
            ChannelHandler codec = new HttpServerCodec();
            boolean first = before && placed instanceof SslHandler;
            channel.pipeline()
                    .addLast(first ? placed : codec)
                    .addLast(first ? codec : before ? placed : form)
                    .addLast(before ? form : placed)
                    .addLast(new Application());
        });
        client = server.connect();
    }

    @AfterEach
    void assertNothingLeft() throws IOException, InterruptedException {
        client.close();
        server.close();
        log.close();
        assertEquals(warning.isEmpty() ? 0 : 1, log.messages.size(), log.messages::toString);
        assertTrue(log.messages.stream().allMatch(line -> line.startsWith(warning)), log.messages::toString);
        workers.shutdown();
        assertTrue(workers.awaitTermination(2, TimeUnit.MINUTES));
        assertEquals(0, memory.used());
        assertEquals(List.of(), buffers.unreleased());
    }

    private void send(String head, byte[] body) throws IOException {
        client.send(head).send(body);
    }

    private void sendForm(int size) throws IOException {
        byte[] body = Upload.body(size);
        send(FORM + body.length + "\r\n\r\n", body);
    }

    private RawHttp.Response assertResponse(int status) throws IOException {
        RawHttp.Response response = client.anyResponse();
        assertEquals(status, response.status(), response::body);
        return response;
    }

    /** Reads a response that must have this header; null for none. */
    private void assertResponse(int status, String header, @Nullable String value) throws IOException {
        assertEquals(value, assertResponse(status).headers().get(header), header);
    }

    private void assertClosed() throws IOException {
        try {
            assertTrue(client.isAtEnd());
        } catch (SocketException e) {
            return; // the connection was reset, because the server had not read everything
        }
    }

    // ---- ChunkedWriteHandler

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void chunkedWriteHandler_onEitherSide_connectionServesTheNextRequest(boolean before) throws IOException {
        connect(before, ChunkedWriteHandler::new);
        for (int i = 0; i < 2; i++) {
            client.send("GET /file HTTP/1.1\r\nHost: x\r\n\r\n");
            assertEquals(FILE_SIZE, assertResponse(200).bytes().length);
            sendForm(100_000);
            assertResponse(200);
        }
        assertEquals(200_000, upload.bytes.get());
    }

    // ---- HttpServerKeepAliveHandler

    @Test
    void keepAliveHandlerBeforeFormHandler_closesWithoutReadingTheRestOfARejectedBody() throws IOException {
        warning = "HttpServerKeepAliveHandler must be after";
        connect(true, HttpServerKeepAliveHandler::new);
        sendForm(1000);
        assertResponse(200);
        send(FORM + (12 << 20) + "\r\n\r\n", "--x\r\nbad\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        assertResponse(400, "connection", "close");
        assertThrows(IOException.class, () -> {
            for (int i = 0; i < 8; i++) {
                client.send(new byte[1 << 20]);
                TimeUnit.MILLISECONDS.sleep(10);
            }
        });
    }

    @Test
    void keepAliveHandlerAfterFormHandler_rejectedBodyIsReadAndOtherRequestsKeepTheConnection() throws IOException {
        connect(false, HttpServerKeepAliveHandler::new);
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
        assertResponse(200, "connection", null);
        send(FORM + (12 << 20) + "\r\n\r\n", "--x\r\nbad\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        assertResponse(400, "connection", "close");
        for (int i = 0; i < 8; i++) {
            client.send(new byte[1 << 20]);
        }
    }

    // ---- HttpObjectAggregator

    @Test
    void aggregatorBeforeFormHandler_smallFormIsReceivedAndLargeFormIsRejected() throws IOException {
        warning = "HttpObjectAggregator must be after";
        connect(true, () -> new HttpObjectAggregator(4 << 20));
        sendForm(100_000);
        assertResponse(200);
        sendForm(2_000_000);
        assertTrue(assertResponse(413).body().contains("more than 262144 bytes of the body arrived at once"));
    }

    @Test
    void aggregatorBeforeFormHandler_requestsTheBodyOfARejectedForm() throws IOException {
        warning = "HttpObjectAggregator must be after";
        connect(true, () -> new HttpObjectAggregator(4 << 20));
        client.send(TEXT);
        assertResponse(100);
        client.send("0123456789");
        assertResponse(415);
    }

    @Test
    void aggregatorAfterFormHandler_formIsStreamedAndOtherBodiesAreAggregated() throws IOException {
        connect(false, () -> new HttpObjectAggregator(1 << 20));
        for (int i = 0; i < 2; i++) {
            sendForm(2_000_000);
            assertResponse(200);
            send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 500000\r\n\r\n", new byte[500_000]);
            assertEquals("size: 500000", assertResponse(200).body());
        }
    }

    /** The codec then expects the next request, and passes on no end of the body. */
    @Test
    void aggregatorAfterFormHandler_rejectsAnExpectation_nextFormIsReceived() throws IOException {
        connect(false, () -> new HttpObjectAggregator(100));
        for (int i = 0; i < 2; i++) {
            client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 1000\r\n\r\n");
            assertResponse(413);
            sendForm(1000);
            assertResponse(200);
        }
        assertEquals(2000, upload.bytes.get());
    }

    // ---- HttpServerExpectContinueHandler

    @Test
    void expectContinueHandlerBeforeFormHandler_requestsTheBodyOfARejectedForm() throws IOException {
        warning = "HttpServerExpectContinueHandler must be after";
        connect(true, HttpServerExpectContinueHandler::new);
        client.send(TEXT);
        assertResponse(100);
        assertResponse(415);
    }

    @Test
    void expectContinueHandlerAfterFormHandler_rejectedBodyIsNotRequestedAndOtherRequestsContinue() throws IOException {
        connect(false, HttpServerExpectContinueHandler::new);
        client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 10\r\n\r\n");
        assertResponse(100);
        client.send("0123456789");
        assertEquals("size: 10", assertResponse(200).body());
        client.send(TEXT);
        assertResponse(415);
    }

    // ---- HttpContentDecompressor

    @SuppressWarnings("deprecation") // the replacement is not in Netty 4.1.118
    private static ChannelHandler decompressor() {
        return new HttpContentDecompressor();
    }

    private void sendCompressedForm() throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        try (GZIPOutputStream compressed = new GZIPOutputStream(body)) {
            compressed.write(Upload.body(100_000));
        }
        send(
                UPLOAD + Upload.TYPE + "\r\nContent-Encoding: gzip\r\nContent-Length: " + body.size() + "\r\n\r\n",
                body.toByteArray());
    }

    @Test
    void decompressorBeforeFormHandler_compressedFormIsReceived() throws IOException {
        connect(true, PipelineOrderTest::decompressor);
        sendCompressedForm();
        assertResponse(200);
        assertEquals(100_000, upload.bytes.get());
    }

    @Test
    void decompressorAfterFormHandler_compressedFormIsRejected() throws IOException {
        connect(false, PipelineOrderTest::decompressor);
        sendCompressedForm();
        assertResponse(415);
    }

    // ---- CorsHandler

    private static ChannelHandler cors() {
        return new CorsHandler(CorsConfigBuilder.forOrigin("http://page")
                .allowedRequestMethods(HttpMethod.POST)
                .build());
    }

    private void sendMalformedForm() throws IOException {
        send(
                "POST /upload HTTP/1.1\r\nHost: x\r\nOrigin: http://page\r\nContent-Length: 3\r\nContent-Type: "
                        + Upload.TYPE + "\r\n\r\n",
                new byte[3]);
    }

    @Test
    void corsHandlerBeforeFormHandler_scriptsCanReadRejections() throws IOException {
        connect(true, PipelineOrderTest::cors);
        for (int i = 0; i < 2; i++) {
            client.send("OPTIONS /upload HTTP/1.1\r\nHost: x\r\nOrigin: http://page\r\n"
                    + "Access-Control-Request-Method: POST\r\n\r\n");
            assertResponse(200, "access-control-allow-methods", "POST");
        }
        sendMalformedForm();
        assertResponse(400, "access-control-allow-origin", "http://page");
    }

    @Test
    void corsHandlerAfterFormHandler_scriptsCannotReadRejections() throws IOException {
        warning = "CorsHandler must be before";
        connect(false, PipelineOrderTest::cors);
        sendMalformedForm();
        assertResponse(400, "access-control-allow-origin", null);
    }

    // ---- WebSocketServerProtocolHandler

    private void upgrade() throws IOException {
        client.send("GET /socket HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
                + "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
        assertResponse(101);
    }

    private void assertEcho() throws IOException {
        client.send("\u0081\u0082\0\0\0\0hi"); // masked with zeros
        assertEquals("\u0081\u0002hi", new String(client.in().readNBytes(4), StandardCharsets.ISO_8859_1));
    }

    @Test
    void webSocketHandlerAfterFormHandler_connectionHasNoIdleTimeout() throws Exception {
        idleTimeout = Duration.ofMillis(100);
        connect(false, () -> new WebSocketServerProtocolHandler("/socket"));
        sendForm(1000);
        assertResponse(200);
        upgrade();
        assertEcho();
        TimeUnit.SECONDS.sleep(3); // much longer than the idle timeout
        assertEcho();
    }

    @Test
    void webSocketHandlerBeforeFormHandler_connectionEndsAfterTheIdleTimeout() throws IOException {
        warning = "WebSocketServerProtocolHandler must be after";
        idleTimeout = Duration.ofSeconds(2);
        connect(true, () -> new WebSocketServerProtocolHandler("/socket"));
        upgrade();
        assertEcho();
        assertEquals((byte) 0x88, client.in().readAllBytes()[0], "the first byte of a Close frame");
    }

    // ---- SslHandler

    /** A key for localhost, which its clients trust. */
    private static SSLContext tls(Path directory) throws Exception {
        Path file = directory.resolve("key");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-alias",
                        "key",
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=localhost",
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        "secret",
                        "-keystore",
                        file.toString())
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        assertEquals(0, keytool.waitFor());
        KeyStore store = KeyStore.getInstance(file.toFile(), "secret".toCharArray());
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, "secret".toCharArray());
        TrustManagerFactory trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trusted.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), trusted.getTrustManagers(), null);
        return context;
    }

    private static SslHandler sslHandler(SSLContext tls) {
        SSLEngine engine = tls.createSSLEngine();
        engine.setUseClientMode(false);
        SslHandler handler = new SslHandler(engine);
        handler.setHandshakeTimeoutMillis(1000);
        return handler;
    }

    @Test
    void sslHandlerBeforeFormHandler_formsAreReceivedAndRejected(@TempDir Path directory) throws Exception {
        SSLContext tls = tls(directory);
        connect(true, () -> {
            SslHandler handler = sslHandler(tls);
            handler.setHandshakeTimeoutMillis(TimeUnit.MINUTES.toMillis(2));
            return handler;
        });
        client = client.secured(tls);
        sendForm(100_000);
        assertResponse(200);
        send(FORM + (2 << 20) + "\r\n\r\n", "--x\r\nbad\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        client.send(new byte[1 << 20]);
        assertResponse(400);
    }

    @Test
    void sslHandlerAfterFormHandler_connectionEndsAtTheHandshakeTimeout() throws Exception {
        warning = "SslHandler must be before";
        SSLContext tls = SSLContext.getDefault();
        connect(false, () -> sslHandler(tls));
        client.send("\u0016\u0003\u0001\u0000\u0005hello\r\n\r\n");
        assertClosed();
    }

    // ---- IdleStateHandler

    private static ChannelHandler closeIfNothingIsReadFor(int seconds) {
        return new IdleStateHandler(seconds, 0, 0);
    }

    /** Sends a form in ten pieces. */
    private void sendSlowly(long pauseMillis) throws Exception {
        byte[] body = Upload.body(10_000);
        client.send(FORM + body.length + "\r\n\r\n");
        for (int at = 0; at < body.length; at += 1100) {
            TimeUnit.MILLISECONDS.sleep(pauseMillis);
            client.send(body, at, Math.min(at + 1100, body.length));
        }
    }

    @Test
    void idleStateHandlerBeforeFormHandler_slowFormIsReceived() throws Exception {
        connect(true, () -> closeIfNothingIsReadFor(5));
        sendSlowly(600);
        assertResponse(200);
    }

    @Test
    void idleStateHandlerBeforeFormHandler_firesWhileAFormWaitsForItsSink() throws Exception {
        upload.shut();
        connect(true, () -> closeIfNothingIsReadFor(1));
        sendForm(1000);
        assertClosed();
    }

    @Test
    void idleStateHandlerAfterFormHandler_firesWhileAFormArrives() throws Exception {
        connect(false, () -> closeIfNothingIsReadFor(1));
        assertThrows(IOException.class, () -> {
            sendSlowly(300);
            assertResponse(200);
        });
    }

    // ---- HttpContentCompressor

    private void sendFormForCompressedResponse(int size) throws IOException {
        byte[] body = Upload.body(size);
        send(FORM + body.length + "\r\nAccept-Encoding: gzip\r\n\r\n", body);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void compressor_compressesResponsesToFormsOnlyIfBeforeFormHandler(boolean before) throws IOException {
        String coding = before ? "gzip" : null;
        connect(before, HttpContentCompressor::new);
        upload.change = options -> options.maxPartBytes(1000);
        for (int i = 0; i < 2; i++) {
            client.send("GET / HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n\r\n");
            assertResponse(200, "content-encoding", "gzip");
            sendFormForCompressedResponse(1000);
            assertResponse(200, "content-encoding", coding);
        }
        sendFormForCompressedResponse(1001);
        assertResponse(413, "content-encoding", coding);
    }

    // ---- malformed requests

    @Test
    void malformedRequest_ofTheNextHandler_connectionClosesAfterTheResponse() throws IOException {
        connect(false, HttpServerExpectContinueHandler::new);
        client.send("GET / HTTP/1.1\r\nContent-Length: abc\r\n\r\n");
        assertResponse(200, "connection", "close");
        assertTrue(client.isAtEnd());
    }
}
