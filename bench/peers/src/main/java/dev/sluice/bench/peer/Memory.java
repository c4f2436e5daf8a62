package dev.sluice.bench.peer;

/** The memory of the chunks, and when they are created. */
public enum Memory implements Named {
    /** Arrays or pooled heap buffers, created in advance. */
    HEAP,
    /** Pooled direct buffers, created in advance. */
    DIRECT,
    /** Retained slices of pooled direct buffers of 64 KiB, created in each operation, as Netty's HTTP decoder does. */
    SLICES,
    /** Unpooled wrappers of arrays, created in each operation, as in Netty's own benchmark. */
    WRAPPED_EACH,
    /** Pooled direct buffers, allocated, filled and released in each operation, as in a server. */
    POOLED_EACH;

    public static Memory of(String id) {
        return Named.of(Memory.class, id);
    }
}
