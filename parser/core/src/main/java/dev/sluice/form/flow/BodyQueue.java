package dev.sluice.form.flow;

import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCountUtil;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * The received chunks of one form that are not decoded yet. The {@link #room()} is the memory that further chunks may add. After
 * {@link #discard}, further chunks are released.
 *
 * <p>The thread of the source adds chunks; the decoding thread removes them. From {@link #add} until {@link #decoded}, the cost of a chunk
 * is counted: the {@linkplain KeptMemory memory that it keeps}, and {@value #OVERHEAD} bytes. If the chunk before it has the same root,
 * only its own capacity is counted, otherwise the whole root. A network read is therefore counted at most twice. If the first slice of a
 * read is already decoded, the read is kept in memory, but only its other slices are counted. This can be true of one read per form. If a
 * read is mostly empty, its slices are copied. {@link WaitingMemory} adds up the chunks of all forms. If the total is too large, a form has
 * no room until its own chunks are decoded.
 *
 * <p>A source that finds no room is {@linkplain #pause() paused}, and must then check the room once more, because a chunk may have been
 * decoded in between. {@link #resume()} returns true to exactly one caller per pause. That caller wakes the source.
 */
public final class BodyQueue {
    /** The cost of waiting chunks at which a form has no more room. The last chunk may exceed it. */
    public static final long WINDOW = 512 << 10;

    /** The memory of a chunk in addition to its bytes: the objects of the buffer and of the queue. */
    static final int OVERHEAD = 128;

    /** A chunk and the memory that is counted for it. */
    private record Waiting(ByteBuf chunk, long cost) {}

    private final WaitingMemory memory;
    private final Queue<Waiting> chunks = new ConcurrentLinkedQueue<>();
    private final AtomicLong waitingBytes = new AtomicLong();
    private final AtomicBoolean paused = new AtomicBoolean();
    private final AtomicLong receivedBytes = new AtomicLong();
    private final AtomicLong bytesToDiscard = new AtomicLong();
    private @Nullable ByteBuf lastAddedRoot;

    /** The memory that is counted for the removed chunk until it is decoded. */
    private long costInDecoder;

    private volatile boolean discards;
    private volatile boolean finished;

    public BodyQueue(WaitingMemory memory) {
        this.memory = memory;
    }

    // ---- the thread of the source

    /**
     * Adds {@code chunk}, which is <em>transferred</em> to the queue, or discards it.
     *
     * @return whether the chunk was added, not discarded
     */
    public boolean add(ByteBuf chunk) {
        int size = chunk.readableBytes();
        receivedBytes.lazySet(receivedBytes.get() + size); // written by this thread only
        if (discards) {
            bytesToDiscard.addAndGet(-size);
            chunk.release();
            return false;
        }
        ByteBuf waiting = KeptMemory.compact(chunk);
        ByteBuf root = KeptMemory.root(waiting);
        long cost = OVERHEAD + (root == lastAddedRoot ? waiting.capacity() : KeptMemory.of(root));
        lastAddedRoot = root;
        waitingBytes.addAndGet(cost);
        memory.add(cost);
        chunks.add(new Waiting(waiting, cost));
        return true;
    }

    public void finish() {
        finished = true;
    }

    public boolean isFinished() {
        return finished;
    }

    public boolean isDiscarding() {
        return discards;
    }

    /** {@return the number of bytes that may be received now} */
    public long room() {
        if (finished) {
            return 0;
        } else if (discards) {
            return Math.max(bytesToDiscard.get(), 0);
        }
        long waiting = waitingBytes.get();
        return waiting >= window() ? 0 : WINDOW - waiting;
    }

    private long window() {
        return memory.isCrowded() ? 1 : WINDOW;
    }

    public void pause() {
        paused.set(true);
    }

    /** {@return whether the source was paused, so that the caller must wake it} */
    public boolean resume() {
        return paused.get() && paused.compareAndSet(true, false);
    }

    public long receivedBytes() {
        return receivedBytes.get();
    }

    /**
     * Stops requesting bytes to discard. Chunks that still arrive are released.
     *
     * @return whether bytes remained to be discarded
     */
    public boolean stopDiscarding() {
        return bytesToDiscard.getAndSet(0) > 0;
    }

    // ---- the decoding thread

    /** {@return the next chunk, which stays in the queue, or null} */
    public @Nullable ByteBuf peek() {
        Waiting next = chunks.peek();
        return next == null ? null : next.chunk;
    }

    /** {@return the next chunk, <em>transferred</em> to the caller} It counts against the room until {@link #decoded}. */
    public ByteBuf remove() {
        Waiting next = chunks.remove();
        costInDecoder = next.cost;
        return next.chunk;
    }

    /** Stops counting the memory of the chunk that was removed last. Idempotent. */
    public void decoded() {
        memory.add(-costInDecoder);
        waitingBytes.addAndGet(-costInDecoder);
        costInDecoder = 0;
    }

    /** {@return whether at least half of the window is free, which is enough to wake a paused source} */
    public boolean isHalfEmpty() {
        return waitingBytes.get() <= window() / 2;
    }

    /** {@return whether the form cannot continue without more bytes from the client} */
    public boolean needsBytes() {
        return chunks.isEmpty() && !finished;
    }

    /** Discards all chunks that arrive from now on. The source may offer {@code bytes} more. */
    public void discard(long bytes) {
        bytesToDiscard.set(bytes);
        discards = true;
    }

    /** Releases all chunks. */
    public void clear() {
        while (!chunks.isEmpty()) {
            ByteBuf chunk = remove();
            decoded();
            ReferenceCountUtil.safeRelease(chunk); // a sink may have released it by mistake
        }
    }
}
