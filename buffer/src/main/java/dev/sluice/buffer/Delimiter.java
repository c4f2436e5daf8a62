package dev.sluice.buffer;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The text {@code CRLF "--" boundary} (RFC 2046 section 5.1.1), prepared once. Immutable and thread-safe.
 *
 * <p>A boundary holds neither CR nor LF, so CR is only at index 0 of the text and LF only at index 1. A comparison that
 * fails can therefore restart only at the byte where it failed, and the bytes compared before it are known: they are
 * this text.
 */
public final class Delimiter {
    static final int LINE_BREAK_LENGTH = 2;

    private static final byte[] PREFIX = {'\r', '\n', '-', '-'};

    private final byte[] text;
    private final ByteBuf constant;

    /** Made when first asked for; a second one made by another thread at the same time is as good, once it is published whole. */
    private volatile long @Nullable [] grams;

    private Delimiter(byte[] text) {
        this.text = text;
        this.constant = Unpooled.unreleasableBuffer(Unpooled.wrappedBuffer(text).asReadOnly());
    }

    /**
     * {@return the delimiter of a boundary}
     *
     * @param boundary the bytes of the boundary without any dashes in front; copied
     * @throws IllegalArgumentException if the boundary is empty or holds CR or LF
     */
    public static Delimiter of(byte[] boundary) {
        if (boundary.length == 0) {
            throw new IllegalArgumentException("the boundary is empty");
        }
        for (byte b : boundary) {
            if (b == '\r' || b == '\n') {
                throw new IllegalArgumentException("the boundary holds CR or LF");
            }
        }
        byte[] text = Arrays.copyOf(PREFIX, PREFIX.length + boundary.length);
        System.arraycopy(boundary, 0, text, PREFIX.length, boundary.length);
        return new Delimiter(text);
    }

    /** {@return the number of bytes of the text: 4 and the length of the boundary} */
    public int length() {
        return text.length;
    }

    /**
     * {@return the bytes {@code from} to {@code to} (exclusive) of the text as a read-only slice of constant memory}
     *
     * <p>The slice need not be released: retaining and releasing it do nothing, and it may be kept for ever and handed
     * to other threads.
     */
    public ByteBuf text(int from, int to) {
        return constant.slice(from, to - from);
    }

    /** {@return the bytes of the text; not to be written} */
    byte[] bytes() {
        return text;
    }

    /** {@return the grams of the text, see {@link Grams}; not to be written} */
    long[] grams() {
        long[] made = grams;
        if (made == null) {
            made = Grams.of(text);
            grams = made;
        }
        return made;
    }
}
