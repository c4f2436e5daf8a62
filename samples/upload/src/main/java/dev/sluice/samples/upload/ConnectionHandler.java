package dev.sluice.samples.upload;

import dev.sluice.Limits;
import dev.sluice.MultipartOptions;
import dev.sluice.Preset;
import dev.sluice.form.ClientPace;
import dev.sluice.samples.report.ErrorAnswer;
import dev.sluice.samples.report.Page;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection: requests one after the other, each read only as fast as it can be worked on.
 *
 * <p>An answer to a bad request is sent at once; what is still coming in is then read and dropped for a short while,
 * because a connection that is closed over unread bytes is reset, and the client would lose the answer.
 */
final class ConnectionHandler extends ChannelInboundHandlerAdapter {
    /** What all connections share. */
    record Services(
            ServerConfig config,
            UploadDirectory directory,
            ServerMetrics metrics,
            EventExecutorGroup workers,
            ByteBufAllocator allocator,
            Page page,
            BodyReceiver.Factory receivers) {

        ClientPace newPace() {
            return ClientPace.of(ServerConfig.MIN_BYTES_PER_SECOND, config.rateGrace());
        }

        MultipartOptions options(Preset preset, long maxBodyBytes) {
            return MultipartOptions.builder()
                    .preset(preset)
                    .limits(Limits.builder()
                            .maxBodyBytes(maxBodyBytes)
                            .maxPartBytes(maxBodyBytes)
                            .maxFiles(MAX_FILES)
                            .build())
                    .allocator(allocator)
                    .build();
        }
    }

    private enum State {
        /** Waits for a request. */
        REQUEST,
        /** Has an answer ready, for when the empty body of the request has been read. */
        EMPTY_BODY,
        /** Reads a body while the intake is ready for it. */
        BODY,
        /** Reads nothing: the intake works on the end. */
        FINISHING,
        /** Reads nothing: the answer is on its way. */
        ANSWER,
        /** Reads and drops what still comes, to close without a reset. */
        DRAIN,
        CLOSED
    }

    private static final Logger LOG = LoggerFactory.getLogger(ConnectionHandler.class);
    private static final int MAX_FILES = 100;
    private static final long MAX_DRAIN_BYTES = 32L << 20;
    private static final long MAX_DRAIN_MILLIS = 2_000;
    private static final long MAX_IDLE_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final Services services;
    private State state = State.REQUEST;
    private long stateSince = System.nanoTime();
    private @Nullable ScheduledFuture<?> clock;
    private @Nullable ScheduledFuture<?> drainEnd;

    // Reading: at most one read() is outstanding, and its message waits in the inbox.
    private @Nullable HttpObject inbox;
    private boolean pumping;
    private boolean reading;
    private boolean inputShutdown;

    // The request.
    private boolean keepAlive;
    private boolean complete;
    private long received;
    private String route = "";
    private @Nullable FullHttpResponse pendingAnswer;
    private @Nullable BodyReceiver intake;
    private ClientPace pace;
    private long drained;

    ConnectionHandler(Services services) {
        this.services = services;
        this.pace = services.newPace();
    }

    // ---- reading

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        long tick = Math.max(1, services.config().rateGrace().toMillis() / 5);
        clock = ctx.executor().scheduleAtFixedRate(() -> checkTime(ctx), tick, tick, TimeUnit.MILLISECONDS);
        pump(ctx);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (state == State.CLOSED || inbox != null) {
            ReferenceCountUtil.release(message);
            return;
        }
        inbox = (HttpObject) message;
        reading = false;
        pace.goesOn(System.nanoTime());
        pump(ctx);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        // A read of the socket that made no whole message has used up the read() that asked for one.
        if (reading) {
            ctx.read();
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            inputShutdown = true;
            reading = false;
            pump(ctx);
        }
        ctx.fireUserEventTriggered(event);
    }

    /**
     * Handles messages for as long as there are some and they are wanted. A loop, because a read may answer at once.
     */
    private void pump(ChannelHandlerContext ctx) {
        if (pumping) {
            return;
        }
        pumping = true;
        try {
            pumpAll(ctx);
        } catch (Throwable e) {
            pumping = false;
            exceptionCaught(ctx, e);
        } finally {
            pumping = false;
        }
    }

    private void pumpAll(ChannelHandlerContext ctx) {
        while (wantsInput() && !reading) {
            if (inbox == null) {
                read(ctx);
            } else {
                HttpObject message = inbox;
                inbox = null;
                handle(ctx, message);
            }
        }
    }

    private boolean wantsInput() {
        return switch (state) {
            case REQUEST, EMPTY_BODY -> true;
            case BODY -> intake != null && intake.isReady();
            case DRAIN -> drained <= MAX_DRAIN_BYTES;
            case FINISHING, ANSWER, CLOSED -> false;
        };
    }

    private void read(ChannelHandlerContext ctx) {
        reading = true;
        pace.waits(System.nanoTime());
        ctx.read();
        if (inbox == null && inputShutdown) {
            reading = false;
            inputEnded(ctx);
        }
    }

    private void handle(ChannelHandlerContext ctx, HttpObject message) {
        switch (state) {
            case REQUEST -> {
                // Releases nothing but what a request that is not HTTP carries along.
                ReferenceCountUtil.release(message);
                if (message instanceof HttpRequest request) {
                    onRequest(ctx, request);
                }
            }
            case EMPTY_BODY -> {
                ReferenceCountUtil.release(message);
                complete = message instanceof LastHttpContent;
                send(ctx, pendingAnswer);
            }
            case BODY -> onContent(ctx, (HttpContent) message);
            default -> drop(ctx, message);
        }
    }

    private void inputEnded(ChannelHandlerContext ctx) {
        if (state == State.BODY && intake != null) {
            // The client may have closed only its own half: it gets its answer.
            enter(State.FINISHING);
            intake.refuse(ErrorAnswer.cutOff(received, intake.partIndex()));
        } else {
            close(ctx);
        }
    }

    private void enter(State next) {
        state = next;
        stateSince = System.nanoTime();
    }

    // ---- requests

    private void onRequest(ChannelHandlerContext ctx, HttpRequest request) {
        keepAlive = HttpUtil.isKeepAlive(request);
        complete = false;
        received = 0;
        if (request.decoderResult().isFailure()) {
            // Nothing after it is parsed, so there is no end of it to wait for.
            complete = true;
            refuse(ctx, Answers.notHttp(request.decoderResult().cause()));
            return;
        }
        if (request.protocolVersion().compareTo(HttpVersion.HTTP_1_1) >= 0
                && request.headers().getAll(HttpHeaderNames.HOST).size() != 1) {
            refuse(ctx, badRequest("there has to be exactly one Host"));
            return;
        }
        String path;
        List<String> presets;
        try {
            QueryStringDecoder uri = new QueryStringDecoder(request.uri());
            path = uri.path();
            presets = uri.parameters().getOrDefault("preset", List.of());
        } catch (IllegalArgumentException e) {
            refuse(ctx, badRequest("a percent-encoding in the request target is malformed"));
            return;
        }
        boolean posted = HttpMethod.POST.equals(request.method());
        boolean got = HttpMethod.GET.equals(request.method()) || HttpMethod.HEAD.equals(request.method());
        switch (path) {
            case "/" ->
                answer(ctx, request, got ? Answers.page(services.page()) : Answers.methodNotAllowed("GET, HEAD"));
            case "/metrics" -> answer(ctx, request, got ? metrics() : Answers.methodNotAllowed("GET, HEAD"));
            case "/upload", "/inspect" -> {
                if (posted) {
                    admit(ctx, request, path.substring(1), presets);
                } else {
                    answer(ctx, request, Answers.methodNotAllowed("POST"));
                }
            }
            default -> answer(ctx, request, Answers.notFound());
        }
    }

    private static ErrorAnswer badRequest(String message) {
        return ErrorAnswer.http(HttpResponseStatus.BAD_REQUEST.code(), "BAD_REQUEST", message);
    }

    private FullHttpResponse metrics() {
        return Answers.of(
                HttpResponseStatus.OK,
                "text/plain; version=0.0.4; charset=utf-8",
                services.metrics().scrape().getBytes(StandardCharsets.UTF_8));
    }

    private void admit(ChannelHandlerContext ctx, HttpRequest request, String to, List<String> presets) {
        route = to;
        boolean upload = to.equals("upload");
        PartSink sink = upload ? new StoredUpload(services.directory(), services.metrics()) : new Inspection();
        try {
            long maxBodyBytes = upload ? services.config().maxBodyBytes() : ServerConfig.MAX_INSPECTED_BYTES;
            receive(ctx, Admission.of(request, presets, upload, maxBodyBytes), maxBodyBytes, sink);
        } catch (Admission.Refused e) {
            services.metrics().refused(e.error());
            keepAlive = false;
            send(ctx, Answers.json(e.error().status(), sink.refuse(e.error(), List.of())));
            return;
        }
        if (HttpUtil.is100ContinueExpected(request)) {
            ctx.writeAndFlush(Answers.proceed());
        }
    }

    // ---- bodies

    private void receive(ChannelHandlerContext ctx, Admission admission, long maxBodyBytes, PartSink sink) {
        services.metrics().started();
        BodyReceiver.Listener listener = new BodyReceiver.Listener() {
            @Override
            public void ready() {
                pump(ctx);
            }

            @Override
            public void ended(@Nullable ErrorAnswer error, Object answer) {
                try {
                    bodyEnded(ctx, error, answer);
                } catch (RuntimeException e) {
                    exceptionCaught(ctx, e);
                }
            }
        };
        intake = services.receivers()
                .create(
                        admission.boundary(),
                        services.options(admission.preset(), maxBodyBytes),
                        sink,
                        ctx.executor(),
                        services.workers().next(),
                        services.metrics(),
                        listener);
        pace = services.newPace();
        enter(State.BODY);
    }

    private void onContent(ChannelHandlerContext ctx, HttpContent content) {
        BodyReceiver body = intake;
        if (body == null || content.decoderResult().isFailure()) {
            content.release();
            enter(State.FINISHING);
            if (body != null) {
                body.refuse(badRequest("the chunks of the request body are malformed"));
            }
            return;
        }
        int size = content.content().readableBytes();
        received += size;
        pace.received(size);
        complete = content instanceof LastHttpContent;
        body.offer(content.content());
        if (complete) {
            body.finish();
        }
        if (complete || body.isOver()) {
            enter(State.FINISHING);
        }
    }

    private void bodyEnded(ChannelHandlerContext ctx, @Nullable ErrorAnswer error, Object answer) {
        intake = null;
        services.metrics().ended(route, outcome(error));
        if (error != null) {
            services.metrics().refused(error);
            keepAlive = false;
        }
        send(ctx, Answers.json(error == null ? 200 : error.status(), answer));
    }

    private ServerMetrics.Outcome outcome(@Nullable ErrorAnswer error) {
        if (error == null) {
            return ServerMetrics.Outcome.DONE;
        }
        if (error.status() >= 500) {
            return ServerMetrics.Outcome.FAILED;
        }
        return inputShutdown && !complete ? ServerMetrics.Outcome.ABORTED : ServerMetrics.Outcome.REFUSED;
    }

    // ---- answers

    private void refuse(ChannelHandlerContext ctx, ErrorAnswer error) {
        services.metrics().refused(error);
        keepAlive = false;
        send(ctx, Answers.error(error));
    }

    /** Answers a request that has no use for a body: after its empty one, or at once and for the last time. */
    private void answer(ChannelHandlerContext ctx, HttpRequest request, FullHttpResponse response) {
        if (HttpUtil.getContentLength(request, 0L) > 0 || HttpUtil.isTransferEncodingChunked(request)) {
            keepAlive = false;
            send(ctx, response);
        } else {
            pendingAnswer = response;
            enter(State.EMPTY_BODY);
        }
    }

    private void send(ChannelHandlerContext ctx, @Nullable FullHttpResponse response) {
        pendingAnswer = null;
        if (response == null || state == State.CLOSED) {
            ReferenceCountUtil.release(response);
            return;
        }
        boolean goesOn = keepAlive && complete && !inputShutdown;
        response.headers()
                .set(HttpHeaderNames.CONNECTION, goesOn ? HttpHeaderValues.KEEP_ALIVE : HttpHeaderValues.CLOSE);
        enter(State.ANSWER);
        ctx.writeAndFlush(response).addListener((ChannelFuture sent) -> answered(ctx, sent.isSuccess(), goesOn));
    }

    private void answered(ChannelHandlerContext ctx, boolean sent, boolean goesOn) {
        if (state == State.CLOSED) {
            return;
        }
        if (!sent) {
            close(ctx);
        } else if (goesOn) {
            enter(State.REQUEST);
            pump(ctx);
        } else {
            drain(ctx);
        }
    }

    // ---- the end of a connection

    private void drain(ChannelHandlerContext ctx) {
        enter(State.DRAIN);
        drainEnd = ctx.executor().schedule(() -> close(ctx), MAX_DRAIN_MILLIS, TimeUnit.MILLISECONDS);
        if (complete) {
            closeOutput(ctx);
        }
        pump(ctx);
    }

    private void drop(ChannelHandlerContext ctx, HttpObject message) {
        if (message instanceof HttpContent content) {
            drained += content.content().readableBytes();
        }
        ReferenceCountUtil.release(message);
        if (message instanceof LastHttpContent && !complete) {
            complete = true;
            closeOutput(ctx);
        }
    }

    /** Says that nothing more will come; the client's own end is then waited for, so that nothing is left unread. */
    private static void closeOutput(ChannelHandlerContext ctx) {
        ((DuplexChannel) ctx.channel()).shutdownOutput();
    }

    /** From here on nothing is read; {@link #channelInactive} cleans up. */
    private void close(ChannelHandlerContext ctx) {
        enter(State.CLOSED);
        ctx.close();
    }

    private void checkTime(ChannelHandlerContext ctx) {
        long now = System.nanoTime();
        switch (state) {
            case REQUEST, EMPTY_BODY, FINISHING, ANSWER -> {
                if (now - stateSince > MAX_IDLE_NANOS) {
                    close(ctx);
                }
            }
            case BODY -> checkPace(now);
            case DRAIN, CLOSED -> {}
        }
    }

    private void checkPace(long now) {
        if (intake != null && pace.isTooSlow(now)) {
            enter(State.FINISHING);
            intake.refuse(ErrorAnswer.http(
                    HttpResponseStatus.REQUEST_TIMEOUT.code(),
                    "TOO_SLOW",
                    "the body arrives at less than " + ServerConfig.MIN_BYTES_PER_SECOND + " bytes per second"));
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        enter(State.CLOSED);
        if (clock != null) {
            clock.cancel(false);
        }
        if (drainEnd != null) {
            drainEnd.cancel(false); // or it keeps the connection in memory until its time has come
        }
        ReferenceCountUtil.release(inbox);
        inbox = null;
        ReferenceCountUtil.release(pendingAnswer);
        pendingAnswer = null;
        if (intake != null) {
            intake.abort();
            intake = null;
            services.metrics().ended(route, ServerMetrics.Outcome.ABORTED);
        }
        ctx.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (cause instanceof IOException) {
            LOG.debug("a connection broke", cause);
            close(ctx);
            return;
        }
        LOG.error("a request failed", cause);
        boolean answered = state == State.ANSWER || state == State.DRAIN || state == State.CLOSED;
        if (answered || !ctx.channel().isActive()) {
            close(ctx);
            return;
        }
        ReferenceCountUtil.release(pendingAnswer);
        pendingAnswer = null;
        if (intake != null) {
            intake.abort();
            intake = null;
            services.metrics().ended(route, ServerMetrics.Outcome.FAILED);
        }
        refuse(ctx, ErrorAnswer.internal());
    }
}
