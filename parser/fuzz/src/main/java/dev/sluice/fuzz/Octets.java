package dev.sluice.fuzz;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Octets that are written one after the other, and a few things to do with them. */
final class Octets {
    private byte[] array;
    private int size;

    Octets(int capacity) {
        this.array = new byte[capacity];
    }

    static byte[] latin1(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    int size() {
        return size;
    }

    byte[] toArray() {
        return Arrays.copyOf(array, size);
    }

    Octets add(byte octet) {
        ensure(1);
        array[size++] = octet;
        return this;
    }

    Octets add(byte[] octets) {
        ensure(octets.length);
        System.arraycopy(octets, 0, array, size, octets.length);
        size += octets.length;
        return this;
    }

    /** Adds text in ISO-8859-1. */
    Octets add(String text) {
        return add(latin1(text));
    }

    /** {@return the array, of which the first {@link #size()} octets count, with room for {@code count} more} */
    byte[] ensure(int count) {
        if (count > array.length - size) {
            array = Arrays.copyOf(array, Math.max(2 * array.length, size + count));
        }
        return array;
    }

    /** Counts octets that were written behind {@link #size()}. */
    void grow(int count) {
        size += count;
    }

    boolean isSame(Octets other) {
        return Arrays.equals(array, 0, size, other.array, 0, other.size);
    }

    boolean startsWith(Octets other) {
        return size >= other.size && Arrays.equals(array, 0, other.size, other.array, 0, other.size);
    }

    /** {@return where {@code wanted} starts, at {@code from} or later, or -1} */
    static int indexOf(byte[] octets, byte[] wanted, int from) {
        for (int at = from; at <= octets.length - wanted.length; at++) {
            if (octets[at] == wanted[0] && Arrays.equals(octets, at, at + wanted.length, wanted, 0, wanted.length)) {
                return at;
            }
        }
        return -1;
    }

    /** {@return the octets as a Java string literal would have them} */
    static String show(byte[] octets) {
        StringBuilder text = new StringBuilder();
        for (byte octet : octets) {
            switch (octet) {
                case '\r' -> text.append("\\r");
                case '\n' -> text.append("\\n");
                case '\t' -> text.append("\\t");
                default ->
                    text.append(
                            octet >= ' ' && octet < 0x7F ? "" + (char) octet : String.format("\\x%02x", octet & 0xFF));
            }
        }
        return text.toString();
    }

    @Override
    public String toString() {
        return show(toArray());
    }
}
