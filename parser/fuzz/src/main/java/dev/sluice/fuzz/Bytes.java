package dev.sluice.fuzz;

import dev.sluice.testkit.Soup;
import io.netty.buffer.ByteBuf;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A growing byte array with comparison and search. Its own methods take no lock, unlike the inherited ones. */
final class Bytes extends ByteArrayOutputStream {
    Bytes(int capacity) {
        super(capacity);
    }

    static byte[] latin1(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    Bytes add(int b) {
        reserve(1);
        buf[count++] = (byte) b;
        return this;
    }

    Bytes add(byte[] bytes) {
        reserve(bytes.length);
        System.arraycopy(bytes, 0, buf, count, bytes.length);
        count += bytes.length;
        return this;
    }

    private void reserve(int size) {
        if (size > buf.length - count) {
            buf = Arrays.copyOf(buf, Math.max(2 * buf.length, count + size));
        }
    }

    /** Adds text encoded in ISO-8859-1. */
    Bytes add(String text) {
        return add(latin1(text));
    }

    /** Adds the readable bytes; the indices of the buffer are unchanged. */
    Bytes add(ByteBuf bytes) {
        int size = bytes.readableBytes();
        reserve(size);
        bytes.getBytes(bytes.readerIndex(), buf, count, size);
        count += size;
        return this;
    }

    /** {@return the index of {@code wanted} at or after {@code from}, or -1} */
    static int indexOf(byte[] bytes, byte[] wanted, int from) {
        for (int at = from; at <= bytes.length - wanted.length; at++) {
            if (bytes[at] == wanted[0] && Arrays.equals(bytes, at, at + wanted.length, wanted, 0, wanted.length)) {
                return at;
            }
        }
        return -1;
    }

    @Override
    public String toString() {
        return Soup.escape(toByteArray());
    }
}
