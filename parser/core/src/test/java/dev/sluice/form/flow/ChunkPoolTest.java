package dev.sluice.form.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class ChunkPoolTest {
    private final ChunkPool pool = new ChunkPool();

    @Test
    void returnedChunk_isReusedEmpty() {
        ByteBuf first = pool.take();
        assertTrue(first.hasArray() && first.capacity() == ChunkPool.CHUNK_SIZE);
        first.writeZero(10);
        pool.give(first);
        assertEquals(1, pool.kept());
        ByteBuf again = pool.take();
        assertSame(first, again);
        assertEquals(0, again.readableBytes());
        pool.give(again);
        pool.close();
        assertEquals(0, again.refCnt());
    }

    @Test
    void retainedChunk_isNotReused() {
        ByteBuf first = pool.take();
        ByteBuf slice = first.writeZero(10).retainedSlice();
        pool.give(first);
        assertEquals(0, pool.kept());
        assertNotSame(first, pool.take());
        slice.release();
        assertEquals(0, first.refCnt());
    }

    @Test
    void pool_isBounded() {
        List<ByteBuf> taken = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            taken.add(pool.take());
        }
        taken.forEach(pool::give);
        assertEquals(32, pool.kept());
        assertEquals(32, taken.stream().filter(chunk -> chunk.refCnt() == 1).count());
        for (int i = 0; i < 100; i++) {
            pool.give(pool.take());
        }
        assertEquals(32, pool.kept());
        pool.close();
        assertEquals(0, taken.stream().mapToInt(ByteBuf::refCnt).sum());
    }

    /** A sink may release borrowed data by mistake. */
    @Test
    void chunkReleasedTooOften_isDiscarded() {
        ByteBuf chunk = pool.take();
        chunk.release();
        pool.give(chunk);
        assertEquals(0, pool.kept());
        ByteBuf pooled = pool.take();
        pool.give(pooled);
        pooled.release();
        ByteBuf next = pool.take();
        assertEquals(1, next.refCnt());
        next.release();
    }

    @Test
    void close_releasesAllChunks() {
        ByteBuf chunk = pool.take();
        pool.close();
        pool.give(chunk);
        assertEquals(0, chunk.refCnt());
        assertEquals(0, pool.kept());
    }
}
