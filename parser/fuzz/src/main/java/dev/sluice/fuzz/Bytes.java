package dev.sluice.fuzz;

import dev.sluice.testkit.TextTable;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Bytes that are written one after the other, and a few things to do with them. */
final class Bytes {
    private byte[] array;
    private int size;

    Bytes(int capacity) {
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

    Bytes add(byte b) {
        ensure(1);
        array[size++] = b;
        return this;
    }

    Bytes add(byte[] bytes) {
        ensure(bytes.length);
        System.arraycopy(bytes, 0, array, size, bytes.length);
        size += bytes.length;
        return this;
    }

    /** Adds text in ISO-8859-1. */
    Bytes add(String text) {
        return add(latin1(text));
    }

    /** {@return the array, of which the first {@link #size()} bytes count, with room for {@code count} more} */
    byte[] ensure(int count) {
        if (count > array.length - size) {
            array = Arrays.copyOf(array, Math.max(2 * array.length, size + count));
        }
        return array;
    }

    /** Counts bytes that were written behind {@link #size()}. */
    void grow(int count) {
        size += count;
    }

    boolean isSame(Bytes other) {
        return Arrays.equals(array, 0, size, other.array, 0, other.size);
    }

    boolean startsWith(Bytes other) {
        return size >= other.size && Arrays.equals(array, 0, other.size, other.array, 0, other.size);
    }

    /** {@return where {@code wanted} starts, at {@code from} or later, or -1} */
    static int indexOf(byte[] bytes, byte[] wanted, int from) {
        for (int at = from; at <= bytes.length - wanted.length; at++) {
            if (bytes[at] == wanted[0] && Arrays.equals(bytes, at, at + wanted.length, wanted, 0, wanted.length)) {
                return at;
            }
        }
        return -1;
    }

    /** {@return the bytes as a Java string literal would have them} */
    static String show(byte[] bytes) {
        return TextTable.escaped(bytes);
    }

    @Override
    public String toString() {
        return show(toArray());
    }
}
