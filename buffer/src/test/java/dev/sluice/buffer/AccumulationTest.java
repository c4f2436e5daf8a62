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
    void everythingIsReleased() {
        assertEquals(0, allocator.liveCount(), () -> allocator.unreleased().toString());
    }

    @Test
    void allocatesNothingBeforeTheFirstByte() {
        try (Accumulation gathered = new Accumulation(allocator, 16)) {
            assertEquals(0, gathered.size());
            assertEquals(0, gathered.slice(0).readableBytes());
            gathered.truncate(0);
            assertEquals(0, allocator.liveCount());
        }
    }

    @Test
    void forgetsInPlaceWhileNobodyHoldsTheBuffer() {
        try (Accumulation gathered = new Accumulation(allocator, 16)) {
            append(gathered, "0123456789abcdef");
            byte[] memory = gathered.array();
            gathered.truncate(0);
            assertEquals(0, gathered.size());
            append(gathered, "0123456789ABCDEF");
            assertSame(memory, gathered.array());
            assertEquals("0123456789ABCDEF", text(gathered));
        }
    }

    @Test
    void movesWhatIsLeftWhenAConsumerHoldsTheRest() {
        try (Accumulation gathered = new Accumulation(allocator, 16)) {
            append(gathered, "0123456789abcdef");
            byte[] memory = gathered.array();
            ByteBuf kept = gathered.slice(16).retain();
            gathered.truncate(10);
            assertNotSame(memory, gathered.array());
            assertEquals(2, allocator.liveCount());
            assertEquals(1, kept.refCnt(), "the accumulation has let go of the old buffer");
            append(gathered, "ghijklmnopqrstuv");
            assertEquals("0123456789ghijklmnopqrstuv", text(gathered));
            assertEquals("0123456789abcdef", kept.toString(US_ASCII));
            kept.release();
        }
    }

    @Test
    void takesNoNewBufferWhenAllIsReadAndAConsumerHoldsTheOldOne() {
        try (Accumulation gathered = new Accumulation(allocator, 16)) {
            append(gathered, "0123456789");
            ByteBuf kept = gathered.slice(10).retain();
            gathered.truncate(0);
            assertEquals(1, kept.refCnt());
            assertEquals(1, allocator.liveCount());
            append(gathered, "abc");
            ByteBuf other = gathered.slice(3).retain();
            gathered.truncate(0);
            assertEquals(1, other.refCnt());
            assertEquals("abc", other.toString(US_ASCII));
            assertEquals("0123456789", kept.toString(US_ASCII));
            other.release();
            kept.release();
        }
    }

    @Test
    void appendsBehindWhatAConsumerHoldsWhileThereIsRoom() {
        try (Accumulation gathered = new Accumulation(allocator, 8)) {
            append(gathered, "0123");
            ByteBuf kept = gathered.slice(4).retain();
            append(gathered, "4567");
            assertEquals(1, allocator.liveCount());
            assertEquals("0123", kept.toString(US_ASCII));
            assertEquals("01234567", text(gathered));
            kept.release();
        }
    }

    @Test
    void forgetsWhatWasAppendedTooEarly() {
        try (Accumulation gathered = new Accumulation(allocator, 8)) {
            append(gathered, "header");
            append(gathered, "xx");
            byte[] memory = gathered.array();
            gathered.truncate(6);
            assertSame(memory, gathered.array(), "nobody holds it: in place");
            assertEquals("header", text(gathered));
            append(gathered, "s!");
            assertEquals("headers!", text(gathered));
        }
    }

    @Test
    void keepsWhatAConsumerHoldsBeyondItsOwnEnd() {
        Accumulation gathered = new Accumulation(allocator, 8);
        append(gathered, "01234567");
        ByteBuf kept = gathered.slice(3).retain();
        gathered.close();
        gathered.close();
        assertEquals(0, gathered.size());
        assertEquals("012", kept.toString(US_ASCII));
        assertEquals(1, allocator.liveCount());
        kept.release();
    }

    @Test
    void refusesBytesAfterItsEnd() {
        Accumulation gathered = new Accumulation(allocator, 8);
        gathered.close();
        assertThrows(IllegalStateException.class, () -> append(gathered, "x"));
    }

    @Test
    void refusesImpossibleSizes() {
        assertThrows(IllegalArgumentException.class, () -> new Accumulation(allocator, 0));
        try (Accumulation gathered = new Accumulation(allocator, 8)) {
            append(gathered, "0123");
            assertThrows(IndexOutOfBoundsException.class, () -> gathered.truncate(-1));
            assertThrows(IndexOutOfBoundsException.class, () -> gathered.truncate(5));
            assertThrows(IndexOutOfBoundsException.class, () -> gathered.slice(5));
            assertEquals("0123", text(gathered));
        }
    }

    @Test
    void behavesLikeAStringWhateverIsAskedOfIt() {
        Random random = new Random(11);
        for (int round = 0; round < 2000; round++) {
            StringBuilder model = new StringBuilder();
            Deque<ByteBuf> kept = new ArrayDeque<>();
            Deque<String> expected = new ArrayDeque<>();
            try (Accumulation gathered = new Accumulation(PooledByteBufAllocator.DEFAULT, 1 + random.nextInt(64))) {
                for (int step = 0; step < 30; step++) {
                    switch (random.nextInt(4)) {
                        case 0, 1 -> {
                            String more = random.ints(random.nextInt(40), 'a', 'z' + 1)
                                    .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
                                    .toString();
                            append(gathered, more);
                            model.append(more);
                        }
                        case 2 -> {
                            int size = random.nextInt(model.length() + 1);
                            gathered.truncate(size);
                            model.setLength(size);
                        }
                        default -> {
                            int length = random.nextInt(model.length() + 1);
                            kept.add(gathered.slice(length).retain());
                            expected.add(model.substring(0, length));
                        }
                    }
                    assertEquals(model.toString(), text(gathered));
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

    private static void append(Accumulation gathered, String bytes) {
        ChunkMemory memory = new ChunkMemory();
        memory.open(Unpooled.copiedBuffer("<" + bytes + ">", US_ASCII));
        try {
            gathered.append(memory, 1, bytes.length());
        } finally {
            memory.close();
        }
    }

    private static String text(Accumulation gathered) {
        String text = new String(gathered.array(), gathered.arrayOffset(), gathered.size(), US_ASCII);
        assertEquals(text, gathered.slice(gathered.size()).toString(US_ASCII));
        return text;
    }
}
