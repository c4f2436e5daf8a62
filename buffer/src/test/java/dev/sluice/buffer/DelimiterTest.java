package dev.sluice.buffer;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.ReadOnlyBufferException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(ExactLeaks.class)
class DelimiterTest {
    @Test
    void of_copiesBoundaryAfterCrlfAndDashes() {
        byte[] boundary = "abc".getBytes(US_ASCII);
        Delimiter delimiter = Delimiter.of(boundary);
        boundary[0] = 'x';
        assertEquals(7, delimiter.length());
        assertEquals("\r\n--abc", delimiter.text(0, 7).toString(US_ASCII));
    }

    @Test
    void of_emptyOrLineBreak_isRejected() {
        assertThrows(IllegalArgumentException.class, () -> Delimiter.of(new byte[0]));
        assertThrows(IllegalArgumentException.class, () -> Delimiter.of("a\r".getBytes(US_ASCII)));
        assertThrows(IllegalArgumentException.class, () -> Delimiter.of("\na".getBytes(US_ASCII)));
    }

    @Test
    void text_everyRange_isReadOnly() {
        Delimiter delimiter = Delimiter.of("abc".getBytes(US_ASCII));
        for (int from = 0; from <= 7; from++) {
            for (int to = from; to <= 7; to++) {
                ByteBuf text = delimiter.text(from, to);
                assertEquals("\r\n--abc".substring(from, to), text.toString(US_ASCII));
                assertTrue(text.isReadOnly());
                assertFalse(text.isWritable());
            }
        }
        assertThrows(ReadOnlyBufferException.class, () -> delimiter.text(0, 7).setByte(0, 'x'));
        assertThrows(IndexOutOfBoundsException.class, () -> delimiter.text(0, 8));
    }

    @Test
    void text_released_staysValid() {
        Delimiter delimiter = Delimiter.of("abc".getBytes(US_ASCII));
        ByteBuf text = delimiter.text(0, 7);
        ByteBuf part = text.retainedSlice(4, 3);
        for (int i = 0; i < 3; i++) {
            text.retain();
            assertFalse(text.release());
            assertFalse(text.release());
            assertFalse(part.release());
            assertFalse(text.retainedDuplicate().release());
        }
        assertEquals("abc", part.toString(US_ASCII));
        assertEquals("\r\n--abc", delimiter.text(0, 7).toString(US_ASCII));
    }

    @Test
    void text_indicesAreIndependent() {
        Delimiter delimiter = Delimiter.of("abc".getBytes(US_ASCII));
        ByteBuf one = delimiter.text(0, 7);
        one.skipBytes(7);
        assertEquals(7, delimiter.text(0, 7).readableBytes());
    }

    @Test
    void grams_containExactlyGramsOfTextAndLookalike() {
        for (int length : new int[] {1, 2, 3, 30, 70}) {
            byte[] boundary = new byte[length];
            new Random(length).nextBytes(boundary);
            for (int i = 0; i < length; i++) {
                boundary[i] = boundary[i] == '\r' || boundary[i] == '\n' ? (byte) 'x' : boundary[i];
            }
            Delimiter delimiter = Delimiter.of(boundary);
            Grams set = delimiter.grams();
            assertSame(set, delimiter.grams());
            byte[] text = Arrays.copyOf(delimiter.bytes(), delimiter.length() + Grams.LENGTH);
            text[delimiter.length()] = '\r'; // starts a lookalike
            System.arraycopy(text, 2, text, delimiter.length() + 1, Grams.REACH);
            Set<Integer> grams = new HashSet<>();
            for (int i = 0; i <= delimiter.length(); i++) {
                if (i + Grams.LENGTH <= delimiter.length() || i == delimiter.length()) {
                    grams.add(
                            ByteBuffer.wrap(text).order(ByteOrder.LITTLE_ENDIAN).getInt(i));
                }
            }
            new Random(length).ints(100_000).forEach(gram -> assertEquals(grams.contains(gram), set.contains(gram)));
            for (int gram : grams) {
                assertTrue(set.contains(gram));
                for (int bit = 0; bit < Integer.SIZE; bit++) {
                    assertEquals(grams.contains(gram ^ 1 << bit), set.contains(gram ^ 1 << bit));
                }
            }
            assertEquals(grams.contains(0), set.contains(0));
        }
    }

    /** The hash of a gram of zeros is 0 with each multiplier, and a slot without a gram contains 0. */
    @Test
    void grams_zerosInBoundary_areContained() {
        Grams set = Delimiter.of(new byte[40]).grams();
        assertTrue(set.contains(0));
        assertFalse(set.contains(1));
    }

    @Test
    void grams_equalHashes_areSeparatedByAnotherMultiplier() {
        byte[] text = new byte[74];
        new Random(1).nextBytes(text);
        assertSame(Grams.NONE, Grams.of(text, 0));
        assertSame(Grams.NONE, Grams.of(text, 1), "grams with equal hashes were not detected");
        assertNotSame(Grams.NONE, Grams.of(text));
    }
}
