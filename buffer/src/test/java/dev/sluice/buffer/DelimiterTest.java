package dev.sluice.buffer;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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
    void grams_containExactlyTheSlotsOfTheText() {
        for (int length : new int[] {1, 2, 3, 30, 70}) {
            byte[] boundary = new byte[length];
            new Random(length).nextBytes(boundary);
            for (int i = 0; i < length; i++) {
                boundary[i] = boundary[i] == '\r' || boundary[i] == '\n' ? (byte) 'x' : boundary[i];
            }
            Delimiter delimiter = Delimiter.of(boundary);
            long[] set = delimiter.grams();
            assertSame(set, delimiter.grams());
            byte[] text = Arrays.copyOf(delimiter.bytes(), delimiter.length() + Grams.LENGTH);
            text[delimiter.length()] = '\r'; // starts a lookalike
            System.arraycopy(text, 2, text, delimiter.length() + 1, Grams.REACH);
            Set<Integer> slots = new HashSet<>();
            for (int i = 0; i < text.length; i++) {
                if (i + Grams.LENGTH <= delimiter.length() || i == delimiter.length()) {
                    int slot = Grams.slot(
                            ByteBuffer.wrap(text).order(ByteOrder.LITTLE_ENDIAN).getInt(i));
                    assertTrue((set[slot >>> 6] >>> slot & 1) == 1);
                    slots.add(slot);
                }
            }
            assertEquals(slots.size(), Arrays.stream(set).map(Long::bitCount).sum());
        }
    }
}
