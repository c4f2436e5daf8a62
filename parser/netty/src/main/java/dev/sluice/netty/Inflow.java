package dev.sluice.netty;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** What has come and is not wanted yet, in order, and the reads that bring more. */
final class Inflow {
    /** A request without a body counts no bytes, and is held too. */
    private static final int MOST_MESSAGES = 256;

    private static final int SHARE_OF_ALL = 8;
    private static final long LEAST_OF_ALL = 1 << 20;

    private final Deque<Object> held = new ArrayDeque<>();
    private final int most;
    private final long mostOfAll;
    /** What the inflows of all connections hold. */
    private final AtomicLong ofAll;

    private long bytes;
    /** How much of {@link #bytes} {@link #ofAll} has been told of. */
    private long told;

    private long received;
    private boolean reading;
    private boolean askedWithin;
    private boolean probing;
    private boolean inputShutdown;

    Inflow(Connections shared) {
        most = shared.bytesPerTurn();
        ofAll = shared.held();
        mostOfAll = Math.max(shared.forms().options().memory().capacity() / SHARE_OF_ALL, LEAST_OF_ALL);
    }

    /** Says how much is held now; nothing as a rule, when a read is over. */
    void tell() {
        if (bytes != told) {
            ofAll.addAndGet(bytes - told);
            told = bytes;
        }
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

    /**
     * {@return whether too much is held} A requested read brings a bounded number of bytes, but a decompressor may expand
     * them. After the client's FIN, epoll reads all that the socket has buffered without a request: in repeated reads in
     * Netty 4.1, in a single long one in 4.2. Those bytes are too much only if all connections together hold much.
     */
    boolean isTooMuch(ChannelHandlerContext ctx) {
        return bytes > most && (ofAll.get() - told + bytes > mostOfAll || reading && !transportReadsOn(ctx));
    }

    /** {@return whether the transport goes on with a read that it would end otherwise, because {@code autoRead} is off} */
    @SuppressWarnings("deprecation") // the type that the method returns in Netty 4.1 and 4.2
    private static boolean transportReadsOn(ChannelHandlerContext ctx) {
        RecvByteBufAllocator.Handle socketReads = ctx.channel().unsafe().recvBufAllocHandle();
        return socketReads.attemptedBytesRead() > 0 && socketReads.continueReading();
    }

    /** Records that the input of the channel has been shut down, after which nothing is read any more. */
    void inputShutdown() {
        inputShutdown = true;
    }

    /** {@return whether nothing more comes: the input was shut down} */
    boolean isInputShutdown() {
        return inputShutdown;
    }

    /** {@return whether the input was shut down, and nothing is held} */
    boolean isExhausted() {
        return inputShutdown && held.isEmpty();
    }

    /** {@return null if nothing is held} */
    @Nullable
    Object first() {
        return held.peek();
    }

    /** {@return whether the end of a body is held} */
    boolean holdsEnd() {
        return held.stream().anyMatch(LastHttpContent.class::isInstance);
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

    /** Asks for the handlers behind, who may do so within a read, for the next. */
    void readForOthers(ChannelHandlerContext ctx) {
        askedWithin |= reading;
        read(ctx);
    }

    /** {@return whether they have, since the last call} */
    boolean wasAskedWithin() {
        boolean asked = askedWithin;
        askedWithin = false;
        return asked;
    }

    private void ask(ChannelHandlerContext ctx) {
        if (!reading && !inputShutdown) {
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
     * more asked for while that is little, until one is due; none while all connections together hold much.
     */
    void probe(ChannelHandlerContext ctx, boolean begin) {
        probing |= begin && !reading;
        if (probing && bytes <= most / 4 && held.size() < MOST_MESSAGES && ofAll.get() <= mostOfAll) {
            ask(ctx);
        }
    }
}
