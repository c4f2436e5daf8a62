package dev.sluice.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.handler.ssl.SslHandler;

/**
 * The end of a connection, or stream: once the client can have read the last answer, or is silent for too long. What still
 * comes is read and dropped: a connection that is closed over unread bytes is reset, and the answer lost.
 */
final class Closing {
    private final Connections shared;
    private final Inflow inflow;
    private long since = System.nanoTime();
    private long receivedBefore;
    private long drainBytes;
    private boolean begun;
    private boolean halfClosed;

    Closing(Connections shared, Inflow inflow) {
        this.shared = shared;
        this.inflow = inflow;
    }

    /** Begins the time in which the client has to go on. */
    void clientIsWaitedFor() {
        since = System.nanoTime();
    }

    /** @param maxDrainBytes how much of what still comes is read, and no more */
    void begin(ChannelHandlerContext ctx, long maxDrainBytes) {
        begun = true;
        drainBytes = maxDrainBytes;
        receivedBefore = inflow.received();
        clientIsWaitedFor();
        if (ctx.pipeline().get(SslHandler.class) == null // under TLS there is no half to close
                && ctx.channel() instanceof DuplexChannel duplex) {
            halfClosed = true;
            duplex.shutdownOutput();
        }
    }

    /** {@return whether what comes is dropped} */
    boolean hasBegun() {
        return begun;
    }

    /** @param complete whether all of the last request has come */
    void goOn(ChannelHandlerContext ctx, boolean complete, boolean inputShutdown) {
        if (inputShutdown || complete && !halfClosed) {
            close(ctx);
        } else if (!isTooMuch()) {
            inflow.read(ctx);
        }
    }

    private boolean isTooMuch() {
        return inflow.received() - receivedBefore > drainBytes;
    }

    /** Ends it where no request has begun: a client of HTTP/2 may send it again over another connection. */
    void turnAway(ChannelHandlerContext ctx) {
        begun = true;
        if (isStream(ctx.channel())) {
            reset(ctx, Http2Error.REFUSED_STREAM);
        } else {
            close(ctx);
        }
    }

    private static void reset(ChannelHandlerContext ctx, Http2Error error) {
        ctx.writeAndFlush(new DefaultHttp2ResetFrame(error)).addListener(ChannelFutureListener.CLOSE);
    }

    /** Closes it when the client has had its time. */
    void check(ChannelHandlerContext ctx) {
        long left = (begun ? shared.drainNanos() : shared.idleNanos()) - (System.nanoTime() - since);
        if (left >= 0 && !(begun && isTooMuch())) {
            return;
        } else if (begun && isStream(ctx.channel()) && !ctx.isRemoved()) {
            reset(ctx, Http2Error.NO_ERROR);
        } else {
            close(ctx);
        }
    }

    /** {@return whether the client has reset its stream} */
    static boolean isReset(ChannelHandlerContext ctx, Object event) {
        return isStream(ctx.channel()) && event instanceof Http2ResetFrame;
    }

    /** The codec of HTTP/2 may be missing where there are none. */
    private static boolean isStream(Channel channel) {
        return channel.parent() != null && !(channel.parent() instanceof ServerChannel);
    }

    void close(ChannelHandlerContext ctx) {
        begun = true;
        if (!ctx.isRemoved()) {
            ctx.close();
        }
    }
}
