package dev.sluice.fuzz;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;

/** A body in one buffer, of which slices are fed; whoever forgets to release one is found out. */
final class Source {
    private static ByteBuf direct = UnpooledByteBufAllocator.DEFAULT.directBuffer(4096);

    private final ByteBuf memory;

    private Source(ByteBuf memory) {
        this.memory = memory;
    }

    /** {@return the body, on the heap or in memory outside of it that all such sources share, one after the other} */
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

    /** {@return some of the body, <em>transferred</em>} */
    ByteBuf slice(int from, int to) {
        return memory.retainedSlice(from, to - from);
    }

    /** Requires that no slice is held, and no memory of the allocator. */
    void requireNothingHeld(UnpooledByteBufAllocator allocator, Object setup) {
        long memory = allocator.metric().usedHeapMemory();
        if (held() != 0 || memory != 0) {
            throw new AssertionError("left behind: " + held() + " slices, " + memory + " bytes\n" + setup);
        }
    }

    /** {@return how many slices have not been released} */
    int held() {
        return memory.readableBytes() == 0 ? 0 : memory.refCnt() - 1;
    }
}
