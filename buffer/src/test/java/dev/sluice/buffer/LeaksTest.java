package dev.sluice.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.CompositeByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetector.Level;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(ExactLeaks.class)
class LeaksTest {
    @Test
    void aScopeSetsTheLevelAndRestoresTheOneBefore() {
        Level before = ResourceLeakDetector.getLevel();
        for (Level level : Level.values()) {
            LeakLevel scope = LeakLevel.of(level);
            assertEquals(level, ResourceLeakDetector.getLevel());
            assertEquals(level == Level.ADVANCED || level == Level.PARANOID, LeakLevel.recordsTouches());
            scope.close();
            assertEquals(before, ResourceLeakDetector.getLevel());
        }
    }

    @Test
    void aScopeClosedTwiceRestoresOnce() {
        LeakLevel outer = LeakLevel.of(Level.SIMPLE);
        LeakLevel inner = LeakLevel.of(Level.ADVANCED);
        inner.close();
        outer.close();
        inner.close();
        assertEquals(Level.PARANOID, ResourceLeakDetector.getLevel());
    }

    @Test
    void aHintNamesPartAndOffset() {
        assertEquals("part 3, offset 91230", new TouchHint(3, 91230).toHintString());
        assertEquals("offset 12", new TouchHint(-1, 12).toHintString());
    }

    @Test
    void wrappersOfEveryLevelAreLookedThrough() {
        for (Level level : new Level[] {Level.SIMPLE, Level.PARANOID}) {
            LeakLevel scope = LeakLevel.of(level);
            ByteBuf buffer = PooledByteBufAllocator.DEFAULT.directBuffer(8);
            ByteBuf composite = PooledByteBufAllocator.DEFAULT.compositeBuffer();
            scope.close();
            assertSame(buffer.unwrap(), Wrappers.unwrap(buffer));
            assertSame(composite.unwrap(), Wrappers.unwrap(composite));
            assertNotSame(buffer, Wrappers.unwrap(buffer));
            assertEquals(level == Level.PARANOID, Wrappers.records(buffer));
            assertEquals(level == Level.PARANOID, Wrappers.records(composite));
            buffer.release();
            composite.release();
        }
    }

    @Test
    void otherBuffersAreTakenAsTheyAre() {
        ByteBuf buffer = Unpooled.wrappedBuffer(new byte[8]).slice(1, 3);
        assertSame(buffer, Wrappers.unwrap(buffer));
        assertFalse(Wrappers.records(buffer));
    }

    @Test
    void readOnlyViewsAreLookedThrough() {
        ByteBuf buffer = Unpooled.wrappedBuffer(new byte[8]);
        assertSame(buffer, Wrappers.behindReadOnly(buffer.asReadOnly()));
        assertSame(buffer, Wrappers.behindReadOnly(buffer));
        ByteBuf slice = buffer.asReadOnly().slice(2, 3);
        assertTrue(Wrappers.behindReadOnly(slice).hasArray());
        assertEquals(2, Wrappers.behindReadOnly(slice).arrayOffset());
    }

    @Test
    void aWrapperThatNettyNoLongerHasIsNotMissed() {
        assertNull(Wrappers.find("io.netty.buffer.NoSuchByteBuf"));
        assertFalse(Wrappers.isInstance(null, Unpooled.EMPTY_BUFFER));
    }

    @Test
    void aViewAtLevelSimpleKeepsTheTracking() {
        LeakLevel scope = LeakLevel.of(Level.SIMPLE);
        ByteBuf chunk = PooledByteBufAllocator.DEFAULT.directBuffer(8).writeLong(1);
        scope.close();
        ChunkMemory memory = new ChunkMemory();
        memory.open(chunk);
        ByteBuf kept = memory.slice(2, 4, 0, 0).retain();
        memory.close();
        assertEquals(1, CountingDetector.open());
        assertTrue(kept.release());
        assertEquals(0, CountingDetector.open());
    }

    @Test
    void theAllocatorCountsWhatIsNotReleased() {
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
    void theAllocatorCountsCompositeBuffersToo() {
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
    void theAllocatorNamesWhatIsNotReleased() {
        CountingAllocator allocator = new CountingAllocator();
        ByteBuf heap = allocator.heapBuffer(10);
        ByteBuf direct = allocator.directBuffer(20);
        ByteBuf composite = allocator.compositeBuffer();
        heap.slice(1, 2).touch(new TouchHint(3, 912));
        direct.touch("here").retain();
        assertEquals(
                List.of(
                        "composite, capacity 0, refCnt 1",
                        "direct, capacity 20, refCnt 2, here",
                        "heap, capacity 10, refCnt 1, part 3, offset 912"),
                allocator.unreleased().stream().sorted().toList());
        composite.touch("there");
        assertTrue(allocator.unreleased().contains("composite, capacity 0, refCnt 1, there"));
        heap.release();
        direct.release(2);
        composite.release();
        assertEquals(List.of(), allocator.unreleased());
        heap.touch("too late");
        assertEquals(0, allocator.liveCount());
    }
}
