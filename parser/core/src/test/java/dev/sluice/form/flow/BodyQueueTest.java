package dev.sluice.form.flow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.testkit.BufferKind;
import dev.sluice.testkit.LeakCheck;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** {@link BodyQueue} and {@link KeptMemory}. */
@ExtendWith(LeakCheck.class)
class BodyQueueTest {
    private static final int READ = 64 << 10;

    private final WaitingMemory memory = new WaitingMemory(64 << 20);
    private final BodyQueue queue = new BodyQueue(memory);

    private static ByteBuf read(int size) {
        return PooledByteBufAllocator.DEFAULT.directBuffer(READ, READ).writeZero(size);
    }

    @AfterEach
    void nothingIsCounted() {
        queue.clear();
        assertEquals(0, memory.bytes());
        assertEquals(BodyQueue.WINDOW, queue.room());
    }

    @Test
    void sliceOfAShortRead_isCopied() {
        ByteBuf read = read(READ / 2).setByte(1000, 'a');
        ByteBuf slice = read.retainedSlice(1000, 20);
        slice.readByte();
        queue.add(slice);
        assertEquals(1, read.refCnt());
        read.release();
        assertEquals(19 + BodyQueue.OVERHEAD, memory.bytes());
    }

    @Test
    void sliceOfAFullRead_andWholeBuffer_areNotCopied() {
        ByteBuf read = read(READ / 2 + 1);
        ByteBuf slice = read.readRetainedSlice(20);
        ByteBuf whole = read(1);
        queue.add(slice);
        queue.add(whole);
        assertEquals(2 * (READ + BodyQueue.OVERHEAD), memory.bytes());
        for (ByteBuf added : List.of(slice, whole)) {
            assertSame(added, queue.peek());
            queue.remove().release();
            queue.decoded();
        }
        read.release();
    }

    @Test
    void slicesOfOneRead_countItOnce() {
        ByteBuf read = read(READ);
        for (int i = 0; i < 8; i++) {
            queue.add(read.readRetainedSlice(READ / 8));
        }
        read.release();
        assertEquals(READ + 7 * READ / 8 + 8 * BodyQueue.OVERHEAD, memory.bytes());
        queue.remove().release();
        queue.decoded();
        assertEquals(7 * (READ / 8 + BodyQueue.OVERHEAD), memory.bytes());
    }

    @Test
    void clear_afterAReleaseTooMany_countsNothing() {
        ByteBuf released = read(1);
        queue.add(released);
        queue.add(read(1));
        released.release();
        queue.clear();
    }

    /** A codec may append the next read to the buffer of the previous one. */
    @Test
    void readThatGrows_countsTheSame() {
        ByteBuf read = PooledByteBufAllocator.DEFAULT.directBuffer(144).writeZero(100);
        queue.add(read.readRetainedSlice(50));
        read.writeZero(50).release();
        assertTrue(read.capacity() > 144);
    }

    /** A client can fill a read with chunk extensions, so that it contains few bytes of the body. */
    @Test
    void fewBytesOfEachRead_fillTheWindow() {
        List<ByteBuf> reads = new ArrayList<>();
        while (queue.room() > 0 && reads.size() < 100) {
            reads.add(read(READ));
            queue.add(reads.get(reads.size() - 1).retainedSlice(7, 1));
        }
        assertEquals(BodyQueue.WINDOW / READ, reads.size());
        reads.forEach(ByteBuf::release);
    }

    /** A client can send each byte of the body as a chunk of HTTP. */
    @Test
    void singleBytesOfOneRead_fillTheWindow() {
        ByteBuf read = read(READ);
        int count = 0;
        while (queue.room() > 0 && count < READ) {
            queue.add(read.retainedSlice(count++, 1));
        }
        read.release();
        assertTrue(count * BodyQueue.OVERHEAD <= BodyQueue.WINDOW, count + " chunks");
    }

    @Test
    void partOfAnArray_countsAsTheWholeArray() { // a buffer of WebFlux on Tomcat
        queue.add(Unpooled.wrappedBuffer(new byte[8192], 0, 1));
        assertEquals(8192 + BodyQueue.OVERHEAD, memory.bytes());
    }

    @ParameterizedTest
    @EnumSource
    void keptMemory_ofASlice_isTheMemoryOfItsBuffer(BufferKind kind) {
        ByteBuf buffer = kind.wrap(new byte[100], 0, 100);
        ByteBuf slice = buffer.slice(10, 1).duplicate().asReadOnly();
        assertSame(KeptMemory.root(buffer), KeptMemory.root(slice));
        assertTrue(KeptMemory.of(slice) >= 100);
        buffer.release();
    }

    @Test
    void keptMemory_ofAComposite_isTheMemoryOfItsComponents() {
        ByteBuf read = read(READ);
        ByteBuf composite = Unpooled.wrappedBuffer(read.retainedSlice(0, 10), read.retainedSlice(20, 10), read(1));
        assertEquals(3 * READ, KeptMemory.of(composite.slice(3, 1)));
        assertSame(read, KeptMemory.compact(read));
        ByteBuf copy = KeptMemory.compact(composite.slice(0, 20));
        assertEquals(20, KeptMemory.of(copy));
        assertEquals(1, read.refCnt());
        read.release();
        copy.release();
    }
}
