package dev.sluice.form;

import io.netty.buffer.ByteBuf;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.WritableByteChannel;

/**
 * Where the body of one part goes.
 *
 * <p>{@link #complete()} commits, {@link #close()} without it discards: a part received by halves can never look whole.
 * The order is {@code write* complete? close+}; {@code close} is called on every path, after {@code complete} too.
 * Anything else is misuse, which the sinks of this package answer with {@link IllegalStateException}. One thread at a
 * time.
 */
public interface PartSink extends Closeable {
    /**
     * Takes some bytes of the part.
     *
     * @param data <em>borrowed</em>: done with on return, or retained; indices may be moved
     * @throws IOException if they cannot be kept; the part, and as a rule the request, has then failed
     */
    void write(ByteBuf data) throws IOException;

    /**
     * The part has ended well: its delimiter has been seen. Called once at most.
     *
     * @throws IOException if the part cannot be committed
     */
    void complete() throws IOException;

    /** Releases what is held; discards the part unless it is {@linkplain #complete() complete}. Idempotent. */
    @Override
    void close() throws IOException;

    /** {@return a sink that keeps nothing} */
    static PartSink discard() {
        return new DiscardSink();
    }

    /**
     * {@return a sink that writes to {@code channel}}
     *
     * @param channel in blocking mode; never closed, because closing may be what commits it
     */
    static PartSink to(WritableByteChannel channel) {
        return new ChannelSink(channel);
    }

    /**
     * {@return a sink that writes to {@code out} and flushes it when the part is complete}
     *
     * @param out never closed, because closing may be what commits it
     */
    static PartSink to(OutputStream out) {
        return new StreamSink(out);
    }

    /**
     * {@return a sink that gives everything to {@code first} and then to {@code second}; it completes and closes both
     * in this order}
     *
     * <p>If {@code second} fails to complete, {@code first} stays committed: let the one that can be undone be the
     * second.
     */
    static PartSink tee(PartSink first, PartSink second) {
        return new TeeSink(first, second);
    }

    /**
     * {@return a sink that gives at most {@code maxBytes} bytes to {@code sink}, and fails beyond with a {@link
     * dev.sluice.MultipartException} of the reason {@code PART_TOO_LARGE}}
     *
     * @param maxBytes 0 or more
     */
    static PartSink limited(PartSink sink, long maxBytes) {
        return new LimitedSink(sink, maxBytes);
    }
}
