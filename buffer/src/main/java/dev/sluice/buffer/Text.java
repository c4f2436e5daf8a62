package dev.sluice.buffer;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.Charset;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Static methods about charsets, and scans of bytes. A range outside of the array throws {@link IndexOutOfBoundsException}. Thread-safe.
 */
public final class Text {
    private static final int CHARS_AT_A_TIME = 256;
    private static final long SPACES = Swar.repeat((byte) ' ');
    private static final long DELETES = Swar.repeat((byte) 0x7F);
    private static final long QUOTES = Swar.repeat((byte) '"');
    private static final long BACKSLASHES = Swar.repeat((byte) '\\');
    private static final String ASCII_TEXT =
            "\t !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";

    /** The charsets that nearly all clients use. For other names, {@link Charsets} is loaded. */
    private static final List<Charset> COMMON =
            List.of(StandardCharsets.UTF_8, StandardCharsets.ISO_8859_1, StandardCharsets.US_ASCII);

    private Text() {}

    /** All charsets. The keys are names and aliases in lower case. */
    private static final class Charsets {
        static final Map<String, Charset> ALL = new HashMap<>();

        static {
            for (Charset each : Charset.availableCharsets().values()) {
                each.aliases().forEach(alias -> ALL.put(alias.toLowerCase(Locale.ROOT), each));
            }
            Charset.availableCharsets().forEach((name, each) -> ALL.put(name.toLowerCase(Locale.ROOT), each));
        }
    }

    /**
     * {@return the charset with the given name or alias, ignoring case, or null if there is none}
     *
     * <p>Use this method for names from clients, which may send a different unknown name in each part. For an unknown name,
     * {@link Charset#forName} searches all providers, which takes a tenth of a millisecond.
     */
    public static @Nullable Charset charset(String name) {
        for (Charset common : COMMON) {
            if (common.name().equalsIgnoreCase(name)) {
                return common;
            }
        }
        return Charsets.ALL.get(name.toLowerCase(Locale.ROOT));
    }

    /**
     * {@return the offset of the first malformed or unmappable character, counted from {@code index} in bytes; -1 if there is none}
     *
     * <p>An incomplete character at the end is malformed.
     */
    public static int malformedAt(byte[] array, int index, int length, Charset charset) {
        ByteBuffer bytes = ByteBuffer.wrap(array, index, length);
        CharBuffer chars = CharBuffer.allocate(Math.min(length + 1, CHARS_AT_A_TIME));
        CharsetDecoder decoder = charset.newDecoder(); // reports malformed input by default
        CoderResult result;
        do {
            chars.clear();
            result = decoder.decode(bytes, chars, true);
        } while (result.isOverflow());
        return result.isError() ? bytes.position() - index : -1;
    }

    /** {@return whether TAB and the bytes 0x20 to 0x7E have the same meaning in {@code charset} as in US-ASCII} */
    public static boolean keepsAscii(Charset charset) {
        return ASCII_TEXT.equals(new String(ASCII_TEXT.getBytes(StandardCharsets.US_ASCII), charset));
    }

    /** {@return whether all {@code length} bytes starting at {@code index} are US-ASCII} */
    public static boolean isAscii(byte[] array, int index, int length) {
        Objects.checkFromIndexSize(index, length, array.length);
        int at = index;
        int end = index + length;
        while (at <= end - 8 && (Swar.word(array, at) & Swar.TOPS) == 0) {
            at += 8;
        }
        while (at < end && array[at] >= 0) {
            at++;
        }
        return at == end;
    }

    /** {@return the index of the first control byte (0x00 to 0x1F, 0x7F) in {@code [from, to)}, or {@code to}} */
    public static int indexOfControl(byte[] array, int from, int to) {
        Objects.checkFromToIndex(from, to, array.length);
        int at = from;
        while (at <= to - 8) {
            long word = Swar.word(array, at);
            // For a byte below 0x20, the subtraction sets the top bit. The XOR turns 0x7F into 0.
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
     * {@return the index of the first byte in {@code [from, to)} that is a control byte, {@code "}, {@code \} or not ASCII, or {@code to}}
     *
     * <p>The bytes of a quoted string before this index need no further processing.
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
}
