package dev.sluice.samples.upload.soak;

import com.sun.management.UnixOperatingSystemMXBean;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.util.internal.PlatformDependent;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.util.Arrays;

/**
 * What a process has in use.
 *
 * @param heap bytes of the heap, without those of netty's pool
 * @param pool bytes of the heap that netty's pool has taken, in chunks, used or not
 * @param ownMemory bytes that the virtual machine itself uses: metaspace and compiled code
 * @param direct bytes of direct buffers, the JDK's and netty's
 * @param threads of the virtual machine
 * @param descriptors open ones, of files and sockets
 */
record Vitals(long heap, long pool, long ownMemory, long direct, long threads, long descriptors) {
    static Vitals now() {
        UnixOperatingSystemMXBean system = (UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long buffers = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
        MemoryMXBean memory = ManagementFactory.getMemoryMXBean();
        long pool = PooledByteBufAllocator.DEFAULT.metric().usedHeapMemory();
        return new Vitals(
                memory.getHeapMemoryUsage().getUsed() - pool,
                pool,
                memory.getNonHeapMemoryUsage().getUsed(),
                buffers + Math.max(PlatformDependent.usedDirectMemory(), 0),
                ManagementFactory.getThreadMXBean().getThreadCount(),
                system.getOpenFileDescriptorCount());
    }

    String toLine() {
        return heap + " " + pool + " " + ownMemory + " " + direct + " " + threads + " " + descriptors;
    }

    static Vitals ofLine(String line) {
        long[] n = Arrays.stream(line.split(" ")).mapToLong(Long::parseLong).toArray();
        return new Vitals(n[0], n[1], n[2], n[3], n[4], n[5]);
    }
}
