package dev.sluice.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http.HttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/** What has come and is not wanted yet, in order, and the reads that bring more. */
final class Inflow {
    private final Deque<Object> held = new ArrayDeque<>();
    private final int most;
    private long bytes;
    private long received;
    private boolean reading;
    private boolean probing;

    Inflow(int most) {
        this.most = most;
    }

    private static int size(Object message) {
        return message instanceof HttpContent content ? content.content().readableBytes() : 0;
    }

    /** @param message <em>transferred</em> */
    void add(Object message) {
        held.add(message);
        bytes += size(message);
        received += size(message);
    }

    /** {@return how many bytes of bodies have come in all} */
    long received() {
        return received;
    }

    /** {@return whether too much is held: what a read may bring is bounded, but not what a decompressor makes of it} */
    boolean isTooMuch() {
        return bytes > most;
    }

    /** {@return null if nothing is held} */
    @Nullable
    Object first() {
        return held.peek();
    }

    /** {@return the first message: <em>transferred</em>} */
    Object take() {
        Object message = held.remove();
        bytes -= size(message);
        return message;
    }

    /** {@return the next {@code count} bytes of the first message, whose content this is: <em>transferred</em>} */
    ByteBuf take(ByteBuf content, int count) {
        bytes -= count;
        return content.readRetainedSlice(count);
    }

    void drop() {
        ReferenceCountUtil.release(take());
    }

    // ---- reads

    void read(ChannelHandlerContext ctx) {
        probing = false;
        ask(ctx);
    }

    private void ask(ChannelHandlerContext ctx) {
        if (!reading) {
            reading = true;
            ctx.read();
        }
    }

    void readIsOver() {
        reading = false;
    }

    /**
     * A client that is gone is not noticed for as long as nobody reads, nor is the end of its connection by a stream that
     * has unread data. So a read is asked for while the form waits for something else, too; what it brings is held, and one
     * more asked for while that is little, until one is due.
     */
    void probe(ChannelHandlerContext ctx, boolean begin) {
        probing |= begin && !reading;
        if (probing && bytes <= most / 4) {
            ask(ctx);
        }
    }
}
