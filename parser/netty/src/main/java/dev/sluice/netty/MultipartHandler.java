package dev.sluice.netty;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.CorruptedFrameException;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaderValues;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpStatusClass;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Takes forms out of the requests of one connection, or of one stream of HTTP/2, and leaves the others to the handlers
 * behind: see {@link MultipartHandlers}, which makes it.
 *
 * <p>A read may bring more than is wanted, and what a decompressor makes of it: that is held, in order, and goes on when
 * its turn has come.
 */
public final class MultipartHandler extends ChannelDuplexHandler {
    private enum State {
        IDLE,
        /** The handlers behind have the request. */
        UNTOUCHED,
        /** A form comes in, or was refused, and the answer is awaited. */
        FORM,
        ANSWER,
        /** What still comes is read and dropped: a connection that is closed over unread bytes is reset, and the answer lost. */
        DRAIN,
        CLOSED
    }

    /** Loaded where there are streams, and so HTTP/2. */
    private static final class Http2 {
        static Object noError() {
            return new DefaultHttp2ResetFrame(Http2Error.NO_ERROR);
        }

        static boolean isReset(Object event) {
            return event instanceof Http2ResetFrame;
        }
    }

    private static final long LONGEST_TICK = TimeUnit.SECONDS.toNanos(1);

    private final Connections shared;
    private final Function<Duration, CompletableFuture<Void>> stop = this::stop;
    private final CompletableFuture<Void> over = new CompletableFuture<>();
    private final Deque<Object> held = new ArrayDeque<>();
    private long heldBytes;
    private State state = State.IDLE;
    private long stateSince = System.nanoTime();
    private @Nullable ScheduledFuture<?> clock;
    private volatile @Nullable ChannelHandlerContext context;
    private boolean stream;
    private boolean autoRead;
    private boolean reading;
    private boolean probing;
    private boolean working;
    private boolean inputShutdown;
    private boolean outputShutdown;
    private boolean turnBegan;
    private long turnBytes;
    private long dropped;

    // The request.
    private @Nullable FormExchange exchange;
    private boolean http10;
    private boolean keepAlive;
    private boolean expectsContinue;
    private boolean complete;
    private boolean answered;

    MultipartHandler(Connections shared) {
        this.shared = shared;
    }

    // ---- life

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
        stream = ctx.channel().parent() != null && !(ctx.channel().parent() instanceof ServerChannel);
        autoRead = ctx.channel().config().isAutoRead();
        ctx.channel().config().setAutoRead(false);
        shared.open().add(stop);
        if (ctx.channel().isActive()) {
            begin(ctx);
        }
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) {
        begin(ctx);
        ctx.fireChannelActive();
    }

    private void begin(ChannelHandlerContext ctx) {
        if (clock == null) {
            long grace = shared.forms().options().minRateGrace().toNanos();
            long tick = Math.max(Math.min(grace / 4, LONGEST_TICK), 1);
            clock = ctx.executor().scheduleWithFixedDelay(() -> tick(ctx), tick, tick, TimeUnit.NANOSECONDS);
            later(ctx, () -> proceed(ctx));
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        end();
        ctx.fireChannelInactive();
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        if (ctx.channel().isActive()) {
            ctx.channel().config().setAutoRead(autoRead);
        }
        end();
    }

    private void end() {
        if (state == State.CLOSED) {
            return;
        }
        enter(State.CLOSED);
        if (clock != null) {
            clock.cancel(false); // or it keeps the connection in memory
        }
        for (Object message; (message = held.poll()) != null; ) {
            ReferenceCountUtil.release(message);
        }
        FormExchange last = exchange;
        exchange = null;
        shared.open().remove(stop);
        if (last == null) {
            over.complete(null);
        } else {
            last.abort(last.cutOff(new ClosedChannelException()));
            last.end().whenComplete((form, failure) -> over.complete(null));
        }
    }

    /** Any thread. */
    private CompletableFuture<Void> stop(Duration deadline) {
        ChannelHandlerContext ctx = context;
        try {
            if (ctx != null) {
                ctx.executor().execute(() -> proceed(ctx));
                ctx.executor().schedule(() -> close(ctx), deadline.toNanos(), TimeUnit.NANOSECONDS);
            }
        } catch (RejectedExecutionException e) {
            over.complete(null); // the event loop has ended
        }
        return over;
    }

    /** {@link #channelInactive} does the rest. */
    private void close(ChannelHandlerContext ctx) {
        if (state != State.CLOSED) {
            ctx.close();
        }
    }

    private void enter(State next) {
        if (state != State.CLOSED) {
            state = next;
            stateSince = System.nanoTime();
        }
    }

    /** Not from here: what is called may call back, and so on for each of a hundred requests that came at once. */
    private static void later(ChannelHandlerContext ctx, Runnable task) {
        ctx.executor().execute(() -> {
            try {
                task.run();
            } catch (RuntimeException e) {
                ctx.pipeline().fireExceptionCaught(e);
            }
        });
    }

    // ---- reading

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        held.add(message);
        heldBytes += size(message);
        work(ctx);
        if (heldBytes > shared.bytesPerTurn()) {
            overflow(ctx);
        }
    }

    /** What a read may bring is bounded, but not what a decompressor makes of it. */
    private void overflow(ChannelHandlerContext ctx) {
        FormExchange form = exchange;
        if (form == null || complete) {
            close(ctx);
        } else {
            form.abort(MultipartException.because(Reason.BODY_TOO_LARGE)
                    .saying("more than # bytes of the body came at once")
                    .ownLimit(shared.bytesPerTurn())
                    .build());
            while (!held.isEmpty()) {
                drop(held.element());
            }
        }
    }

    private static int size(Object message) {
        return message instanceof HttpContent content ? content.content().readableBytes() : 0;
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        reading = false;
        ctx.fireChannelReadComplete();
        proceed(ctx);
    }

    @Override
    public void read(ChannelHandlerContext ctx) {
        if (state == State.UNTOUCHED) { // otherwise it is not for those behind to ask
            ask(ctx);
        }
    }

    private void ask(ChannelHandlerContext ctx) {
        if (!reading) {
            reading = true;
            ctx.read();
        }
    }

    /** When a read is over, or a turn, or something that was waited for has come. */
    private void proceed(ChannelHandlerContext ctx) {
        work(ctx);
        FormExchange form = exchange;
        if (form != null) {
            form.handOver(); // once for all that has come: a worker is woken for it
        }
        if (state == State.IDLE && (inputShutdown || shared.isStopping()) && held.isEmpty()) {
            close(ctx);
        } else if (state == State.DRAIN && complete && !outputShutdown) {
            close(ctx);
        } else if (held.isEmpty() && wantsMore()) {
            if (state == State.FORM && expectsContinue) {
                expectsContinue = false;
                ctx.writeAndFlush(new DefaultFullHttpResponse(
                        HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
            }
            probing = false;
            ask(ctx);
        } else if (probing) {
            probe(ctx);
        }
    }

    private boolean wantsMore() {
        return switch (state) {
            case IDLE -> true;
            case UNTOUCHED -> autoRead;
            case FORM -> isTaken() && turnBytes < shared.bytesPerTurn();
            case DRAIN -> dropped <= shared.drainBytes();
            case ANSWER, CLOSED -> false;
        };
    }

    private boolean isTaken() {
        FormExchange form = exchange;
        return form != null && !complete && !form.isOver() && form.demand() > 0;
    }

    /** Does with what is held what can be done now. */
    private void work(ChannelHandlerContext ctx) {
        if (working) {
            return;
        }
        working = true;
        try {
            while (!held.isEmpty() && goOn(ctx, held.element())) {}
            FormExchange form = exchange;
            if (form != null && inputShutdown && !complete && held.isEmpty() && !form.isOver()) {
                form.abort(form.cutOff(new ClosedChannelException())); // answered: half of it may be open
            }
        } finally {
            working = false;
        }
    }

    /** {@return false if the message has to wait} */
    private boolean goOn(ChannelHandlerContext ctx, Object message) {
        switch (state) {
            case IDLE -> {
                if (message instanceof HttpRequest request) {
                    onRequest(ctx, request);
                } else {
                    ctx.fireChannelRead(take());
                }
            }
            case UNTOUCHED -> {
                if (complete && message instanceof HttpRequest) {
                    return false;
                }
                complete |= message instanceof LastHttpContent;
                ctx.fireChannelRead(take());
                turnOver(ctx);
            }
            case FORM -> {
                return !complete && message instanceof HttpContent content && onContent(ctx, content);
            }
            case ANSWER -> {
                if (complete) {
                    return false;
                }
                drop(message);
            }
            case DRAIN, CLOSED -> drop(message);
        }
        return true;
    }

    private Object take() {
        Object message = held.remove();
        heldBytes -= size(message);
        return message;
    }

    private void drop(Object message) {
        dropped += size(message);
        complete |= message instanceof LastHttpContent;
        ReferenceCountUtil.release(take());
    }

    private boolean onContent(ChannelHandlerContext ctx, HttpContent content) {
        FormExchange form = exchange;
        if (form == null || form.isOver()) {
            drop(content);
            return true;
        } else if (content.decoderResult().isFailure()) {
            form.abort(new CorruptedFrameException(content.decoderResult().cause()));
            drop(content);
            complete = true; // nothing after it is parsed
            return true;
        }
        expectsContinue = false;
        ByteBuf bytes = content.content();
        int size = bytes.readableBytes();
        long most = Math.min(form.demand(), shared.bytesPerTurn() - turnBytes);
        if (size > 0 && most <= 0) {
            return false;
        } else if (size > most) {
            heldBytes -= most;
            count(ctx, (int) most);
            form.offer(bytes.readRetainedSlice((int) most));
            return true;
        }
        take();
        count(ctx, size);
        if (size == 0) {
            content.release();
        } else {
            form.offer(bytes);
        }
        if (content instanceof LastHttpContent last) {
            complete = true;
            form.finish(last.trailingHeaders());
        }
        return true;
    }

    /** The next turn begins when the event loop has seen to what else there is to do now. */
    private void count(ChannelHandlerContext ctx, int bytes) {
        turnBytes += bytes;
        if (!turnBegan) {
            turnBegan = true;
            later(ctx, () -> {
                turnBegan = false;
                turnBytes = 0;
                proceed(ctx);
            });
        }
    }

    // ---- requests and answers

    private void onRequest(ChannelHandlerContext ctx, HttpRequest request) {
        http10 = request.protocolVersion().compareTo(HttpVersion.HTTP_1_1) < 0;
        keepAlive = HttpUtil.isKeepAlive(request) || stream;
        complete = false;
        answered = false;
        dropped = 0;
        FormReceiver receiver;
        try {
            receiver = shared.route().route(request);
        } catch (RuntimeException e) {
            close(ctx); // there is nobody to say what to answer
            throw e;
        }
        if (receiver == null) {
            enter(State.UNTOUCHED);
            return;
        }
        enter(State.FORM);
        if (!(request instanceof HttpContent)) {
            take();
        }
        expectsContinue = HttpUtil.is100ContinueExpected(request);
        FormExchange opened =
                new FormExchange(receiver, request, shared.executor(), ctx.executor(), () -> proceed(ctx));
        exchange = opened;
        opened.begin(shared.forms(), response -> answer(ctx, opened, response));
    }

    /** Any thread. */
    private void answer(ChannelHandlerContext ctx, FormExchange to, FullHttpResponse response) {
        try {
            later(ctx, () -> {
                if (exchange == to) {
                    send(ctx, response);
                } else {
                    response.release(); // the client is gone
                }
            });
        } catch (RejectedExecutionException e) {
            response.release();
        }
    }

    private void send(ChannelHandlerContext ctx, FullHttpResponse response) {
        exchange = null;
        enter(State.ANSWER);
        work(ctx); // what has come of a refused body need not be waited for
        boolean goesOn =
                keepAlive && HttpUtil.isKeepAlive(response) && complete && !inputShutdown && !shared.isStopping();
        if (!goesOn) {
            response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
        } else if (http10) {
            response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.KEEP_ALIVE);
        }
        if (!HttpUtil.isContentLengthSet(response)) {
            HttpUtil.setContentLength(response, response.content().readableBytes());
        }
        ctx.writeAndFlush(response).addListener(sent -> later(ctx, () -> sent(ctx, sent.isSuccess(), goesOn)));
    }

    private void sent(ChannelHandlerContext ctx, boolean success, boolean goesOn) {
        if (!success) {
            close(ctx);
        } else if (goesOn) {
            enter(State.IDLE);
            proceed(ctx);
        } else {
            drain(ctx);
        }
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        ChannelPromise told = promise;
        if (state == State.UNTOUCHED
                && !(message instanceof HttpResponse head
                        && head.status().codeClass() == HttpStatusClass.INFORMATIONAL)) {
            if (message instanceof HttpResponse response) {
                if (shared.isStopping() || !keepAlive) {
                    response.headers().set(HttpHeaderNames.CONNECTION, HttpHeaderValues.CLOSE);
                }
                keepAlive &= HttpUtil.isKeepAlive(response);
            }
            if (message instanceof LastHttpContent) {
                told = promise.unvoid()
                        .addListener(sent -> later(ctx, () -> {
                            answered = true;
                            turnOver(ctx);
                            proceed(ctx);
                        }));
            }
        }
        ctx.write(message, told);
    }

    private void turnOver(ChannelHandlerContext ctx) {
        if (state == State.UNTOUCHED && answered) {
            if (!keepAlive || inputShutdown) {
                drain(ctx);
            } else if (complete) {
                enter(State.IDLE);
            }
        }
    }

    /** Closes as soon as the client can have read the answer. */
    private void drain(ChannelHandlerContext ctx) {
        enter(State.DRAIN);
        if (inputShutdown) {
            close(ctx);
        } else if (!stream
                && ctx.pipeline().get(SslHandler.class) == null // under TLS there is no half to close
                && ctx.channel() instanceof DuplexChannel duplex) {
            outputShutdown = true;
            duplex.shutdownOutput();
        }
        proceed(ctx);
    }

    /** The client has had its time. */
    private void endDrain(ChannelHandlerContext ctx) {
        if (stream && !complete) {
            ctx.writeAndFlush(Http2.noError()).addListener(ChannelFutureListener.CLOSE);
        } else {
            close(ctx);
        }
    }

    // ---- trouble

    private void tick(ChannelHandlerContext ctx) {
        long since = System.nanoTime() - stateSince;
        FormExchange form = exchange;
        if (form != null) {
            form.checkPace();
            probing |= !reading;
            if (probing) {
                probe(ctx);
            }
        } else if (state == State.DRAIN) {
            if (since > shared.drainNanos() || dropped > shared.drainBytes()) {
                endDrain(ctx);
            }
        } else if (state != State.UNTOUCHED && since > shared.idleNanos()) {
            close(ctx);
        }
    }

    /**
     * A client that is gone is not noticed for as long as nobody reads, nor is the end of its connection by a stream that
     * has unread data. So a read is asked for while the form waits for something else, too; what it brings is held, and one
     * more asked for while that is little. Not where the bytes of very many forms wait: a client that is gone is noticed there
     * when its own have been decoded.
     */
    private void probe(ChannelHandlerContext ctx) {
        if (exchange != null
                && heldBytes <= shared.bytesPerTurn() / 4
                && !shared.forms().options().memory().isCrowded()) {
            ask(ctx);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            inputShutdown = true;
            if (state == State.DRAIN) {
                close(ctx);
            }
            later(ctx, () -> proceed(ctx));
        } else if (stream && Http2.isReset(event)) {
            close(ctx);
        }
        ctx.fireUserEventTriggered(event);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        FormExchange form = exchange;
        if (form != null && !form.isOver() && !(cause instanceof IOException)) {
            form.abort(cause);
        } else if (state == State.IDLE || state == State.UNTOUCHED) {
            ctx.fireExceptionCaught(cause);
        } else {
            close(ctx);
        }
    }
}
