package dev.sluice.legacy;

import dev.sluice.buffer.Text;
import java.io.ByteArrayOutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** A decoder of extended parameter values such as {@code UTF-8''a%20b} (RFC 8187). */
public final class ExtendedValue {
    private ExtendedValue() {}

    /**
     * {@return the text of {@code charset'language'value}; null if it is malformed or the charset is not allowed} For values that are split
     * into several parameters, see {@link Continuations}.
     */
    public static @Nullable String decode(byte[] bytes, int from, int to) {
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

    static @Nullable Charset charset(byte[] bytes, int from, int to) {
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
    static int afterLanguage(byte[] bytes, int from, int to) {
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

    static byte @Nullable [] percentDecode(byte[] bytes, int from, int to) {
        return unescape('%', bytes, from, to, ExtendedValue::isAttribute);
    }

    private static boolean isAttribute(int b) {
        return b > 0 && (Character.isLetterOrDigit(b) || "!#$&+-.^_`|~".indexOf(b) >= 0); // RFC 8187 section 3.2.1
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
                value = i + 2 < to ? hex(bytes[i + 1], bytes[i + 2]) : -1;
                i += 2;
            }
            if (value < 0) {
                return null;
            }
            decoded.write(value);
        }
        return decoded.toByteArray();
    }

    /** {@return the value of two hexadecimal digits, or less than 0} */
    static int hex(int high, int low) {
        return Character.digit(high, 16) << 4 | Character.digit(low, 16);
    }
}
