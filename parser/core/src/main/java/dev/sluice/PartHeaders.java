package dev.sluice;

import dev.sluice.buffer.Text;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The header fields of one part, in the order in which they came, duplicates included (RFC 2046 section 5.1). Immutable,
 * thread-safe, and independent of the decoder it comes from.
 *
 * <p>Names compare without regard to case. Values are decoded in {@link MultipartOptions#headerCharset()}, undecodable bytes
 * as U+FFFD; {@link #rawValue} has the bytes. A folded value has one space for each fold.
 */
public final class PartHeaders implements Iterable<PartHeaders.Header> {
    /** One header field. */
    public record Header(String name, String value) {}

    static final int SLOTS = 4;

    private final byte[] bytes;
    private final int[] bounds;
    private final int count;
    private final MultipartOptions options;

    PartHeaders(byte[] bytes, int[] bounds, int count, MultipartOptions options) {
        this.bytes = bytes;
        this.bounds = bounds;
        this.count = count;
        this.options = options;
    }

    /** {@return the number of fields} */
    public int count() {
        return count;
    }

    /** {@return the name of field {@code index}, as it came} */
    public String name(int index) {
        int slot = slot(index);
        return new String(bytes, bounds[slot], bounds[slot + 1] - bounds[slot], StandardCharsets.US_ASCII);
    }

    /** {@return the value of field {@code index}, blanks around it left out} */
    public String value(int index) {
        byte[] raw = rawValue(index);
        return Text.decode(raw, 0, raw.length, options.headerCharset());
    }

    /** {@return the bytes of the value of field {@code index}: a new array} */
    public byte[] rawValue(int index) {
        int slot = slot(index);
        return unfold(bytes, bounds[slot + 2], bounds[slot + 3], new int[0]);
    }

    private int slot(int index) {
        return Objects.checkIndex(index, count) * SLOTS;
    }

    /**
     * {@return a copy of {@code array[from..to)} with one space for each fold and the blanks around it}
     *
     * @param origins empty, or as long as the range: receives for each byte of the result where it was
     */
    static byte[] unfold(byte[] array, int from, int to, int[] origins) {
        byte[] unfolded = new byte[to - from];
        int size = 0;
        for (int i = from; i < to; i++) {
            byte b = array[i];
            int origin = i;
            if (b == Bytes.CR || b == Bytes.LF) {
                while (Bytes.isBlank(unfolded[size - 1])) { // a value starts with neither a blank nor a fold
                    size--;
                    origin--;
                }
                boolean blanksBefore = origin < i;
                while (isFold(array[i + 1])) { // a value does not end with a fold
                    i++;
                    origin = !blanksBefore && !Bytes.isBlank(array[origin]) ? i : origin; // its first blank
                }
                b = ' ';
            }
            if (origins.length > 0) {
                origins[size] = origin;
            }
            unfolded[size++] = b;
        }
        return size == unfolded.length ? unfolded : Arrays.copyOf(unfolded, size);
    }

    /** Behind the first byte of a fold, of which no line is blank. */
    private static boolean isFold(byte b) {
        return b == Bytes.LF || Bytes.isBlank(b);
    }

    /** {@return the value of the first field called {@code name}, or null} */
    public @Nullable String first(String name) {
        int index = indexOf(name);
        return index < 0 ? null : value(index);
    }

    /** {@return the values of all fields called {@code name}, in order; unmodifiable} */
    public List<String> all(String name) {
        List<String> values = new ArrayList<>();
        for (int index = 0; index < count; index++) {
            if (name(index).equalsIgnoreCase(name)) {
                values.add(value(index));
            }
        }
        return List.copyOf(values);
    }

    private int indexOf(String name) {
        for (int index = 0; index < count; index++) {
            if (name(index).equalsIgnoreCase(name)) {
                return index;
            }
        }
        return -1;
    }

    /** {@return the {@code Content-Type} of the part, as it came, or null} */
    public @Nullable String contentType() {
        return first("Content-Type");
    }

    /** {@return the first parameter called {@code name} of the {@code Content-Type} of the part, quotes removed, or null} */
    public @Nullable String contentTypeParameter(String name) {
        String contentType = contentType();
        return contentType == null ? null : PartCharset.parameter(contentType, name);
    }

    /**
     * {@return the {@code Content-Disposition}, or null where there is none, or one that cannot be read (which happens only
     * outside of {@code multipart/form-data}, where the decoder does not insist on it)}
     */
    public @Nullable ContentDisposition contentDisposition() {
        int index = indexOf("Content-Disposition");
        return index < 0 ? null : ContentDisposition.ofChecked(rawValue(index), options);
    }

    @Override
    public Iterator<Header> iterator() {
        return new Iterator<>() {
            private int next;

            @Override
            public boolean hasNext() {
                return next < count;
            }

            @Override
            public Header next() {
                if (next == count) {
                    throw new NoSuchElementException("there are " + count + " header fields");
                }
                return new Header(name(next), value(next++));
            }
        };
    }

    /** {@return the number of fields: values come from the peer and are not for logs} */
    @Override
    public String toString() {
        return "PartHeaders[" + count + " fields]";
    }
}
