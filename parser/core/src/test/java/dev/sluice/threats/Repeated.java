package dev.sluice.threats;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/** A body of any size that needs no memory: a head, a repeated token, and a tail. Text is ISO-8859-1. */
final class Repeated extends InputStream {
    private final byte[] head;
    private final byte[] token;
    private final byte[] tail;
    private final long size;
    private long at;

    Repeated(String head, String token, long times, String tail) {
        this.head = head.getBytes(StandardCharsets.ISO_8859_1);
        this.token = token.getBytes(StandardCharsets.ISO_8859_1);
        this.tail = tail.getBytes(StandardCharsets.ISO_8859_1);
        this.size = this.head.length + this.token.length * times + this.tail.length;
    }

    long size() {
        return size;
    }

    /** {@return the number of bytes that have been read} */
    long taken() {
        return at;
    }

    @Override
    public int read() {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] target, int from, int length) {
        Objects.checkFromIndexSize(from, length, target.length);
        if (at == size) {
            return length == 0 ? 0 : -1;
        }
        int count = (int) Math.min(length, size - at);
        for (int done = 0; done < count; ) {
            int run = copy(target, from + done, count - done);
            done += run;
            at += run;
        }
        return count;
    }

    private int copy(byte[] target, int from, int length) {
        if (at < head.length) {
            return copy(head, (int) at, target, from, length);
        }
        return at < size - tail.length
                ? copy(token, (int) ((at - head.length) % token.length), target, from, tokensEnd(length))
                : copy(tail, (int) (at - size + tail.length), target, from, length);
    }

    private int tokensEnd(int length) {
        return (int) Math.min(length, size - tail.length - at);
    }

    private static int copy(byte[] source, int at, byte[] target, int from, int length) {
        int count = Math.min(length, source.length - at);
        System.arraycopy(source, at, target, from, count);
        return count;
    }
}
