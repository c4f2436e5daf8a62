package dev.sluice.buffer;

import dev.sluice.testkit.CountingAllocator;
import io.netty.buffer.AdaptiveByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.BiFunction;

/**
 * Buffers of every kind with the same content. Outside the reader and writer index they contain the neighbouring bytes of the body, so
 * code that reads too far finds bytes that would change its result.
 */
enum BufferKind {
    HEAP((body, range) -> window(Unpooled.wrappedBuffer(body), range)),
    POOLED_HEAP((body, range) -> copy(PooledByteBufAllocator.DEFAULT, false, body, range)),
    ADAPTIVE_HEAP((body, range) -> copy(Allocators.ADAPTIVE, false, body, range)),
    DIRECT((body, range) -> copy(UnpooledByteBufAllocator.DEFAULT, true, body, range)),
    POOLED_DIRECT((body, range) -> copy(PooledByteBufAllocator.DEFAULT, true, body, range)),
    ADAPTIVE_DIRECT((body, range) -> copy(Allocators.ADAPTIVE, true, body, range)),
    COUNTED_DIRECT((body, range) -> copy(Allocators.COUNTING, true, body, range)),
    HEAP_SLICE((body, range) -> sliced(copy(PooledByteBufAllocator.DEFAULT, false, body, range))),
    DIRECT_SLICE((body, range) -> sliced(copy(PooledByteBufAllocator.DEFAULT, true, body, range))),
    DIRECT_DUPLICATE((body, range) ->
            copy(PooledByteBufAllocator.DEFAULT, true, body, range).duplicate()),
    DIRECT_RETAINED_SLICE((body, range) -> {
        ByteBuf whole = copy(PooledByteBufAllocator.DEFAULT, true, body, range);
        ByteBuf slice = whole.retainedSlice(0, body.length).setIndex(range[0], range[1]);
        whole.release();
        return slice;
    }),
    READ_ONLY_HEAP((body, range) -> window(Unpooled.wrappedBuffer(body), range).asReadOnly()),
    READ_ONLY_DIRECT((body, range) ->
            copy(PooledByteBufAllocator.DEFAULT, true, body, range).asReadOnly()),
    NIO_READ_ONLY_DIRECT((body, range) -> {
        ByteBuffer direct = ByteBuffer.allocateDirect(body.length).put(body).flip();
        return window(Unpooled.wrappedBuffer(direct.asReadOnlyBuffer()), range);
    }),
    NIO_READ_ONLY_HEAP((body, range) ->
            window(Unpooled.wrappedBuffer(ByteBuffer.wrap(body.clone()).asReadOnlyBuffer()), range)),
    UNRELEASABLE((body, range) -> Unpooled.unreleasableBuffer(window(Unpooled.wrappedBuffer(body), range))),
    COMPOSITE_OF_ONE((body, range) -> window(
            Unpooled.compositeBuffer()
                    .addComponent(true, copy(PooledByteBufAllocator.DEFAULT, true, body, new int[] {0, body.length})),
            range)),
    UNMODIFIABLE_COMPOSITE((body, range) -> {
        int cut = range[0] + (range[1] - range[0]) / 2;
        ByteBuf head = Allocators.COUNTING.directBuffer(body.length).writeBytes(body, 0, cut);
        ByteBuf tail = Allocators.COUNTING.directBuffer(body.length).writeBytes(body, cut, body.length - cut);
        return window(Unpooled.wrappedUnmodifiableBuffer(head, tail), range);
    }),
    COMPOSITE((body, range) -> composite(PooledByteBufAllocator.DEFAULT, body, range)),
    UNTRACKED_COMPOSITE((body, range) -> composite(Allocators.COUNTING, body, range));

    private final BiFunction<byte[], int[], ByteBuf> maker;

    BufferKind(BiFunction<byte[], int[], ByteBuf> maker) {
        this.maker = maker;
    }

    /** Returns a buffer in which body[from, to) is readable. The caller owns it. */
    ByteBuf of(byte[] body, int from, int to) {
        return maker.apply(body, new int[] {from, to});
    }

    ByteBuf of(byte[] body) {
        return of(body, 0, body.length);
    }

    private static final class Allocators {
        static final ByteBufAllocator ADAPTIVE = new AdaptiveByteBufAllocator();
        static final CountingAllocator COUNTING = new CountingAllocator();
    }

    private static ByteBuf copy(ByteBufAllocator allocator, boolean direct, byte[] body, int[] range) {
        int capacity = Math.max(1, body.length);
        ByteBuf buffer = direct ? allocator.directBuffer(capacity) : allocator.heapBuffer(capacity);
        return window(buffer.writeBytes(body), range);
    }

    private static ByteBuf composite(ByteBufAllocator allocator, byte[] body, int[] range) {
        int cut = range[0] + (range[1] - range[0]) / 2;
        ByteBuf whole = allocator
                .compositeBuffer()
                .addComponent(true, Unpooled.wrappedBuffer(Arrays.copyOf(body, cut)))
                .addComponent(true, Unpooled.wrappedBuffer(Arrays.copyOfRange(body, cut, body.length)));
        return window(whole, range);
    }

    private static ByteBuf window(ByteBuf buffer, int[] range) {
        return buffer.setIndex(range[0], range[1]);
    }

    /** Returns a slice that starts at byte 1 if possible, so that its indices differ from the indices of its root. */
    private static ByteBuf sliced(ByteBuf buffer) {
        int skip = Math.min(1, buffer.readerIndex());
        int reader = buffer.readerIndex() - skip;
        int writer = buffer.writerIndex() - skip;
        return buffer.slice(skip, buffer.capacity() - skip).setIndex(reader, writer);
    }
}
