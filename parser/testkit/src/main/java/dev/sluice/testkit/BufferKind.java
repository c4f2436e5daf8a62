package dev.sluice.testkit;

import dev.sluice.testkit.LeakDetection.Mode;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.PoolArenaMetric;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.function.IntFunction;

/**
 * The kinds of buffers that can be fed to a decoder. Their memory is counted exactly: {@link #open()} is 0 if and only
 * if all of it has been released.
 */
public enum BufferKind {
    /** On the heap, with an accessible array. */
    HEAP(Mode.PLAIN, copy(Memory.UNPOOLED::heapBuffer)),
    /** Off the heap. */
    DIRECT(Mode.PLAIN, copy(Memory.UNPOOLED::directBuffer)),
    /** Part of a pooled array, with a nonzero array offset. */
    POOLED_HEAP(Mode.PLAIN, copy(Memory.POOLED::heapBuffer)),
    /** Part of pooled memory off the heap. */
    POOLED_DIRECT(Mode.PLAIN, copy(Memory.POOLED::directBuffer)),
    /** A wrapper around a pooled array, as netty returns when leak detection is on. */
    LEAK_AWARE_HEAP(Mode.COUNTED, copy(Memory.POOLED::heapBuffer)),
    /** A wrapper around pooled memory off the heap, as netty returns when leak detection is on. */
    LEAK_AWARE_DIRECT(Mode.COUNTED, copy(Memory.POOLED::directBuffer)),
    /** A wrapper around a pooled array that records every access, as at netty's level PARANOID. */
    PARANOID_HEAP(Mode.RECORDED, copy(Memory.POOLED::heapBuffer)),
    /** A wrapper around pooled memory off the heap that records every access, as at netty's level PARANOID. */
    PARANOID_DIRECT(Mode.RECORDED, copy(Memory.POOLED::directBuffer)),
    /** A window into a larger heap buffer, with a nonzero reader index and other bytes around it. */
    SLICE_HEAP(Mode.PLAIN, window(Memory.UNPOOLED::heapBuffer)),
    /** A window into a larger direct buffer, with a nonzero reader index and other bytes around it. */
    SLICE_DIRECT(Mode.PLAIN, window(Memory.POOLED::directBuffer)),
    /** Many components of 1 to 7 bytes, alternately on and off the heap. */
    COMPOSITE(Mode.PLAIN, (source, from, to) -> {
        CompositeByteBuf composite = Memory.UNPOOLED.compositeBuffer(Integer.MAX_VALUE);
        for (int at = from, i = 1; at < to; i++) {
            int end = Math.min(to, at + 1 + i * 5 % 7);
            composite.addComponent(true, (i % 2 == 0 ? HEAP : DIRECT).maker.of(source, at, end));
            at = end;
        }
        return composite;
    }),
    /** Read-only, on the heap. Its array is not accessible. */
    READ_ONLY_HEAP(
            Mode.PLAIN, (source, from, to) -> HEAP.maker.of(source, from, to).asReadOnly()),
    /** Read-only, off the heap. */
    READ_ONLY_DIRECT(
            Mode.PLAIN,
            (source, from, to) -> POOLED_DIRECT.maker.of(source, from, to).asReadOnly()),
    /** A wrapper around a read-only {@link ByteBuffer}, such as a mapped file. */
    READ_ONLY_NIO(Mode.PLAIN, (source, from, to) -> {
        // One extra byte: for an empty buffer, netty returns a constant that cannot be released.
        ByteBuffer direct = ByteBuffer.allocateDirect(to - from + 1).put(source, from, to - from);
        return Unpooled.wrappedBuffer(direct.rewind().asReadOnlyBuffer()).writerIndex(to - from);
    });

    private static final int MARGIN = 11;

    private interface Maker {
        ByteBuf of(byte[] source, int from, int to);
    }

    private static final class Memory {
        /** Counts the unpooled memory. Netty never wraps its buffers for leak detection. */
        static final UnpooledByteBufAllocator UNPOOLED = new UnpooledByteBufAllocator(false, true);

        /**
         * One arena for heap memory, one for direct memory, and no thread caches: released memory is free at once, so
         * the count is exact.
         */
        static final PooledByteBufAllocator POOLED = new PooledByteBufAllocator(true, 1, 1, 8192, 3, 0, 0, false) {
            @Override
            protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
                return LeakDetection.withoutWrapperIfPlain(super.newHeapBuffer(initialCapacity, maxCapacity));
            }

            @Override
            protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
                return LeakDetection.withoutWrapperIfPlain(super.newDirectBuffer(initialCapacity, maxCapacity));
            }
        };
    }

    private final Mode mode;
    private final Maker maker;

    BufferKind(Mode mode, Maker maker) {
        this.mode = mode;
        this.maker = maker;
    }

    /**
     * Creates a buffer of this kind.
     *
     * @param source the array to copy from
     * @param from the first index
     * @param to the index after the last one
     * @return a buffer with these readable bytes and a reference count of 1, <em>transferred</em> to the caller
     */
    public ByteBuf wrap(byte[] source, int from, int to) {
        return LeakDetection.with(mode, () -> maker.of(source, from, to));
    }

    /**
     * {@return the memory held by buffers of all kinds and by buffers from their allocators: bytes of unpooled memory
     * plus the number of pooled buffers. Memory held by read-only {@link ByteBuffer}s is not counted}
     */
    public static long open() {
        long pooled = 0;
        for (PoolArenaMetric arena : Memory.POOLED.metric().heapArenas()) {
            pooled += arena.numActiveAllocations();
        }
        for (PoolArenaMetric arena : Memory.POOLED.metric().directArenas()) {
            pooled += arena.numActiveAllocations();
        }
        return Memory.UNPOOLED.metric().usedHeapMemory()
                + Memory.UNPOOLED.metric().usedDirectMemory()
                + pooled;
    }

    private static Maker copy(IntFunction<ByteBuf> allocation) {
        return (source, from, to) -> allocation.apply(to - from).writeBytes(source, from, to - from);
    }

    private static Maker window(IntFunction<ByteBuf> allocation) {
        return (source, from, to) -> {
            ByteBuf parent = allocation.apply(to - from + 2 * MARGIN);
            parent.writeBytes("\r".repeat(MARGIN).getBytes(StandardCharsets.US_ASCII));
            parent.writeBytes(source, from, to - from);
            parent.writeBytes("\n".repeat(MARGIN).getBytes(StandardCharsets.US_ASCII));
            ByteBuf slice = parent.retainedSlice(4, to - from + 2 * MARGIN - 8);
            parent.release();
            return slice.setIndex(MARGIN - 4, MARGIN - 4 + to - from);
        };
    }
}
