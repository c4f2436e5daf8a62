package dev.sluice.netty;

import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import io.netty.channel.ChannelHandler;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A factory of handlers that receive forms, one for each HTTP/1.1 connection or HTTP/2 stream. Add each handler after
 * an {@code HttpServerCodec} or an {@code Http2StreamFrameToHttpObjectCodec}. Create one factory per process.
 * Thread-safe.
 *
 * {@snippet file="NettyUploads.java" region="pipeline"}
 *
 * <p><b>Flow.</b> A handler turns {@code autoRead} off and requests reads itself, as fast as sinks accept the data. It
 * handles one request at a time: the next request waits until this handler or a later handler has written the response
 * to the current request. After a response with {@code Connection: close}, it gives the client up to {@link
 * Builder#drainTimeout} to read the response, and then closes the connection. With TLS or HTTP/2, it closes at once if it has
 * received the whole request. Later handlers do not need to close the connection. They cannot pause it with {@code setAutoRead}. If a later
 * handler must slow a client down, set {@code ChannelOption.AUTO_READ} to false before this handler is added; the later handler then calls
 * {@code ctx.read()} for each read.
 *
 * <p><b>Disconnects.</b> While a form waits for a sink, a closed connection is noticed about a second later. There are
 * two exceptions: more than about 64 KiB or 256 messages are unread before the end of the connection, or all
 * connections together hold more than an eighth of the {@code MemoryBudget}. In these cases the end is noticed when the
 * data before it has been read, or after {@link FormOptions#maxSinkWait()}. The reset of an HTTP/2 stream is noticed
 * immediately.
 *
 * <p><b>HTTP/2 windows.</b> Set the window of a connection to twice the sum of the windows of its streams. Netty reopens a
 * window only after half of it has been used, so streams that wait for their sinks could otherwise block all other streams.
 *
 * <p><b>Order of handlers.</b> A wrong order is logged as a warning when the first form or the first malformed request arrives.
 *
 * <ul>
 *   <li>After this handler: handlers for the other requests. Before this handler, {@code HttpServerKeepAliveHandler}
 *       would close the connection as soon as a form is rejected. {@code HttpObjectAggregator} would hold every body in
 *       memory. {@code HttpServerExpectContinueHandler} would request the body of a form that is rejected at its head.
 *       {@code WebSocketServerProtocolHandler} would lose its connections after {@link Builder#idleTimeout}.
 *   <li>Before this handler: {@code SslHandler}, at the start of the pipeline, because no client can connect with TLS if it is after the
 *       codec; {@code CorsHandler}, because a script in a browser can read only responses that pass through it. {@code
 *       HttpContentDecompressor} before this handler decompresses forms; after it, a compressed form gets 415.
 *   <li>On either side: {@code HttpContentCompressor} and {@code ChunkedWriteHandler}. Before this handler, {@code HttpContentCompressor}
 *       also compresses the responses to forms. If {@code ChunkedWriteHandler} is before this handler, a response must end in a {@code
 *       LastHttpContent} or an {@code HttpChunkedInput}; the next request waits for that end.
 *   <li>Not needed: {@code IdleStateHandler}. Before this handler it also fires while a form waits for its sink. After this handler it
 *       fires while a form arrives.
 * </ul>
 *
 * <p>If the channel has {@code ALLOW_HALF_CLOSURE}, a client may close its half of the connection after the request and
 * still read the response. On epoll, Netty then reads all bytes that the socket has buffered. They are accepted even
 * beyond {@link Builder#bytesPerTurn}, unless all connections together hold more than an eighth of the {@code
 * MemoryBudget}.
 */
public final class MultipartHandlers {
    private final HandlerGroup group;

    private MultipartHandlers(HandlerGroup group) {
        this.group = group;
    }

    /**
     * {@return a builder of handlers that decode, call sinks and call {@link FormReceiver#received} on {@code
     * executor}} These calls may block, for example on files.
     *
     * @param forms the receiver of forms; owned by the caller, who closes it after {@link #shutdown}
     * @param route the callback that selects the receiver of a form; called on the event loop, so it must not block
     * @param executor the executor for sinks; shared by all forms, and owned by the caller; it needs one thread for each sink that may
     *     block at the same time. If it rejects a form, the client gets 503
     */
    public static Builder builder(Forms forms, FormRoute route, Executor executor) {
        return new Builder(forms, route, Objects.requireNonNull(executor, "executor"));
    }

    /**
     * {@return a builder of handlers that do everything on the event loop} Sinks must not block, and parts must not be
     * written to files.
     *
     * @param forms the receiver of forms; owned by the caller, who closes it after {@link #shutdown}
     * @param route the same as in {@link #builder}
     */
    public static Builder onEventLoop(Forms forms, FormRoute route) {
        return new Builder(forms, route, null);
    }

    /** {@return a new handler for one connection or stream, to be added to the pipeline after the codec} */
    public ChannelHandler newHandler() {
        return new MultipartHandler(group);
    }

    /**
     * Closes all connections: connections without a request immediately, the others after the response to their current request.
     * A form that is not complete after {@code deadline} is aborted. Close the server channel first.
     *
     * <p>In HTTP/2 this closes the streams. New streams are refused ({@code REFUSED_STREAM}), so that clients may
     * repeat those requests on another connection. The application must close the connections: {@code close()} sends
     * GOAWAY, and waits for the streams for {@code gracefulShutdownTimeoutMillis} of the codec's builder; the default
     * of {@code Http2FrameCodecBuilder} is 0.
     *
     * @return a stage that completes when all handlers have been removed and all forms have ended
     */
    public CompletionStage<Void> shutdown(Duration deadline) {
        return group.shutdown(deadline);
    }

    /** A builder of {@link MultipartHandlers}. Each setter returns this builder. Not thread-safe. */
    public static final class Builder {
        private final Forms forms;
        private final FormRoute route;
        private final @Nullable Executor executor;
        private int bytesPerTurn = 256 << 10;
        private long idleNanos = TimeUnit.SECONDS.toNanos(60);
        private long drainNanos = TimeUnit.SECONDS.toNanos(5);

        private Builder(Forms forms, FormRoute route, @Nullable Executor executor) {
            this.forms = Objects.requireNonNull(forms, "forms");
            this.route = Objects.requireNonNull(route, "route");
            this.executor = executor;
        }

        /**
         * Sets how many body bytes a connection handles in one turn of the event loop before it lets the other
         * connections continue; at least 1, 256 KiB by default. If a read brings more and the form cannot take the
         * excess at once, the form is rejected with 413. A decompressor before this handler can cause this by expanding
         * a small body. Set at least the size of a read.
         */
        public Builder bytesPerTurn(int value) {
            this.bytesPerTurn = (int) positive(value, "bytesPerTurn");
            return this;
        }

        /**
         * Sets how long a client may take to send the next request head or to read a response; more than 0, 1 minute by default. After
         * that, the connection is closed.
         */
        public Builder idleTimeout(Duration value) {
            this.idleNanos = positive(TimeUnit.NANOSECONDS.convert(value), "idleTimeout");
            return this;
        }

        /**
         * Sets how long received data is discarded after a response that closes the connection; more than 0, 5 seconds
         * by default. This gives the client time to read the response before the connection is reset. The {@link
         * FormOptions#maxDrainBytes()} of the form, or of {@code forms} if the request has no form, limits the discarded bytes. Afterwards
         * an HTTP/2 stream is reset with {@code NO_ERROR}.
         */
        public Builder drainTimeout(Duration value) {
            this.drainNanos = positive(TimeUnit.NANOSECONDS.convert(value), "drainTimeout");
            return this;
        }

        private static long positive(long value, String what) {
            if (value < 1) {
                throw new IllegalArgumentException(what + " is " + value + ", must be more than 0");
            }
            return value;
        }

        /** {@return the factory of handlers} */
        public MultipartHandlers build() {
            return new MultipartHandlers(new HandlerGroup(
                    forms,
                    route,
                    executor,
                    bytesPerTurn,
                    idleNanos,
                    drainNanos,
                    new ConcurrentHashMap<>(),
                    new AtomicReference<>(),
                    new AtomicLong(),
                    new PipelineOrder()));
        }
    }
}
