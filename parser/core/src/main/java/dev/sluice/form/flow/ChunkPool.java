package dev.sluice.form.flow;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.io.InputStream;
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

    /** The result of {@code available()} for streams that do not know the number, such as decompressing streams. */
    private static final int UNKNOWN_AVAILABLE = 1;

    /** An allocator without caches per thread. */
    public static final UnpooledByteBufAllocator ALLOCATOR = new UnpooledByteBufAllocator(false, true);

    private final Queue<ByteBuf> free = new ArrayBlockingQueue<>(MAX_KEPT);
    private volatile boolean closed;

    /** {@return an empty chunk} The caller must {@linkplain #give return} it. */
    public ByteBuf take() {
        ByteBuf chunk = free.poll();
        boolean usable = chunk != null && chunk.refCnt() == 1;
        return usable ? chunk.clear() : ALLOCATOR.heapBuffer(CHUNK_SIZE, CHUNK_SIZE);
    }

    /**
     * Returns a chunk to the pool, unless its bytes are still in use. If a sink has released the last reference by mistake, the
     * chunk is discarded, because it would fail another form.
     */
    public void give(ByteBuf chunk) {
        int references = chunk.refCnt();
        if (references == 0) {
            return;
        } else if (references > 1 || !free.offer(chunk)) {
            chunk.release();
        } else if (closed) {
            close();
        }
    }

    /**
     * Reads bytes from {@code in} into an empty chunk.
     *
     * @param greedy whether to read again while more is available; not for streams that allow one read per notification
     * @return the number of bytes, at most {@code most}, or -1 at the end of the stream
     */
    public static int fill(ByteBuf chunk, InputStream in, long most, boolean greedy) throws IOException {
        int wanted = (int) Math.min(chunk.writableBytes(), most);
        int count = chunk.writeBytes(in, wanted);
        if (count < 0) {
            return count;
        }
        // An exception of available() ends the form: in Undertow 2, a read after it returns stale bytes of a pool.
        while (greedy && count > 0 && chunk.readableBytes() < wanted && in.available() > UNKNOWN_AVAILABLE) {
            count = chunk.writeBytes(in, wanted - chunk.readableBytes());
        }
        return chunk.readableBytes();
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
