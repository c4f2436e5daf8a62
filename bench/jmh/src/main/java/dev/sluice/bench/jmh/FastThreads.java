package dev.sluice.bench.jmh;

import dev.sluice.bench.peer.NettyIsland;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The threads that run the benchmarks. They are of the same class as netty's event loop threads, because only those use the caches of
 * the pooled allocator.
 */
public final class FastThreads extends ThreadPoolExecutor {
    /** Called by JMH with {@code -Djmh.executor=CUSTOM} and the name of this class in {@code -Djmh.executor.class}. */
    public FastThreads(int maxThreads, String prefix) {
        super(maxThreads, maxThreads, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), threads(prefix));
    }

    private static ThreadFactory threads(String prefix) {
        AtomicInteger number = new AtomicInteger();
        return task -> {
            Thread thread = thread(task, prefix + "-" + WorkerCpu.WORKER + "-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    private static Thread thread(Runnable task, String name) {
        if (!Boolean.getBoolean(NettyIsland.THREADS_OF_41)) {
            return new FastThreadLocalThread(task, name);
        }
        try {
            return (Thread) NettyIsland.netty41()
                    .loadClass(FastThreadLocalThread.class.getName())
                    .getConstructor(Runnable.class, String.class)
                    .newInstance(task, name);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
