package dev.sluice.bench;

import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufAllocatorMetric;
import io.netty.buffer.ByteBufAllocatorMetricProvider;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ThreadFactory;

/** Netty's allocators, and the memory they keep after many short-lived threads. */
public final class Pools {
    private static final List<String> ALLOCATORS = List.of("pooled", "adaptive", "unpooled");

    private static final int WAVES = 20;
    private static final int THREADS = 100;
    private static final int BUFFERS = 64;
    private static final int SIZE = 8 * 1024;
    private static final int JAVA_WITH_VIRTUAL_THREADS = 21;

    private Pools() {}

    public static ByteBufAllocator allocator(String name) {
        return switch (name) {
            case "pooled" -> new PooledByteBufAllocator(true);
            case "adaptive" -> new AdaptiveByteBufAllocator(true);
            case "unpooled" -> new UnpooledByteBufAllocator(true);
            default -> throw new IllegalArgumentException(name);
        };
    }

    /** Returns the kinds of threads that this JVM supports. */
    static List<String> threadsHere() {
        boolean virtual = Runtime.version().feature() >= JAVA_WITH_VIRTUAL_THREADS;
        return virtual ? List.of("platform", "virtual") : List.of("platform");
    }

    /** Returns a thread factory. Virtual threads are created by reflection, because the code is compiled for Java 17. */
    public static ThreadFactory threads(String name) {
        if (name.equals("platform")) {
            return Thread::new;
        }
        try {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            return (ThreadFactory) Class.forName("java.lang.Thread$Builder")
                    .getMethod("factory")
                    .invoke(builder);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Measures the memory that each allocator keeps after many threads have allocated a few buffers each. */
    static List<Row> sizes() throws InterruptedException {
        List<Row> rows = new ArrayList<>();
        for (String allocator : ALLOCATORS) {
            for (String memory : List.of("heap", "direct")) {
                for (String threads : threadsHere()) {
                    double held = held(allocator(allocator), memory.equals("heap"), threads(threads));
                    Map<String, String> params =
                            new TreeMap<>(Map.of("allocator", allocator, "memory", memory, "threads", threads));
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
