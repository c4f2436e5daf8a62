package dev.sluice.bench.jmh;

import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.List;
import java.util.concurrent.ThreadFactory;

/** Netty's allocators, each a fresh one with its own memory, and the threads that take buffers from them. */
public final class Pools {
    public static final List<String> ALLOCATORS = List.of("pooled", "adaptive", "unpooled");

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

    /** The kinds of threads that the running JVM has. */
    public static List<String> threadsHere() {
        boolean virtual = Runtime.version().feature() >= JAVA_WITH_VIRTUAL_THREADS;
        return virtual ? List.of("platform", "virtual") : List.of("platform");
    }

    /** Virtual ones by reflection: the classes are compiled for Java 17. */
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
}
