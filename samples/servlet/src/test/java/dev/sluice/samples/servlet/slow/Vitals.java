package dev.sluice.samples.servlet.slow;

import com.sun.management.UnixOperatingSystemMXBean;
import io.netty.util.internal.PlatformDependent;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/**
 * What a process has in use. Sizes in bytes.
 *
 * @param heap used of the heap; after a collection, if one was asked for
 * @param direct memory of direct buffers, the JDK's and netty's
 * @param threads of the virtual machine that run now
 * @param peakThreads the most that ever ran at once
 * @param descriptors open ones, of files and sockets
 * @param mostDescriptors that may be open
 * @param budget what forms have charged to the memory budget
 * @param bodyBytes bytes of bodies that have been taken from clients so far
 */
record Vitals(
        long heap,
        long direct,
        long threads,
        long peakThreads,
        long descriptors,
        long mostDescriptors,
        long budget,
        long bodyBytes) {
    static Vitals now(long budget, long bodyBytes) {
        UnixOperatingSystemMXBean system = (UnixOperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        long buffers = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
        return new Vitals(
                ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed(),
                buffers + Math.max(PlatformDependent.usedDirectMemory(), 0),
                ManagementFactory.getThreadMXBean().getThreadCount(),
                ManagementFactory.getThreadMXBean().getPeakThreadCount(),
                system.getOpenFileDescriptorCount(),
                system.getMaxFileDescriptorCount(),
                budget,
                bodyBytes);
    }

    String toLine() {
        return LongStream.of(heap, direct, threads, peakThreads, descriptors, mostDescriptors, budget, bodyBytes)
                .mapToObj(Long::toString)
                .collect(Collectors.joining(" "));
    }

    static Vitals ofLine(String line) {
        long[] n = Arrays.stream(line.split(" ")).mapToLong(Long::parseLong).toArray();
        return new Vitals(n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7]);
    }
}
