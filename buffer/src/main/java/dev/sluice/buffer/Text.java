package dev.sluice.buffer;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.Charset;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * Decodes text straight from memory. Bytes that mean nothing in the charset become U+FFFD; {@link #malformedAt} tells
 * whether and where. Thread-safe.
 */
public final class Text {
    private static final int CHARS_AT_A_TIME = 256;
    private static final long SPACES = Swar.repeat((byte) ' ');
    private static final long DELETES = Swar.repeat((byte) 0x7F);
    private static final long QUOTES = Swar.repeat((byte) '"');
    private static final long BACKSLASHES = Swar.repeat((byte) '\\');
    private static final String ASCII_TEXT =
            "\t !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";

    private Text() {}

    /**
     * {@return the text of bytes in an array}
     *
     * @param index of the first byte in the array
     * @param length in bytes
     * @throws IndexOutOfBoundsException if the range is not within the array
     */
    public static String decode(byte[] array, int index, int length, Charset charset) {
        return new String(array, index, length, charset);
    }

    /**
     * {@return the text of bytes in a buffer (<em>borrowed</em>), decoded in place where the buffer has an array;
     * memory without one is copied once, because a {@code String} is made from arrays only}
     *
     * <p>Indices of the buffer do not change, and a leak-aware buffer makes no record.
     *
     * @param index absolute index in the buffer
     * @param length in bytes
     * @throws IndexOutOfBoundsException if the range is not within the buffer's capacity
     */
    public static String decode(ByteBuf buffer, int index, int length, Charset charset) {
        Objects.checkFromIndexSize(index, length, buffer.capacity());
        ByteBuf memory = Wrappers.behindReadOnly(Wrappers.unwrap(buffer));
        if (memory.hasArray()) {
            return new String(memory.array(), memory.arrayOffset() + index, length, charset);
        }
        if (charset.equals(StandardCharsets.US_ASCII)) {
            // netty takes bytes that are not ASCII for ISO-8859-1.
            byte[] bytes = new byte[length];
            memory.getBytes(index, bytes);
            return new String(bytes, charset);
        }
        return memory.toString(index, length, charset);
    }

    /**
     * {@return the offset, counted from {@code index}, of the first byte that starts malformed or unmappable input,
     * including a character cut off by the end; -1 if there is none}
     *
     * @param index of the first byte in the array
     * @param length in bytes
     * @throws IndexOutOfBoundsException if the range is not within the array
     */
    public static int malformedAt(byte[] array, int index, int length, Charset charset) {
        Objects.checkFromIndexSize(index, length, array.length);
        int end = index + length;
        int at;
        if (charset.equals(StandardCharsets.UTF_8)) {
            at = malformedUtf8(array, index, end);
        } else if (charset.equals(StandardCharsets.US_ASCII)) {
            at = afterAscii(array, index, end);
        } else if (charset.equals(StandardCharsets.ISO_8859_1)) {
            at = end;
        } else {
            at = malformed(array, index, end, charset);
        }
        return at == end ? -1 : at - index;
    }

    /** {@return whether TAB and the bytes 0x20 to 0x7E mean in {@code charset} what they mean in US-ASCII} */
    public static boolean keepsAscii(Charset charset) {
        return ASCII_TEXT.equals(new String(ASCII_TEXT.getBytes(StandardCharsets.US_ASCII), charset));
    }

    /**
     * {@return whether all bytes of a range are US-ASCII}
     *
     * @param index of the first byte in the array
     * @param length in bytes
     * @throws IndexOutOfBoundsException if the range is not within the array
     */
    public static boolean isAscii(byte[] array, int index, int length) {
        Objects.checkFromIndexSize(index, length, array.length);
        return afterAscii(array, index, index + length) == index + length;
    }

    /**
     * {@return the index of the first control byte (0x00 to 0x1F, 0x7F) in {@code [from, to)}, or {@code to}; looks at a word at a
     * time}
     *
     * @throws IndexOutOfBoundsException if the range is not within the array
     */
    public static int indexOfControl(byte[] array, int from, int to) {
        Objects.checkFromToIndex(from, to, array.length);
        int at = from;
        while (at <= to - 8) {
            long word = Swar.word(array, at);
            // Below 0x20 the subtraction borrows into the top bit, which the byte itself does not have; 0x7F becomes
            // zero.
            long controls = (word - SPACES) & ~word & Swar.TOPS | Swar.zeros(word ^ DELETES);
            if (controls != 0) {
                return at + Long.numberOfTrailingZeros(controls) / 8;
            }
            at += 8;
        }
        while (at < to && (array[at] < 0 || array[at] >= ' ' && array[at] != 0x7F)) {
            at++;
        }
        return at;
    }

    /**
     * {@return the index of the first byte in {@code [from, to)} that is a control byte, {@code "}, {@code \\} or not ASCII, or
     * {@code to}: where the plain text of a quoted string ends; looks at a word at a time}
     *
     * @throws IndexOutOfBoundsException if the range is not within the array
     */
    public static int indexOfUnplain(byte[] array, int from, int to) {
        Objects.checkFromToIndex(from, to, array.length);
        int at = from;
        while (at <= to - 8) {
            long word = Swar.word(array, at);
            long unplain = (word - SPACES) & ~word & Swar.TOPS
                    | Swar.zeros(word ^ DELETES)
                    | Swar.zeros(word ^ QUOTES)
                    | Swar.zeros(word ^ BACKSLASHES)
                    | word & Swar.TOPS;
            if (unplain != 0) {
                return at + Long.numberOfTrailingZeros(unplain) / 8;
            }
            at += 8;
        }
        while (at < to && array[at] >= ' ' && array[at] != 0x7F && array[at] != '"' && array[at] != '\\') {
            at++;
        }
        return at;
    }

    /** {@return the index of the first byte from i on that is not ASCII, or end} */
    private static int afterAscii(byte[] array, int i, int end) {
        int at = i;
        while (at <= end - 8 && (Swar.word(array, at) & Swar.TOPS) == 0) {
            at += 8;
        }
        while (at < end && array[at] >= 0) {
            at++;
        }
        return at;
    }

    private static int malformedUtf8(byte[] array, int i, int end) {
        int at = afterAscii(array, i, end);
        while (at < end) {
            int length = characterLength(array, at, end);
            if (length == 0) {
                return at;
            }
            at = afterAscii(array, at + length, end);
        }
        return end;
    }

    /**
     * {@return the number of bytes of the well-formed character of two to four bytes at index i, 0 if it is not
     * well-formed}: RFC 3629 section 4, with neither overlong forms nor surrogates nor anything above U+10FFFF.
     */
    private static int characterLength(byte[] array, int i, int end) {
        int lead = array[i] & 0xff;
        int length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
        if (lead < 0xc2 || lead > 0xf4 || length > end - i) {
            return 0;
        }
        int second = array[i + 1] & 0xff;
        int lowest = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
        int highest = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
        if (second < lowest || second > highest) {
            return 0;
        }
        for (int k = 2; k < length; k++) {
            if ((array[i + k] & 0xc0) != 0x80) {
                return 0;
            }
        }
        return length;
    }

    private static int malformed(byte[] array, int i, int end, Charset charset) {
        CharsetDecoder decoder = charset.newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT);
        ByteBuffer bytes = ByteBuffer.wrap(array, i, end - i);
        CharBuffer chars = CharBuffer.allocate(CHARS_AT_A_TIME);
        CoderResult result;
        do {
            chars.clear();
            result = decoder.decode(bytes, chars, true);
        } while (result.isOverflow());
        return result.isError() ? bytes.position() : end;
    }
}
