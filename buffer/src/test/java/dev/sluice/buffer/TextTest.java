package dev.sluice.buffer;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.Charset;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class TextTest {
    private static final Charset SHIFT_JIS = Charset.forName("Shift_JIS");
    private static final Charset[] CHARSETS = {UTF_8, ISO_8859_1, US_ASCII, UTF_16BE, SHIFT_JIS};

    @Test
    void charset_byNameOrAlias_isFound() {
        for (Charset charset : Charset.availableCharsets().values()) {
            assertEquals(charset, Text.charset(charset.name()));
            for (String alias : charset.aliases()) {
                assertEquals(Charset.forName(alias), Text.charset(alias), alias);
            }
        }
        assertEquals(UTF_8, Text.charset("uTf-8"));
        assertEquals(SHIFT_JIS, Text.charset("SHIFT_jis"));
        for (String none : List.of("klingon", "no name!", "")) {
            assertNull(Text.charset(none));
        }
    }

    @Test
    void malformedAt_returnsOffset() {
        byte[] bytes = {'a', (byte) 0xff, 'b', (byte) 0xc3};
        assertEquals(1, Text.malformedAt(bytes, 0, 4, UTF_8));
        assertEquals(1, Text.malformedAt(bytes, 2, 2, UTF_8));
        assertEquals(1, Text.malformedAt(bytes, 0, 4, US_ASCII));
        assertEquals(-1, Text.malformedAt(bytes, 0, 4, ISO_8859_1));
    }

    @Test
    void malformedAt_utf8Sequences_matchJdkDecoder() {
        byte[] bytes = new byte[4];
        for (int lead = 0; lead < 256; lead++) {
            bytes[0] = (byte) lead;
            check(bytes, 0, 1, UTF_8);
            for (int second = 0; second < 256; second++) {
                bytes[1] = (byte) second;
                check(bytes, 0, 2, UTF_8);
                for (int third : new int[] {0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff}) {
                    bytes[2] = (byte) third;
                    check(bytes, 0, 3, UTF_8);
                    for (int fourth : new int[] {0x41, 0x7f, 0x80, 0xbf, 0xc0}) {
                        bytes[3] = (byte) fourth;
                        check(bytes, 0, 4, UTF_8);
                    }
                }
            }
        }
    }

    @Test
    void malformedAt_randomInput_matchesJdkDecoder() {
        Random random = new Random(3);
        for (int round = 0; round < 20_000; round++) {
            Charset charset = CHARSETS[random.nextInt(CHARSETS.length)];
            byte[] bytes =
                    round % 2 == 0 ? "x".repeat(random.nextInt(600)).getBytes(charset) : new byte[random.nextInt(40)];
            for (int i = random.nextInt(8); i < bytes.length; i += 1 + random.nextInt(300)) {
                bytes[i] = (byte) random.nextInt();
            }
            int from = random.nextInt(bytes.length + 1);
            check(bytes, from, random.nextInt(bytes.length + 1 - from), charset);
        }
    }

    private static void check(byte[] bytes, int index, int length, Charset charset) {
        CharsetDecoder decoder = charset.newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT);
        ByteBuffer in = ByteBuffer.wrap(bytes, index, length);
        CoderResult result = decoder.decode(in, CharBuffer.allocate(length + 1), true);
        int expected = result.isError() ? in.position() - index : -1;
        int found = Text.malformedAt(bytes, index, length, charset);
        if (expected != found) {
            assertEquals(expected, found, () -> charset + " " + HexFormat.of().formatHex(bytes, index, index + length));
        }
    }

    @Test
    void indexOfControlAndUnplain_findEachByteAtEachIndex() {
        for (int length = 0; length <= 20; length++) {
            for (int at = 0; at < length; at++) {
                for (int b = 0; b < 256; b++) {
                    String context = length + " " + at + " " + b;
                    byte[] array = new byte[length + 2];
                    boolean control = b < ' ' || b == 0x7F;
                    Arrays.fill(array, (byte) (b % 2 == 0 ? 0xE4 : 'a'));
                    array[at + 1] = (byte) b;
                    int end = control ? at + 1 : length + 1;
                    assertEquals(end, Text.indexOfControl(array, 1, length + 1), context);
                    boolean plain = !control && b < 0x7F && b != '"' && b != '\\';
                    Arrays.fill(array, (byte) (b % 2 == 0 ? '~' : ' '));
                    array[at + 1] = (byte) b;
                    end = plain ? length + 1 : at + 1;
                    assertEquals(end, Text.indexOfUnplain(array, 1, length + 1), context);
                }
            }
        }
    }

    @Test
    void isAscii_otherByteAtAnyIndex_isFalse() {
        for (int length = 0; length <= 20; length++) {
            byte[] array = new byte[length + 2];
            array[0] = -1;
            array[length + 1] = -1;
            assertTrue(Text.isAscii(array, 1, length));
            array[length + 1] = 0;
            assertTrue(Text.isAscii(array, 1, length));
            for (int at = 0; at < length; at++) {
                array[at + 1] = (byte) 0x80;
                assertFalse(Text.isAscii(array, 1, length));
                array[at + 1] = 0x7F;
            }
        }
    }

    @Test
    void keepsAscii_utf16OrEbcdic_isFalse() {
        for (String charset : List.of("UTF-8", "US-ASCII", "ISO-8859-15", "windows-1252", "Shift_JIS", "GB18030")) {
            assertTrue(Text.keepsAscii(Charset.forName(charset)), charset);
        }
        for (String charset : List.of("UTF-16", "UTF-32LE", "IBM037", "IBM864")) {
            assertFalse(Text.keepsAscii(Charset.forName(charset)), charset);
        }
    }

    @Test
    void scans_outsideArray_areRejected() {
        assertThrows(IndexOutOfBoundsException.class, () -> Text.indexOfControl(new byte[4], 0, 5));
        assertThrows(IndexOutOfBoundsException.class, () -> Text.indexOfUnplain(new byte[4], 0, 5));
        assertThrows(IndexOutOfBoundsException.class, () -> Text.isAscii(new byte[4], 3, 2));
        assertThrows(IndexOutOfBoundsException.class, () -> Text.malformedAt(new byte[3], 1, 3, ISO_8859_1));
    }
}
