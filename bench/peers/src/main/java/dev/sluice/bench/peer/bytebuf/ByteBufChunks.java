package dev.sluice.bench.peer.bytebuf;

import dev.sluice.bench.peer.Memory;
import dev.sluice.bench.peer.Slice;
import dev.sluice.bench.peer.Tally;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A body as netty buffers. */
public final class ByteBufChunks {
    /** What one read from a socket may bring. */
    private static final int READ = 64 << 10;

    private final List<Slice> slices;
    private final Memory memory;
    private final List<ByteBuf> ready = new ArrayList<>();
    private final Map<Slice, ByteBuf> made = new HashMap<>();
    /** Where in its buffer a chunk begins. */
    private final int[] starts;

    public ByteBufChunks(List<Slice> slices, Memory memory) {
        this.slices = slices;
        this.memory = memory;
        this.starts = new int[slices.size()];
        if (memory == Memory.HEAP || memory == Memory.DIRECT || memory == Memory.SLICES) {
            int most = memory == Memory.SLICES ? READ : 0;
            while (ready.size() < slices.size()) {
                read(most);
            }
        }
    }

    /** The next chunk, and those behind it in the body as long as all are at most so many bytes, as one buffer. */
    private void read(int most) {
        Slice first = slices.get(ready.size());
        int length = 0;
        int to = ready.size();
        do {
            starts[to] = length;
            length += slices.get(to++).length();
        } while (to < slices.size()
                && slices.get(to).array() == first.array()
                && slices.get(to).offset() == first.offset() + length
                && length + slices.get(to).length() <= most);
        // Equal bytes share one buffer: a generated body repeats one block, and tiny chunks are to be hot.
        ByteBuf buffer = made.computeIfAbsent(
                new Slice(first.array(), first.offset(), length), bytes -> filled(bytes, bytes.length()));
        ready.addAll(Collections.nCopies(to - ready.size(), buffer));
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
            case SLICES -> {
                return ready.get(index)
                        .retainedSlice(starts[index], slices.get(index).length());
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
