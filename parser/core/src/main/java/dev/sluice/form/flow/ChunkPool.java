package dev.sluice.form.flow;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;

/**
 * A bounded pool of read buffers on the heap, shared by all forms of a {@link dev.sluice.form.Forms}.
 *
 * <p>The pool has an owner and is not a cache per thread, so that an undeployed web application leaves nothing behind
 * on the threads of its container.
 */
public final class ChunkPool implements AutoCloseable {
    public static final int CHUNK_SIZE = 32 << 10;

    private static final int MAX_KEPT = 32;

    /** An allocator without caches per thread. */
    public static final UnpooledByteBufAllocator ALLOCATOR = new UnpooledByteBufAllocator(false, true);

    private final Queue<ByteBuf> free = new ArrayBlockingQueue<>(MAX_KEPT);
    private volatile boolean closed;

    /** {@return an empty chunk} The caller must {@linkplain #give return} it. */
    public ByteBuf take() {
        ByteBuf chunk = free.poll();
        return chunk == null ? ALLOCATOR.heapBuffer(CHUNK_SIZE, CHUNK_SIZE) : chunk.clear();
    }

    /** Returns a chunk to the pool, unless a sink has retained it. */
    public void give(ByteBuf chunk) {
        if (chunk.refCnt() > 1 || !free.offer(chunk)) {
            chunk.release();
        } else if (closed) {
            close();
        }
    }

    int kept() {
        return free.size();
    }

    @Override
    public void close() {
        closed = true;
        for (ByteBuf chunk; (chunk = free.poll()) != null; ) {
            chunk.release();
        }
    }
}
