package dev.sluice.buffer;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.sluice.testkit.LeakDetection;
import dev.sluice.testkit.LeakLevel;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.buffer.UnpooledDirectByteBuf;
import io.netty.buffer.UnpooledHeapByteBuf;
import io.netty.util.IllegalReferenceCountException;
import io.netty.util.ResourceLeakDetector;
import io.netty.util.ResourceLeakDetector.Level;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@ExtendWith(ExactLeaks.class)
class ChunkMemoryTest {
    private static final byte[] BODY = bytes(1000);

    private final ChunkMemory memory = new ChunkMemory();

    @ParameterizedTest
    @EnumSource
    void bytes_betweenIndices_areRead(BufferKind kind) {
        ByteBuf chunk = kind.of(BODY, 10, 900);
        memory.open(chunk);
        assertTrue(memory.isOpen());
        assertSame(chunk, memory.chunk());
        assertEquals(890, memory.end() - memory.start());
        for (int i = memory.start(); i < memory.end(); i++) {
            assertEquals(BODY[i - memory.start() + 10], memory.getByte(i));
        }
        byte[] copy = new byte[892];
        memory.copyTo(memory.start(), copy, 1, 890);
        assertEquals(Unpooled.wrappedBuffer(BODY, 10, 890), Unpooled.wrappedBuffer(copy, 1, 890));
        assertEquals(0, copy[0]);
        assertEquals(0, copy[891]);
        memory.close();
    }

    @ParameterizedTest
    @EnumSource
    void bytes_outsideIndices_areRejected(BufferKind kind) {
        memory.open(kind.of(BODY, 10, 900));
        int start = memory.start();
        int end = memory.end();
        assertThrows(IndexOutOfBoundsException.class, () -> memory.getByte(start - 1));
        assertThrows(IndexOutOfBoundsException.class, () -> memory.getByte(end));
        assertThrows(IndexOutOfBoundsException.class, () -> memory.copyTo(start - 1, new byte[9], 0, 2));
        assertThrows(IndexOutOfBoundsException.class, () -> memory.copyTo(end - 1, new byte[9], 0, 2));
        assertThrows(IndexOutOfBoundsException.class, () -> memory.copyTo(end, new byte[9], 0, -1));
        assertThrows(IndexOutOfBoundsException.class, () -> memory.slice(end - 1, 2, 0, 0));
        assertThrows(IndexOutOfBoundsException.class, () -> memory.slice(start - 1, 2, 0, 0));
        memory.close();
    }

    @ParameterizedTest
    @EnumSource
    void word_isFound_atItsIndexOnly(BufferKind kind) {
        byte[] body = new byte[100];
        Arrays.fill(body, 66, 74, (byte) 'w'); // WORD_STRIDE after the start
        memory.open(kind.of(body, 10, 100));
        int start = memory.start();
        int end = memory.end();
        long value = Swar.repeat((byte) 'w');
        assertTrue(memory.mayHaveWord(start, end, -1, value));
        assertEquals(!memory.isFlat(), memory.mayHaveWord(start + 1, end, -1, value));
        assertThrows(IndexOutOfBoundsException.class, () -> memory.mayHaveWord(start - 1, end, -1, value));
        assertThrows(IndexOutOfBoundsException.class, () -> memory.mayHaveWord(start, end + 1, -1, value));
        memory.close();
    }

    @ParameterizedTest
    @EnumSource
    void chunk_isNotModified(BufferKind kind) {
        ByteBuf chunk = kind.of(BODY, 10, 900);
        chunk.retain();
        byte[] before = bytesOf(chunk);
        int reader = chunk.readerIndex();
        int writer = chunk.writerIndex();
        memory.open(chunk);
        new DelimiterSearch(Delimiter.of("boundary".getBytes(US_ASCII)), false, 0, DelimiterSearch.MAX_KERNEL_INDEX)
                .find(memory, memory.start(), memory.end());
        memory.slice(memory.start() + 5, 20, -1, -1).skipBytes(3);
        memory.close();
        assertEquals(reader, chunk.readerIndex());
        assertEquals(writer, chunk.writerIndex());
        assertArrayEquals(before, bytesOf(chunk));
        chunk.release();
    }

    @ParameterizedTest
    @EnumSource
    void close_repeated_releasesOnce(BufferKind kind) {
        ByteBuf chunk = kind.of(BODY);
        chunk.retain();
        int count = chunk.refCnt();
        memory.open(chunk);
        memory.close();
        memory.close();
        assertFalse(memory.isOpen());
        assertEquals(0, memory.start());
        assertEquals(0, memory.end());
        assertEquals(kind == BufferKind.UNRELEASABLE ? count : count - 1, chunk.refCnt());
        chunk.release();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void open_bufferThrows_releasesChunk(boolean halfway) {
        ByteBuf broken = new UnpooledHeapByteBuf(UnpooledByteBufAllocator.DEFAULT, 8, 8) {
            @Override
            public boolean hasArray() {
                return halfway || arrayOffset() > 0;
            }

            @Override
            public int arrayOffset() {
                if (halfway) {
                    throw new UnsupportedOperationException("not supported by this buffer");
                }
                throw new OutOfMemoryError("thrown by the test");
            }
        };
        Class<? extends Throwable> thrown = halfway ? UnsupportedOperationException.class : OutOfMemoryError.class;
        assertThrows(thrown, () -> memory.borrow(broken));
        assertEquals(1, broken.refCnt());
        assertThrows(thrown, () -> memory.open(broken));
        assertEquals(0, broken.refCnt());
        assertFalse(memory.isOpen());
        memory.open(Unpooled.directBuffer().writeBytes(BODY));
        assertEquals(BODY[5], memory.getByte(5));
        memory.close();
    }

    @ParameterizedTest
    @EnumSource
    void slice_retained_survivesClose(BufferKind kind) {
        memory.open(kind.of(BODY, 10, 900));
        ByteBuf plain = memory.slice(memory.start() + 40, 100, -1, -1).retain();
        ByteBuf named = memory.slice(memory.start() + 40, 100, 3, 912).retain();
        memory.close();
        assertEquals(Unpooled.wrappedBuffer(BODY, 50, 100), plain);
        assertEquals(plain, named);
        plain.release();
        named.release();
    }

    @Test
    void open_twice_releasesSecondChunk() {
        memory.open(BufferKind.POOLED_DIRECT.of(BODY));
        ByteBuf second = BufferKind.POOLED_DIRECT.of(BODY);
        assertThrows(IllegalStateException.class, () -> memory.open(second));
        assertEquals(0, second.refCnt());
        assertTrue(memory.isOpen());
        memory.close();
    }

    @Test
    void borrow_leavesReferenceToCaller() {
        ByteBuf chunk = BufferKind.POOLED_DIRECT.of(BODY);
        memory.borrow(chunk);
        assertEquals(BODY[5], memory.getByte(5));
        assertThrows(IllegalStateException.class, () -> memory.borrow(chunk));
        memory.detach();
        assertFalse(memory.isOpen());
        assertEquals(1, chunk.refCnt());
        chunk.release();
    }

    @Test
    void open_releasedChunk_isRejected() {
        for (BufferKind kind : new BufferKind[] {BufferKind.HEAP, BufferKind.POOLED_DIRECT, BufferKind.COMPOSITE}) {
            ByteBuf chunk = kind.of(BODY);
            chunk.release();
            assertThrows(IllegalReferenceCountException.class, () -> memory.open(chunk));
            assertFalse(memory.isOpen());
        }
    }

    @Test
    void reads_withoutChunk_areRejected() {
        assertFalse(memory.isOpen());
        assertThrows(IllegalStateException.class, memory::chunk);
        assertThrows(IndexOutOfBoundsException.class, () -> memory.getByte(0));
        assertThrows(IllegalStateException.class, () -> memory.slice(0, 0, 0, 0));
        memory.refresh();
        memory.close();
    }

    @Test
    void emptyChunk_isRead() {
        for (BufferKind kind : BufferKind.values()) {
            memory.open(kind.of(BODY, 500, 500));
            assertEquals(memory.start(), memory.end());
            DelimiterSearch search = new DelimiterSearch(Delimiter.of("x".getBytes(US_ASCII)), true);
            assertEquals(memory.start(), search.find(memory, memory.start(), memory.end()));
            assertEquals(0, search.matchEnd());
            memory.close();
        }
        memory.open(Unpooled.EMPTY_BUFFER);
        assertEquals(0, memory.end());
        memory.close();
    }

    @Test
    void refresh_internalBufferMoved_restoresLimit() {
        for (BufferKind kind :
                new BufferKind[] {BufferKind.DIRECT, BufferKind.POOLED_DIRECT, BufferKind.ADAPTIVE_DIRECT}) {
            memory.open(kind.of(BODY, 10, 900));
            memory.chunk().internalNioBuffer(0, 5);
            memory.refresh();
            assertEquals(BODY[899], memory.getByte(memory.end() - 1));
            assertEquals(BODY[10], memory.getByte(memory.start()));
            memory.close();
        }
    }

    @Test
    void derivedBuffer_internalBufferOfRootIsNotUsed() {
        ByteBuf root = BufferKind.POOLED_DIRECT.of(BODY);
        ByteBuf inner = root.unwrap();
        int position = inner.internalNioBuffer(7, 5).position();
        for (ByteBuf derived : new ByteBuf[] {
            root.retainedSlice(),
            root.retainedDuplicate(),
            root.retain().asReadOnly(),
            Unpooled.compositeBuffer().addComponent(true, root.retain())
        }) {
            memory.open(derived);
            assertTrue(memory.isFlat());
            assertEquals(BODY[999], memory.getByte(memory.end() - 1));
            memory.close();
        }
        assertEquals(position, inner.internalNioBuffer(7, 5).position());
        memory.open(root);
        assertTrue(memory.isFlat());
        memory.close();
    }

    /** An event loop passes on a slice of its buffer and receives more bytes into the rest while the slice is read. */
    @Test
    void slice_rootReceivesConcurrently_isRead() throws Exception {
        int piece = 50;
        for (int round = 0; round < 200; round++) {
            ByteBuf root = PooledByteBufAllocator.DEFAULT.directBuffer(BODY.length);
            BlockingQueue<ByteBuf> received = new LinkedBlockingQueue<>();
            Thread loop = new Thread(() -> {
                for (int at = 0; at < BODY.length; at += piece) {
                    root.internalNioBuffer(at, piece).put(BODY, at, piece);
                    root.writerIndex(at + piece);
                    received.add(root.readRetainedSlice(piece));
                    root.internalNioBuffer(0, 1); // moves the internal buffer, as a decoder in the event loop may do
                }
            });
            loop.start();
            for (int at = 0; at < BODY.length; at += piece) {
                memory.open(received.take());
                byte[] copy = new byte[piece];
                memory.copyTo(0, copy, 0, piece);
                assertEquals(Unpooled.wrappedBuffer(BODY, at, piece), Unpooled.wrappedBuffer(copy));
                assertEquals(BODY[at + piece - 1], memory.getByte(piece - 1));
                memory.close();
            }
            loop.join();
            root.release();
        }
    }

    @Test
    void memory_freedAndReused_isReadCorrectly() {
        Random random = new Random(7);
        for (int round = 0; round < 500; round++) {
            int size = 1 + random.nextInt(100_000);
            ByteBuf root = (round % 2 == 0 ? PooledByteBufAllocator.DEFAULT : UnpooledByteBufAllocator.DEFAULT)
                    .directBuffer(size);
            root.setByte(size - 1, round).setIndex(size - 1, size);
            memory.open(round % 3 == 0 ? root.slice() : root.duplicate());
            assertEquals((byte) round, memory.getByte(memory.end() - 1));
            memory.close();
        }
    }

    /** On JDK 25, reading a view of a closed arena throws. The test uses an empty view, which throws on every JDK. */
    @Test
    void view_freedMemory_isNotReadable() {
        assertTrue(ChunkMemory.isReadable(ByteBuffer.allocateDirect(2), 1));
        assertFalse(ChunkMemory.isReadable(ByteBuffer.allocateDirect(0), 0));
        memory.open(Unpooled.directBuffer(0).duplicate());
        assertTrue(memory.isFlat());
        memory.close();
    }

    /** A {@code ByteBuf} that is not from Netty may unwrap to a buffer with unrelated memory. */
    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true"})
    void foreignBuffer_withUnrelatedInnerBuffer_isRead(boolean address, boolean direct) {
        ByteBuf inside = direct ? Unpooled.directBuffer(8) : Unpooled.buffer(8);
        ByteBuf chunk = new UnpooledDirectByteBuf(UnpooledByteBufAllocator.DEFAULT, 1000, 1000) {
            @Override
            public boolean hasMemoryAddress() {
                return address;
            }

            @Override
            public long memoryAddress() {
                return 1000;
            }

            @Override
            public ByteBuf unwrap() {
                return inside;
            }
        };
        memory.open(chunk.writeBytes(BODY));
        assertTrue(memory.isFlat());
        assertEquals(BODY[999], memory.getByte(999));
        memory.close();
        inside.release();
    }

    @Test
    void isFlat_compositeOrReadOnlyNioHeap_isFalse() {
        for (BufferKind kind : BufferKind.values()) {
            memory.open(kind.of(BODY));
            boolean general = EnumSet.of(
                            BufferKind.COMPOSITE,
                            BufferKind.UNTRACKED_COMPOSITE,
                            BufferKind.UNMODIFIABLE_COMPOSITE,
                            BufferKind.NIO_READ_ONLY_HEAP)
                    .contains(kind);
            assertEquals(!general, memory.isFlat(), kind.name());
            memory.close();
        }
    }

    @Test
    void reads_leaveNoLeakRecords() {
        for (BufferKind kind : BufferKind.values()) {
            ByteBuf chunk = kind.of(BODY, 10, 900);
            long before = LeakDetection.recorded();
            memory.open(chunk);
            DelimiterSearch search = new DelimiterSearch(
                    Delimiter.of("xyz".getBytes(US_ASCII)), false, 0, DelimiterSearch.MAX_KERNEL_INDEX);
            int at = search.find(memory, memory.start(), memory.end());
            assertEquals(memory.end(), at + search.matchEnd());
            for (int i = memory.start(); i < memory.end(); i++) {
                memory.getByte(i);
            }
            memory.copyTo(memory.start(), new byte[10], 0, 10);
            ByteBuf slice = memory.slice(memory.start(), 100, 0, 0);
            assertEquals(BODY[10], slice.readByte());
            slice.readBytes(new byte[9]);
            slice.forEachByte(b -> true);
            memory.slice(memory.start(), 100, -1, -1).getByte(0);
            memory.refresh();
            assertEquals(before, LeakDetection.recorded(), kind.name());
            memory.close();
            long recorded = LeakDetection.recorded() - before;
            assertEquals(recordsOfARelease(kind), recorded, kind.name());
        }
    }

    private static long recordsOfARelease(BufferKind kind) {
        ByteBuf chunk = kind.of(BODY);
        long before = LeakDetection.recorded();
        chunk.release();
        return LeakDetection.recorded() - before;
    }

    @Test
    void slice_leaked_reportNamesPart() {
        memory.open(BufferKind.POOLED_DIRECT.of(BODY));
        ByteBuf kept = memory.slice(10, 20, 3, 912).retain();
        assertFalse(memory.slice(10, 20, 0, 5).retain().release());
        assertFalse(kept.retainedSlice(3, 5).release());
        assertFalse(kept.skipBytes(1).retainedSlice().release());
        assertFalse(kept.skipBytes(1).readRetainedSlice(5).release());
        memory.close();
        assertEquals(1, LeakDetection.open());
        List<String> expected = List.of(
                "part 3, offset 912",
                "part 0, offset 5",
                "part 3, offset 915",
                "part 3, offset 913",
                "part 3, offset 914");
        assertTrue(LeakDetection.hints().containsAll(expected));
        assertTrue(kept.release());
        assertEquals(0, LeakDetection.open());
    }

    @Test
    void derivedViews_areTracked() {
        memory.open(BufferKind.POOLED_DIRECT.of(BODY));
        ByteBuf slice = memory.slice(0, 100, 1, 0);
        assertSame(slice, slice.touch());
        assertSame(slice, slice.touch("here"));
        ByteBuf[] views = {
            slice.slice().retain(),
            slice.slice(1, 20).retain(2),
            slice.duplicate().retain(),
            slice.asReadOnly().retain(),
            littleEndian(slice).retain(),
            slice.duplicate().readSlice(10).retain(),
            slice.retainedSlice(),
            slice.retainedSlice(1, 20),
            slice.retainedDuplicate(),
            slice.duplicate().readRetainedSlice(10),
        };
        assertEquals(12, slice.refCnt());
        memory.close();
        assertEquals(11, slice.refCnt());
        assertFalse(views[1].release());
        for (int i = 0; i < views.length - 1; i++) {
            assertFalse(views[i].release(1));
        }
        assertEquals(1, LeakDetection.open());
        assertTrue(LeakDetection.hints().contains("here"));
        assertTrue(views[views.length - 1].release());
        assertEquals(0, LeakDetection.open());
    }

    /** {@link TrackedSlice} swaps the byte order twice, so the result must be the order of the chunk. */
    @Test
    @SuppressWarnings("deprecation")
    void slice_keepsByteOrderOfChunk() {
        ByteBuf plain = Unpooled.wrappedBuffer(BODY);
        for (ByteOrder order : new ByteOrder[] {ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN}) {
            memory.open(BufferKind.POOLED_DIRECT.of(BODY).order(order));
            ByteBuf same = plain.order(order).slice(10, 100);
            ByteBuf slice = memory.slice(10, 100, 3, 912);
            for (ByteBuf view : new ByteBuf[] {slice, slice.slice(), slice.duplicate(), slice.asReadOnly()}) {
                assertEquals(order, view.order());
                assertEquals(same.getInt(5), view.getInt(5));
                assertEquals(same.getLongLE(5), view.getLongLE(5));
                assertEquals(same.getUnsignedMedium(1), view.getUnsignedMedium(1));
                assertEquals(same.nioBuffer().getShort(2), view.nioBuffer().getShort(2));
                assertEquals(same, view);
            }
            memory.close();
        }
    }

    @SuppressWarnings("deprecation")
    private static ByteBuf littleEndian(ByteBuf buffer) {
        assertSame(buffer, buffer.order(ByteOrder.BIG_ENDIAN));
        ByteBuf swapped = buffer.order(ByteOrder.LITTLE_ENDIAN);
        assertNotSame(buffer, swapped);
        return swapped;
    }

    @Test
    void open_allocatesNothing() {
        try (LeakLevel disabled = LeakLevel.of(Level.DISABLED)) {
            assertEquals(Level.DISABLED, ResourceLeakDetector.getLevel(), disabled::toString);
            ByteBuf[] chunks = {
                Unpooled.wrappedBuffer(BODY),
                PooledByteBufAllocator.DEFAULT.heapBuffer(1000).writeBytes(BODY),
                PooledByteBufAllocator.DEFAULT.directBuffer(1000).writeBytes(BODY),
                BufferKind.ADAPTIVE_DIRECT.of(BODY),
                BufferKind.DIRECT.of(BODY),
                PooledByteBufAllocator.DEFAULT
                        .directBuffer(2000)
                        .writeBytes(BODY)
                        .slice(0, 1000),
                PooledByteBufAllocator.DEFAULT
                        .directBuffer(2000)
                        .writeZero(10)
                        .writeBytes(BODY)
                        .slice(10, 1000),
            };
            Delimiter delimiter = Delimiter.of("----WebKitFormBoundary7MA4YWxkTrZu0gW".getBytes(US_ASCII));
            DelimiterSearch search = new DelimiterSearch(delimiter, false);
            for (ByteBuf chunk : chunks) {
                long allocated = allocatedBytes(() -> {
                    chunk.retain();
                    memory.open(chunk);
                    assertEquals(1000, search.find(memory, memory.start(), memory.end()) + search.matchEnd());
                    memory.refresh();
                    memory.close();
                    search.reset();
                });
                assertEquals(0, allocated, () -> "bytes allocated for 100 chunks of " + chunk);
                chunk.release();
            }
        }
    }

    @Test
    void slicesOfOneBuffer_areReadWithOneView() {
        try (LeakLevel disabled = LeakLevel.of(Level.DISABLED)) {
            assertEquals(Level.DISABLED, ResourceLeakDetector.getLevel(), disabled::toString);
            ByteBuf root = PooledByteBufAllocator.DEFAULT
                    .directBuffer(2000)
                    .writeBytes(BODY)
                    .writeBytes(BODY);
            ByteBuf first = root.slice(0, 1000).skipBytes(10);
            ByteBuf second = root.slice(1000, 1000);
            long allocated = allocatedBytes(() -> {
                memory.borrow(first);
                assertEquals(BODY[10], memory.getByte(10));
                memory.detach();
                memory.borrow(second);
                assertEquals(BODY[999], memory.getByte(999));
                memory.detach();
            });
            assertEquals(0, allocated);
            root.release();
        }
    }

    /** {@return the number of bytes that 100 runs of {@code work} allocate} */
    private static long allocatedBytes(Runnable work) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        // The JVM itself allocates when it links or compiles code, so only the quietest of 20 windows counts.
        long least = Long.MAX_VALUE;
        for (int window = 0; window < 20; window++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int round = 0; round < 100; round++) {
                work.run();
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        return least;
    }

    private static byte[] bytesOf(ByteBuf buffer) {
        byte[] bytes = new byte[buffer.capacity()];
        buffer.getBytes(0, bytes);
        return bytes;
    }

    private static byte[] bytes(int count) {
        byte[] bytes = new byte[count];
        new Random(5).nextBytes(bytes);
        return bytes;
    }
}
