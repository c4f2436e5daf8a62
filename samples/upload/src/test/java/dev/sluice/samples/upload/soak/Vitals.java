package dev.sluice.samples.upload.soak;

import com.sun.management.UnixOperatingSystemMXBean;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.internal.PlatformDependent;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.lang.management.ThreadMXBean;

/**
 * What a process has in use. Sizes in bytes.
 *
 * @param heap of the heap, without netty's pool; after a collection, if one was asked for
 * @param pool of the heap that netty's pool has taken, in chunks, used or not
 * @param ownMemory that the virtual machine itself uses: metaspace and compiled code
 * @param direct of direct buffers, the JDK's and netty's
 * @param threads of the virtual machine that run now
 * @param peakThreads the most that ever ran at once
 * @param descriptors open ones, of files and sockets
 * @param mostDescriptors that may be open
 * @param budget what forms have charged to the memory budget, where the process tells
 * @param bodyBytes bytes of bodies that have been taken from clients so far, where the process tells
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
        long budget,
        long bodyBytes) {
    public static Vitals now(long budget, long bodyBytes) {
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
                budget,
                bodyBytes);
    }
}
