package dev.sluice.netty;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.channel.socket.ChannelInputShutdownEvent;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpChunkedInput;
import io.netty.handler.codec.http.HttpContent;
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

/**
 * Takes forms out of the requests of one connection, or of one stream of HTTP/2, and leaves the others to the handlers
 * behind: see {@link MultipartHandlers}, which makes it.
 */
public final class MultipartHandler extends ChannelDuplexHandler {
    private final Connections shared;
    private final Inflow inflow;
    private final Closing closing;
    private final CompletableFuture<Void> over = new CompletableFuture<>();
    private CurrentRequest request;
    private boolean autoRead;
    private boolean working;

    MultipartHandler(Connections shared) {
        this.shared = shared;
        inflow = new Inflow(shared);
        closing = new Closing(shared, inflow);
        request = new CurrentRequest(null, null, shared.maxDrainBytes());
    }

    // ---- life

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        autoRead = ctx.channel().config().isAutoRead();
        ctx.channel().config().setAutoRead(false);
        shared.add(ctx, over, () -> proceed(ctx), () -> closing.close(ctx));
        long grace = shared.forms().options().minRateGrace().toNanos();
        long tick = Math.max(Math.min(grace / 4, TimeUnit.SECONDS.toNanos(1)), 1);
        ScheduledFuture<?> clock =
                ctx.executor().scheduleWithFixedDelay(() -> tick(ctx), tick, tick, TimeUnit.NANOSECONDS);
        over.whenComplete((nothing, failure) -> clock.cancel(false)); // or it keeps the connection in memory
        later(ctx, () -> {});
    }

    /** Also when the connection has ended. */
    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        if (ctx.channel().isActive()) {
            ctx.channel().config().setAutoRead(autoRead);
        }
        try {
            while (inflow.first() != null) {
                inflow.drop();
            }
        } finally {
            inflow.tell();
        }
        FormExchange form = request.form();
        CompletionStage<?> end = form == null ? CompletableFuture.completedStage(null) : form.cutOff();
        end.whenComplete((received, failure) -> over.complete(null));
    }

    /** Not from here: what is called may call back, and so on for each of a hundred requests that came at once. */
    private void later(ChannelHandlerContext ctx, Runnable task) {
        ctx.executor().execute(() -> {
            try {
                task.run();
                proceed(ctx);
            } catch (RuntimeException e) {
                ctx.pipeline().fireExceptionCaught(e);
            }
        });
    }

    // ---- what comes

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        inflow.add(message);
        work(ctx);
        FormExchange form = request.form();
        if (inflow.isTooMuch(ctx) && form != null && !request.isComplete()) {
            form.abort(MultipartException.because(Reason.BODY_TOO_LARGE)
                    .saying("more than # bytes of the body came at once")
                    .ownLimit(shared.bytesPerTurn())
                    .build());
            for (Object next; (next = inflow.first()) != null && !request.isComplete(); ) {
                drop(next);
            }
        } else if (inflow.isTooMuch(ctx)) {
            closing.close(ctx);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        inflow.readIsOver();
        ctx.fireChannelReadComplete();
        if (inflow.wasAskedWithin()) {
            read(ctx);
        }
        proceed(ctx);
    }

    @Override
    public void read(ChannelHandlerContext ctx) {
        if (!closing.hasBegun() && request.isWithOthers()) { // otherwise it is not for those behind to ask
            inflow.readForOthers(ctx);
        }
    }

    /** When a read is over, or a turn, or something that was waited for has come. */
    private void proceed(ChannelHandlerContext ctx) {
        if (inflow.isExhausted()) {
            request.last();
        }
        if (!closing.hasBegun() && request.wasLast()) {
            closing.begin(ctx, request.maxDrainBytes());
        }
        work(ctx);
        inflow.tell();
        FormExchange form = request.form();
        if (closing.hasBegun()) {
            closing.goOn(ctx, request.isComplete(), inflow.isInputShutdown());
        } else if (form != null) {
            proceed(ctx, form);
        } else if (request.isOver() && shared.isStopping()) {
            closing.turnAway(ctx);
        } else if (inflow.first() == null && (request.isOver() || autoRead && request.isWithOthers())) {
            inflow.read(ctx);
        }
    }

    private void proceed(ChannelHandlerContext ctx, FormExchange form) {
        boolean isEmpty = inflow.first() == null;
        if (inflow.isInputShutdown() && !request.isComplete() && !form.isOver() && !inflow.holdsEnd()) {
            form.cutOff(); // answered: half of it may be open
        }
        form.handOver(); // once for all that has come: a worker is woken for it
        if (isEmpty && form.demand() > 0) {
            if (form.isContinueAwaited()) {
                ctx.writeAndFlush(new DefaultFullHttpResponse(
                        HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE, Unpooled.EMPTY_BUFFER));
            }
            inflow.read(ctx);
        } else if (form.mayReadAhead()) {
            inflow.probe(ctx, false);
        }
    }

    /** Does with what is held what can be done now. */
    private void work(ChannelHandlerContext ctx) {
        if (!working) {
            working = true;
            try {
                for (Object message; (message = inflow.first()) != null && goOn(ctx, message); ) {}
            } finally {
                working = false;
            }
        }
    }

    /** {@return false if the message has to wait} */
    private boolean goOn(ChannelHandlerContext ctx, Object message) {
        FormExchange form = request.form();
        if (closing.hasBegun()) {
            drop(message);
        } else if (request.isOver() && message instanceof HttpRequest head) {
            begin(ctx, head);
        } else if (request.isOver()) {
            ctx.fireChannelRead(inflow.take());
        } else if (request.isWithOthers() && !(request.isComplete() && message instanceof HttpRequest)) {
            request.comes(message);
            closing.clientIsWaitedFor();
            ctx.fireChannelRead(inflow.take());
        } else if (request.isComplete() || !(message instanceof HttpContent content)) {
            return false;
        } else if (form == null || form.takesNoMore()) {
            drop(message);
        } else {
            return onContent(form, content);
        }
        return true;
    }

    private boolean onContent(FormExchange form, HttpContent content) {
        int demand = form.demand();
        if (content.content().readableBytes() <= demand) {
            request.comes(inflow.take());
            form.offer(content);
        } else if (demand > 0) {
            form.offer(inflow.take(content.content(), demand));
        } else {
            return false;
        }
        return true;
    }

    private void drop(Object message) {
        request.comes(message);
        inflow.drop();
    }

    // ---- requests and answers

    private void begin(ChannelHandlerContext ctx, HttpRequest head) {
        FormReceiver receiver;
        try {
            receiver = shared.route().route(head);
        } catch (RuntimeException e) {
            ctx.fireExceptionCaught(e);
            closing.close(ctx); // there is nobody to say what to answer
            return;
        }
        FormExchange form =
                receiver == null ? null : new FormExchange(receiver, head, shared, task -> later(ctx, task));
        request = new CurrentRequest(head, form, shared.maxDrainBytes());
        if (form != null) {
            if (!(head instanceof HttpContent)) {
                inflow.take();
            }
            form.begin(response -> answer(ctx, response));
        }
    }

    private void answer(ChannelHandlerContext ctx, FullHttpResponse response) {
        if (ctx.isRemoved()) {
            response.release(); // the client is gone
        } else {
            work(ctx); // what has come of a refused body need not be waited for
            request.answer(response, shared.isStopping() || inflow.isExhausted());
            closing.clientIsWaitedFor();
            ctx.writeAndFlush(response).addListener(whenSent(ctx));
        }
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        boolean interim = message instanceof HttpResponse head && head.status().code() < 200;
        boolean answers = !interim && request.isWithOthers();
        if (answers && message instanceof HttpResponse head) {
            request.answer(head, shared.isStopping() || inflow.isExhausted());
        }
        boolean last = answers && (message instanceof LastHttpContent || message instanceof HttpChunkedInput);
        ctx.write(message, last ? promise.unvoid().addListener(whenSent(ctx)) : promise);
    }

    private ChannelFutureListener whenSent(ChannelHandlerContext ctx) {
        CurrentRequest to = request;
        return sent -> later(ctx, () -> {
            to.answered(sent.isSuccess());
            closing.clientIsWaitedFor();
        });
    }

    // ---- trouble

    private void tick(ChannelHandlerContext ctx) {
        FormExchange form = request.form();
        if (form != null) {
            form.checkPace();
            if (form.mayReadAhead()) {
                inflow.probe(ctx, true);
            }
        } else if (closing.hasBegun() || !request.isWithOthers()) {
            closing.check(ctx);
        }
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (event instanceof ChannelInputShutdownEvent) {
            inflow.inputShutdown();
            later(ctx, () -> {});
        } else if (Closing.isReset(ctx, event)) {
            closing.close(ctx);
        }
        ctx.fireUserEventTriggered(event);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        FormExchange form = request.form();
        if (form != null && !form.isOver() && !(cause instanceof IOException)) {
            form.abort(cause);
        } else if (closing.hasBegun() || !request.isOver() && !request.isWithOthers()) {
            closing.close(ctx);
        } else {
            ctx.fireExceptionCaught(cause);
        }
    }
}
