package dev.sluice.netty;

import dev.sluice.form.flow.KeptMemory;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.util.ReferenceCountUtil;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The queue of received messages that are not handled yet, and the reads that fill it. Confined to the event loop.
 *
 * <p>A read is requested only if the queue is empty and more messages can be handled, so that a slow sink stops the
 * client. There is one exception: while a form waits for a sink, {@link #probe} reads ahead a little to notice that the
 * client has closed the connection.
 *
 * <p>The memory {@linkplain KeptMemory kept} by the queued contents is bounded for each connection, and for all connections of the group
 * together. The content of a message is usually a slice of a network read, and keeps the whole read in memory. Several slices of one read
 * count once. The content of a message that must wait is copied if it keeps much more memory than its size.
 */
final class InboundQueue {
    /**
     * The number of queued messages at which reading ahead ends. Requests without a body add no bytes, so {@link #maxBytes} does not
     * limit them.
     */
    private static final int MAX_MESSAGES = 256;

    /** All queues together may hold 1/8 of the memory budget. */
    private static final int SHARE_OF_BUDGET = 8;

    private static final long MIN_TOTAL_MEMORY = 1 << 20;

    private final Deque<Object> messages = new ArrayDeque<>();
    private final int maxBytes;
    private final long maxTotalMemory;

    /** The memory kept by the queues of all connections of the group. */
    private final AtomicLong totalMemory;

    private long bytes;

    /** The memory kept by the contents in this queue. */
    private long memory;

    /** The part of {@link #memory} that is included in {@link #totalMemory}. */
    private long reportedMemory;

    private long receivedBytes;
    private boolean reading;
    private boolean readDeferred;
    private boolean probing;
    private boolean inputShutdown;

    InboundQueue(HandlerGroup group) {
        maxBytes = group.bytesPerTurn();
        totalMemory = group.queuedMemory();
        maxTotalMemory = Math.max(group.forms().options().memory().capacity() / SHARE_OF_BUDGET, MIN_TOTAL_MEMORY);
    }

    /** Updates the total of all connections. Called after a read, when the queue is usually empty again. */
    void reportMemory() {
        if (memory != reportedMemory) {
            totalMemory.addAndGet(memory - reportedMemory);
            reportedMemory = memory;
        }
    }

    private static ByteBuf bytesOf(@Nullable Object message) {
        return message instanceof HttpContent content ? content.content() : Unpooled.EMPTY_BUFFER;
    }

    /**
     * Counts a message that was added or removed.
     *
     * @param neighbour the message next to it in the queue, or null. If both contents are slices of one buffer, {@link #memory} does not
     *     change: the neighbour has already counted that buffer, or still needs it
     * @param sign 1 or -1
     */
    private void count(Object message, @Nullable Object neighbour, int sign) {
        ByteBuf root = KeptMemory.root(bytesOf(message));
        memory += root == KeptMemory.root(bytesOf(neighbour)) ? 0 : sign * KeptMemory.of(root);
        bytes += sign * bytesOf(message).readableBytes();
    }

    /** @param message <em>transferred</em> */
    void add(Object message) {
        count(message, messages.peekLast(), 1);
        messages.add(message);
        receivedBytes += bytesOf(message).readableBytes();
    }

    /** Copies the content of the last message if it keeps much more memory than its size. Called if the message must wait. */
    void compactLast() {
        if (messages.peekLast() instanceof HttpContent last) {
            messages.removeLast();
            count(last, messages.peekLast(), -1);
            ByteBuf compact = KeptMemory.compact(last.content());
            HttpContent kept = last;
            if (compact != last.content()) {
                kept = last.replace(compact);
                kept.setDecoderResult(last.decoderResult()); // replace() does not copy it
            }
            count(kept, messages.peekLast(), 1);
            messages.add(kept);
        }
    }

    /** {@return the number of body bytes that the connection has received} */
    long receivedBytes() {
        return receivedBytes;
    }

    /**
     * {@return whether the queue exceeds its limit} A requested read is bounded, but a decompressor may expand its bytes.
     * After the client's FIN, epoll reads all bytes that the socket has buffered, although none were requested: in
     * repeated reads in Netty 4.1, in one long read in 4.2. Such reads are accepted until all queues together exceed
     * their share of the memory budget.
     */
    boolean exceedsLimit(ChannelHandlerContext ctx) {
        return bytes > maxBytes && reading && !isReadExtended(ctx)
                || memory > maxBytes && totalMemory.get() - reportedMemory + memory > maxTotalMemory;
    }

    /** {@return whether the transport continues the current read} It usually ends a read if {@code autoRead} is off. */
    @SuppressWarnings("deprecation") // the type that the method returns in Netty 4.1 and 4.2
    private static boolean isReadExtended(ChannelHandlerContext ctx) {
        RecvByteBufAllocator.Handle socketReads = ctx.channel().unsafe().recvBufAllocHandle();
        return socketReads.attemptedBytesRead() > 0 && socketReads.continueReading();
    }

    /** Records that the input of the channel was shut down. No read is requested any more. */
    void onInputShutdown() {
        inputShutdown = true;
    }

    boolean isInputShutdown() {
        return inputShutdown;
    }

    /** {@return whether the input was shut down and every message was handled} */
    boolean isExhausted() {
        return inputShutdown && messages.isEmpty();
    }

    /** {@return the first message, or null if the queue is empty} */
    @Nullable
    Object peek() {
        return messages.peek();
    }

    boolean containsEndOfBody() {
        return messages.stream().anyMatch(LastHttpContent.class::isInstance);
    }

    /** {@return the first message: <em>transferred</em>} */
    Object remove() {
        Object message = messages.remove();
        count(message, messages.peek(), -1);
        return message;
    }

    /** {@return the next {@code count} bytes of {@code content}, the content of the first message: <em>transferred</em>} */
    ByteBuf removeBytes(ByteBuf content, int count) {
        bytes -= count;
        return content.readRetainedSlice(count);
    }

    void discard() {
        ReferenceCountUtil.release(remove());
    }

    // ---- reads

    void read(ChannelHandlerContext ctx) {
        probing = false;
        requestRead(ctx);
    }

    /**
     * Requests a read for the next handlers. The request is deferred during another read, and while messages are queued: a handler that
     * requests a read after each read would otherwise fill the queue.
     */
    void readForNextHandlers(ChannelHandlerContext ctx) {
        if (reading || !messages.isEmpty()) {
            readDeferred = true;
        } else {
            read(ctx);
        }
    }

    /** {@return whether the next handlers have requested a read since the last one began} */
    boolean isReadDeferred() {
        return readDeferred;
    }

    private void requestRead(ChannelHandlerContext ctx) {
        if (!reading && !inputShutdown) {
            reading = true;
            readDeferred = false;
            ctx.read();
        }
    }

    void readCompleted() {
        reading = false;
    }

    /**
     * Reads ahead while the form waits for a sink. If nothing is read, the transport notices neither the end of the connection nor, on a
     * stream with unread data, the end of the parent connection. The messages are queued, and reading ahead continues until little room is
     * left in this queue or in the queues of all connections together.
     *
     * @param begin whether to begin; otherwise a probe that has begun is continued
     */
    void probe(ChannelHandlerContext ctx, boolean begin) {
        probing |= begin && !reading; // a slow client is no reason to probe
        if (probing
                && memory <= maxBytes / 4
                && messages.size() < MAX_MESSAGES
                && totalMemory.get() <= maxTotalMemory) {
            requestRead(ctx);
        }
    }
}
