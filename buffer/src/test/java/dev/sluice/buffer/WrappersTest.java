package dev.sluice.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.testkit.LeakDetection;
import dev.sluice.testkit.LeakLevel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.util.ResourceLeakDetector.Level;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(ExactLeaks.class)
class WrappersTest {
    @Test
    void unwrap_leakAwareWrapper_returnsInnerBuffer() {
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
    void unwrap_otherBuffer_returnsItself() {
        ByteBuf buffer = Unpooled.wrappedBuffer(new byte[8]).slice(1, 3);
        assertSame(buffer, Wrappers.unwrap(buffer));
        assertFalse(Wrappers.records(buffer));
    }

    @Test
    void unwrapReadOnly_returnsInnerBuffer() {
        ByteBuf buffer = Unpooled.wrappedBuffer(new byte[8]);
        assertSame(buffer, Wrappers.unwrapReadOnly(buffer.asReadOnly()));
        assertSame(buffer, Wrappers.unwrapReadOnly(buffer));
        ByteBuf slice = buffer.asReadOnly().slice(2, 3);
        assertTrue(Wrappers.unwrapReadOnly(slice).hasArray());
        assertEquals(2, Wrappers.unwrapReadOnly(slice).arrayOffset());
    }

    @Test
    void find_unknownClass_returnsNull() {
        assertNull(Wrappers.find("io.netty.buffer.NoSuchByteBuf"));
        assertFalse(Wrappers.isInstance(null, Unpooled.EMPTY_BUFFER));
    }

    @Test
    void slice_atLevelSimple_isTracked() {
        LeakLevel scope = LeakLevel.of(Level.SIMPLE);
        ByteBuf chunk = PooledByteBufAllocator.DEFAULT.directBuffer(8).writeLong(1);
        scope.close();
        ChunkMemory memory = new ChunkMemory();
        memory.open(chunk);
        ByteBuf kept = memory.slice(2, 4, 0, 0).retain();
        memory.close();
        assertEquals(1, LeakDetection.open());
        assertTrue(kept.release());
        assertEquals(0, LeakDetection.open());
    }
}
