package dev.sluice.servlet;

import io.netty.buffer.ByteBufAllocatorMetricProvider;
import org.jspecify.annotations.NullMarked;

/** Shows the fuzz targets what the filter keeps to itself. */
@NullMarked
public final class FilterProbe {
    private FilterProbe() {}

    /** {@return the bytes of the chunks, of all filters, that bodies are read into} */
    public static long chunkMemory() {
        return ((ByteBufAllocatorMetricProvider) ChunkPool.ALLOCATOR).metric().usedHeapMemory();
    }
}
