package dev.sluice.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.testkit.CountingAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http2.DefaultHttp2DataFrame;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersFrame;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.DefaultHttp2WindowUpdateFrame;
import io.netty.handler.codec.http2.Http2DataFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersFrame;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.handler.codec.http2.Http2StreamChannel;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import io.netty.util.ReferenceCountUtil;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The form handler on HTTP/2 streams over NIO. The client sends single frames with Netty's codec. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD) // a blocked socket write ignores interrupts
class Http2Test {
    private final ExecutorService workers = Executors.newFixedThreadPool(2);
    private final MemoryBudget memory = MemoryBudget.of(16 << 20);
    private final CountingAllocator buffers = new CountingAllocator();
    /** The receivers by path. The route removes them. */
    private final Map<String, Upload> uploads = new ConcurrentHashMap<>();

    private MultipartHandlers handlers;
    private NettyServer server;
    /** The server's side of the connection. */
    private volatile Channel accepted;

    private Channel client;

    @BeforeEach
    void start() {
        Forms forms = Forms.of(FormOptions.inMemory(memory).build());
        handlers = MultipartHandlers.builder(forms, request -> uploads.remove(request.uri()), workers)
                .drainTimeout(Duration.ofSeconds(2))
                .build();
        server = new NettyServer(NettyServer.Transport.NIO, connection -> {
            accepted = connection;
            connection.config().setAllocator(buffers);
            connection
                    .pipeline()
                    .addLast(
                            Http2FrameCodecBuilder.forServer()
                                    .gracefulShutdownTimeoutMillis(40_000)
                                    .build(),
                            new Http2MultiplexHandler(HttpChannels.initializer(stream -> stream.pipeline()
                                    .addLast(new Http2StreamFrameToHttpObjectCodec(true), handlers.newHandler()))));
            // Otherwise one stream that is not read would use up the window of all streams.
            connection.eventLoop().execute(() -> connection.writeAndFlush(new DefaultHttp2WindowUpdateFrame(1 << 20)));
        });
        client = HttpChannels.connectHttp2(server);
    }

    @AfterEach
    void assertNothingLeft() throws InterruptedException {
        server.close();
        workers.shutdown();
        assertTrue(workers.awaitTermination(2, TimeUnit.MINUTES));
        assertEquals(0, memory.used());
        assertEquals(List.of(), buffers.unreleased());
    }

    /** A stream of the client, and the frames that it has received. */
    private final class Stream {
        private final BlockingQueue<Object> events = new LinkedBlockingQueue<>();
        private final Http2StreamChannel channel = new Http2StreamChannelBootstrap(client)
                .handler(new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext ctx, Object frame) {
                        events.add(
                                frame instanceof Http2HeadersFrame head
                                        ? "status " + head.headers().status()
                                        : frame instanceof Http2DataFrame data && data.isEndStream()
                                                ? "end"
                                                : frame.getClass().getSimpleName());
                        ReferenceCountUtil.release(frame);
                    }

                    @Override
                    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
                        if (event instanceof Http2ResetFrame reset) {
                            events.add("reset " + reset.errorCode());
                        }
                    }
                })
                .open()
                .syncUninterruptibly()
                .getNow();

        Stream(Upload to, String... fields) {
            String path = "/" + System.identityHashCode(to);
            uploads.put(path, to);
            Http2Headers headers = new DefaultHttp2Headers()
                    .method("POST")
                    .path(path)
                    .scheme("http")
                    .authority("x")
                    .set("content-type", Upload.TYPE);
            for (int i = 0; i < fields.length; i += 2) {
                headers.set(fields[i], fields[i + 1]);
            }
            channel.writeAndFlush(new DefaultHttp2HeadersFrame(headers, false)).syncUninterruptibly();
        }

        Stream send(byte[] bytes, boolean end) {
            channel.writeAndFlush(new DefaultHttp2DataFrame(Unpooled.wrappedBuffer(bytes), end));
            return this;
        }

        void assertNext(String event) throws InterruptedException {
            assertEquals(event, events.poll(2, TimeUnit.MINUTES));
        }
    }

    @Test
    void form_isReceivedWithItsTrailers() throws Exception {
        Upload upload = new Upload();
        Stream stream = new Stream(upload, "expect", "100-continue");
        stream.assertNext("status 100");
        stream.send(Upload.body(1_000_000), false);
        stream.channel.writeAndFlush(
                new DefaultHttp2HeadersFrame(new DefaultHttp2Headers().set("digest", "abc"), true));
        stream.assertNext("status 200");
        stream.assertNext("end");
        assertEquals(1_000_000, upload.bytes.get());
        assertEquals("abc", upload.trailers.get(1, TimeUnit.SECONDS).get("digest"));
    }

    @Test
    void malformedBody_isAnsweredThenStreamIsResetWithNoErrorAndConnectionStaysOpen() throws Exception {
        Stream bad = new Stream(new Upload()).send("--x\r\nbad\r\n\r\n".getBytes(StandardCharsets.US_ASCII), false);
        bad.assertNext("status 400");
        bad.assertNext("end");
        bad.assertNext("reset " + Http2Error.NO_ERROR.code());

        Stream good = new Stream(new Upload()).send(Upload.body(10), true);
        good.assertNext("status 200");
    }

    @Test
    void rejectedForm_clientKeepsSending_restIsRead() throws Exception {
        byte[] bad = Arrays.copyOf("--x\r\nbad\r\n\r\n".getBytes(StandardCharsets.US_ASCII), 800_000);
        Stream stream = new Stream(new Upload());
        stream.channel
                .writeAndFlush(new DefaultHttp2DataFrame(Unpooled.wrappedBuffer(bad), true))
                .sync(); // all of it, although the window has 64 KiB
        stream.assertNext("status 400");
        stream.assertNext("end");
        assertNull(stream.events.poll(3, TimeUnit.SECONDS), "the stream was reset");
    }

    @Test
    void pausedStream_stopsNoOtherStream() throws Exception {
        Upload slow = new Upload().shut();
        byte[] body = Upload.body(2_000_000);
        Stream paused = new Stream(slow).send(body, true);
        Upload fast = new Upload();
        new Stream(fast).send(Upload.body(2_000_000), true).assertNext("status 200");
        assertEquals(2_000_000, fast.bytes.get());
        assertTrue(slow.bytes.get() <= 256 << 10, "bytes: " + slow.bytes);
        assertTrue(memory.used() <= 320 << 10, "held: " + memory.used());
        slow.open();
        paused.assertNext("status 200");
        assertEquals(2_000_000, slow.bytes.get());
    }

    @Test
    void reset_ofAPausedStream_isNoticedAtOnce() throws Exception {
        Upload upload = new Upload().shut();
        Stream stream = new Stream(upload).send(Arrays.copyOf(Upload.body(30_000), 20_000), false);
        upload.awaitMoreThan(0);
        stream.channel.writeAndFlush(new DefaultHttp2ResetFrame(Http2Error.CANCEL));
        Throwable failure = upload.failure.get(2, TimeUnit.MINUTES);
        assertEquals(
                Reason.TRUNCATED,
                assertInstanceOf(MultipartException.class, failure).reason());
        assertEquals(0, upload.published);
    }

    @Test
    void reset_afterAnyFrame_leavesNothing() throws Exception {
        byte[] body = Upload.body(30_000);
        int frame = 1000;
        for (int frames = 0; frames * frame < body.length; frames++) {
            Upload upload = new Upload();
            Stream stream = new Stream(upload);
            upload.optionsCalled.get(2, TimeUnit.MINUTES); // before that, the server has not seen the request
            for (int i = 0; i < frames; i++) {
                stream.send(Arrays.copyOfRange(body, i * frame, (i + 1) * frame), false);
            }
            stream.channel.writeAndFlush(new DefaultHttp2ResetFrame(Http2Error.CANCEL));
            assertInstanceOf(MultipartException.class, upload.failure.get(2, TimeUnit.MINUTES));
            assertEquals(0, upload.published);
        }
        new Stream(new Upload()).send(body, true).assertNext("status 200");
    }

    /** The codec resets the stream after it has reported the error. The client is at fault, not the server. */
    @Test
    void bodyLongerThanItsContentLength_isNotLoggedAsAnErrorOfTheServer() throws Exception {
        try (ErrorLog log = new ErrorLog()) {
            Upload upload = new Upload();
            Stream stream = new Stream(upload, "content-length", "5");
            upload.optionsCalled.get(2, TimeUnit.MINUTES); // before that, the server has not seen the request
            stream.send(Upload.body(10), true).assertNext("reset " + Http2Error.PROTOCOL_ERROR.code());
            Throwable failure = upload.failure.get(2, TimeUnit.MINUTES);
            assertEquals(
                    Reason.TRUNCATED,
                    assertInstanceOf(MultipartException.class, failure).reason());
            assertEquals(List.of(), log.messages);
        }
    }

    @Test
    void connectionClose_withUnreadDataOnAStream_endsItsForms() throws Exception {
        Upload upload = new Upload().shut();
        byte[] body = Upload.body(60_000);
        Stream stream = new Stream(upload).send(Arrays.copyOf(body, 20_000), false);
        upload.awaitMoreThan(0);
        stream.send(Arrays.copyOfRange(body, 20_000, 50_000), false); // not read by the server
        client.close();
        assertInstanceOf(MultipartException.class, upload.failure.get(2, TimeUnit.MINUTES));
    }

    // ---- shutdown

    /** {@return a stream on which the server has received the beginning of a body} */
    private Stream begun(Upload upload) {
        Stream stream = new Stream(upload).send(Arrays.copyOf(Upload.body(30_000), 20_000), false);
        upload.awaitMoreThan(0);
        return stream;
    }

    private CompletableFuture<Void> shutdown(Duration deadline) {
        return handlers.shutdown(deadline).toCompletableFuture();
    }

    @Test
    void shutdown_beforeItsDeadline_letsStreamsEndAndRejectsNewOnes() throws Exception {
        List<Upload> uploads = List.of(new Upload(), new Upload(), new Upload());
        List<Stream> streams = uploads.stream().map(this::begun).toList();
        CompletableFuture<Void> done = shutdown(Duration.ofSeconds(40));
        Upload late = new Upload();
        new Stream(late).assertNext("reset " + Http2Error.REFUSED_STREAM.code());
        for (Stream stream : streams) {
            assertFalse(done.isDone());
            stream.send(Arrays.copyOfRange(Upload.body(30_000), 20_000, Upload.body(30_000).length), true);
            stream.assertNext("status 200");
            stream.assertNext("end");
        }
        done.get(2, TimeUnit.MINUTES);
        assertFalse(late.optionsCalled.isDone());
        uploads.forEach(upload -> assertEquals(1, upload.published));
        assertTrue(accepted.isActive(), "the connection was closed, although only the application may close it");
    }

    @Test
    void shutdown_atItsDeadline_endsStreamsOfSlowClientsAndSlowSinks() throws Exception {
        Upload stopped = new Upload();
        Upload stuck = new Upload().shut();
        List<Stream> streams = List.of(begun(stopped), begun(stuck));
        shutdown(Duration.ofMillis(200)).get(2, TimeUnit.MINUTES);
        for (Stream stream : streams) {
            stream.assertNext("reset " + Http2Error.CANCEL.code());
        }
        for (Upload upload : List.of(stopped, stuck)) {
            assertInstanceOf(MultipartException.class, upload.failure.get(2, TimeUnit.MINUTES));
            assertEquals(0, upload.published);
            assertEquals(1, upload.closed);
        }
    }

    @Test
    void connection_closedByTheApplication_endsWithItsLastStream() throws Exception {
        Stream stream = begun(new Upload());
        accepted.close(); // sends GOAWAY
        CompletableFuture<Void> done = shutdown(Duration.ofSeconds(40));
        stream.send(Arrays.copyOfRange(Upload.body(30_000), 20_000, Upload.body(30_000).length), true);
        stream.assertNext("status 200");
        stream.assertNext("end");
        done.get(2, TimeUnit.MINUTES);
        assertTrue(client.closeFuture().await(2, TimeUnit.MINUTES));
    }
}
