package dev.sluice.buffer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The pass without branches over a span, in both kinds of memory, beside its naive twin. */
class PairTest {
    private static final byte FIRST = '\r';
    private static final byte LAST = 'W';
    private static final int LENGTH = 600;

    @Test
    void seesOnePairAtEveryPlace() {
        for (int distance : new int[] {1, 4, 40, 73}) {
            for (int place = 0; place < LENGTH - distance; place++) {
                byte[] octets = new byte[LENGTH];
                octets[place] = FIRST;
                octets[place + distance] = LAST;
                check(octets, 8, 8 + 256, distance);
            }
        }
    }

    @Test
    void takesNothingElseForAPair() {
        Random random = new Random(20261120);
        byte[] alphabet = {FIRST, FIRST + 1, FIRST - 1, LAST, LAST + 1, (byte) (LAST | 0x80), 0, (byte) 0xff};
        for (int round = 0; round < 20_000; round++) {
            byte[] octets = new byte[LENGTH];
            int noise = random.nextInt(20);
            for (int i = 0; i < noise; i++) {
                octets[random.nextInt(LENGTH)] = alphabet[random.nextInt(alphabet.length)];
            }
            int from = random.nextInt(100);
            check(octets, from, from + 8 * random.nextInt(50), 1 + random.nextInt(73));
        }
    }

    private static void check(byte[] octets, int from, int to, int distance) {
        boolean expected = false;
        for (int i = from; i < to; i++) {
            expected |= octets[i] == FIRST && octets[i + distance] == LAST;
        }
        long first = Swar.repeat(FIRST);
        long last = Swar.repeat(LAST);
        assertEquals(expected, ArrayKernel.anyPair(octets, from, to, distance, first, last));
        for (ByteOrder order : new ByteOrder[] {ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN}) {
            ByteBuffer view = ByteBuffer.allocateDirect(LENGTH).put(octets).order(order);
            assertEquals(expected, ViewKernel.anyPair(view, from, to, distance, first, last), order.toString());
        }
    }

    @ParameterizedTest
    @CsvSource({"17, 2147483647", "20, 2147483647", "21, 32", "25, 32"})
    void leavesBuffersToTheLoopWithBranchesWhereNoVectorsAreMade(int javaVersion, int words) {
        assertEquals(words, ViewKernel.minWordsOfSpan(javaVersion));
    }

    @Test
    void passesOverEitherMemory() {
        byte[] octets = new byte[LENGTH];
        octets[100] = FIRST;
        octets[140] = LAST;
        for (ByteBuf chunk : new ByteBuf[] {
            Unpooled.wrappedBuffer(octets, 3, LENGTH - 3),
            Unpooled.directBuffer().writeBytes(octets).skipBytes(3)
        }) {
            ChunkMemory memory = new ChunkMemory();
            memory.open(chunk);
            int at = memory.start() - 3;
            boolean[] found = {
                memory.anyPair(at + 96, at + 104, 40, Swar.repeat(FIRST), Swar.repeat(LAST)),
                memory.anyPair(at + 104, at + 112, 40, Swar.repeat(FIRST), Swar.repeat(LAST))
            };
            assertEquals(true, found[0]);
            assertEquals(false, found[1]);
            memory.close();
        }
    }
}
