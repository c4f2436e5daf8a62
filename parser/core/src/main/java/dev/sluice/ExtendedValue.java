package dev.sluice;

import dev.sluice.buffer.Text;
import java.io.ByteArrayOutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** A decoder of extended parameter values: RFC 8187 ({@code UTF-8''a%20b}) and the continuations of RFC 2231 section 3. */
final class ExtendedValue {
    private ExtendedValue() {}

    /** {@return the text of {@code charset'language'value}; null if an escape is malformed or the charset is unknown} */
    static @Nullable String decode(byte[] bytes, int from, int to) {
        int value = afterLanguage(bytes, from, to);
        if (value < 0) {
            return null;
        }
        return text(percentDecode(bytes, value, to), charset(bytes, from, to));
    }

    /** {@return the text; null if {@code raw} or the charset is null, or the bytes are malformed in the charset} */
    static @Nullable String text(byte @Nullable [] raw, @Nullable Charset charset) {
        return charset == null || raw == null || Text.malformedAt(raw, 0, raw.length, charset) >= 0
                ? null
                : new String(raw, charset);
    }

    private static @Nullable Charset charset(byte[] bytes, int from, int to) {
        return charset(new String(bytes, from, quote(bytes, from, to) - from, StandardCharsets.US_ASCII));
    }

    /** {@return one of the two charsets that are allowed in a value, or null} */
    static @Nullable Charset charset(String name) {
        return switch (name.toUpperCase(Locale.ROOT)) {
            case "UTF-8" -> StandardCharsets.UTF_8;
            case "ISO-8859-1" -> StandardCharsets.ISO_8859_1;
            default -> null;
        };
    }

    /** {@return the index after the second single quote, or -1} */
    private static int afterLanguage(byte[] bytes, int from, int to) {
        int second = quote(bytes, quote(bytes, from, to) + 1, to);
        return second < to ? second + 1 : -1;
    }

    private static int quote(byte[] bytes, int from, int to) {
        int i = Math.min(from, to);
        while (i < to && bytes[i] != '\'') {
            i++;
        }
        return i;
    }

    private static byte @Nullable [] percentDecode(byte[] bytes, int from, int to) {
        return unescape('%', bytes, from, to, b -> Bytes.isAttribute((byte) b));
    }

    /**
     * {@return the bytes with each escape ({@code escape} and two hexadecimal digits) decoded; null if a byte is neither literal nor
     * part of an escape}
     */
    static byte @Nullable [] unescape(char escape, byte[] bytes, int from, int to, IntPredicate literal) {
        ByteArrayOutputStream decoded = new ByteArrayOutputStream(to - from);
        for (int i = from; i < to; i++) {
            int value = literal.test(bytes[i]) ? bytes[i] : -1;
            if (bytes[i] == escape) {
                value = i + 2 < to ? Bytes.hex(bytes[i + 1], bytes[i + 2]) : -1;
                i += 2;
            }
            if (value < 0) {
                return null;
            }
            decoded.write(value);
        }
        return decoded.toByteArray();
    }

    /** One of several continuations that form a value. Its number is -1 if it has a leading zero or more than three digits. */
    record Piece(int number, boolean extended, byte[] value) {
        /** {@return the piece whose number is {@code bytes[from..to)}; a {@code *} after the number means that the piece is extended} */
        static Piece of(byte[] bytes, int from, int to, byte[] value) {
            boolean extended = bytes[to - 1] == '*';
            int length = (extended ? to - 1 : to) - from;
            boolean malformed = length > 3 || length > 1 && bytes[from] == '0';
            String digits = malformed ? "-1" : new String(bytes, from, length, StandardCharsets.US_ASCII);
            return new Piece(Integer.parseInt(digits), extended, value);
        }
    }

    /** {@return the text; null if a number is missing, malformed or duplicate, or a piece cannot be decoded} */
    static @Nullable String join(List<Piece> pieces, Charset headerCharset) {
        List<Piece> sorted = new ArrayList<>(pieces);
        sorted.sort(Comparator.comparingInt(Piece::number));
        Charset charset = null;
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        for (int i = 0; i < sorted.size(); i++) {
            Piece piece = sorted.get(i);
            byte[] raw = piece.value;
            int start = 0;
            if (piece.extended && i == 0) {
                charset = charset(raw, 0, raw.length);
                start = afterLanguage(raw, 0, raw.length);
            }
            if (piece.extended) {
                raw = charset != null && start >= 0 ? percentDecode(raw, start, raw.length) : null;
            }
            if (piece.number != i || raw == null) {
                return null;
            }
            joined.writeBytes(raw);
        }
        byte[] raw = joined.toByteArray();
        return pieces.isEmpty() ? null : charset == null ? new String(raw, headerCharset) : text(raw, charset);
    }
}
