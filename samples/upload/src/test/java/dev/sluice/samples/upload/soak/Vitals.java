package dev.sluice.samples.upload.soak;

import com.sun.management.UnixOperatingSystemMXBean;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.internal.PlatformDependent;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.management.ThreadMXBean;

/**
 * The resources in use by a process. Sizes are in bytes.
 *
 * @param heap used heap without netty's pool; after a garbage collection if one was requested
 * @param pool heap chunks of netty's pool, used or not
 * @param ownMemory memory of the JVM itself: metaspace and compiled code
 * @param direct direct buffers of the JDK and of netty
 * @param threads live threads of the JVM
 * @param peakThreads the largest number of live threads so far
 * @param descriptors open files and sockets
 * @param mostDescriptors the limit of open descriptors
 * @param budget bytes charged to the memory budget, if the process reports it
 */
public record Vitals(
        long heap,
        long pool,
        long ownMemory,
        long direct,
        long threads,
        long peakThreads,
        long descriptors,
        long mostDescriptors,
        long budget) {
    public static Vitals now(long budget) {
        UnixOperatingSystemMXBean system = (UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        long buffers = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
        long pool = PooledByteBufAllocator.DEFAULT.metric().usedHeapMemory();
        return new Vitals(
                memory.getHeapMemoryUsage().getUsed() - pool,
                pool,
                memory.getNonHeapMemoryUsage().getUsed(),
                buffers + Math.max(PlatformDependent.usedDirectMemory(), 0),
                threads.getThreadCount(),
                threads.getPeakThreadCount(),
                system.getOpenFileDescriptorCount(),
                system.getMaxFileDescriptorCount(),
                budget);
    }
}
