package dev.sluice.buffer;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.sluice.testkit.CountingAllocator;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(ExactLeaks.class)
class AccumulationTest {
    private final CountingAllocator allocator = new CountingAllocator();

    @AfterEach
    void checkReleased() {
        assertEquals(0, allocator.liveCount(), () -> allocator.unreleased().toString());
    }

    @Test
    void newAccumulation_allocatesNothing() {
        try (Accumulation accumulation = new Accumulation(allocator, 16)) {
            assertEquals(0, accumulation.size());
            assertEquals(0, accumulation.slice(0).readableBytes());
            accumulation.truncate(0);
            assertEquals(0, allocator.liveCount());
        }
    }

    @Test
    void truncate_bufferNotRetained_reusesMemory() {
        try (Accumulation accumulation = new Accumulation(allocator, 16)) {
            append(accumulation, "0123456789abcdef");
            byte[] memory = accumulation.array();
            accumulation.truncate(0);
            assertEquals(0, accumulation.size());
            append(accumulation, "0123456789ABCDEF");
            assertSame(memory, accumulation.array());
            assertEquals("0123456789ABCDEF", text(accumulation));
        }
    }

    @Test
    void truncate_sliceRetained_copiesRemainingBytes() {
        try (Accumulation accumulation = new Accumulation(allocator, 16)) {
            append(accumulation, "0123456789abcdef");
            byte[] memory = accumulation.array();
            ByteBuf kept = accumulation.slice(16).retain();
            accumulation.truncate(10);
            assertNotSame(memory, accumulation.array());
            assertEquals(2, allocator.liveCount());
            assertEquals(1, kept.refCnt(), "the accumulation released the old buffer");
            append(accumulation, "ghijklmnopqrstuv");
            assertEquals("0123456789ghijklmnopqrstuv", text(accumulation));
            assertEquals("0123456789abcdef", kept.toString(US_ASCII));
            kept.release();
        }
    }

    @Test
    void truncateToZero_sliceRetained_allocatesNothing() {
        try (Accumulation accumulation = new Accumulation(allocator, 16)) {
            append(accumulation, "0123456789");
            ByteBuf kept = accumulation.slice(10).retain();
            accumulation.truncate(0);
            assertEquals(1, kept.refCnt());
            assertEquals(1, allocator.liveCount());
            append(accumulation, "abc");
            ByteBuf other = accumulation.slice(3).retain();
            accumulation.truncate(0);
            assertEquals(1, other.refCnt());
            assertEquals("abc", other.toString(US_ASCII));
            assertEquals("0123456789", kept.toString(US_ASCII));
            other.release();
            kept.release();
        }
    }

    @Test
    void append_sliceRetained_usesRemainingCapacity() {
        try (Accumulation accumulation = new Accumulation(allocator, 8)) {
            append(accumulation, "0123");
            ByteBuf kept = accumulation.slice(4).retain();
            append(accumulation, "4567");
            assertEquals(1, allocator.liveCount());
            assertEquals("0123", kept.toString(US_ASCII));
            assertEquals("01234567", text(accumulation));
            kept.release();
        }
    }

    @Test
    void truncate_discardsLastBytes() {
        try (Accumulation accumulation = new Accumulation(allocator, 8)) {
            append(accumulation, "header");
            append(accumulation, "xx");
            byte[] memory = accumulation.array();
            accumulation.truncate(6);
            assertSame(memory, accumulation.array(), "the memory is not reused, although no slice is retained");
            assertEquals("header", text(accumulation));
            append(accumulation, "s!");
            assertEquals("headers!", text(accumulation));
        }
    }

    @Test
    void close_retainedSliceStaysValid() {
        Accumulation accumulation = new Accumulation(allocator, 8);
        append(accumulation, "01234567");
        ByteBuf kept = accumulation.slice(3).retain();
        accumulation.close();
        accumulation.close();
        assertEquals(0, accumulation.size());
        assertEquals("012", kept.toString(US_ASCII));
        assertEquals(1, allocator.liveCount());
        kept.release();
    }

    @Test
    void append_afterClose_isRejected() {
        Accumulation accumulation = new Accumulation(allocator, 8);
        accumulation.close();
        assertThrows(IllegalStateException.class, () -> append(accumulation, "x"));
    }

    @Test
    void sizes_outOfRange_areRejected() {
        try (Accumulation accumulation = new Accumulation(allocator, 8)) {
            append(accumulation, "0123");
            assertThrows(IndexOutOfBoundsException.class, () -> accumulation.truncate(-1));
            assertThrows(IndexOutOfBoundsException.class, () -> accumulation.truncate(5));
            assertThrows(IndexOutOfBoundsException.class, () -> accumulation.slice(5));
            assertEquals("0123", text(accumulation));
        }
    }

    @Test
    void randomOperations_matchStringModel() {
        Random random = new Random(11);
        for (int round = 0; round < 2000; round++) {
            StringBuilder model = new StringBuilder();
            Deque<ByteBuf> kept = new ArrayDeque<>();
            Deque<String> expected = new ArrayDeque<>();
            try (Accumulation accumulation = new Accumulation(PooledByteBufAllocator.DEFAULT, 1 + random.nextInt(64))) {
                for (int step = 0; step < 30; step++) {
                    switch (random.nextInt(4)) {
                        case 0, 1 -> {
                            String more = random.ints(random.nextInt(40), 'a', 'z' + 1)
                                    .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                                    .toString();
                            append(accumulation, more);
                            model.append(more);
                        }
                        case 2 -> {
                            int size = random.nextInt(model.length() + 1);
                            accumulation.truncate(size);
                            model.setLength(size);
                        }
                        default -> {
                            int length = random.nextInt(model.length() + 1);
                            kept.add(accumulation.slice(length).retain());
                            expected.add(model.substring(0, length));
                        }
                    }
                    assertEquals(model.toString(), text(accumulation));
                    if (kept.size() > 3) {
                        checkOldest(kept, expected);
                    }
                }
            }
            while (!kept.isEmpty()) {
                checkOldest(kept, expected);
            }
        }
    }

    private static void checkOldest(Deque<ByteBuf> kept, Deque<String> expected) {
        ByteBuf oldest = kept.remove();
        assertEquals(expected.remove(), oldest.toString(US_ASCII));
        oldest.release();
    }

    private static void append(Accumulation accumulation, String bytes) {
        ChunkMemory memory = new ChunkMemory();
        memory.open(Unpooled.copiedBuffer("<" + bytes + ">", US_ASCII));
        try {
            accumulation.append(memory, 1, bytes.length());
        } finally {
            memory.close();
        }
    }

    private static String text(Accumulation accumulation) {
        String text = new String(accumulation.array(), accumulation.arrayOffset(), accumulation.size(), US_ASCII);
        assertEquals(text, accumulation.slice(accumulation.size()).toString(US_ASCII));
        return text;
    }
}
