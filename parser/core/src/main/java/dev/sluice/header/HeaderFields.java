package dev.sluice.header;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The positions of the fields in a copied header section. Immutable.
 *
 * <p>All positions except the name of the first field are relative to the end of the section, and therefore negative. Most sections of a
 * body then have the same positions, even if their names and file names differ in length, and can share one instance. The methods therefore
 * need the bytes of the section as an argument.
 */
public final class HeaderFields {
    private static final int[] NO_ORIGINS = {};

    /** The positions, in the layout of {@link HeaderSection#fields}. */
    final int[] positions;

    private final Charset charset;

    HeaderFields(int[] positions, Charset charset) {
        this.positions = positions;
        this.charset = charset;
    }

    public int count() {
        return positions.length / HeaderSection.SLOTS;
    }

    public String name(byte[] section, int field) {
        int start = nameStart(section, field);
        return new String(section, start, nameEnd(section, field) - start, StandardCharsets.US_ASCII);
    }

    /** {@return the value of a field as text, without folds} */
    public String value(byte[] section, int field) {
        boolean folded = position(section, field, 3) != 0;
        return text(section, valueStart(section, field), valueEnd(section, field), folded, charset);
    }

    /** {@return the value of the first field called {@code name}, or null} */
    public @Nullable String value(byte[] section, Keyword name) {
        for (int field = 0; field < count(); field++) {
            if (isNamed(section, field, name)) {
                return value(section, field);
            }
        }
        return null;
    }

    /** {@return whether the name of a field is {@code name} (case-insensitive)} */
    public boolean isNamed(byte[] section, int field, Keyword name) {
        return name.is(section, nameStart(section, field), nameEnd(section, field));
    }

    /** {@return a copy of the bytes of a value, without folds} */
    public byte[] rawValue(byte[] section, int field) {
        Objects.checkIndex(field, count());
        return unfold(section, valueStart(section, field), valueEnd(section, field), NO_ORIGINS);
    }

    private int position(byte[] section, int field, int slot) {
        int position = positions[field * HeaderSection.SLOTS + slot];
        return position < 0 ? section.length + position : position;
    }

    private int nameStart(byte[] section, int field) {
        return position(section, field, 0);
    }

    private int nameEnd(byte[] section, int field) {
        return position(section, field, 1);
    }

    private int valueStart(byte[] section, int field) {
        return Bytes.trimStart(section, nameEnd(section, field) + 1, position(section, field, 2));
    }

    private int valueEnd(byte[] section, int field) {
        return Bytes.trimEnd(section, valueStart(section, field), position(section, field, 2));
    }

    /** {@return the value {@code array[from..to)} as text, without folds} */
    static String text(byte[] array, int from, int to, boolean folded, Charset charset) {
        return folded
                ? new String(unfold(array, from, to, NO_ORIGINS), charset)
                : new String(array, from, to - from, charset);
    }

    /**
     * {@return a copy of {@code array[from..to)} in which each fold (a line end within a value), with the blanks around it, is one space}
     *
     * @param origins an empty array, or an array as long as the range, which receives the index in {@code array} of each byte of the result
     */
    static byte[] unfold(byte[] array, int from, int to, int[] origins) {
        byte[] unfolded = new byte[to - from];
        int size = 0;
        for (int i = from; i < to; i++) {
            byte b = array[i];
            int origin = i;
            if (Bytes.isLineEnd(b)) {
                while (Bytes.isBlank(unfolded[size - 1])) { // a value starts with neither a blank nor a fold
                    size--;
                    origin--;
                }
                boolean blanksBefore = origin < i;
                while (array[i + 1] == Bytes.LF || Bytes.isBlank(array[i + 1])) { // a value does not end with a fold
                    i++;
                    origin = !blanksBefore && !Bytes.isBlank(array[origin]) ? i : origin; // the first blank of the fold
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
}
