package dev.sluice.netty;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpChunkedInput;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpExpectationFailedEvent;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.concurrent.ScheduledFuture;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * The handler of one HTTP/1.1 connection or HTTP/2 stream, created by {@link MultipartHandlers}. It receives the forms,
 * and passes all other requests to the next handlers.
 *
 * <p>Every received message goes through one {@link InboundQueue}. The queue is handled in order: one request is
 * current at a time, and the following request waits until this handler or a later handler has written the response to
 * the current one. A message is never handled inside a call from the application. Such a call schedules a task, because
 * otherwise many pipelined requests would cause deep recursion. {@code advance} runs after every read, after every
 * task, and when the group shuts down. It decides whether to read, to wait or to close.
 */
public final class MultipartHandler extends ChannelDuplexHandler {
    private final HandlerGroup group;
    private final InboundQueue inbound;
    private final ConnectionCloser closer;
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private RequestState request;
    private boolean autoRead;

    /** Whether a later handler turned autoRead on, and a form turned it off until the next request for that handler. */
    private boolean autoReadPaused;

    private boolean handlingQueue;

    /** The next call of {@link #checkTimeouts}; null before the first one is scheduled. */
    private @Nullable ScheduledFuture<?> timer;

    MultipartHandler(HandlerGroup group) {
        this.group = group;
        inbound = new InboundQueue(group);
        closer = new ConnectionCloser(group, inbound);
        request = new RequestState(null, null, group.maxDrainBytes());
    }

    // ---- life cycle

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        autoRead = ctx.channel().config().isAutoRead();
        ctx.channel().config().setAutoRead(false);
        group.register(ctx, ended, () -> advance(ctx), () -> closer.close(ctx));
        scheduleCheck(ctx);
        executeLater(ctx, () -> {});
    }

    /** Also called when the channel is closed. */
    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        cancelTimer(); // it would keep the connection reachable
        if (ctx.channel().isActive()) {
            ctx.channel().config().setAutoRead(autoRead || autoReadPaused);
        }
        try {
            while (inbound.peek() != null) {
                inbound.discard();
            }
        } finally {
            inbound.reportMemory();
        }
        FormExchange form = request.form();
        CompletionStage<?> end = form == null ? CompletableFuture.completedStage(null) : form.abortTruncated();
        end.whenComplete((received, failure) -> ended.complete(null));
    }

    /** Runs {@code task} in a later turn of the event loop: direct calls could recurse once per pipelined request. */
    private void executeLater(ChannelHandlerContext ctx, Runnable task) {
        ctx.executor().execute(() -> {
            try {
                task.run();
                advance(ctx);
            } catch (RuntimeException e) {
                FormExchange form = request.form();
                boolean responds = form != null && form.discardsBody();
                ctx.pipeline().fireExceptionCaught(e);
                if (responds) {
                    closer.close(ctx); // the response may not have been sent
                }
            }
        });
    }

    // ---- inbound messages

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        inbound.add(message);
        handleQueue(ctx);
        inbound.compactLast();
        FormExchange form = request.form();
        if (inbound.exceedsLimit(ctx) && form != null && !request.isFullyReceived()) {
            form.abort(MultipartException.because(Reason.BODY_TOO_LARGE)
                    .saying("more than # bytes of the body arrived at once")
                    .ownLimit(group.bytesPerTurn())
                    .build());
            for (Object next; (next = inbound.peek()) != null && !request.isFullyReceived(); ) {
                discard(next);
            }
        } else if (inbound.exceedsLimit(ctx)) {
            closer.close(ctx);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        inbound.readCompleted();
        ctx.fireChannelReadComplete();
        advance(ctx);
    }

    /** Called by the next handlers. Their reads are passed on only while they serve a request. */
    @Override
    public void read(ChannelHandlerContext ctx) {
        if (!closer.hasBegun() && request.isForNextHandlers()) {
            inbound.readForNextHandlers(ctx);
        }
    }

    /** Takes the next step after a read, a task or an event. */
    private void advance(ChannelHandlerContext ctx) {
        if (inbound.isExhausted()) {
            request.markLast();
        }
        if (!closer.hasBegun() && request.closesConnection()) {
            closer.begin(ctx, request.maxDrainBytes());
            scheduleCheck(ctx);
        }
        handleQueue(ctx);
        inbound.reportMemory();
        FormExchange form = request.form();
        if (closer.hasBegun()) {
            closer.drain(ctx, request.isFullyReceived());
        } else if (form != null) {
            advance(ctx, form);
        } else if (request.isDone() && group.isShuttingDown()) {
            closer.closeBeforeRequest(ctx);
        } else if (inbound.peek() == null
                && (request.isDone() || request.isForNextHandlers() && (autoRead || inbound.isReadDeferred()))) {
            inbound.read(ctx);
        }
    }

    private void advance(ChannelHandlerContext ctx, FormExchange form) {
        boolean isEmpty = inbound.peek() == null;
        if (inbound.isInputShutdown()
                && !request.isFullyReceived()
                && !form.discardsBody()
                && !inbound.containsEndOfBody()) {
            // The client still gets a response, because it may have closed only its half of the connection.
            form.abortTruncated();
        }
        form.dispatch(); // once for all messages of a read, because each call wakes a worker
        if (isEmpty && form.demand() > 0) {
            if (form.takeContinueExpected()) {
                ctx.writeAndFlush(new DefaultFullHttpResponse(
                        HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
            }
            inbound.read(ctx);
        } else if (form.mayReadAhead()) {
            inbound.probe(ctx, false);
        }
    }

    /** Handles queued messages until one must wait. */
    private void handleQueue(ChannelHandlerContext ctx) {
        if (!handlingQueue) {
            handlingQueue = true;
            try {
                for (Object message; (message = inbound.peek()) != null && handle(ctx, message); ) {}
            } finally {
                handlingQueue = false;
            }
        }
    }

    /** {@return false if the message must wait} */
    private boolean handle(ChannelHandlerContext ctx, Object message) {
        FormExchange form = request.form();
        if (closer.hasBegun()) {
            discard(message);
        } else if (request.isDone() && message instanceof HttpRequest head) {
            beginRequest(ctx, head);
        } else if (request.isDone() && message instanceof HttpContent) {
            inbound.discard(); // a handler before this one, such as a CorsHandler, has responded to the request
        } else if (request.isDone()) {
            group.order().check(ctx, message);
            ctx.fireChannelRead(inbound.remove());
        } else if (request.isForNextHandlers() && !(request.isFullyReceived() && message instanceof HttpRequest)) {
            request.received(message);
            closer.restartTimer();
            ctx.fireChannelRead(inbound.remove());
        } else if (request.isFullyReceived() || !(message instanceof HttpContent content)) {
            return false;
        } else if (form == null || form.discardsBody()) {
            discard(message);
        } else {
            return offer(form, content);
        }
        return true;
    }

    private boolean offer(FormExchange form, HttpContent content) {
        int demand = form.demand();
        if (content.content().readableBytes() <= demand) {
            request.received(inbound.remove());
            form.offer(content);
        } else if (demand > 0) {
            form.offer(inbound.removeBytes(content.content(), demand));
        } else {
            return false;
        }
        return true;
    }

    private void discard(Object message) {
        request.received(message);
        inbound.discard();
    }

    // ---- requests and responses

    private void beginRequest(ChannelHandlerContext ctx, HttpRequest head) {
        FormReceiver receiver;
        try {
            receiver = group.route().route(head);
        } catch (RuntimeException e) {
            ctx.fireExceptionCaught(e);
            closer.close(ctx); // only a receiver can make the response
            return;
        }
        FormExchange form = receiver == null
                ? null
                : new FormExchange(receiver, head, group, ctx.channel(), task -> executeLater(ctx, task));
        request = new RequestState(head, form, group.maxDrainBytes());
        if (form != null && ctx.channel().config().isAutoRead()) { // a later handler has turned it on
            autoReadPaused = true;
            ctx.channel().config().setAutoRead(false);
        } else if (form == null && autoReadPaused) {
            autoReadPaused = false;
            ctx.channel().config().setAutoRead(true);
        }
        if (form != null || head.decoderResult().isFailure()) {
            group.order().check(ctx, head);
        }
        if (form != null) {
            if (!(head instanceof HttpContent)) {
                inbound.remove();
            }
            form.begin(response -> respond(ctx, response));
            scheduleCheck(ctx);
        }
    }

    private void respond(ChannelHandlerContext ctx, FullHttpResponse response) {
        if (ctx.isRemoved()) {
            response.release(); // the connection is closed
        } else {
            handleQueue(ctx); // discards the queued rest of a rejected body, so that the connection may stay open
            HttpResponse head = request.responseBegins(response, group.isShuttingDown() || inbound.isExhausted());
            closer.restartTimer();
            ctx.writeAndFlush(head).addListener(whenSent(ctx));
        }
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        boolean interim = message instanceof HttpResponse head && head.status().code() < 200;
        boolean responds = !interim && request.isForNextHandlers();
        Object sent = responds && message instanceof HttpResponse head
                ? request.responseBegins(head, group.isShuttingDown() || inbound.isExhausted())
                : message;
        boolean last = responds && (message instanceof LastHttpContent || message instanceof HttpChunkedInput);
        ctx.write(sent, last ? promise.unvoid().addListener(whenSent(ctx)) : promise);
    }

    private ChannelFutureListener whenSent(ChannelHandlerContext ctx) {
        RequestState current = request;
        return sent -> executeLater(ctx, () -> {
            current.responseSent(sent.isSuccess());
            closer.restartTimer();
        });
    }

    // ---- timeouts, events and exceptions

    /**
     * Schedules the next check of timeouts: after {@code FormOptions.paceCheckNanos} while a form is received or the connection is being
     * closed, otherwise when the idle timeout may have expired. An idle connection therefore needs no periodic timer.
     */
    private void scheduleCheck(ChannelHandlerContext ctx) {
        cancelTimer();
        if (!ctx.isRemoved()) {
            FormExchange form = request.form();
            long delay;
            if (form != null || closer.hasBegun()) {
                delay = (form == null ? group.forms().options() : form.options()).paceCheckNanos();
            } else {
                delay = request.isForNextHandlers() ? group.idleNanos() : closer.nanosLeft();
            }
            timer = ctx.executor().schedule(() -> checkTimeouts(ctx), delay, TimeUnit.NANOSECONDS);
        }
    }

    private void cancelTimer() {
        if (timer != null) {
            timer.cancel(false);
        }
    }

    private void checkTimeouts(ChannelHandlerContext ctx) {
        FormExchange form = request.form();
        if (form != null) {
            form.checkPace();
            if (form.mayReadAhead()) {
                inbound.probe(ctx, true);
            }
        } else if (closer.hasBegun() || !request.isForNextHandlers()) {
            closer.closeIfTimedOut(ctx);
        }
        scheduleCheck(ctx);
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            inbound.onInputShutdown();
            executeLater(ctx, () -> {});
        } else if (ConnectionCloser.isStreamReset(ctx, event)) {
            closer.close(ctx);
        } else if (event instanceof HttpExpectationFailedEvent && request.isForNextHandlers()) {
            request.skipBody();
        }
        ctx.fireUserEventTriggered(event);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        FormExchange form = request.form();
        boolean isForm = !request.isDone() && !request.isForNextHandlers();
        boolean broken = cause instanceof IOException || cause.getCause() instanceof SSLException;
        if (closer.hasBegun() || isForm && broken) {
            closer.close(ctx);
        } else if (!isForm) {
            ctx.fireExceptionCaught(cause);
        } else if (form != null && !form.discardsBody() && !ConnectionCloser.isStreamError(ctx, cause)) {
            form.abort(
                    cause instanceof DecoderException
                            ? FormExchange.malformedHttp(Reason.MALFORMED_TRANSFER_ENCODING, cause)
                            : cause);
        } else { // the response is on its way: a decompressor fails again for each piece of a damaged body
            request.markLast();
        }
    }
}
