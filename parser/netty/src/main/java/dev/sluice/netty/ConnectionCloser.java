package dev.sluice.netty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.DuplexChannel;
import io.netty.handler.codec.http2.DefaultHttp2ResetFrame;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2ResetFrame;
import io.netty.handler.ssl.SslHandler;

/**
 * The lingering close of a connection or HTTP/2 stream, and its idle timeout. After the last response, received data is read
 * and discarded until the client closes its side, or until a limit of bytes or of time is reached. If the connection were
 * closed with unread data, TCP would reset it, and the client might lose the response. A connection that cannot be
 * half-closed, with TLS or as an HTTP/2 stream, is closed at once if the last request was fully received. Confined to the
 * event loop.
 */
final class ConnectionCloser {
    private final HandlerGroup group;
    private final InboundQueue inbound;
    private long timerStart = System.nanoTime();
    private long receivedBefore;
    private long maxDrainBytes;
    private boolean begun;
    private boolean halfClosed;

    ConnectionCloser(HandlerGroup group, InboundQueue inbound) {
        this.group = group;
        this.inbound = inbound;
    }

    /** Restarts the time that the client has for its next step. */
    void restartTimer() {
        timerStart = System.nanoTime();
    }

    /**
     * Begins the close, and shuts down the output if the channel supports that.
     *
     * @param maxDrainBytes the maximum number of bytes that are still read
     */
    void begin(ChannelHandlerContext ctx, long maxDrainBytes) {
        begun = true;
        this.maxDrainBytes = maxDrainBytes;
        receivedBefore = inbound.receivedBytes();
        restartTimer();
        if (ctx.pipeline().get(SslHandler.class) == null // TLS connections are not half-closed
                && ctx.channel() instanceof DuplexChannel duplex) {
            halfClosed = true;
            duplex.shutdownOutput();
        }
    }

    /** {@return whether the close has begun, so that received messages are discarded} */
    boolean hasBegun() {
        return begun;
    }

    /**
     * Reads more, or closes the connection if there is nothing to wait for. Once the limit of bytes is exceeded, it stops reading, and
     * {@link #closeIfTimedOut} closes the connection.
     *
     * @param fullyReceived whether the last request was received to its end
     */
    void drain(ChannelHandlerContext ctx, boolean fullyReceived) {
        if (inbound.isInputShutdown() || fullyReceived && !halfClosed) {
            close(ctx);
        } else if (!isDrainLimitExceeded()) {
            inbound.read(ctx);
        }
    }

    private boolean isDrainLimitExceeded() {
        return inbound.receivedBytes() - receivedBefore > maxDrainBytes;
    }

    /**
     * Closes the connection instead of handling the next request. An HTTP/2 client may repeat the request on another
     * connection.
     */
    void closeBeforeRequest(ChannelHandlerContext ctx) {
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

    /** {@return the rest of the time that the client has for its next step, in nanoseconds} */
    long nanosLeft() {
        return (begun ? group.drainNanos() : group.idleNanos()) - (System.nanoTime() - timerStart);
    }

    /** Closes the connection if the client has exceeded its time, or the limit of drained bytes. */
    void closeIfTimedOut(ChannelHandlerContext ctx) {
        if (nanosLeft() >= 0 && !(begun && isDrainLimitExceeded())) {
            return;
        } else if (begun && isStream(ctx.channel()) && !ctx.isRemoved()) {
            reset(ctx, Http2Error.NO_ERROR);
        } else {
            close(ctx);
        }
    }

    /** {@return whether {@code event} is the reset of an HTTP/2 stream by the client} */
    static boolean isStreamReset(ChannelHandlerContext ctx, Object event) {
        return isStream(ctx.channel()) && event instanceof Http2ResetFrame;
    }

    /** {@return whether {@code cause} is an error of the client on an HTTP/2 stream} The codec closes the stream after reporting it. */
    static boolean isStreamError(ChannelHandlerContext ctx, Throwable cause) {
        return isStream(ctx.channel()) && cause instanceof Http2Exception;
    }

    /** Uses no class of the HTTP/2 codec, because that codec is optional. */
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
