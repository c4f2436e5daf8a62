package dev.sluice.legacy;

import java.io.ByteArrayOutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The continuations {@code filename*0}, {@code filename*1*}, ... of one parameter value (RFC 2231 section 3). */
public final class Continuations {
    /** A piece of the value. The number is -1 if it was sent with a leading zero or more than three digits. */
    private record Piece(int number, boolean extended, byte[] value) {}

    private final List<Piece> pieces = new ArrayList<>();

    /** Adds a piece. {@code bytes[from..to)} is its number, followed by {@code *} if it is extended. */
    public void add(byte[] bytes, int from, int to, byte[] value) {
        boolean extended = bytes[to - 1] == '*';
        int length = (extended ? to - 1 : to) - from;
        boolean malformed = length > 3 || length > 1 && bytes[from] == '0';
        String digits = malformed ? "-1" : new String(bytes, from, length, StandardCharsets.US_ASCII);
        pieces.add(new Piece(Integer.parseInt(digits), extended, value));
    }

    /** {@return the text; null if a number is missing, malformed or duplicate, or a piece cannot be decoded} */
    public @Nullable String join(Charset headerCharset) {
        pieces.sort(Comparator.comparingInt(Piece::number));
        Charset charset = null;
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        for (int i = 0; i < pieces.size(); i++) {
            Piece piece = pieces.get(i);
            byte[] raw = piece.value;
            int start = 0;
            if (piece.extended && i == 0) {
                charset = ExtendedValue.charset(raw, 0, raw.length);
                start = ExtendedValue.afterLanguage(raw, 0, raw.length);
            }
            if (piece.extended) {
                raw = charset != null && start >= 0 ? ExtendedValue.percentDecode(raw, start, raw.length) : null;
            }
            if (piece.number != i || raw == null) {
                return null;
            }
            joined.writeBytes(raw);
        }
        byte[] raw = joined.toByteArray();
        return charset == null ? new String(raw, headerCharset) : ExtendedValue.text(raw, charset);
    }
}
