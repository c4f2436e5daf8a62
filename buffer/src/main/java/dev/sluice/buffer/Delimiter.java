package dev.sluice.buffer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The text {@code CRLF "--" boundary} that ends a part (RFC 2046 section 5.1.1), prepared for searching. Immutable and thread-safe.
 *
 * <p>A boundary contains neither CR nor LF, so CR occurs only at index 0 of the text and LF only at index 1. If a comparison fails, no
 * delimiter can therefore start before the byte that differs. The bytes that matched need not be kept while the comparison waits for more
 * input, because they are equal to this text.
 */
public final class Delimiter {
    static final int LINE_BREAK_LENGTH = 2;

    private static final byte[] PREFIX = {'\r', '\n', '-', '-'};

    private final byte[] text;
    private final ByteBuf constant;

    /** The grams of the text, created on first use. Two threads may each create them; the results are equal. */
    volatile @Nullable Grams grams;

    private Delimiter(byte[] text) {
        this.text = text;
        this.constant = Unpooled.unreleasableBuffer(Unpooled.wrappedBuffer(text).asReadOnly());
    }

    /**
     * {@return the delimiter of a boundary}
     *
     * @param boundary the bytes of the boundary without the two dashes before it; copied
     * @throws IllegalArgumentException if the boundary is empty or contains CR or LF
     */
    public static Delimiter of(byte[] boundary) {
        if (boundary.length == 0) {
            throw new IllegalArgumentException("the boundary is empty");
        }
        for (byte b : boundary) {
            if (b == '\r' || b == '\n') {
                throw new IllegalArgumentException("the boundary contains CR or LF");
            }
        }
        byte[] text = Arrays.copyOf(PREFIX, PREFIX.length + boundary.length);
        System.arraycopy(boundary, 0, text, PREFIX.length, boundary.length);
        return new Delimiter(text);
    }

    /** {@return the length of the text: the length of the boundary plus 4} */
    public int length() {
        return text.length;
    }

    /**
     * {@return the bytes {@code from} (inclusive) to {@code to} (exclusive) of the text, read-only}
     *
     * <p>The slice is constant: retaining and releasing it have no effect, and it may be kept and passed to other threads.
     */
    public ByteBuf text(int from, int to) {
        return constant.slice(from, to - from);
    }

    /** {@return the bytes of the text; do not write to them} */
    byte[] bytes() {
        return text;
    }

    /** {@return all sequences of four bytes in the text; see {@link Grams}} */
    Grams grams() {
        Grams made = grams;
        if (made == null) {
            made = Grams.of(text);
            grams = made;
        }
        return made;
    }
}
