package dev.sluice.bench.peer.bytebuf;

import dev.sluice.bench.body.Slice;
import dev.sluice.bench.peer.Memory;
import dev.sluice.bench.peer.Tally;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A body as netty buffers. */
public final class ByteBufChunks {
    private final List<Slice> slices;
    private final Memory memory;
    private final List<ByteBuf> ready = new ArrayList<>();
    private final Map<Slice, ByteBuf> made = new HashMap<>();

    public ByteBufChunks(List<Slice> slices, Memory memory) {
        this.slices = slices;
        this.memory = memory;
        if (memory == Memory.HEAP || memory == Memory.DIRECT) {
            for (Slice slice : slices) {
                // Equal slices share one buffer: a generated body repeats one block, and tiny chunks are to be hot.
                ready.add(made.computeIfAbsent(slice, bytes -> filled(bytes, bytes.length())));
            }
        }
    }

    public int count() {
        return slices.size();
    }

    /** The chunk at this index, to be released once by the caller. */
    public ByteBuf next(int index) {
        switch (memory) {
            case WRAPPED_EACH -> {
                Slice slice = slices.get(index);
                return Unpooled.wrappedBuffer(slice.array(), slice.offset(), slice.length());
            }
            case POOLED_EACH -> {
                return filled(slices.get(index), Integer.MAX_VALUE);
            }
            default -> {
                ByteBuf chunk = ready.get(index);
                return chunk.setIndex(0, chunk.capacity()).retain();
            }
        }
    }

    /** Releases the chunks made ready before. */
    public void close() {
        for (ByteBuf chunk : made.values()) {
            if (chunk.refCnt() != 1) {
                throw new IllegalStateException("a chunk is still held by the parser: " + chunk.refCnt());
            }
            chunk.release();
        }
        made.clear();
        ready.clear();
    }

    /** Tells the tally about readable content without copying it. */
    public static void tell(Tally tally, ByteBuf content) {
        if (tally.checks()) {
            for (ByteBuffer piece : content.nioBuffers()) {
                tally.data(piece);
            }
        } else {
            tally.count(content.readableBytes());
        }
    }

    /** @param maxCapacity up to which its reader may have it grow: a server's read buffer may, a shared one must not */
    private ByteBuf filled(Slice slice, int maxCapacity) {
        PooledByteBufAllocator pool = PooledByteBufAllocator.DEFAULT;
        ByteBuf chunk = memory == Memory.HEAP
                ? pool.heapBuffer(slice.length(), maxCapacity)
                : pool.directBuffer(slice.length(), maxCapacity);
        return chunk.writeBytes(slice.array(), slice.offset(), slice.length());
    }
}
