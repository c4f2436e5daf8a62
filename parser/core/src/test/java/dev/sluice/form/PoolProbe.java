package dev.sluice.form;

import io.netty.buffer.ByteBufAllocatorMetricProvider;
import org.jspecify.annotations.NullMarked;

/** Access to package-private state of forms, for the fuzz targets. */
@NullMarked
public final class PoolProbe {
    private PoolProbe() {}

    /** {@return the bytes of the read buffers in the pool} */
    public static long chunkMemory() {
        return ((ByteBufAllocatorMetricProvider) ChunkPool.ALLOCATOR).metric().usedHeapMemory();
    }
}
