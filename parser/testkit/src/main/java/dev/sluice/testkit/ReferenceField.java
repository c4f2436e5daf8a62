package dev.sluice.testkit;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A header field of the reference parser: its value without surrounding blanks, and the offset of each byte. */
final class ReferenceField {
    private final byte[] body;
    private final String name;
    private final int nameOffset;
    private byte[] value = new byte[0];
    private int[] offsets = new int[0];
    /** The offset of the byte after the value. */
    private int end;

    ReferenceField(byte[] body, int nameStart, int nameEnd) {
        this.body = body;
        this.name = new String(body, nameStart, nameEnd - nameStart, StandardCharsets.US_ASCII);
        this.nameOffset = nameStart;
    }

    /** Adds a line of the value. The line break and the blanks around it become one space. */
    void addLine(int from, int to) {
        int first = from;
        while (first < to && Bytes.isBlank(body[first])) {
            first++;
        }
        int last = to;
        while (last > first && Bytes.isBlank(body[last - 1])) {
            last--;
        }
        int length = value.length;
        int fold = length > 0 ? 1 : 0;
        int foldOffset = Bytes.isBlank(body[end]) ? end : from;
        value = Arrays.copyOf(value, length + fold + last - first);
        offsets = Arrays.copyOf(offsets, value.length);
        if (fold == 1) {
            value[length] = ' ';
            offsets[length] = foldOffset;
        }
        for (int i = first; i < last; i++) {
            value[length + fold + i - first] = body[i];
            offsets[length + fold + i - first] = i;
        }
        end = last;
    }

    String name() {
        return name;
    }

    int nameOffset() {
        return nameOffset;
    }

    boolean isNamed(String other) {
        return name.equalsIgnoreCase(other);
    }

    int length() {
        return value.length;
    }

    int b(int at) {
        return value[at] & 0xFF;
    }

    /**
     * {@return the offset in the body of the byte at an index of the value; for the index after the last byte, the
     * offset after the value}
     */
    int offset(int at) {
        return at == value.length ? end : offsets[at];
    }

    String text() {
        return new String(value, StandardCharsets.UTF_8);
    }

    Outcome.Header header() {
        return new Outcome.Header(name, value);
    }

    /** {@return the offset of the first byte that is not UTF-8, or -1} */
    int firstUndecodable() {
        boolean ascii = true;
        for (byte b : value) {
            ascii &= b >= 0;
        }
        if (ascii) {
            return -1;
        }
        CharsetDecoder decoder = StandardCharsets.UTF_8.newDecoder();
        ByteBuffer in = ByteBuffer.wrap(value);
        boolean bad =
                decoder.decode(in, CharBuffer.allocate(value.length), true).isError();
        return bad ? offsets[in.position()] : -1;
    }
}
