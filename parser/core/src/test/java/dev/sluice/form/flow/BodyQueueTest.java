package dev.sluice.form.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.sluice.form.storage.UnchargedMemory;
import dev.sluice.testkit.LeakCheck;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(LeakCheck.class)
class BodyQueueTest {
    private final UnchargedMemory memory = new UnchargedMemory(64 << 20);
    private final BodyQueue queue = new BodyQueue(memory);

    private static ByteBuf read(int size) {
        return PooledByteBufAllocator.DEFAULT.directBuffer(2048, 2048).writeZero(size);
    }

    @Test
    void sliceOfAShortRead_isCopied() {
        ByteBuf read = read(1024).setByte(1000, 'a');
        ByteBuf slice = read.retainedSlice(1000, 20);
        slice.readByte();
        queue.add(slice);
        assertEquals(1, read.refCnt());
        read.release();
        assertEquals(19, memory.waiting());
        queue.clear();
        assertEquals(0, memory.waiting());
    }

    @Test
    void sliceOfAFullRead_andWholeBuffer_areNotCopied() {
        ByteBuf read = read(1025);
        ByteBuf slice = read.readRetainedSlice(20);
        ByteBuf whole = read(1);
        queue.add(slice);
        queue.add(whole);
        assertSame(slice, queue.remove());
        assertSame(whole, queue.remove());
        assertEquals(20 + 2048, memory.waiting());
        slice.release();
        whole.release();
        read.release();
    }
}
