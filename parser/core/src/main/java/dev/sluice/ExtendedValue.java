package dev.sluice;

import dev.sluice.buffer.Text;
import java.io.ByteArrayOutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Extended parameter values: RFC 8187 ({@code UTF-8''a%20b}) and the continuations of RFC 2231 section 3. */
final class ExtendedValue {
    private ExtendedValue() {}

    /** {@return the text of {@code charset'language'value}, or null where an escape is broken or the charset unknown} */
    static @Nullable String decode(byte[] bytes, int from, int to) {
        int value = afterLanguage(bytes, from, to);
        if (value < 0) {
            return null;
        }
        Charset charset = charset(bytes, from, to);
        byte[] raw = percentDecode(bytes, value, to);
        return charset == null || raw == null || Text.malformedAt(raw, 0, raw.length, charset) >= 0
                ? null
                : Text.decode(raw, 0, raw.length, charset);
    }

    private static @Nullable Charset charset(byte[] bytes, int from, int to) {
        int end = quote(bytes, from, to);
        if (Keyword.UTF_8.is(bytes, from, end)) {
            return StandardCharsets.UTF_8;
        }
        return Keyword.ISO_8859_1.is(bytes, from, end) ? StandardCharsets.ISO_8859_1 : null;
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
        ByteArrayOutputStream decoded = new ByteArrayOutputStream(to - from);
        for (int i = from; i < to; i++) {
            if (bytes[i] != '%') {
                if (!Bytes.isAttribute(bytes[i])) {
                    return null;
                }
                decoded.write(bytes[i]);
            } else {
                int high = i + 2 < to ? Bytes.hex(bytes[i + 1]) : -1;
                int low = i + 2 < to ? Bytes.hex(bytes[i + 2]) : -1;
                if (high < 0 || low < 0) {
                    return null;
                }
                decoded.write(high << 4 | low);
                i += 2;
            }
        }
        return decoded.toByteArray();
    }

    /** Collects the numbered pieces of one parameter. */
    static final class Joiner {
        private record Piece(byte[] value, boolean extended) {}

        private final Charset headerCharset;
        private final TreeMap<Integer, Piece> pieces = new TreeMap<>();
        private boolean broken;

        Joiner(Charset headerCharset) {
            this.headerCharset = headerCharset;
        }

        /** Adds a piece; {@code bytes[from..to)} is its number, with {@code *} behind it where it is extended. */
        void add(byte[] bytes, int from, int to, byte[] value) {
            boolean extended = bytes[to - 1] == '*';
            int digits = extended ? to - 1 : to;
            int number = 0;
            broken |= digits - from > 3 || digits - from > 1 && bytes[from] == '0';
            for (int i = from; i < digits && !broken; i++) {
                number = number * 10 + bytes[i] - '0';
            }
            broken |= pieces.put(number, new Piece(value, extended)) != null;
        }

        /** {@return the text, or null where a number is missing or twice, or a piece cannot be decoded} */
        @Nullable
        String join() {
            if (broken || pieces.isEmpty() || pieces.firstKey() != 0 || pieces.lastKey() != pieces.size() - 1) {
                return null;
            }
            Piece first = pieces.values().iterator().next();
            Charset charset = first.extended ? charset(first.value, 0, first.value.length) : null;
            ByteArrayOutputStream joined = new ByteArrayOutputStream();
            for (Piece piece : pieces.values()) {
                int start = piece == first && piece.extended ? afterLanguage(piece.value, 0, piece.value.length) : 0;
                boolean decodable = charset != null && start >= 0;
                byte[] raw = !piece.extended
                        ? piece.value
                        : decodable ? percentDecode(piece.value, start, piece.value.length) : null;
                if (raw == null) {
                    return null;
                }
                joined.writeBytes(raw);
            }
            byte[] raw = joined.toByteArray();
            if (charset == null) {
                return Text.decode(raw, 0, raw.length, headerCharset);
            }
            return Text.malformedAt(raw, 0, raw.length, charset) >= 0 ? null : Text.decode(raw, 0, raw.length, charset);
        }
    }
}
