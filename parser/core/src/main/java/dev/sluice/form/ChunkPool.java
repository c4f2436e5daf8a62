package dev.sluice.form;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.Queue;
import java.util.concurrent.ArrayBlockingQueue;

/**
 * A few buffers on the heap to read into, shared by all forms. An object with an owner, not a cache per thread: a
 * web application that is undeployed leaves nothing on the threads of its container.
 */
final class ChunkPool implements AutoCloseable {
    static final int CHUNK_SIZE = 32 << 10;

    private static final int MOST_KEPT = 32;

    /** Keeps nothing per thread either. */
    static final ByteBufAllocator ALLOCATOR = new UnpooledByteBufAllocator(false, true);

    private final Queue<ByteBuf> free = new ArrayBlockingQueue<>(MOST_KEPT);
    private volatile boolean closed;

    /** {@return an empty chunk, to be {@linkplain #give given back}} */
    ByteBuf take() {
        ByteBuf chunk = free.poll();
        return chunk == null ? ALLOCATOR.heapBuffer(CHUNK_SIZE, CHUNK_SIZE) : chunk.clear();
    }

    /** Takes a chunk back, unless a sink kept a slice of it: then it is the sink's. */
    void give(ByteBuf chunk) {
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
