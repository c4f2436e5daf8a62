package dev.sluice.form;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * A few buffers on the heap to read into, shared by all forms. An object with an owner, not a cache per thread: a
 * web application that is undeployed leaves nothing on the threads of its container.
 */
final class ChunkPool implements AutoCloseable {
    static final int CHUNK_SIZE = 32 << 10;

    private static final int MOST_KEPT = 32;

    /** Keeps nothing per thread either. */
    static final ByteBufAllocator ALLOCATOR = new UnpooledByteBufAllocator(false, true);

    private final Queue<ByteBuf> free = new ConcurrentLinkedQueue<>();
    private final AtomicInteger kept = new AtomicInteger();
    private volatile boolean closed;

    /** {@return an empty chunk, to be {@linkplain #give given back}} */
    ByteBuf take() {
        ByteBuf chunk = poll();
        return chunk == null ? ALLOCATOR.heapBuffer(CHUNK_SIZE, CHUNK_SIZE) : chunk.clear();
    }

    private @Nullable ByteBuf poll() {
        ByteBuf chunk = free.poll();
        if (chunk != null) {
            kept.decrementAndGet();
        }
        return chunk;
    }

    /** Takes a chunk back, unless a sink kept a slice of it: then it is the sink's. */
    void give(ByteBuf chunk) {
        if (closed || chunk.refCnt() > 1) {
            chunk.release();
        } else if (kept.incrementAndGet() > MOST_KEPT) {
            kept.decrementAndGet();
            chunk.release();
        } else {
            free.add(chunk);
            if (closed) {
                close();
            }
        }
    }

    /** {@return how many chunks wait to be taken} */
    int kept() {
        return kept.get();
    }

    @Override
    public void close() {
        closed = true;
        for (ByteBuf chunk; (chunk = poll()) != null; ) {
            chunk.release();
        }
    }
}
