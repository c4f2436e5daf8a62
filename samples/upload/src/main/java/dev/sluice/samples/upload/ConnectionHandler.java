package dev.sluice.samples.upload;

import dev.sluice.form.FormHead;
import dev.sluice.form.FormIntake;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormSource;
import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import dev.sluice.samples.report.ErrorAnswer;
import dev.sluice.samples.report.Page;
import dev.sluice.samples.report.PresetName;
import dev.sluice.samples.upload.ServerMetrics.Outcome;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.CorruptedFrameException;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.QueryStringDecoder;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.EventExecutorGroup;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * One connection: requests one after the other, each read only as fast as its body is worked on. That is done by a
 * worker, which may block; all else by the event loop.
 *
 * <p>An answer to a bad request is sent at once; what is still coming in is then read and dropped for a short while,
 * because a connection that is closed over unread bytes is reset, and the client would lose the answer.
 */
final class ConnectionHandler extends ChannelInboundHandlerAdapter {
    /** What all connections share. */
    record Services(
            ServerConfig config,
            Forms forms,
            ReceivedParts.Store store,
            ServerMetrics metrics,
            EventExecutorGroup workers,
            Page page) {}

    /** A body on its way. */
    private record Body(String route, ReceivedParts parts, FormIntake intake, EventExecutor worker) {
        void abort(Throwable reason) {
            worker.execute(() -> intake.abort(reason)); // which deletes files
        }
    }

    /** How a body comes: the event loop reads, a worker does the rest. */
    private record Source(FormHead head, EventExecutor worker, Runnable reading) implements FormSource {
        @Override
        public void wanted() {
            reading.run();
        }

        @Override
        public void run(Runnable work) {
            worker.execute(work);
        }

        @Override
        public void resume(Runnable work) {
            worker.execute(work);
        }
    }

    /** DRAIN reads and drops what still comes after an answer, to close without a reset. */
    private enum State {
        REQUEST,
        BODY,
        ANSWER,
        DRAIN,
        CLOSED
    }

    private static final Logger LOG = LoggerFactory.getLogger(ConnectionHandler.class);
    private static final long MAX_DRAIN_BYTES = 32L << 20;
    private static final long MAX_DRAIN_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final long MAX_IDLE_NANOS = TimeUnit.SECONDS.toNanos(60);

    private final Services services;
    private State state = State.REQUEST;
    private long stateSince = System.nanoTime();
    private @Nullable ScheduledFuture<?> clock;
    private boolean inputShutdown;
    private long dropped;

    // The request.
    private boolean keepAlive;
    private boolean complete;
    private long received;
    private @Nullable Body body;

    ConnectionHandler(Services services) {
        this.services = services;
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        long tick = Math.max(1, services.config().rateGrace().toMillis() / 5);
        clock = ctx.executor().scheduleAtFixedRate(() -> checkTime(ctx), tick, tick, TimeUnit.MILLISECONDS);
        read(ctx);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (body != null) {
            onContent(body, (HttpContent) message);
        } else {
            drop(ctx, message); // of a request, only what is not HTTP carries something along
            if (state == State.REQUEST && message instanceof HttpRequest request) {
                onRequest(ctx, request);
            }
        }
        read(ctx);
    }

    private void onContent(Body to, HttpContent content) {
        if (content.decoderResult().isFailure()) {
            content.release();
            to.abort(new CorruptedFrameException(content.decoderResult().cause()));
            return;
        }
        received += content.content().readableBytes();
        to.intake().offer(content.content());
        if (content instanceof LastHttpContent) {
            complete = true;
            to.intake().finish();
        }
    }

    private void drop(ChannelHandlerContext ctx, Object message) {
        if (message instanceof HttpContent content) {
            dropped += content.content().readableBytes();
        }
        ReferenceCountUtil.release(message);
        if (message instanceof LastHttpContent && state == State.DRAIN && !complete) {
            complete = true;
            closeOutput(ctx);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            inputShutdown = true;
            read(ctx);
        }
        ctx.fireUserEventTriggered(event);
    }

    /** Reads on, or not; what has been read too much waits in the handler before this one, and comes first. */
    private void read(ChannelHandlerContext ctx) {
        boolean reads = switch (state) {
            case REQUEST -> true;
            case BODY ->
                body != null && !body.intake().isOver() && body.intake().demand() > 0;
            case DRAIN -> dropped <= MAX_DRAIN_BYTES;
            case ANSWER, CLOSED -> false;
        };
        ctx.channel().config().setAutoRead(reads);
        if (inputShutdown) {
            onLoop(ctx, () -> inputEnded(ctx)); // once all that waits has come
        }
    }

    private void inputEnded(ChannelHandlerContext ctx) {
        if (!ctx.channel().config().isAutoRead()) {
            return;
        }
        if (body == null) {
            close(ctx);
        } else {
            body.abort(new ClosedChannelException()); // the client may have closed only its half: it gets its answer
        }
    }

    private void enter(ChannelHandlerContext ctx, State next) {
        if (state != State.CLOSED) {
            state = next;
            stateSince = System.nanoTime();
        }
        if (state == State.DRAIN && complete) {
            closeOutput(ctx);
        }
        read(ctx);
    }

    private static void onLoop(ChannelHandlerContext ctx, Runnable task) {
        ctx.executor().execute(() -> {
            try {
                task.run();
            } catch (RuntimeException e) {
                ctx.pipeline().fireExceptionCaught(e);
            }
        });
    }

    private void onRequest(ChannelHandlerContext ctx, HttpRequest request) {
        keepAlive = HttpUtil.isKeepAlive(request);
        received = 0;
        // Nothing after what is not HTTP is parsed: there is no end of it to wait for.
        complete = request.decoderResult().isFailure()
                || HttpUtil.getContentLength(request, 0L) == 0 && !HttpUtil.isTransferEncodingChunked(request);
        ErrorAnswer fault = RequestHead.fault(request);
        if (fault != null) {
            refuse(ctx, fault, fault.asAnswer());
            return;
        }
        QueryStringDecoder uri = new QueryStringDecoder(request.uri());
        String method = HttpMethod.HEAD.equals(request.method())
                ? "GET"
                : request.method().name();
        switch (method + " " + uri.path()) {
            case "GET /" -> send(ctx, Answers.page(services.page()));
            case "GET /metrics" -> send(ctx, Answers.metrics(services.metrics()));
            case "POST /upload", "POST /inspect" -> admit(ctx, request, uri);
            default -> send(ctx, Answers.notThis(uri.path()));
        }
    }

    private void admit(ChannelHandlerContext ctx, HttpRequest request, QueryStringDecoder uri) {
        String route = uri.path().substring(1);
        boolean stores = route.equals("upload");
        ReceivedParts parts = new ReceivedParts(stores ? services.store() : null);
        PresetName name = PresetName.of(uri.parameters().getOrDefault("preset", List.of()));
        ErrorAnswer fault = RequestHead.fault(request, name);
        if (name == null || fault != null) {
            ErrorAnswer told = Objects.requireNonNull(fault, "no preset is a fault");
            refuse(ctx, told, parts.answer(told));
            return;
        }
        long maxBodyBytes = stores ? services.config().maxBodyBytes() : ServerConfig.MAX_INSPECTED_BYTES;
        FormOptions options = services.forms().options().toBuilder()
                .preset(name.preset())
                .decodeTransferEncodings(false)
                .maxBodyBytes(maxBodyBytes)
                .decider(parts)
                .progress(parts, Duration.ofDays(1)) // beside the end of each part
                .build();
        FormHead head = new FormHead(
                request.headers().get(HttpHeaderNames.CONTENT_TYPE),
                HttpUtil.getContentLength(request, -1L),
                HttpUtil.is100ContinueExpected(request));
        EventExecutor worker = services.workers().next();
        Source source = new Source(head, worker, () -> onLoop(ctx, () -> read(ctx)));
        Body opened = new Body(route, parts, services.forms().receive(source, options), worker);
        services.metrics().started();
        body = opened;
        enter(ctx, State.BODY);
        opened.intake().completion().whenComplete((form, failure) -> {
            if (form != null) {
                form.close(); // nothing is kept in it
            }
            onLoop(ctx, () -> ended(ctx, opened, form, failure));
        });
        if (head.expectsContinue() && !opened.intake().isOver()) {
            ctx.writeAndFlush(Answers.proceed());
        }
    }

    private void ended(
            ChannelHandlerContext ctx, Body which, @Nullable MultipartForm form, @Nullable Throwable failure) {
        if (body != which) {
            return; // the client is gone
        }
        body = null;
        if (form != null) {
            services.metrics().ended(which.route(), Outcome.DONE);
            send(ctx, Answers.json(200, which.parts().answer(form)));
            return;
        }
        Throwable cause = Objects.requireNonNull(failure instanceof CompletionException e ? e.getCause() : failure);
        ErrorAnswer error = cause instanceof ClosedChannelException
                ? ErrorAnswer.cutOff(received, which.parts().current())
                : cause instanceof CorruptedFrameException
                        ? RequestHead.badRequest("the chunks of the request body are malformed")
                        : ErrorAnswer.of(cause);
        if (error.status() >= 500) {
            LOG.warn("a body was not taken", cause);
        }
        Outcome outcome = inputShutdown && !complete ? Outcome.ABORTED : Outcome.REFUSED;
        services.metrics().ended(which.route(), error.status() >= 500 ? Outcome.FAILED : outcome);
        refuse(ctx, error, which.parts().answer(error));
    }

    private void refuse(ChannelHandlerContext ctx, ErrorAnswer error, Object answer) {
        services.metrics().refused(error);
        keepAlive = false;
        send(ctx, Answers.json(error.status(), answer));
    }

    private void send(ChannelHandlerContext ctx, FullHttpResponse response) {
        boolean goesOn = keepAlive && complete && !inputShutdown;
        response.headers()
                .set(HttpHeaderNames.CONNECTION, goesOn ? HttpHeaderValues.KEEP_ALIVE : HttpHeaderValues.CLOSE);
        enter(ctx, State.ANSWER);
        ctx.writeAndFlush(response).addListener((ChannelFuture sent) -> {
            if (!sent.isSuccess()) {
                close(ctx);
            } else {
                // Not from here: the next request may wait already.
                onLoop(ctx, () -> enter(ctx, goesOn ? State.REQUEST : State.DRAIN));
            }
        });
    }

    /** Says that nothing more will come; the client's own end is then waited for, so that nothing is left unread. */
    private static void closeOutput(ChannelHandlerContext ctx) {
        ((DuplexChannel) ctx.channel()).shutdownOutput();
    }

    /** From here on nothing is read; {@link #channelInactive} cleans up. */
    private void close(ChannelHandlerContext ctx) {
        enter(ctx, State.CLOSED);
        ctx.close();
    }

    private void checkTime(ChannelHandlerContext ctx) {
        long now = System.nanoTime();
        if (body != null) {
            body.intake().checkPace(now);
        } else if (now - stateSince > (state == State.DRAIN ? MAX_DRAIN_NANOS : MAX_IDLE_NANOS)) {
            close(ctx);
        }
    }

    private void abort(Throwable reason, Outcome outcome) {
        if (body != null) {
            body.abort(reason);
            services.metrics().ended(body.route(), outcome);
            body = null;
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        if (clock != null) {
            clock.cancel(false); // or it keeps the connection in memory
        }
        abort(new ClosedChannelException(), Outcome.ABORTED);
        enter(ctx, State.CLOSED);
        ctx.fireChannelInactive();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        LOG.atLevel(cause instanceof IOException ? Level.DEBUG : Level.ERROR)
                .setCause(cause)
                .log("a request failed");
        boolean answered = body == null && state != State.REQUEST;
        if (cause instanceof IOException || answered || !ctx.channel().isActive()) {
            close(ctx);
        } else {
            abort(cause, Outcome.FAILED);
            ErrorAnswer error = ErrorAnswer.internal();
            refuse(ctx, error, error.asAnswer());
        }
    }
}
