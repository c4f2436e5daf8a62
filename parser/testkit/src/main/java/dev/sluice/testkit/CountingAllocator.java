package dev.sluice.testkit;

import io.netty.buffer.AbstractByteBufAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.netty.buffer.UnpooledHeapByteBuf;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * An allocator of unpooled buffers that counts unreleased buffers exactly and at once, without waiting for the garbage
 * collector. Thread-safe; each allocation and release takes a short lock.
 */
public final class CountingAllocator extends AbstractByteBufAllocator {
    private final Map<ByteBuf, String> live = Collections.synchronizedMap(new IdentityHashMap<>());

    /** Creates an allocator without buffers. {@code buffer()} returns heap buffers. */
    public CountingAllocator() {
        super(false);
    }

    public int liveCount() {
        return live.size();
    }

    /** {@return the capacity of all unreleased buffers, in bytes; a composite buffer counts in addition to its components} */
    public long liveBytes() {
        synchronized (live) {
            return live.keySet().stream().mapToLong(ByteBuf::capacity).sum();
        }
    }

    /** {@return a line for each unreleased buffer: its kind, capacity and reference count} */
    public List<String> unreleased() {
        List<String> lines = new ArrayList<>();
        synchronized (live) {
            live.forEach((buffer, kind) ->
                    lines.add(kind + ", capacity " + buffer.capacity() + ", refCnt " + buffer.refCnt()));
        }
        return lines;
    }

    @Override
    public boolean isDirectBufferPooled() {
        return false;
    }

    @Override
    protected ByteBuf newHeapBuffer(int initialCapacity, int maxCapacity) {
        return track(new Heap(initialCapacity, maxCapacity), "heap");
    }

    @Override
    protected ByteBuf newDirectBuffer(int initialCapacity, int maxCapacity) {
        return track(new Direct(initialCapacity, maxCapacity), "direct");
    }

    @Override
    public CompositeByteBuf compositeHeapBuffer(int maxNumComponents) {
        return track(new Composite(false, maxNumComponents), "composite");
    }

    @Override
    public CompositeByteBuf compositeDirectBuffer(int maxNumComponents) {
        return track(new Composite(true, maxNumComponents), "composite");
    }

    private <B extends ByteBuf> B track(B buffer, String kind) {
        live.put(buffer, kind);
        return buffer;
    }

    private final class Heap extends UnpooledHeapByteBuf {
        Heap(int initialCapacity, int maxCapacity) {
            super(CountingAllocator.this, initialCapacity, maxCapacity);
        }

        @Override
        protected void deallocate() {
            live.remove(this);
            super.deallocate();
        }
    }

    private final class Direct extends UnpooledDirectByteBuf {
        Direct(int initialCapacity, int maxCapacity) {
            super(CountingAllocator.this, initialCapacity, maxCapacity);
        }

        @Override
        protected void deallocate() {
            live.remove(this);
            super.deallocate();
        }
    }

    private final class Composite extends CompositeByteBuf {
        Composite(boolean direct, int maxNumComponents) {
            super(CountingAllocator.this, direct, maxNumComponents);
        }

        @Override
        protected void deallocate() {
            live.remove(this);
            super.deallocate();
        }
    }
}
