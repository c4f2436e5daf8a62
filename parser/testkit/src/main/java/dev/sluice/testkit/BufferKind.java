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
 * The kinds of buffers that a decoder may be fed. Their memory is counted exactly: {@link #open()} is 0 when, and
 * only when, all of it has been released.
 */
public enum BufferKind {
    /** On the heap, with an accessible array. */
    HEAP(Mode.PLAIN, copy(Memory.UNPOOLED::heapBuffer)),
    /** Outside of the heap. */
    DIRECT(Mode.PLAIN, copy(Memory.UNPOOLED::directBuffer)),
    /** Part of a pooled array, at an array offset other than 0. */
    POOLED_HEAP(Mode.PLAIN, copy(Memory.POOLED::heapBuffer)),
    /** Part of a pooled piece of memory outside of the heap. */
    POOLED_DIRECT(Mode.PLAIN, copy(Memory.POOLED::directBuffer)),
    /** As netty hands out when leaks are looked for: a wrapper around a pooled array. */
    LEAK_AWARE_HEAP(Mode.COUNTED, copy(Memory.POOLED::heapBuffer)),
    /** As netty hands out when leaks are looked for: a wrapper around pooled memory outside of the heap. */
    LEAK_AWARE_DIRECT(Mode.COUNTED, copy(Memory.POOLED::directBuffer)),
    /** As with netty's PARANOID: a wrapper around a pooled array that notes every access. */
    PARANOID_HEAP(Mode.RECORDED, copy(Memory.POOLED::heapBuffer)),
    /** As with netty's PARANOID: a wrapper around pooled memory outside of the heap that notes every access. */
    PARANOID_DIRECT(Mode.RECORDED, copy(Memory.POOLED::directBuffer)),
    /** A window of a larger heap buffer, with a reader index other than 0 and other bytes around. */
    SLICE_HEAP(Mode.PLAIN, window(Memory.UNPOOLED::heapBuffer)),
    /** A window of a larger direct buffer, with a reader index other than 0 and other bytes around. */
    SLICE_DIRECT(Mode.PLAIN, window(Memory.POOLED::directBuffer)),
    /** Many components of 1 to 7 bytes, on the heap and outside of it in turn. */
    COMPOSITE(Mode.PLAIN, (source, from, to) -> {
        CompositeByteBuf composite = Memory.UNPOOLED.compositeBuffer(Integer.MAX_VALUE);
        for (int at = from, i = 1; at < to; i++) {
            int end = Math.min(to, at + 1 + i * 5 % 7);
            composite.addComponent(true, (i % 2 == 0 ? HEAP : DIRECT).maker.of(source, at, end));
            at = end;
        }
        return composite;
    }),
    /** Read-only, on the heap: its array is not accessible. */
    READ_ONLY_HEAP(
            Mode.PLAIN, (source, from, to) -> HEAP.maker.of(source, from, to).asReadOnly()),
    /** Read-only, outside of the heap. */
    READ_ONLY_DIRECT(
            Mode.PLAIN,
            (source, from, to) -> POOLED_DIRECT.maker.of(source, from, to).asReadOnly()),
    /** Around a read-only {@link ByteBuffer}, as a mapped file is. */
    READ_ONLY_NIO(Mode.PLAIN, (source, from, to) -> {
        // One byte more than is readable, because netty has one unreleasable buffer for all empty ones.
        ByteBuffer direct = ByteBuffer.allocateDirect(to - from + 1).put(source, from, to - from);
        return Unpooled.wrappedBuffer(direct.rewind().asReadOnlyBuffer()).writerIndex(to - from);
    });

    private static final int MARGIN = 11;

    /** Makes a buffer with the bytes of an array from one index to before another. */
    private interface Maker {
        ByteBuf of(byte[] source, int from, int to);
    }

    /** Where memory comes from. */
    private static final class Memory {
        /** Counts its memory; its buffers are never wrapped. */
        static final UnpooledByteBufAllocator UNPOOLED = new UnpooledByteBufAllocator(false, true);

        /** One arena each and no thread caches: what is released is free at once, so that the count is exact. */
        static final PooledByteBufAllocator POOLED = new PooledByteBufAllocator(true, 1, 1, 8192, 3, 0, 0, false) {
            @Override
            protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
                return LeakDetection.asAsked(super.newHeapBuffer(initialCapacity, maxCapacity));
            }

            @Override
            protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
                return LeakDetection.asAsked(super.newDirectBuffer(initialCapacity, maxCapacity));
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
     * Makes a buffer of this kind.
     *
     * @param source where its bytes are copied from
     * @param from first of them
     * @param to the one after the last
     * @return a buffer with these readable bytes and a reference count of 1, <em>transferred</em> to the caller
     */
    public ByteBuf wrap(byte[] source, int from, int to) {
        return LeakDetection.with(mode, () -> maker.of(source, from, to));
    }

    /**
     * {@return what buffers of all kinds, and buffers allocated from theirs, still hold: bytes of unpooled memory
     * plus the number of pooled buffers. What a read-only {@link ByteBuffer} holds is not counted}
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

    /** {@return how many accesses to buffers of the two PARANOID kinds have been noted, by all tests so far} */
    public static long recordedAccesses() {
        return LeakDetection.recorded();
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
