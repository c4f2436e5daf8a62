package dev.sluice.bench.jmh;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/** Taking a buffer and giving it back, in one thread, to another thread, and in threads that live for one buffer. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class AllocationBenchmark {
    /** Buffers handed over together, so that the hand-over is not what is measured. */
    static final int BATCH = 256;

    private static final ByteBuf[] NOTHING = {};

    @Param("pooled")
    public String allocator;

    @Param("heap")
    public String memory;

    @Param("8192")
    public int size;

    /** Kind of the threads that live for one buffer: platform, or virtual where the JVM has them. */
    @Param("platform")
    public String threads;

    private ByteBufAllocator pool;
    private ThreadFactory factory;
    private boolean heap;
    private Releaser releaser;
    private ByteBuf[] batch;

    @Setup(Level.Trial)
    public void open() {
        pool = Pools.allocator(allocator);
        factory = Pools.threads(threads);
        heap = memory.equals("heap");
        batch = new ByteBuf[BATCH];
        releaser = new Releaser();
        releaser.start();
        ByteBuf buffer = take();
        if (buffer.hasArray() != heap || buffer.capacity() != size || !buffer.release()) {
            throw new IllegalStateException("not the buffer that was asked for");
        }
    }

    @TearDown(Level.Trial)
    public void close() throws InterruptedException {
        releaser.interrupt();
        releaser.join();
    }

    private ByteBuf take() {
        return heap ? pool.heapBuffer(size) : pool.directBuffer(size);
    }

    @Benchmark
    public boolean sameThread() {
        return take().release();
    }

    /** Buffers are taken here and released by another thread, {@value #BATCH} at a time. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public int acrossThreads() throws InterruptedException {
        for (int i = 0; i < BATCH; i++) {
            batch[i] = take();
        }
        return releaser.releaseAll(batch);
    }

    /** What of {@link #acrossThreads} goes to meeting the other thread: the same without buffers. */
    @Benchmark
    @OperationsPerInvocation(BATCH)
    public int handOver() throws InterruptedException {
        return releaser.releaseAll(NOTHING);
    }

    /** One operation is a thread that lives for one buffer. */
    @Benchmark
    public void shortLivedThread() throws InterruptedException {
        Thread thread = factory.newThread(() -> take().release());
        thread.start();
        thread.join();
    }
}
