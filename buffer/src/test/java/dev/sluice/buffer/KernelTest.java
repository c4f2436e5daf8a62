package dev.sluice.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Compares each kernel, over arrays and NIO buffers, with a simple implementation. The results must be equal. */
@ExtendWith(ExactLeaks.class)
class KernelTest {
    private static final byte FIRST = '-';
    private static final byte LAST = 'W';
    private static final long FIRSTS = Swar.repeat(FIRST);
    private static final long LASTS = Swar.repeat(LAST);
    private static final int LENGTH = 600;

    private static final byte[] ALPHABET = {
        FIRST, FIRST + 1, FIRST - 1, '\r', '\n', '\r' + 1, '\n' - 1, LAST, LAST + 1, (byte) (LAST | 0x80), 0, -1
    };

    /** Also checks each half of the pair alone, and the pair with a line break at different distances. */
    @Test
    void pairs_singlePair_isFoundAtEveryIndex() {
        for (int distance : new int[] {1, 4, 40, 73}) {
            for (int place = 0; place < LENGTH - distance; place++) {
                byte[] bytes = new byte[LENGTH];
                bytes[place] = FIRST;
                checkPairs(bytes, 8, 8 + 256, distance);
                bytes[place + distance] = LAST;
                checkPairs(bytes, 8, 8 + 256, distance);
                bytes[place] = 0;
                checkPairs(bytes, 8, 8 + 256, distance);
                bytes[place] = FIRST;
                bytes[7 + place % 32] = (byte) (place % 2 == 0 ? '\r' : '\n');
                checkPairs(bytes, 8, 8 + 256, distance);
            }
        }
    }

    @Test
    void anyWord_isFoundAtEveryStride() {
        long mask = Swar.repeat((byte) 0xFC);
        long value = Swar.repeat((byte) 't');
        for (int start : new int[] {0, 5}) {
            for (int place = start; place < 200; place++) {
                byte[] bytes = new byte[200];
                Arrays.fill(bytes, place, Math.min(200, place + 8), (byte) 'w');
                ByteBuffer view = ByteBuffer.allocateDirect(200).put(0, bytes);
                for (int end : new int[] {200, start + 64, start + 63}) {
                    boolean read = (place - start) % 56 == 0 && place + 8 <= end;
                    assertEquals(read, ArrayKernel.anyWord(bytes, start, end, mask, value));
                    assertEquals(read, ViewKernel.anyWord(view, start, end, mask, value));
                }
            }
        }
    }

    @Test
    void pairs_randomBytes_matchNaiveSearch() {
        Random random = new Random(20261120);
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = noise(random, random.nextInt(60));
            int from = 1 + random.nextInt(100);
            checkPairs(bytes, from, from + random.nextInt(400), 1 + random.nextInt(73));
        }
    }

    private static void checkPairs(byte[] bytes, int from, int to, int distance) {
        int words = (to - from) / 8;
        boolean any = false;
        for (int i = from; i < from + 8 * words; i++) {
            any |= bytes[i] == FIRST && bytes[i + distance] == LAST;
        }
        int block = from;
        while (block <= to - Swar.BLOCK && !(hasPair(bytes, block, distance) && hasBreakBefore(bytes, block))) {
            block += Swar.BLOCK;
        }
        assertEquals(any, ArrayKernel.anyPair(bytes, from, from + 8 * words, distance, FIRSTS, LASTS));
        assertEquals(block, ArrayKernel.pairs(bytes, from, to, distance, FIRSTS, LASTS));
        for (ByteOrder order : new ByteOrder[] {ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN}) {
            ByteBuffer view = view(bytes).order(order);
            assertEquals(any, ViewKernel.anyPair(view, from, from + 8 * words, distance, FIRSTS, LASTS));
            assertEquals(block, ViewKernel.pairs(view, from, to, distance, FIRSTS, LASTS));
        }
    }

    private static boolean hasBreakBefore(byte[] bytes, int block) {
        for (int i = block - 1; i < block - 1 + Swar.BLOCK; i++) {
            if (isBreak(bytes[i])) {
                return true;
            }
        }
        return false;
    }

    private static boolean isBreak(byte b) {
        return b == '\r' || b == '\n';
    }

    private static boolean hasPair(byte[] bytes, int block, int distance) {
        for (int i = block; i < block + Swar.BLOCK; i++) {
            if (bytes[i] == FIRST && bytes[i + distance] == LAST) {
                return true;
            }
        }
        return false;
    }

    @Test
    void grams_randomBytes_matchNaiveSearch() {
        Random random = new Random(20261121);
        byte[] text = "\r\n--0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
        Grams set = Grams.of(text);
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = noise(random, random.nextInt(20));
            int place = random.nextInt(LENGTH - text.length);
            System.arraycopy(text, 0, bytes, place, random.nextInt(text.length));
            int from = random.nextInt(100);
            int to = from + random.nextInt(LENGTH - from);
            int stride = 1 + random.nextInt(40);
            int expected = from;
            while (expected + Grams.LENGTH <= to && !set.contains(gram(bytes, expected))) {
                expected += stride;
            }
            assertEquals(expected, ArrayKernel.grams(bytes, from, to, stride, set));
            assertEquals(expected, ViewKernel.grams(view(bytes), from, to, stride, set));
        }
    }

    private static int gram(byte[] bytes, int at) {
        return bytes[at] & 0xff
                | (bytes[at + 1] & 0xff) << 8
                | (bytes[at + 2] & 0xff) << 16
                | (bytes[at + 3] & 0xff) << 24;
    }

    @Test
    void indexOfBreakAndMatching_randomBytes_matchNaiveSearch() {
        Random random = new Random(20261122);
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = noise(random, random.nextInt(40));
            int from = random.nextInt(100);
            int to = from + random.nextInt(60);
            int first = from;
            while (first < to && !isBreak(bytes[first])) {
                first++;
            }
            assertEquals(first, ArrayKernel.indexOfBreak(bytes, from, to));
            assertEquals(first, ViewKernel.indexOfBreak(view(bytes), from, to));

            int skipped = random.nextInt(4);
            byte[] text = Arrays.copyOfRange(bytes, from - Math.min(from, skipped), to);
            int start = Math.min(from, skipped);
            if (to > from && random.nextBoolean()) {
                text[start + random.nextInt(to - from)]++;
            }
            int same = 0;
            while (same < to - from && bytes[from + same] == text[start + same]) {
                same++;
            }
            assertEquals(same, ArrayKernel.matching(bytes, from, text, start, to - from));
            assertEquals(same, ViewKernel.matching(view(bytes), from, text, start, to - from));
        }
    }

    @ParameterizedTest
    @CsvSource({"17, 2147483647", "24, 2147483647", "25, 256", "26, 256"})
    void viewKernel_minPassLength_dependsOnJdk(int javaVersion, int bytes) {
        assertEquals(bytes, ViewKernel.minPassLength(javaVersion));
    }

    /** The indices of these chunks differ by at least 3 from the indices of their memory. */
    @Test
    void chunkIndices_areTranslatedToMemory() {
        byte[] bytes = new byte[LENGTH];
        bytes[202] = '\n';
        bytes[203] = FIRST;
        bytes[243] = LAST;
        byte[] text = "\r\n--0123456789abcdef".getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(text, 0, bytes, 403, text.length);
        Grams grams = Grams.of(text);
        for (ByteBuf chunk : new ByteBuf[] {
            Unpooled.wrappedBuffer(bytes).slice(3, LENGTH - 3),
            Unpooled.directBuffer().writeBytes(bytes).slice(3, LENGTH - 3),
            Unpooled.directBuffer()
                    .writeBytes(bytes)
                    .slice(3, LENGTH - 3)
                    .skipBytes(5), // if Netty provides no memory address, its NIO view starts at the reader index
            Unpooled.wrappedBuffer(bytes, 3, LENGTH - 3),
        }) {
            ChunkMemory memory = new ChunkMemory();
            memory.open(chunk);
            assertTrue(memory.anyPair(192, 208, 40, FIRSTS, LASTS));
            assertFalse(memory.anyPair(208, 224, 40, FIRSTS, LASTS));
            assertFalse(memory.anyPair(184, 200, 40, FIRSTS, LASTS));
            assertEquals(192, memory.pairs(16, 400, 40, FIRSTS, LASTS));
            assertEquals(192, memory.pairs(16, 192, 40, FIRSTS, LASTS), "the last block was not searched");
            assertEquals(199, memory.indexOfBreak(16, 400));
            assertEquals(400, memory.indexOfBreak(200, 400));
            assertEquals(text.length, memory.matching(400, text, 0, text.length));
            assertTrue(memory.mayHaveWord(199, 400, 0xff, '\n'));
            assertFalse(memory.mayHaveWord(198, 400, 0xff, '\n'));
            assertEquals(408, memory.grams(68, 597, 17, grams));
            assertEquals(329, memory.grams(74, 327, 17, grams));
            assertEquals(408, memory.grams(68, 412, 17, grams), "the last gram was not searched");
            memory.close();
        }
    }

    private static byte[] noise(Random random, int bytes) {
        byte[] noise = new byte[LENGTH];
        for (int i = 0; i < bytes; i++) {
            noise[random.nextInt(LENGTH)] = ALPHABET[random.nextInt(ALPHABET.length)];
        }
        return noise;
    }

    private static ByteBuffer view(byte[] bytes) {
        return ByteBuffer.allocateDirect(LENGTH).put(bytes);
    }
}
