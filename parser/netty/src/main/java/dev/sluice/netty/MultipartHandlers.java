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
 * Makes the handlers that take forms, behind an {@code HttpServerCodec} or an {@code Http2StreamFrameToHttpObjectCodec}:
 * one for each connection or stream. Make one of this for the process. Thread-safe.
 *
 * {@snippet file="UploadPipeline.java" region="pipeline"}
 *
 * <p>A handler reads by itself, as fast as sinks take what comes, and turns {@code autoRead} off. It hands on one request at
 * a time: the next waits until the one before was answered, by it or by the handlers behind it. Those who answer with
 * {@code Connection: close} need not close: the handler does, once the client has read the answer, or had the time.
 *
 * <p>While a sink makes a form wait, a client that is gone is found about a second later, unless more than some 64 KiB, or
 * 256 messages, lie before its end, or an eighth of the {@code MemoryBudget} is held for all connections: then once those
 * are read, or {@link FormOptions#maxSinkWait()} is over. In HTTP/2 a stream's reset is seen at once; give the connection
 * twice the window that its streams have together, for Netty gives it back by halves, or those that wait stop all.
 *
 * <p><b>Order of handlers.</b> Put Netty's other HTTP handlers after this one. They then serve the other requests, and forms
 * are not affected. Before this handler they also act on forms:
 *
 * <ul>
 *   <li>{@code HttpServerKeepAliveHandler} closes the connection as soon as a refusal is written. The rest of the body is not
 *       read, and a client that is still sending may lose the response.
 *   <li>{@code HttpObjectAggregator} holds every body in memory, answers {@code Expect: 100-continue} before a form can be
 *       refused at its head, and hands over the body at once: what remains of it after one turn must not exceed {@link
 *       Builder#bytesPerTurn}, otherwise the form is refused with 413.
 *   <li>{@code HttpServerExpectContinueHandler} requests the body of every form, also of one that is then refused at its head.
 *   <li>{@code ChunkedWriteHandler} may be on either side. If it is before this handler, a response must end in a {@code
 *       LastHttpContent} or an {@code HttpChunkedInput}; the next request waits for that end.
 * </ul>
 *
 * <p>A client may close its half of the connection after the request and still read the response if the channel has {@code
 * ALLOW_HALF_CLOSURE}. On epoll, Netty then reads all that the socket has buffered. It is kept beyond {@link
 * Builder#bytesPerTurn}, unless all connections together hold more than an eighth of the {@code MemoryBudget}.
 */
public final class MultipartHandlers {
    private final Connections connections;

    private MultipartHandlers(Connections connections) {
        this.connections = connections;
    }

    /**
     * {@return a builder of handlers that decode, call sinks and {@link FormReceiver#received} on {@code executor}, where they
     * may block, say on files}
     *
     * @param forms stays the caller's, who closes it after {@link #shutdown}
     * @param route tells who receives the form of a request, on the event loop: it must not block
     * @param executor shared by all forms, and stays the caller's; give it as many threads as sinks may block at once
     */
    public static Builder builder(Forms forms, FormRoute route, Executor executor) {
        return new Builder(forms, route, Objects.requireNonNull(executor, "executor"));
    }

    /**
     * {@return a builder of handlers that do everything on the event loop, where no sink may block: nothing may go to files}
     *
     * @param forms stays the caller's, who closes it after {@link #shutdown}
     * @param route as in {@link #builder}
     */
    public static Builder onEventLoop(Forms forms, FormRoute route) {
        return new Builder(forms, route, null);
    }

    /** {@return a handler for one connection or stream, to be added behind the codec} */
    public ChannelHandler newHandler() {
        return new MultipartHandler(connections);
    }

    /**
     * Ends all connections: those without a request at once, the others when theirs is answered, and what is under way after
     * {@code deadline} is aborted. Close what accepts connections before.
     *
     * <p>Of HTTP/2 streams end, and new ones are refused ({@code REFUSED_STREAM}), so that clients may send those requests
     * elsewhere. Connections are yours: {@code close()} tells the client (GOAWAY) and waits for the streams for as long as
     * {@code gracefulShutdownTimeoutMillis} of the codec's builder says, which is 0 in an {@code Http2FrameCodecBuilder}.
     *
     * @return complete when no handler and no form is left
     */
    public CompletionStage<Void> shutdown(Duration deadline) {
        return connections.stop(deadline);
    }

    /** Collects settings. Not thread-safe. */
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
         * {@return this builder; a connection hands on {@code value} bytes of bodies in a turn of the event loop, and others come
         * before it goes on; 1 or more, 256 KiB by default. If more than that comes at once and has to wait, as a decompressor in
         * front makes of a small body, the form is refused with 413: no less than what a read may give}
         */
        public Builder bytesPerTurn(int value) {
            this.bytesPerTurn = (int) positive(value, "bytesPerTurn");
            return this;
        }

        /**
         * {@return this builder; a client may take {@code value}, more than 0, to send the next head, and to read an answer; 1
         * minute by default}
         */
        public Builder idleTimeout(Duration value) {
            this.idleNanos = positive(value.toNanos(), "idleTimeout");
            return this;
        }

        /**
         * {@return this builder; after an answer that closes the connection what still comes is read and dropped for {@code
         * value}, more than 0, so that the client reads the answer and meets no reset, but no more than {@link
         * FormOptions#maxDrainBytes()} of the form, or of {@code forms} where it was none; a stream of HTTP/2 is reset then,
         * without an error. 5 seconds by default}
         */
        public Builder drainTimeout(Duration value) {
            this.drainNanos = positive(value.toNanos(), "drainTimeout");
            return this;
        }

        private static long positive(long value, String what) {
            if (value < 1) {
                throw new IllegalArgumentException(what + " is " + value + ", must be more than 0");
            }
            return value;
        }

        /** {@return what makes the handlers} */
        public MultipartHandlers build() {
            return new MultipartHandlers(new Connections(
                    forms,
                    route,
                    executor,
                    bytesPerTurn,
                    idleNanos,
                    drainNanos,
                    new ConcurrentHashMap<>(),
                    new AtomicReference<>(),
                    new AtomicLong()));
        }
    }
}
