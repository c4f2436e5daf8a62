package dev.sluice.form;

import io.netty.buffer.ByteBufAllocatorMetricProvider;
import org.jspecify.annotations.NullMarked;

/** Shows the fuzz targets what forms keep to themselves. */
@NullMarked
public final class PoolProbe {
    private PoolProbe() {}

    /** {@return the bytes of the chunks, of all forms, that bodies are read into} */
    public static long chunkMemory() {
        return ((ByteBufAllocatorMetricProvider) ChunkPool.ALLOCATOR).metric().usedHeapMemory();
    }
}
