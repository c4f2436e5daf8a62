package dev.sluice.buffer;

import io.netty.buffer.ByteBuf;
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

/** Text and bytes in memory; a range out of its bounds is an {@link IndexOutOfBoundsException}. Thread-safe. */
public final class Text {
    private static final int CHARS_AT_A_TIME = 256;
    private static final long SPACES = Swar.repeat((byte) ' ');
    private static final long DELETES = Swar.repeat((byte) 0x7F);
    private static final long QUOTES = Swar.repeat((byte) '"');
    private static final long BACKSLASHES = Swar.repeat((byte) '\\');
    private static final String ASCII_TEXT =
            "\t !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";

    /** Those that nearly all clients name: the others are looked for once one of them is. */
    private static final List<Charset> USUAL =
            List.of(StandardCharsets.UTF_8, StandardCharsets.ISO_8859_1, StandardCharsets.US_ASCII);

    private Text() {}

    /** By name and alias. */
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
     * {@return the charset of that name or alias, in any case, or null}
     *
     * <p>For names of clients, who may make up one for each part: {@link Charset#forName} asks all providers for each that it
     * does not know, which takes a tenth of a millisecond.
     */
    public static @Nullable Charset charset(String name) {
        for (Charset usual : USUAL) {
            if (usual.name().equalsIgnoreCase(name)) {
                return usual;
            }
        }
        return Charsets.ALL.get(name.toLowerCase(Locale.ROOT));
    }

    /**
     * {@return the text of bytes in a buffer (<em>borrowed</em>), decoded in place where the buffer has an array;
     * memory without one is copied once, because a {@code String} is made from arrays only}
     *
     * <p>Indices of the buffer do not change, and a leak-aware buffer makes no record.
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
     */
    public static int malformedAt(byte[] array, int index, int length, Charset charset) {
        ByteBuffer bytes = ByteBuffer.wrap(array, index, length);
        CharBuffer chars = CharBuffer.allocate(Math.min(length + 1, CHARS_AT_A_TIME));
        CharsetDecoder decoder = charset.newDecoder(); // reports, unless told otherwise
        CoderResult result;
        do {
            chars.clear();
            result = decoder.decode(bytes, chars, true);
        } while (result.isOverflow());
        return result.isError() ? bytes.position() - index : -1;
    }

    /** {@return whether TAB and the bytes 0x20 to 0x7E mean in {@code charset} what they mean in US-ASCII} */
    public static boolean keepsAscii(Charset charset) {
        return ASCII_TEXT.equals(new String(ASCII_TEXT.getBytes(StandardCharsets.US_ASCII), charset));
    }

    /** {@return whether all of {@code length} bytes from {@code index} on are US-ASCII} */
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
     * {@code to}: where the plain text of a quoted string ends}
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
