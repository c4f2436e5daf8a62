package dev.sluice.netty;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormSummary;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.Readiness;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.LeakCheck;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.DefaultFullHttpRequest;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.DefaultLastHttpContent;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpChunkedInput;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpContentDecompressor;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.ReadOnlyHttpHeaders;
import io.netty.handler.stream.ChunkedStream;
import io.netty.util.ReferenceCountUtil;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.WeakReference;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.zip.GZIPOutputStream;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The form handler in an {@link EmbeddedChannel}, message by message. */
@Timeout(300)
@ExtendWith(LeakCheck.class)
class MultipartHandlerTest {
    /** An executor whose tasks the test runs. */
    private static final class ManualExecutor implements Executor {
        private final Deque<Runnable> tasks = new ArrayDeque<>();
        private int submitted;

        @Override
        public void execute(Runnable task) {
            tasks.add(task);
            submitted++;
        }

        void run() {
            for (Runnable task; (task = tasks.poll()) != null; ) {
                task.run();
            }
        }

        /** Runs the tasks in reverse, as a pool may if its first thread is slow to start. */
        void runLastFirst() {
            for (Runnable task; (task = tasks.pollLast()) != null; ) {
                task.run();
            }
        }
    }

    /** Counts the requested reads. Fails if one is requested within {@code channelRead}. */
    private static final class ReadCounter extends ChannelOutboundHandlerAdapter {
        private int count;

        @Override
        public void read(ChannelHandlerContext ctx) {
            boolean withinRead = StackWalker.getInstance()
                    .walk(frames ->
                            frames.anyMatch(frame -> frame.getMethodName().equals("channelRead")
                                    && frame.getClassName().endsWith("MultipartHandler")));
            assertFalse(withinRead, "a read was requested during a read");
            count++;
            ctx.read();
        }
    }

    /** An allocator whose handles continue every read, as epoll does after the client's FIN. */
    private static final class ExtendedReads extends FixedRecvByteBufAllocator {
        ExtendedReads() {
            super(64 << 10);
        }

        @Override
        @SuppressWarnings("deprecation") // the return type that the method has in Netty 4.1 and 4.2
        public Handle newHandle() {
            return new DelegatingHandle(super.newHandle()) {
                @Override
                public int attemptedBytesRead() {
                    return 1;
                }

                @Override
                public boolean continueReading() {
                    return true;
                }
            };
        }
    }

    private final MemoryBudget memory = MemoryBudget.of(16 << 20);
    private final FormOptions options = FormOptions.inMemory(memory)
            .allocator(PooledByteBufAllocator.DEFAULT)
            .build();
    private final Upload upload = new Upload();
    private final ManualExecutor workers = new ManualExecutor();
    private ReadCounter reads = new ReadCounter();
    private MultipartHandlers handlers = onLoop().build();
    private EmbeddedChannel channel = new EmbeddedChannel();

    @BeforeAll
    static void initializeTheConstantsOfTheCodec() { // they are buffers that the leak check would count
        new EmbeddedChannel(new HttpServerCodec()).finishAndReleaseAll();
    }

    private MultipartHandlers.Builder onLoop() {
        return MultipartHandlers.onEventLoop(Forms.of(options), this::route);
    }

    private MultipartHandlers.Builder onWorkers(Executor executor) {
        return MultipartHandlers.builder(Forms.of(options), this::route, executor);
    }

    private FormReceiver route(HttpRequest request) {
        return request.uri().equals("/upload") ? upload : null;
    }

    private void open(MultipartHandlers.Builder by, ChannelHandler... before) {
        handlers = by.build();
        reads = new ReadCounter();
        channel = new EmbeddedChannel();
        channel.freezeTime(); // otherwise a timer may cause a read if the test is slow
        channel.pipeline().addLast(reads).addLast(before).addLast(handlers.newHandler());
        channel.runPendingTasks();
    }

    private void advance(long time, TimeUnit unit) {
        channel.advanceTimeBy(time, unit);
        channel.runScheduledPendingTasks();
    }

    @AfterEach
    void assertNothingLeft() {
        workers.run();
        channel.finishAndReleaseAll();
        workers.run();
        assertEquals(0, memory.used());
    }

    private static HttpRequest head(String uri, String... fields) {
        HttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, uri);
        request.headers().set("Host", "x").set("Content-Type", Upload.TYPE);
        for (int i = 0; i < fields.length; i += 2) {
            request.headers().set(fields[i], fields[i + 1]);
        }
        return request;
    }

    private static HttpContent content(byte[] bytes, int from, int to) {
        return new DefaultHttpContent(
                PooledByteBufAllocator.DEFAULT.directBuffer(to - from).writeBytes(bytes, from, to - from));
    }

    private static HttpContent content(byte[] bytes) {
        return content(bytes, 0, bytes.length);
    }

    private void assertAnswer(int status, boolean closes) {
        assertAnswer(status, closes ? "close" : null);
    }

    /** Checks the next response and releases it. */
    private void assertAnswer(int status, @Nullable String connection) {
        channel.runPendingTasks();
        FullHttpResponse response = channel.readOutbound();
        assertNotNull(response, "no response");
        String text = response.content().toString(StandardCharsets.US_ASCII);
        assertEquals(status, response.status().code(), text);
        assertEquals(connection, response.headers().get("Connection"));
        assertEquals(
                String.valueOf(response.content().readableBytes()),
                response.headers().get("Content-Length"));
        response.release();
    }

    private Reason reason() {
        return assertInstanceOf(MultipartException.class, upload.failure.getNow(null))
                .reason();
    }

    // ---- routing and pipelining

    @Test
    void form_isReceivedAndConnectionIsKept() {
        open(onLoop());
        byte[] body = Upload.body(100_000);
        channel.writeInbound(head("/upload"), content(body), LastHttpContent.EMPTY_LAST_CONTENT);
        assertAnswer(200, false);
        assertEquals(100_000, upload.bytes.get());
        assertEquals(1, upload.published);
        assertEquals(1, upload.closed);
        assertNull(channel.readInbound());
        assertTrue(channel.isOpen());
    }

    @Test
    void http10_connectionIsKeptOnlyOnRequest() {
        open(onLoop());
        HttpRequest keepAlive = head("/upload", "Connection", "keep-alive").setProtocolVersion(HttpVersion.HTTP_1_0);
        channel.writeInbound(keepAlive, content(Upload.body(10)), LastHttpContent.EMPTY_LAST_CONTENT);
        assertAnswer(200, "keep-alive");
        HttpRequest plain = head("/upload").setProtocolVersion(HttpVersion.HTTP_1_0);
        channel.writeInbound(plain, content(Upload.body(10)), LastHttpContent.EMPTY_LAST_CONTENT);
        assertAnswer(200, true);
    }

    @Test
    void fullRequest_isReceived() {
        open(onLoop());
        channel.writeInbound(new DefaultFullHttpRequest(
                HttpVersion.HTTP_1_1,
                HttpMethod.POST,
                "/upload",
                Unpooled.wrappedBuffer(Upload.body(10)),
                head("/upload").headers(),
                new DefaultLastHttpContent().trailingHeaders()));
        assertAnswer(200, false);
        assertEquals(10, upload.bytes.get());
    }

    @Test
    void otherRequest_isPassedOnUnchanged() {
        open(onLoop());
        HttpRequest head = head("/other");
        HttpContent content = content(new byte[1 << 20]);
        channel.writeInbound(head, content, LastHttpContent.EMPTY_LAST_CONTENT);
        assertSame(head, channel.readInbound());
        HttpContent same = channel.readInbound();
        assertSame(content, same);
        same.release();
        assertSame(LastHttpContent.EMPTY_LAST_CONTENT, channel.readInbound());
    }

    @Test
    void nextRequest_waitsForTheResponseToThePreviousOne() {
        open(onLoop());
        upload.response = new CompletableFuture<>();
        channel.writeInbound(
                head("/first"),
                LastHttpContent.EMPTY_LAST_CONTENT,
                head("/upload"),
                content(Upload.body(10)),
                LastHttpContent.EMPTY_LAST_CONTENT,
                head("/third"),
                LastHttpContent.EMPTY_LAST_CONTENT);
        assertEquals("/first", channel.<HttpRequest>readInbound().uri());
        channel.<HttpContent>readInbound();
        assertEquals(0, upload.bytes.get());

        channel.writeOutbound(Upload.text(200, ""));
        channel.<FullHttpResponse>readOutbound().release();
        channel.runPendingTasks();
        assertEquals(10, upload.bytes.get());
        assertNull(channel.readInbound());

        upload.response.complete(Upload.text(201, ""));
        assertAnswer(201, false);
        channel.runPendingTasks();
        assertEquals("/third", channel.<HttpRequest>readInbound().uri());
    }

    @Test
    void pipelinedRequests_needNoDeepStack() {
        open(onLoop());
        byte[] body = Upload.body(1);
        for (int i = 0; i < 5000; i++) {
            channel.pipeline().fireChannelRead(head("/upload"));
            channel.pipeline().fireChannelRead(content(body));
            channel.pipeline().fireChannelRead(LastHttpContent.EMPTY_LAST_CONTENT);
            if (i % 1000 == 999) {
                channel.runPendingTasks();
            }
        }
        for (int i = 0; i < 5000; i++) {
            assertAnswer(200, false);
        }
    }

    @Test
    void route_throws_connectionIsClosed() {
        open(MultipartHandlers.onEventLoop(Forms.of(options), request -> {
            throw new IllegalStateException("on purpose");
        }));
        assertThrows(IllegalStateException.class, () -> channel.writeInbound(head("/upload"), content(new byte[10])));
        assertFalse(channel.isOpen());
    }

    @Test
    void trailers_arePassedToTheReceiver() {
        open(onLoop());
        LastHttpContent last = new DefaultLastHttpContent();
        last.trailingHeaders().set("Digest", "abc");
        channel.writeInbound(head("/upload"), content(Upload.body(10)), last);
        assertAnswer(200, false);
        assertEquals("abc", upload.trailers.getNow(null).get("Digest"));
    }

    // ---- demand

    @Test
    void pausedSink_getsNoMoreThanTheWindowOfALargeMessage() {
        open(onLoop().bytesPerTurn(4 << 20));
        upload.shut();
        channel.writeInbound(head("/upload"), content(Upload.body(1 << 20)));
        assertTrue(upload.bytes.get() <= 512 << 10, "bytes: " + upload.bytes);
        assertTrue(memory.used() <= 544 << 10, "memory: " + memory.used());
        upload.open();
        channel.writeInbound(LastHttpContent.EMPTY_LAST_CONTENT);
        assertAnswer(200, false);
        assertEquals(1 << 20, upload.bytes.get());
    }

    private static ChannelHandler autoReadOff() {
        return new ChannelInboundHandlerAdapter() {
            @Override
            public void handlerAdded(ChannelHandlerContext ctx) {
                ctx.channel().config().setAutoRead(false);
            }
        };
    }

    /** A proxy requests the next read when it has written the data to its other connection. */
    @Test
    void readByTheNextHandler_duringARead_isRequestedAfterIt() {
        open(onLoop(), autoReadOff());
        channel.pipeline().addLast(new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                ReferenceCountUtil.release(message);
                ctx.read();
            }
        });
        channel.writeInbound(head("/other"));
        int before = reads.count;
        for (int i = 1; i <= 3; i++) {
            channel.writeInbound(content(new byte[50]));
            assertEquals(before + i, reads.count);
        }
    }

    /** A proxy may turn it on when its other connection is writable again. */
    @Test
    void autoRead_turnedOnByTheNextHandler_isOffWhileAFormIsReceived() {
        open(onLoop(), autoReadOff());
        channel.writeInbound(head("/other"), LastHttpContent.EMPTY_LAST_CONTENT);
        channel.releaseInbound();
        channel.config().setAutoRead(true);
        channel.writeOutbound(Upload.text(200, ""));
        channel.<FullHttpResponse>readOutbound().release();
        channel.runPendingTasks();
        channel.writeInbound(head("/upload"));
        assertFalse(channel.config().isAutoRead());
        channel.writeInbound(content(Upload.body(10)), LastHttpContent.EMPTY_LAST_CONTENT);
        assertAnswer(200, false);
        int before = reads.count;
        channel.writeInbound(head("/other"));
        channel.releaseInbound();
        assertTrue(reads.count > before, "the body of the next request is not read");
        assertTrue(channel.config().isAutoRead());
    }

    /** {@link HttpContentDecompressor} requests a read after each read that brought it nothing. */
    @Test
    @SuppressWarnings("deprecation") // the replacement is not in Netty 4.1.118
    void readByTheNextHandler_whileRequestsAreQueued_isRequestedAfterThem() {
        open(onLoop(), autoReadOff());
        channel.pipeline().addLast(new HttpContentDecompressor());
        channel.writeInbound(head("/slow"), LastHttpContent.EMPTY_LAST_CONTENT);
        int before = reads.count;
        for (int i = 0; i < 3; i++) {
            channel.writeInbound(head("/next"), LastHttpContent.EMPTY_LAST_CONTENT);
        }
        assertEquals(before, reads.count, "reads while requests are queued");

        for (int i = 0; i < 3; i++) {
            channel.writeOutbound(Upload.text(200, ""));
            channel.<FullHttpResponse>readOutbound().release();
            channel.runPendingTasks();
        }
        assertEquals(before + 1, reads.count, "reads for the last request");
    }

    @Test
    void read_isRequestedOnlyWhileThereIsDemand() {
        open(onWorkers(workers));
        int before = reads.count;
        channel.writeInbound(head("/upload"));
        assertEquals(before + 1, reads.count);
        byte[] body = Upload.body(600_000);
        channel.writeInbound(content(body, 0, 220_000));
        channel.runPendingTasks(); // ends the turn
        channel.writeInbound(content(body, 220_000, 440_000));
        channel.runPendingTasks();
        assertEquals(before + 3, reads.count);
        channel.writeInbound(content(body, 440_000, 540_000));
        channel.runPendingTasks();
        assertEquals(before + 3, reads.count, "reads while the window is full");

        workers.run();
        channel.runPendingTasks();
        assertEquals(before + 4, reads.count);
    }

    @Test
    void messagesOfOneRead_areDispatchedOnce() {
        open(onWorkers(workers));
        byte[] body = Upload.body(64_000);
        channel.pipeline().fireChannelRead(head("/upload"));
        channel.runPendingTasks();
        for (int at = 0; at < body.length; at += 8_000) {
            channel.pipeline().fireChannelRead(content(body, at, Math.min(at + 8_000, body.length)));
            workers.run(); // a fast worker
        }
        channel.pipeline().fireChannelRead(LastHttpContent.EMPTY_LAST_CONTENT);
        channel.pipeline().fireChannelReadComplete();
        assertEquals(1, workers.submitted);
        workers.run();
        assertAnswer(200, false);
    }

    @Test
    void turn_handlesNoMoreThanBytesPerTurn() {
        open(onLoop().bytesPerTurn(20_000));
        byte[] body = Upload.body(30_000);
        channel.pipeline().fireChannelRead(head("/upload"));
        channel.pipeline().fireChannelRead(content(body));
        assertTrue(upload.bytes.get() <= 20_000, "bytes: " + upload.bytes);
        List<Long> seen = new ArrayList<>();
        channel.eventLoop().execute(() -> seen.add(upload.bytes.get()));
        channel.runPendingTasks();
        assertTrue(seen.get(0) >= 20_000 - 100, "other tasks run in between: " + seen);
        channel.writeInbound(LastHttpContent.EMPTY_LAST_CONTENT);
        assertAnswer(200, false);
    }

    @Test
    @SuppressWarnings("deprecation") // the constructor is also in Netty 4.1.118
    void decompressedBody_largerThanATurn_isRejectedAndNoMoreIsQueued() throws IOException {
        ByteArrayOutputStream zipped = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(zipped)) {
            byte[] body = Upload.body(0);
            gzip.write(body, 0, body.length - "\r\n--x--\r\n".length());
            gzip.write(new byte[32 << 20]);
        }
        List<ByteBuf> made = new ArrayList<>();
        long[] most = {0};
        open(onLoop(), new HttpContentDecompressor(), new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext ctx, Object message) {
                if (message instanceof HttpContent content && content.content().isReadable()) {
                    made.add(content.content());
                }
                ctx.fireChannelRead(message);
                made.removeIf(buffer -> buffer.refCnt() == 0);
                most[0] = Math.max(
                        most[0], made.stream().mapToLong(ByteBuf::capacity).sum());
            }
        });
        channel.pipeline().fireChannelRead(head("/upload", "Content-Encoding", "gzip"));
        channel.pipeline().fireChannelRead(content(zipped.toByteArray()));
        channel.pipeline().fireChannelRead(LastHttpContent.EMPTY_LAST_CONTENT);
        assertAnswer(413, false); // the small body was fully received
        assertEquals(Reason.BODY_TOO_LARGE, reason());
        assertTrue(upload.bytes.get() <= 256 << 10, "bytes: " + upload.bytes);
        assertTrue(most[0] <= (256 << 10) + (64 << 10), "queued bytes: " + most[0]);
    }

    @Test
    void queuedBody_largerThanATurn_isRejectedAndNextRequestIsComplete() {
        open(onLoop().bytesPerTurn(20_000));
        upload.shut();
        byte[] body = Upload.body(15_000);
        channel.writeInbound(
                head("/upload"),
                content(body, 0, 1_000),
                content(body, 1_000, body.length),
                LastHttpContent.EMPTY_LAST_CONTENT,
                head("/next"),
                content(new byte[10_000]));
        assertAnswer(413, false);
        assertEquals("/next", channel.<HttpRequest>readInbound().uri());
    }

    @Test
    void readAhead_whileTheBudgetIsCrowded_isNotRequested() {
        MemoryBudget own = MemoryBudget.of(1 << 20);
        upload.change = options -> FormOptions.inMemory(own).decider(part -> PartDecision.to(upload));
        open(onWorkers(workers));
        byte[] body = Upload.body(250_000);
        List<EmbeddedChannel> others = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            others.add(new EmbeddedChannel(handlers.newHandler()));
            others.get(i).writeInbound(head("/upload"), content(body));
        }
        channel.writeInbound(head("/upload"), content(body));
        int before = reads.count;
        advance(5, TimeUnit.SECONDS);
        assertEquals(before, reads.count);

        others.forEach(EmbeddedChannel::close);
        workers.run();
        advance(5, TimeUnit.SECONDS);
        assertEquals(before + 1, reads.count);
    }

    /** While the handler waits for the client, a check does not allow it to read ahead later. */
    @Test
    void readAhead_afterASlowClient_beginsAtTheNextCheck() {
        open(onLoop());
        upload.shut();
        byte[] body = Upload.body(2_000);
        channel.writeInbound(head("/upload"));
        advance(2, TimeUnit.SECONDS);
        int before = reads.count;
        channel.writeInbound(content(body, 0, 1_000));
        assertEquals(before, reads.count);
        advance(2, TimeUnit.SECONDS);
        assertEquals(before + 1, reads.count);
        upload.open();
        channel.writeInbound(content(body, 1_000, body.length), LastHttpContent.EMPTY_LAST_CONTENT);
        assertAnswer(200, false);
    }

    @Test
    void readAhead_ofPipelinedRequests_isBounded() {
        open(onLoop());
        upload.response = new CompletableFuture<>();
        channel.writeInbound(head("/upload"), content(Upload.body(10)), LastHttpContent.EMPTY_LAST_CONTENT);
        advance(5, TimeUnit.SECONDS);
        int rounds = 0;
        for (int before = -1; reads.count > before && rounds < 1000; rounds++) {
            before = reads.count;
            for (int i = 0; i < 20; i++) {
                channel.pipeline().fireChannelRead(head("/next"));
                channel.pipeline().fireChannelRead(LastHttpContent.EMPTY_LAST_CONTENT);
            }
            channel.pipeline().fireChannelReadComplete();
            channel.runPendingTasks();
        }
        assertTrue(rounds <= 20, "queued requests: " + 20 * rounds);
        upload.response.complete(Upload.text(200, ""));
        assertAnswer(200, false);
        assertEquals("/next", channel.<HttpRequest>readInbound().uri());
    }

    /**
     * Each read brings one byte of the body.
     *
     * @param used the other bytes of each read, such as chunk extensions
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 64 << 10})
    void readAhead_ofSingleBytes_keepsBoundedMemory(int used) {
        open(onLoop());
        upload.shut();
        byte[] body = Upload.body(2_000);
        int at = 1_000;
        channel.writeInbound(head("/upload"), content(body, 0, at));
        advance(2, TimeUnit.SECONDS);
        List<ByteBuf> received = new ArrayList<>();
        for (int before = 0; reads.count > before && at < body.length; at++) {
            before = reads.count;
            ByteBuf read = PooledByteBufAllocator.DEFAULT.directBuffer(64 << 10);
            received.add(read.setByte(0, body[at]).writerIndex(used));
            channel.writeInbound(new DefaultHttpContent(read.retainedSlice(0, 1)));
        }
        long kept = received.stream().filter(read -> read.refCnt() > 1).count();
        assertTrue(kept <= 2, "network reads of 64 KiB: " + kept);
        assertEquals(used > 1, kept > 0, "slices are copied if their read is short, otherwise the read is kept");
        received.forEach(ByteBuf::release);
        upload.open();
        channel.writeInbound(content(body, at, body.length), LastHttpContent.EMPTY_LAST_CONTENT);
        assertAnswer(200, false);
        assertEquals(2_000, upload.bytes.get());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 60_000})
    void readAhead_ofAllConnections_isBounded(int bytesPerRead) {
        upload.change = by -> by.admission(Readiness::pending);
        open(onWorkers(workers));
        List<EmbeddedChannel> paused = new ArrayList<>();
        long held = 0;
        for (int i = 0; i < 100; i++) {
            ReadCounter counter = new ReadCounter();
            EmbeddedChannel one = new EmbeddedChannel();
            one.freezeTime();
            one.pipeline().addLast(counter).addLast(handlers.newHandler());
            one.writeInbound(head("/upload"));
            int before = counter.count;
            one.advanceTimeBy(2, TimeUnit.SECONDS);
            one.runScheduledPendingTasks();
            if (counter.count > before) {
                HttpContent read = content(new byte[60_000]);
                one.writeInbound(read.replace(read.content().readSlice(bytesPerRead)));
                held += 60_000;
            }
            paused.add(one);
        }
        assertTrue(held > 0 && held <= memory.capacity() / 8 + 60_000, "queued bytes: " + held);
        paused.forEach(EmbeddedChannel::close);
        workers.run();

        channel.writeInbound(head("/upload"));
        int before = reads.count;
        advance(2, TimeUnit.SECONDS);
        assertEquals(before + 1, reads.count, "reads after the queues have become empty");
    }

    // ---- rejected bodies

    @ParameterizedTest
    @CsvSource({
        "Content-Length, 99999999999, 413, BODY_TOO_LARGE",
        "Content-Type, text/plain, 415, UNSUPPORTED_MEDIA_TYPE",
        "Content-Encoding, gzip, 415, UNSUPPORTED_MEDIA_TYPE"
    })
    void rejectionAtTheHead_requestsNoBody_andIsReportedOnce(String name, String value, int status, Reason reason) {
        List<Reason> ended = new ArrayList<>();
        FormOptions counted =
                options.toBuilder().metrics(form -> ended.add(form.reason())).build();
        open(MultipartHandlers.builder(Forms.of(counted), this::route, workers));
        channel.writeInbound(head("/upload", "Expect", "100-continue", name, value));
        assertAnswer(status, true);
        assertEquals(reason, reason());
        assertEquals(List.of(reason), ended);
    }

    @Test
    void contentType_twice_isRejected() {
        open(onWorkers(workers));
        HttpRequest twice = head("/upload", "Expect", "100-continue");
        twice.headers().add("Content-Type", Upload.TYPE);
        channel.writeInbound(twice);
        assertAnswer(400, true);
        assertEquals(Reason.DUPLICATE_HEADER, reason());
    }

    @Test
    void continueExpected_isAnsweredWhenThereIsDemand() {
        open(onLoop());
        channel.writeInbound(head("/upload", "Expect", "100-continue", "Content-Encoding", "identity"));
        FullHttpResponse response = channel.readOutbound();
        assertEquals(100, response.status().code());
        response.release();
        channel.flushInbound();
        assertNull(channel.readOutbound(), "a second 100 (Continue)");
        channel.writeInbound(content(Upload.body(10)), LastHttpContent.EMPTY_LAST_CONTENT);
        assertAnswer(200, false);
    }

    @Test
    void continueExpected_bodyIsSentAnyway_isNotAnswered() {
        open(onLoop());
        byte[] body = Upload.body(10);
        channel.writeInbound(head("/upload", "Expect", "100-continue"), content(Arrays.copyOf(body, 20)));
        assertNull(channel.readOutbound());
        channel.writeInbound(content(Arrays.copyOfRange(body, 20, body.length)), LastHttpContent.EMPTY_LAST_CONTENT);
        assertAnswer(200, false);
    }

    @Test
    void malformedBody_isRejectedAtOnceAndDrainedUpToALimit() {
        upload.change = by -> by.maxDrainBytes(100_000);
        open(onLoop().drainTimeout(Duration.ofMinutes(1)));
        channel.writeInbound(head("/upload"), content(Upload.body(200_000)), LastHttpContent.EMPTY_LAST_CONTENT);
        assertAnswer(200, false);
        channel.writeInbound(head("/upload"), content("--x\r\nbad\r\n\r\n".getBytes(StandardCharsets.US_ASCII)));
        assertAnswer(400, true);
        assertEquals(Reason.MALFORMED_HEADER, reason());
        channel.runPendingTasks();
        int before = reads.count;
        channel.writeInbound(content(new byte[90_000]));
        assertEquals(before + 1, reads.count, "reads that discard the body");
        channel.writeInbound(content(new byte[20_000]));
        assertEquals(before + 1, reads.count, "reads after the limit was reached");
        assertTrue(channel.isOpen());
        advance(2, TimeUnit.SECONDS);
        assertFalse(channel.isOpen(), "the connection is open after the drain timeout");
        assertEquals(200_000, upload.bytes.get());
    }

    @Test
    void malformedBody_fullyReceived_connectionIsKept() {
        open(onLoop());
        channel.writeInbound(
                head("/upload"),
                content("--x\r\nbad\r\n\r\n".getBytes(StandardCharsets.US_ASCII)),
                content(new byte[1000]),
                LastHttpContent.EMPTY_LAST_CONTENT,
                head("/next"));
        assertAnswer(400, false);
        channel.runPendingTasks();
        assertEquals("/next", channel.<HttpRequest>readInbound().uri());
    }

    @Test
    void rejectedBody_queuedToItsEnd_connectionIsKept() {
        open(onWorkers(workers));
        upload.shut();
        byte[] body = Upload.body(10_000);
        channel.writeInbound(head("/upload"), content(body, 0, 5_000));
        workers.run();
        channel.writeInbound(content(body, 5_000, body.length), LastHttpContent.EMPTY_LAST_CONTENT);
        upload.gate.get().fail(MultipartException.because(Reason.PART_TOO_LARGE).build());
        workers.run();
        assertAnswer(413, false);
    }

    /** The decoder passes on no body after a malformed head. */
    @ParameterizedTest
    @ValueSource(strings = {"Content-Length: abc", "Content-Length: 1\r\nContent-Length: 2", "no colon"})
    void malformedHead_isAnsweredWith400(String line) {
        open(onWorkers(workers), new HttpServerCodec());
        String head = "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Type: " + Upload.TYPE
                + "\r\nExpect: 100-continue\r\n" + line + "\r\n\r\n";
        channel.writeInbound(Unpooled.copiedBuffer(head, StandardCharsets.US_ASCII));
        assertBadRequestAndClose();
        assertEquals(Reason.MALFORMED_HEADER, reason());
        assertFalse(upload.optionsCalled.isDone());
    }

    /** The codec ignores everything that follows a malformed chunk. */
    @ParameterizedTest
    @ValueSource(strings = {"/upload", "/other"})
    void malformedChunk_connectionIsClosedAfterTheResponse(String uri) {
        open(onLoop(), new HttpServerCodec());
        String request = "POST " + uri + " HTTP/1.1\r\nHost: x\r\nContent-Type: " + Upload.TYPE
                + "\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n";
        channel.writeInbound(Unpooled.copiedBuffer(request, StandardCharsets.US_ASCII));
        if (uri.equals("/other")) {
            channel.releaseInbound();
            channel.writeOutbound(Upload.text(400, ""));
        }
        assertBadRequestAndClose();
        assertFalse(channel.isOpen());
    }

    /** The content is copied, because its network read keeps much more memory. */
    @Test
    void malformedContent_thatWaits_isAnsweredWith400() {
        open(onLoop());
        upload.response = new CompletableFuture<>();
        channel.writeInbound(head("/upload"), content(Upload.body(10)), LastHttpContent.EMPTY_LAST_CONTENT);
        ByteBuf read = PooledByteBufAllocator.DEFAULT.directBuffer(64 << 10).writeZero(2);
        HttpContent damaged = new DefaultHttpContent(read.readSlice(1));
        damaged.setDecoderResult(DecoderResult.failure(new DecoderException("on purpose")));
        channel.writeInbound(head("/upload"), damaged);
        upload.response.complete(Upload.text(200, ""));
        assertAnswer(200, false);
        assertAnswer(400, true);
    }

    /** Checks the next encoded response and releases it. */
    private void assertBadRequestAndClose() {
        channel.runPendingTasks();
        ByteBuf response = channel.readOutbound();
        assertNotNull(response, "no response");
        String text = response.toString(StandardCharsets.US_ASCII);
        response.release();
        assertTrue(text.startsWith("HTTP/1.1 400 ") && text.contains("connection: close"), text);
    }

    @Test
    void exceptionCaught_isAnsweredOnceAndTheSecondOneCloses() {
        open(onLoop());
        channel.writeInbound(head("/upload"));
        channel.pipeline().fireExceptionCaught(new IllegalStateException("on purpose"));
        assertAnswer(500, true);
        channel.pipeline().fireExceptionCaught(new IllegalStateException("again, on purpose"));
        assertNull(channel.readOutbound());
        assertFalse(channel.isOpen());
    }

    /** The decoder of TLS wraps a fatal alert. */
    @Test
    void exceptionCaught_brokenTls_endsTheFormLikeADisconnect() {
        open(onLoop());
        channel.writeInbound(head("/upload"), content(Upload.body(1000), 0, 500));
        channel.pipeline().fireExceptionCaught(new DecoderException(new SSLException("a damaged record")));
        assertNull(channel.readOutbound());
        assertFalse(channel.isOpen());
        assertEquals(Reason.TRUNCATED, reason());
    }

    /** A later request may have lost a message. */
    @Test
    void exceptionCaught_beforeTheResponse_connectionIsClosedAfterIt() {
        open(onLoop());
        upload.response = new CompletableFuture<>();
        channel.writeInbound(head("/upload"), content(Upload.body(10)), LastHttpContent.EMPTY_LAST_CONTENT);
        channel.pipeline().fireExceptionCaught(new DecoderException("on purpose"));
        assertTrue(channel.isOpen());
        upload.response.complete(Upload.text(200, ""));
        assertAnswer(200, true);
    }

    /** The decompressor fails for each piece. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @SuppressWarnings("deprecation") // the constructor is also in Netty 4.1.118
    void damagedCompression_inSeveralPieces_isAnsweredWith400(boolean onWorkers) {
        List<FormSummary> ended = new ArrayList<>();
        Forms forms = Forms.of(options.toBuilder().metrics(ended::add).build());
        open(
                onWorkers
                        ? MultipartHandlers.builder(forms, this::route, workers)
                        : MultipartHandlers.onEventLoop(forms, this::route),
                new HttpContentDecompressor());
        channel.pipeline().fireChannelRead(head("/upload", "Content-Encoding", "gzip"));
        for (int i = 0; i < 3; i++) {
            channel.pipeline().fireChannelRead(content(new byte[100]));
            workers.run();
        }
        channel.flushInbound();
        assertAnswer(400, true);
        assertEquals(Reason.MALFORMED_TRANSFER_ENCODING, reason());
        assertEquals(
                List.of(FormSummary.Outcome.MALFORMED),
                ended.stream().map(FormSummary::outcome).toList());
    }

    @Test
    void abort_onALateThread_formIsNotReceived() {
        open(onWorkers(workers));
        byte[] body = Upload.body(1000);
        channel.writeInbound(head("/upload"), content(body, 0, 300));
        workers.run();
        channel.pipeline().fireExceptionCaught(new DecoderException("the gzip data is damaged"));
        channel.writeInbound(content(body, 600, body.length), LastHttpContent.EMPTY_LAST_CONTENT);
        workers.runLastFirst();
        assertAnswer(400, false);
        assertEquals(Reason.MALFORMED_TRANSFER_ENCODING, reason());
        assertEquals(0, upload.published);
    }

    /** An executor that cannot start a thread may keep the task in its queue. */
    @ParameterizedTest
    @ValueSource(classes = {RejectedExecutionException.class, IllegalStateException.class, OutOfMemoryError.class})
    void executor_takesNoTask_formEnds(Class<? extends Throwable> type) throws Exception {
        Throwable none = type.getConstructor().newInstance();
        boolean rejects = none instanceof RejectedExecutionException;
        for (boolean keeps : new boolean[] {false, true}) {
            open(onWorkers(task -> {
                if (keeps) {
                    workers.execute(task);
                }
                if (none instanceof Error e) {
                    throw e;
                }
                throw (RuntimeException) none;
            }));
            channel.writeInbound(head("/upload"), content(Upload.body(10)), LastHttpContent.EMPTY_LAST_CONTENT);
            assertAnswer(rejects ? 503 : 500, false);
            workers.run();
            assertEquals(0, upload.published);
            CompletableFuture<Void> done =
                    handlers.shutdown(Duration.ofMinutes(1)).toCompletableFuture();
            channel.runPendingTasks();
            assertTrue(done.isDone());
            channel.finishAndReleaseAll();
        }
    }

    @Test
    void executor_rejects_isAnsweredWith503WithoutAnErrorInTheLog() {
        try (ErrorLog log = new ErrorLog()) {
            List<String> ended = new ArrayList<>();
            FormOptions counted = options.toBuilder()
                    .metrics(form -> ended.add(form.outcome() + " " + form.reason() + " " + form.remoteAddress()))
                    .build();
            Executor full = task -> {
                throw new RejectedExecutionException("on purpose");
            };
            open(MultipartHandlers.builder(Forms.of(counted), this::route, full));
            channel.writeInbound(head("/upload"), content(Upload.body(10)), LastHttpContent.EMPTY_LAST_CONTENT);
            assertAnswer(503, false);
            assertEquals(MultipartException.Kind.OVERLOADED, reason().kind());
            assertEquals(List.of(), log.messages);
            assertEquals(List.of("OVERLOADED UNAVAILABLE embedded"), ended);
        }
    }

    @Test
    void rejectedPart_isReportedWithNameAndOffset() {
        List<String> ended = new ArrayList<>();
        FormOptions counted = options.toBuilder()
                .metrics(form -> ended.add(form.outcome() + " " + form.reason() + " " + form.remoteAddress() + " "
                        + (form.failure() instanceof MultipartException rejected
                                ? rejected.partIndex() + " " + rejected.fieldName() + " " + rejected.offset()
                                : null)))
                .build();
        open(MultipartHandlers.onEventLoop(Forms.of(counted), this::route));
        byte[] cut = Arrays.copyOf(Upload.body(100), 120);
        channel.writeInbound(head("/upload"), content(cut), LastHttpContent.EMPTY_LAST_CONTENT);
        assertAnswer(400, false);
        assertEquals(List.of("TRUNCATED TRUNCATED embedded 0 f 120"), ended);
    }

    @Test
    void executor_rejectsWhenAPausedSinkIsReady_isAnsweredWith503() {
        AtomicBoolean rejects = new AtomicBoolean();
        open(onWorkers(task -> {
            if (rejects.get()) {
                throw new RejectedExecutionException("on purpose");
            }
            workers.execute(task);
        }));
        upload.shut();
        channel.writeInbound(head("/upload"), content(Upload.body(10)), LastHttpContent.EMPTY_LAST_CONTENT);
        workers.run();
        rejects.set(true);
        upload.open();
        assertAnswer(503, false);
        assertEquals(MultipartException.Kind.OVERLOADED, reason().kind());
        assertEquals(0, upload.published);
    }

    @Test
    void nextHandlersResponse_withConnectionClose_connectionIsClosed() {
        open(onLoop());
        channel.writeInbound(head("/other"));
        FullHttpResponse no = Upload.text(403, "");
        no.headers().set("Connection", "close").set("Content-Length", 0);
        channel.writeOutbound(no);
        assertAnswer(403, true);
        assertTrue(
                channel.runScheduledPendingTasks() <= TimeUnit.SECONDS.toNanos(1), "the drain timeout is not checked");
        channel.releaseInbound();
        channel.writeInbound(content(new byte[50]));
        assertNull(channel.readInbound(), "the rest of the body reaches the next handlers");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void nextHandlersResponse_withReadOnlyHeaders_isSentAndConnectionIsClosed(boolean isFull) {
        open(onLoop());
        channel.writeInbound(head("/other", "Connection", "close"), LastHttpContent.EMPTY_LAST_CONTENT);
        channel.releaseInbound();
        HttpHeaders headers = new ReadOnlyHttpHeaders(true, "Content-Length", "0");
        if (isFull) {
            channel.writeOutbound(new DefaultFullHttpResponse(
                    HttpVersion.HTTP_1_1,
                    HttpResponseStatus.OK,
                    Unpooled.EMPTY_BUFFER,
                    headers,
                    EmptyHttpHeaders.INSTANCE));
        } else {
            channel.writeOutbound(
                    new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK, headers),
                    LastHttpContent.EMPTY_LAST_CONTENT);
        }
        HttpResponse response = channel.readOutbound();
        assertEquals("close", response.headers().get("Connection"));
        assertEquals("0", response.headers().get("Content-Length"));
        channel.runPendingTasks();
        assertFalse(channel.isOpen());
    }

    @Test
    void nextHandlersResponse_thatFailsMidway_connectionIsClosed() {
        open(onLoop());
        channel.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
                if (message instanceof HttpChunkedInput) {
                    promise.setFailure(new IOException("on purpose"));
                } else {
                    ctx.write(message, promise);
                }
            }
        });
        channel.writeInbound(head("/other"), LastHttpContent.EMPTY_LAST_CONTENT);
        channel.releaseInbound();
        channel.write(new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.OK));
        channel.write(new HttpChunkedInput(new ChunkedStream(InputStream.nullInputStream())));
        channel.runPendingTasks();
        assertFalse(channel.isOpen(), "the next response would be part of the unfinished body");
    }

    // ---- half-closed and closed connections

    @Test
    void inputShutdown_withinTheBody_isAnsweredWith400() {
        open(onLoop());
        byte[] body = Upload.body(1000);
        channel.writeInbound(head("/upload"), content(body, 0, 500));
        channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        assertAnswer(400, true);
        MultipartException failure = (MultipartException) upload.failure.getNow(null);
        assertEquals(Reason.TRUNCATED, failure.reason());
        assertEquals(500, failure.offset());
        assertInstanceOf(ClosedChannelException.class, failure.getCause());
        channel.runPendingTasks();
        assertFalse(channel.isOpen());
    }

    @Test
    void inputShutdown_whileAWorkerIsBusy_abortsTheFormOnce() {
        open(onWorkers(workers));
        channel.writeInbound(head("/upload"), content(Upload.body(1000), 0, 500));
        channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        channel.runPendingTasks();
        int before = workers.submitted;
        channel.pipeline().fireChannelReadComplete();
        assertEquals(before, workers.submitted);
        workers.run();
        assertAnswer(400, true);
    }

    @Test
    void inputShutdown_withinAQueuedBody_isAnsweredWith400() {
        open(onLoop().bytesPerTurn(4 << 20));
        upload.shut();
        channel.writeInbound(head("/upload"), content(Upload.body(1 << 20)));
        channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        assertAnswer(400, true);
        assertEquals(Reason.TRUNCATED, reason());
        channel.runPendingTasks();
        assertFalse(channel.isOpen());
    }

    @Test
    void inputShutdown_afterAQueuedBody_formIsReceivedWithoutAnotherRead() {
        open(onLoop().bytesPerTurn(4 << 20));
        upload.shut();
        channel.writeInbound(head("/upload"), content(Upload.body(1 << 20)), LastHttpContent.EMPTY_LAST_CONTENT);
        channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        int before = reads.count;
        advance(5, TimeUnit.SECONDS);
        upload.open();
        channel.runPendingTasks();
        assertAnswer(200, true);
        channel.runPendingTasks();
        assertEquals(before, reads.count);
        assertFalse(channel.isOpen());
    }

    @Test
    void inputShutdown_afterAPipelinedRequest_bothAreAnswered() {
        open(onLoop());
        upload.shut();
        for (int i = 0; i < 2; i++) {
            channel.writeInbound(head("/upload"), content(Upload.body(10)), LastHttpContent.EMPTY_LAST_CONTENT);
        }
        channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        upload.open();
        assertAnswer(200, false);
        assertAnswer(200, true);
        channel.runPendingTasks();
        assertFalse(channel.isOpen());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void transportReadsWithoutARequest_beyondATurn_bodyIsKept(boolean withinOneRead) {
        open(onLoop().bytesPerTurn(20_000));
        if (withinOneRead) {
            channel.config().setRecvByteBufAllocator(new ExtendedReads());
        }
        upload.shut();
        byte[] body = Upload.body(200_000);
        channel.pipeline().fireChannelRead(head("/upload"));
        for (int at = 0; at < body.length; at += 8_000) {
            channel.pipeline().fireChannelRead(content(body, at, Math.min(at + 8_000, body.length)));
            if (!withinOneRead) {
                channel.flushInbound();
            }
        }
        channel.writeInbound(LastHttpContent.EMPTY_LAST_CONTENT);
        channel.pipeline().fireUserEventTriggered(ChannelInputShutdownEvent.INSTANCE);
        upload.open();
        assertAnswer(200, true);
        assertEquals(200_000, upload.bytes.get());
    }

    @Test
    void transportThatContinuesReading_beyondTheShareOfAllConnections_bodyIsRejected() {
        open(onLoop());
        channel.config().setRecvByteBufAllocator(new ExtendedReads());
        upload.shut();
        int share = (int) memory.capacity() / 8;
        byte[] body = Upload.body(2 * share);
        channel.writeInbound(head("/upload"), content(body, 0, share / 2));
        channel.writeInbound(content(body, share / 2, share));
        assertFalse(upload.failure.isDone());
        channel.writeInbound(content(body, share, body.length));
        assertAnswer(413, true);
        assertEquals(Reason.BODY_TOO_LARGE, reason());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void disconnect_atAnyByte_leavesNothing(boolean onWorkers) {
        byte[] body = Upload.body(300);
        ByteArrayOutputStream wire = new ByteArrayOutputStream();
        wire.writeBytes(("POST /upload HTTP/1.1\r\nHost: x\r\nContent-Type: " + Upload.TYPE
                        + "\r\nTransfer-Encoding: chunked\r\n\r\n" + Integer.toHexString(body.length) + "\r\n")
                .getBytes(StandardCharsets.US_ASCII));
        wire.writeBytes(body);
        wire.writeBytes("\r\n0\r\nDigest: abc\r\n\r\nGET / HTTP/1.1\r\n".getBytes(StandardCharsets.US_ASCII));
        byte[] bytes = wire.toByteArray();
        for (int cut = 0; cut <= bytes.length; cut++) {
            open(onWorkers ? onWorkers(workers) : onLoop(), new HttpServerCodec());
            int half = cut / 2;
            channel.writeInbound(PooledByteBufAllocator.DEFAULT.directBuffer().writeBytes(bytes, 0, half));
            if (cut % 3 == 0) {
                workers.run();
            }
            channel.writeInbound(PooledByteBufAllocator.DEFAULT.directBuffer().writeBytes(bytes, half, cut - half));
            channel.close();
            workers.run();
            channel.runPendingTasks();
            channel.finishAndReleaseAll();
            assertEquals(0, memory.used(), "cut at " + cut);
        }
        assertTrue(upload.published < 40, "published: " + upload.published);
        assertTrue(upload.closed > 300, "closed: " + upload.closed);
    }

    @Test
    void handlerRemoved_abortsItsFormAndReleasesItsMessages() {
        open(onWorkers(workers).bytesPerTurn(1 << 20));
        channel.writeInbound(head("/upload"), content(Upload.body(600_000)), LastHttpContent.EMPTY_LAST_CONTENT);
        channel.writeInbound(head("/next"), content(new byte[10]));
        channel.pipeline().removeLast();
        assertTrue(channel.config().isAutoRead());
        workers.run();
        assertEquals(Reason.TRUNCATED, reason());
    }

    @Test
    void response_afterTheConnectionWasClosed_isReleased() {
        open(onLoop());
        upload.response = new CompletableFuture<>();
        channel.writeInbound(head("/upload"), content(Upload.body(10)), LastHttpContent.EMPTY_LAST_CONTENT);
        channel.close();
        FullHttpResponse late = Upload.text(200, "late");
        upload.response.complete(late);
        channel.runPendingTasks();
        assertEquals(0, late.refCnt());
    }

    /** The handlers keep a set of the open connections, for the shutdown. */
    @Test
    void closedConnection_isNotReachable() {
        open(onLoop());
        channel.close();
        channel.runPendingTasks();
        WeakReference<EmbeddedChannel> closed = new WeakReference<>(channel);
        channel = new EmbeddedChannel();
        Eventually.isCollected(closed, "the handlers still refer to the connection");
        assertTrue(
                handlers.shutdown(Duration.ofMinutes(1)).toCompletableFuture().isDone());
    }

    // ---- shutdown

    @Test
    void shutdown_closesIdleConnectionsAtOnceAndOthersAfterTheirResponse() {
        open(onWorkers(workers));
        EmbeddedChannel idle = new EmbeddedChannel(handlers.newHandler());
        channel.writeInbound(head("/upload"), content(Upload.body(10)));
        CompletableFuture<Void> done = handlers.shutdown(Duration.ofMinutes(1)).toCompletableFuture();
        idle.runPendingTasks();
        channel.runPendingTasks();
        assertFalse(idle.isOpen());
        assertTrue(channel.isOpen());
        channel.writeInbound(LastHttpContent.EMPTY_LAST_CONTENT);
        assertFalse(done.isDone());
        workers.run();
        assertAnswer(200, true);
        channel.runPendingTasks();
        assertTrue(done.isDone());
    }

    @Test
    void shutdown_atItsDeadline_abortsForms() {
        open(onLoop());
        upload.shut();
        channel.writeInbound(head("/upload"), content(Upload.body(10_000)));
        CompletableFuture<Void> done = handlers.shutdown(Duration.ofMillis(1)).toCompletableFuture();
        channel.runPendingTasks();
        advance(2, TimeUnit.MILLISECONDS);
        channel.runPendingTasks();
        assertTrue(done.isDone());
        assertFalse(channel.isOpen());
        assertEquals(Reason.TRUNCATED, reason());
        assertEquals(1, upload.closed);
        assertEquals(0, upload.published);
    }

    /** A connection may add the handler late, for example after protocol detection, and receive its first bytes at once. */
    @Test
    void shutdown_lateConnection_isClosedAtTheDeadline() {
        open(onLoop());
        channel.writeInbound(head("/upload"), content(Upload.body(10)));
        CompletableFuture<Void> done = handlers.shutdown(Duration.ofHours(1)).toCompletableFuture();
        EmbeddedChannel late = new EmbeddedChannel();
        late.freezeTime();
        late.pipeline().addLast(handlers.newHandler());
        late.pipeline().fireChannelRead(head("/upload"));
        late.pipeline().fireChannelRead(content(Upload.body(10)));
        late.runPendingTasks();
        for (EmbeddedChannel each : List.of(channel, late)) {
            assertFalse(done.isDone());
            each.runPendingTasks();
            each.advanceTimeBy(2, TimeUnit.HOURS);
            each.runScheduledPendingTasks();
            each.runPendingTasks();
            assertFalse(each.isOpen());
        }
        assertTrue(done.isDone());
        late.finishAndReleaseAll();
    }

    // ---- timers

    @Test
    void timer_ofAnIdleConnection_isDueAtTheIdleTimeout() {
        upload.change = options -> options.maxSinkWait(Duration.ofMillis(400)).minRateGrace(Duration.ofMinutes(1));
        open(onLoop().idleTimeout(Duration.ofHours(1)));
        assertTrue(channel.runScheduledPendingTasks() > TimeUnit.MINUTES.toNanos(30));

        byte[] body = Upload.body(1000);
        channel.writeInbound(head("/upload"), content(body, 0, 500));
        assertEquals(TimeUnit.MILLISECONDS.toNanos(100), channel.runScheduledPendingTasks());

        channel.writeInbound(content(body, 500, body.length), LastHttpContent.EMPTY_LAST_CONTENT);
        assertAnswer(200, false);
        channel.advanceTimeBy(100, TimeUnit.MILLISECONDS);
        assertTrue(channel.runScheduledPendingTasks() > TimeUnit.MINUTES.toNanos(30));
        channel.close();
        assertEquals(-1, channel.runScheduledPendingTasks());
    }

    /** The time of a long request does not count: the handler measures from its response or from the end of its body. */
    @Test
    void idleTimeout_beginsAfterALongRequest() {
        List<EmbeddedChannel> all = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            open(onLoop().idleTimeout(Duration.ofSeconds(1)));
            all.add(channel);
        }
        EmbeddedChannel lateResponse = all.get(0);
        lateResponse.writeInbound(head("/other"), LastHttpContent.EMPTY_LAST_CONTENT);
        EmbeddedChannel lateBody = all.get(1);
        lateBody.writeInbound(head("/other"));
        lateBody.writeOutbound(Upload.text(200, ""));
        EmbeddedChannel unreadResponse = all.get(2);
        unreadResponse.pipeline().addFirst(new ChannelOutboundHandlerAdapter() {
            @Override
            public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
                ReferenceCountUtil.release(message);
            }
        });
        upload.response = new CompletableFuture<>();
        unreadResponse.writeInbound(head("/upload"), content(Upload.body(10)), LastHttpContent.EMPTY_LAST_CONTENT);

        Eventually.after(1100); // the idle timeout is measured in real time
        long responded = System.nanoTime();
        lateResponse.writeOutbound(Upload.text(200, ""));
        lateBody.writeInbound(LastHttpContent.EMPTY_LAST_CONTENT);
        upload.response.complete(Upload.text(200, ""));
        for (EmbeddedChannel each : all) {
            each.runPendingTasks();
            each.advanceTimeBy(2, TimeUnit.SECONDS); // for the handler's timer
            each.runScheduledPendingTasks();
            boolean isIdle = System.nanoTime() - responded > TimeUnit.SECONDS.toNanos(1); // on a stalled machine
            assertTrue(each.isOpen() || isIdle, "channel " + all.indexOf(each));
            each.finishAndReleaseAll();
        }
    }

    // ---- settings

    @Test
    void settings_outOfRange_areRejected() {
        assertThrows(IllegalArgumentException.class, () -> onLoop().bytesPerTurn(0));
        assertThrows(IllegalArgumentException.class, () -> onLoop().idleTimeout(Duration.ZERO));
        assertThrows(IllegalArgumentException.class, () -> onLoop().drainTimeout(Duration.ofSeconds(-1)));
        assertThrows(NullPointerException.class, () -> MultipartHandlers.builder(Forms.of(options), this::route, null));
    }

    /** The client gets a response, and the form is closed, although the application has a bug. */
    @ParameterizedTest
    @ValueSource(strings = {"received", "failed", "value", "nothing: both throw"})
    void receiver_returnsNullOrThrows_isAnsweredWith500AndLogged(String which) {
        FormReceiver broken = new FormReceiver() {
            @Override
            public CompletionStage<FullHttpResponse> received(MultipartForm form, HttpHeaders fields) {
                if (which.equals("failed") || which.startsWith("nothing")) {
                    throw new IllegalStateException("on purpose");
                }
                return which.equals("value") ? CompletableFuture.completedStage(null) : null;
            }

            @Override
            public FullHttpResponse failed(Throwable failure) {
                if (which.startsWith("nothing")) {
                    throw new IllegalStateException("again, on purpose");
                }
                return which.equals("failed") ? null : FormReceiver.super.failed(failure);
            }
        };
        try (ErrorLog log = new ErrorLog()) {
            open(MultipartHandlers.onEventLoop(Forms.of(options), request -> broken));
            channel.writeInbound(head("/upload"), content(Upload.body(10)), LastHttpContent.EMPTY_LAST_CONTENT);
            assertAnswer(500, false);
            assertEquals(0, memory.used());
            assertEquals(List.of("the response to a form has the status 500"), log.messages);
        }
    }

    /** The handler sets a length, and {@code Connection: close} for a client of HTTP/1.0. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void response_withReadOnlyHeaders_isSent(boolean isEmpty) {
        FullHttpResponse readOnly = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1,
                HttpResponseStatus.OK,
                Unpooled.buffer().writeZero(41),
                isEmpty ? EmptyHttpHeaders.INSTANCE : new ReadOnlyHttpHeaders(true),
                EmptyHttpHeaders.INSTANCE);
        open(MultipartHandlers.onEventLoop(
                Forms.of(options), request -> (form, fields) -> CompletableFuture.completedStage(readOnly)));
        HttpRequest request = head("/upload");
        request.setProtocolVersion(HttpVersion.HTTP_1_0);
        channel.writeInbound(request, content(Upload.body(10)), LastHttpContent.EMPTY_LAST_CONTENT);
        assertAnswer(200, true);
    }

    @ParameterizedTest
    @CsvSource({"200, chunked", "204,", "304,"})
    void response_withoutContentOrWithTransferEncoding_getsNoContentLength(int status, @Nullable String coding) {
        open(onLoop());
        FullHttpResponse response = Upload.text(status, "");
        if (coding != null) {
            response.headers().set("Transfer-Encoding", coding);
        }
        upload.response = CompletableFuture.completedFuture(response);
        channel.writeInbound(head("/upload"), content(Upload.body(10)), LastHttpContent.EMPTY_LAST_CONTENT);
        FullHttpResponse sent = channel.readOutbound();
        assertNull(sent.headers().get("Content-Length"));
        sent.release();
    }

    @Test
    void codec_missing_isReportedOnce() {
        try (ErrorLog log = new ErrorLog()) {
            open(onLoop());
            channel.writeInbound(Unpooled.EMPTY_BUFFER, Unpooled.EMPTY_BUFFER);
            assertEquals(1, log.messages.size(), log.messages::toString);
            assertTrue(log.messages.get(0).contains("put an HttpServerCodec before"), log.messages::toString);
        }
    }
}
