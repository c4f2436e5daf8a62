package dev.sluice.fuzz;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntSupplier;

/** A body in one buffer. The decoder gets slices of it. The reference count of the buffer shows whether a slice was leaked. */
final class Source {
    private static ByteBuf direct = UnpooledByteBufAllocator.DEFAULT.directBuffer(4096);

    private final ByteBuf memory;

    private Source(ByteBuf memory) {
        this.memory = memory;
    }

    /** {@return the body, on the heap or in direct memory that is reused by all such sources} */
    static Source of(byte[] body, boolean inDirectMemory) {
        if (!inDirectMemory) {
            return new Source(Unpooled.wrappedBuffer(body));
        }
        if (direct.refCnt() != 1) {
            direct = UnpooledByteBufAllocator.DEFAULT.directBuffer(4096);
        }
        return new Source(direct.clear().writeBytes(body));
    }

    int size() {
        return memory.readableBytes();
    }

    /** {@return a range of the body, <em>transferred</em>} */
    ByteBuf slice(int from, int to) {
        return memory.retainedSlice(from, to - from);
    }

    /** {@return the body from an index on, in chunks of these sizes, <em>transferred</em>} */
    List<ByteBuf> chunks(int start, IntSupplier sizes) {
        List<ByteBuf> chunks = new ArrayList<>();
        for (int from = start, to; from < size(); from = to) {
            to = Math.min(size(), from + sizes.getAsInt());
            chunks.add(slice(from, to));
        }
        return chunks;
    }

    /** {@return sizes of which all have the same upper bound, some of them 0} */
    static IntSupplier sizes(SplittableRandom random) {
        int shift = random.nextInt(8);
        return () -> random.nextInt(256) >> shift;
    }

    /** Requires that all slices and all heap memory of the allocator are released. */
    void requireNothingHeld(UnpooledByteBufAllocator allocator, Object setup) {
        long memory = allocator.metric().usedHeapMemory();
        if (held() != 0 || memory != 0) {
            throw new AssertionError("leaked: " + held() + " slices, " + memory + " bytes\n" + setup);
        }
    }

    /** {@return the number of unreleased slices} */
    int held() {
        return memory.readableBytes() == 0 ? 0 : memory.refCnt() - 1;
    }
}
