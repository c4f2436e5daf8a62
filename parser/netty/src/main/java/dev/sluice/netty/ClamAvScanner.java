package dev.sluice.netty;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A factory of sinks whose content is scanned by ClamAV before the form becomes visible. The content is sent to {@code
 * clamd} as it arrives, with the command {@code INSTREAM}. No thread waits for the scan.
 *
 * {@snippet file="dev/sluice/netty/ClamAvScannerTest.java" region="scan"}
 *
 * <p>A part is complete only after {@code clamd} has reported that it is clean. Until then the form cannot complete, so
 * none of its parts is visible.
 * <ul>
 *   <li>If {@code clamd} finds a signature, the form fails with {@link Reason#PART_REFUSED} (422).
 *   <li>If the part is larger than {@code StreamMaxLength} of {@code clamd.conf}, the form fails with {@link
 *       Reason#PART_TOO_LARGE} (413).
 *   <li>If {@code clamd} cannot be reached, does not respond in time, or fails, the form fails with {@link
 *       Reason#UNAVAILABLE} (503). The cause is the original exception, or an {@link IOException} that wraps it. With
 *       {@link Builder#acceptUnscanned}, such a part is accepted instead. A part that is too large is then accepted as
 *       well.
 * </ul>
 *
 * <p>{@code clamd} ends connections on which it receives nothing for {@code ReadTimeout} (120 s by default), and has then
 * failed. With the default {@linkplain dev.sluice.form.FormOptions#minBytesPerSecond() minimum rate}, a client that pauses
 * for more than a minute is rejected before that. A scan that takes longer than {@link
 * dev.sluice.form.FormOptions#maxSinkWait()} fails the form as well.
 *
 * <p>The connection is neither encrypted nor authenticated, because the protocol offers neither. Immutable and
 * thread-safe.
 */
public final class ClamAvScanner {
    private static final byte[] COMMAND = "zINSTREAM\0".getBytes(StandardCharsets.US_ASCII);
    private static final int MAX_REPLY_BYTES = 1024;

    private final Bootstrap transport;
    private final SocketAddress address;
    private final long timeoutNanos;
    private final @Nullable Consumer<IOException> unscanned;

    private ClamAvScanner(Builder builder) {
        this.transport = builder.transport;
        this.address = builder.address;
        this.timeoutNanos = builder.timeoutNanos;
        this.unscanned = builder.unscanned;
    }

    /**
     * {@return a builder of a scanner that connects to {@code address}}
     *
     * @param transport a bootstrap with a group, and with a channel type for TCP or for Unix domain sockets, as the address requires.
     *     It is copied by this call. The caller closes the group
     */
    public static Builder builder(Bootstrap transport, SocketAddress address) {
        return new Builder(transport, address);
    }

    /**
     * {@return a sink that writes to {@code target} and has the content scanned} Connects immediately. If the group of the bootstrap is shut
     * down, writing throws a {@link RejectedExecutionException}.
     *
     * @param target <em>transferred</em>
     */
    public PartSink scan(PartSink target) {
        Objects.requireNonNull(target, "target");
        try {
            return PartSink.tee(new Scan(), target);
        } catch (Throwable e) { // such as an IllegalStateException if the bootstrap has no channel type
            target.close();
            throw e;
        }
    }

    /** A builder of scanners. Each setter returns this builder. Not thread-safe. */
    public static final class Builder {
        private final Bootstrap transport;
        private final SocketAddress address;
        private long timeoutNanos = TimeUnit.SECONDS.toNanos(20);
        private @Nullable Consumer<IOException> unscanned;

        private Builder(Bootstrap transport, SocketAddress address) {
            this.transport = transport.clone();
            this.address = Objects.requireNonNull(address, "address");
        }

        /**
         * Sets how long {@code clamd} may take to accept one chunk, or to report the verdict after the last chunk; 20 s by
         * default. The first chunk includes the rest of the time for connecting.
         *
         * @throws IllegalArgumentException if {@code time} is not positive
         */
        public Builder timeout(Duration time) {
            if (time.isNegative() || time.isZero()) {
                throw new IllegalArgumentException("timeout is " + time + ", must be positive");
            }
            this.timeoutNanos = TimeUnit.NANOSECONDS.convert(time);
            return this;
        }

        /**
         * Accepts parts that {@code clamd} could not scan. By default they fail the form.
         *
         * @param listener the callback for each such part, with the reason; it is called on an event loop and must not block
         */
        public Builder acceptUnscanned(Consumer<IOException> listener) {
            this.unscanned = Objects.requireNonNull(listener, "listener");
            return this;
        }

        /** {@return the scanner} */
        public ClamAvScanner build() {
            return new ClamAvScanner(this);
        }
    }

    /** The scan of one part. It has its own connection. Its state is confined to the event loop, except where noted. */
    private final class Scan extends ChannelInboundHandlerAdapter implements PartSink {
        private final ChannelFuture connection;
        private final EventLoop loop;
        private final StringBuilder reply = new StringBuilder();
        /** The readiness that the caller waits for. */
        private @Nullable Readiness waiting;

        private @Nullable Future<?> timer;
        private boolean isWhole; // the last chunk is being sent or has been sent
        private boolean isAccepted; // found clean, or accepted without a scan
        private @Nullable IOException failure;
        private boolean isStarted; // accessed only by the caller of the sink, not on the event loop
        private boolean isCompleted; // accessed only by the caller of the sink, not on the event loop
        private volatile boolean isClosed;

        Scan() {
            loop = transport.config().group().next();
            // A failed write must not close the channel, because a reply may still be unread.
            connection = transport
                    .clone(loop)
                    .option(ChannelOption.AUTO_CLOSE, false)
                    .handler(this)
                    .connect(address);
        }

        // ---- the caller

        @Override
        public Readiness write(ByteBuf data) {
            checkWritable();
            return data.isReadable() ? send(data.readableBytes(), data.retainedSlice()) : Readiness.READY;
        }

        @Override
        public Readiness complete() {
            checkWritable();
            isCompleted = true;
            return send(0, Unpooled.EMPTY_BUFFER);
        }

        private void checkWritable() {
            if (isCompleted || isClosed) {
                throw new IllegalStateException(
                        "the sink is " + (isClosed ? "closed" : "complete") + ": use a new one for each part");
            }
        }

        /** Sends a chunk: its size, as four bytes, and its content. A chunk of 0 bytes is the last one. */
        private Readiness send(int size, ByteBuf content) {
            ByteBuf start = Unpooled.buffer(COMMAND.length + Integer.BYTES);
            if (!isStarted) {
                isStarted = true;
                start.writeBytes(COMMAND);
            }
            ByteBuf chunk = Unpooled.wrappedBuffer(start.writeInt(size), content);
            Readiness ready = Readiness.pending();
            try {
                loop.execute(() -> send(chunk, size == 0, ready));
            } catch (RejectedExecutionException e) { // the group is shut down
                chunk.release();
                throw e;
            }
            return ready;
        }

        @Override
        public void close() {
            isClosed = true;
            disconnect();
        }

        /**
         * Closes the connection. If it could not be opened, there is nothing to close, because Netty has closed the
         * channel. Thread-safe.
         */
        private void disconnect() {
            if (connection.cause() == null) {
                connection.channel().close();
            }
        }

        // ---- the event loop

        private void send(ByteBuf chunk, boolean isLast, Readiness ready) {
            waiting = ready;
            isWhole = isLast;
            if (failure != null || isAccepted) {
                chunk.release();
                settle();
                return;
            }
            timer = loop.schedule(
                    () -> unavailable(new IOException(address + " did not respond in time")),
                    timeoutNanos,
                    TimeUnit.NANOSECONDS);
            connection.addListener(connected -> {
                if (!connected.isSuccess()) {
                    chunk.release();
                    unavailable(connected.cause());
                    return;
                }
                connection.channel().writeAndFlush(chunk).addListener(written -> {
                    if (written.isSuccess() && !isLast) { // otherwise a reply or the end of the connection follows
                        settle();
                    }
                });
            });
        }

        private void settle() {
            if (timer != null) {
                timer.cancel(false);
            }
            if (waiting == null) {
                return;
            }
            if (failure == null) {
                waiting.ready();
            } else {
                waiting.fail(failure);
            }
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object message) {
            ByteBuf received = (ByteBuf) message;
            try {
                reply.append(received.toString(StandardCharsets.ISO_8859_1));
            } finally {
                received.release();
            }
            int end = reply.indexOf("\0");
            if (end >= 0) {
                judge(reply.substring(0, end));
            } else if (reply.length() > MAX_REPLY_BYTES) {
                unavailable(new IOException("the reply of " + address + " is too long"));
            }
        }

        /** Handles a reply, which is {@code stream: OK}, {@code stream: <signature> FOUND} or {@code <message> ERROR}. */
        private void judge(String verdict) {
            if (verdict.endsWith(" FOUND")) {
                end(MultipartException.because(Reason.PART_REFUSED)
                        .saying("malware was found in the part")
                        .httpStatus(422)
                        .seen(verdict.replaceAll("^stream: | FOUND$", ""))
                        .build());
            } else if (verdict.equals("stream: OK") && isWhole) {
                isAccepted = true;
                end(null);
            } else if (verdict.contains("size limit exceeded") && unscanned == null) {
                end(MultipartException.because(Reason.PART_TOO_LARGE)
                        .saying("the part is larger than the virus scanner accepts")
                        .build());
            } else {
                unavailable(new IOException(address + " replied: " + verdict));
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext ctx) {
            unavailable(new IOException(address + " closed the connection without a verdict: \""
                    + reply.toString().strip() + '"'));
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            unavailable(cause);
        }

        private void unavailable(Throwable cause) {
            if (failure != null || isAccepted) {
                return;
            }
            if (isClosed) {
                settle();
                return;
            }
            IOException reason = cause instanceof IOException known ? known : new IOException(cause);
            if (unscanned == null) {
                end(MultipartException.because(Reason.UNAVAILABLE)
                        .saying("the part could not be scanned for malware")
                        .cause(reason)
                        .build());
                return;
            }
            isAccepted = true;
            try {
                unscanned.accept(reason);
            } finally {
                end(null);
            }
        }

        private void end(@Nullable IOException outcome) {
            failure = outcome;
            disconnect();
            settle();
        }
    }
}
