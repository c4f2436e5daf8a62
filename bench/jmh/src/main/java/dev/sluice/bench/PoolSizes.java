package dev.sluice.bench;

import dev.sluice.bench.jmh.Pools;
import dev.sluice.bench.report.Row;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetric;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadFactory;

/** How much memory an allocator keeps after many threads that lived for a few buffers each. */
final class PoolSizes {
    private static final int WAVES = 20;
    private static final int THREADS = 100;
    private static final int BUFFERS = 64;
    private static final int SIZE = 8 * 1024;

    private PoolSizes() {}

    static List<Row> count() throws InterruptedException {
        List<Row> rows = new ArrayList<>();
        for (String allocator : Pools.ALLOCATORS) {
            for (String memory : List.of("heap", "direct")) {
                for (String threads : Pools.threadsHere()) {
                    double held = held(Pools.allocator(allocator), memory.equals("heap"), Pools.threads(threads));
                    Map<String, String> params =
                            Suite.params("allocator=%s memory=%s threads=%s", allocator, memory, threads);
                    rows.add(Row.counted("pool-size", "PoolSizes.count", params, held, 0, 0, null));
                }
            }
        }
        return rows;
    }

    private static long held(ByteBufAllocator allocator, boolean heap, ThreadFactory factory)
            throws InterruptedException {
        for (int wave = 0; wave < WAVES; wave++) {
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                Thread thread = factory.newThread(() -> takeAndRelease(allocator, heap));
                threads.add(thread);
                thread.start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
        ByteBufAllocatorMetric metric = ((ByteBufAllocatorMetricProvider) allocator).metric();
        return heap ? metric.usedHeapMemory() : metric.usedDirectMemory();
    }

    private static void takeAndRelease(ByteBufAllocator allocator, boolean heap) {
        List<ByteBuf> buffers = new ArrayList<>();
        for (int i = 0; i < BUFFERS; i++) {
            buffers.add(heap ? allocator.heapBuffer(SIZE) : allocator.directBuffer(SIZE));
        }
        buffers.forEach(ByteBuf::release);
    }
}
