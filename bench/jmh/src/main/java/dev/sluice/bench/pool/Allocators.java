package dev.sluice.bench.pool;

import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetric;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.List;

/** Netty's allocators, each a fresh one with its own memory. */
public final class Allocators {
    public static final List<String> NAMES = List.of("pooled", "adaptive", "unpooled");

    private Allocators() {}

    public static ByteBufAllocator named(String name) {
        return switch (name) {
            case "pooled" -> new PooledByteBufAllocator(true);
            case "adaptive" -> new AdaptiveByteBufAllocator(true);
            case "unpooled" -> new UnpooledByteBufAllocator(true);
            default -> throw new IllegalArgumentException(name);
        };
    }

    /** Bytes of heap or direct memory that the allocator holds, in use or not. */
    public static long held(ByteBufAllocator allocator, boolean heap) {
        ByteBufAllocatorMetric metric = ((ByteBufAllocatorMetricProvider) allocator).metric();
        return heap ? metric.usedHeapMemory() : metric.usedDirectMemory();
    }
}
