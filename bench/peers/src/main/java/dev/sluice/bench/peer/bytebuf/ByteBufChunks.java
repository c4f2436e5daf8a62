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

/** The chunks of a body as Netty buffers. */
public final class ByteBufChunks {
    /** The size of a read from a socket. */
    private static final int READ = 64 << 10;

    private final List<Slice> slices;
    private final Memory memory;
    private final List<ByteBuf> ready = new ArrayList<>();
    private final Map<Slice, ByteBuf> made = new HashMap<>();
    /** The index of each chunk's first byte in its buffer. */
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

    /** Creates one buffer for the next chunk and the chunks after it, up to {@code most} bytes together. */
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
        // Equal slices share one buffer: generated bodies repeat one block, and tiny chunks should stay in the cache.
        ByteBuf buffer = made.computeIfAbsent(
                new Slice(first.array(), first.offset(), length), bytes -> filled(bytes, bytes.length()));
        ready.addAll(Collections.nCopies(to - ready.size(), buffer));
    }

    public int count() {
        return slices.size();
    }

    /** Returns the chunk at an index. The caller must release it once. */
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

    /** Releases the chunks that were created in advance. */
    public void close() {
        for (ByteBuf chunk : made.values()) {
            if (chunk.refCnt() != 1) {
                throw new IllegalStateException(
                        "The parser did not release a chunk; its reference count is " + chunk.refCnt());
            }
            chunk.release();
        }
        made.clear();
        ready.clear();
    }

    /** Adds readable content to the tally without copying it. */
    public static void add(Tally tally, ByteBuf content) {
        if (tally.checks()) {
            for (ByteBuffer piece : content.nioBuffers()) {
                tally.data(piece);
            }
        } else {
            tally.count(content.readableBytes());
        }
    }

    /** @param maxCapacity the maximum capacity: a parser may enlarge the read buffer of a server, but not a shared buffer */
    private ByteBuf filled(Slice slice, int maxCapacity) {
        PooledByteBufAllocator pool = PooledByteBufAllocator.DEFAULT;
        ByteBuf chunk = memory == Memory.HEAP
                ? pool.heapBuffer(slice.length(), maxCapacity)
                : pool.directBuffer(slice.length(), maxCapacity);
        return chunk.writeBytes(slice.array(), slice.offset(), slice.length());
    }
}
