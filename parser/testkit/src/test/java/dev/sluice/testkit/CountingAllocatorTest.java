package dev.sluice.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import java.util.List;
import org.junit.jupiter.api.Test;

class CountingAllocatorTest {
    @Test
    void liveBuffers_areCounted() {
        CountingAllocator allocator = new CountingAllocator();
        ByteBuf heap = allocator.buffer(10);
        ByteBuf direct = allocator.directBuffer(20);
        assertEquals(2, allocator.liveCount());
        assertEquals(30, allocator.liveBytes());
        ByteBuf slice = direct.retainedSlice(0, 5);
        direct.release();
        assertEquals(2, allocator.liveCount());
        slice.release();
        assertEquals(1, allocator.liveCount());
        heap.capacity(100);
        assertEquals(100, allocator.liveBytes());
        heap.release();
        assertEquals(0, allocator.liveCount());
        assertEquals(0, allocator.liveBytes());
        assertFalse(allocator.isDirectBufferPooled());
    }

    @Test
    void compositeBuffers_areCounted() {
        CountingAllocator allocator = new CountingAllocator();
        CompositeByteBuf heap = allocator.compositeHeapBuffer(4);
        CompositeByteBuf direct = allocator.compositeDirectBuffer(4);
        heap.addComponent(true, allocator.heapBuffer(10).writeZero(10));
        assertEquals(3, allocator.liveCount());
        heap.release();
        assertEquals(1, allocator.liveCount());
        direct.release();
        assertEquals(0, allocator.liveCount());
    }

    @Test
    void unreleasedBuffers_areListed() {
        CountingAllocator allocator = new CountingAllocator();
        ByteBuf heap = allocator.heapBuffer(10);
        ByteBuf direct = allocator.directBuffer(20);
        ByteBuf composite = allocator.compositeBuffer();
        direct.retain();
        assertEquals(
                List.of(
                        "composite, capacity 0, refCnt 1",
                        "direct, capacity 20, refCnt 2",
                        "heap, capacity 10, refCnt 1"),
                allocator.unreleased().stream().sorted().toList());
        heap.release();
        direct.release(2);
        composite.release();
        assertEquals(List.of(), allocator.unreleased());
    }
}
