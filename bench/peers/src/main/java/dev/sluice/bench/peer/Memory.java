package dev.sluice.bench.peer;

/** Where the chunks lie that a parser is fed with, and when they are made. */
public enum Memory implements Named {
    /** Made before the clock runs: arrays, or pooled heap buffers. */
    HEAP,
    /** Made before the clock runs: pooled direct buffers. */
    DIRECT,
    /** As Netty's HTTP decoder hands them on: retained slices of pooled direct buffers of 64 KiB, sliced in each operation. */
    SLICES,
    /** Unpooled wrappers around arrays, made anew in each operation, as netty's own benchmark does. */
    WRAPPED_EACH,
    /** Pooled direct buffers, allocated, filled and released in each operation: what a server sees. */
    POOLED_EACH;

    public static Memory of(String id) {
        return Named.of(Memory.class, id);
    }
}
