package dev.sluice.testkit;

import io.netty.buffer.ByteBuf;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * A multipart body of any length with one file part, made while it is read: 5 GiB take no memory. Each byte of the
 * file follows from its offset, so that data that is lost, doubled or moved shows at once.
 *
 * <p>Not thread-safe.
 */
public final class GeneratedBody extends InputStream {
    /** To parse the body with. */
    public static final String CONTENT_TYPE = "multipart/form-data; boundary=generated";

    private static final byte[] HEAD =
            ("--generated\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f.bin\"\r\n"
                            + "Content-Type: application/octet-stream\r\n\r\n")
                    .getBytes(StandardCharsets.US_ASCII);
    private static final byte[] TAIL = "\r\n--generated--\r\n".getBytes(StandardCharsets.US_ASCII);

    private static final int BLOCK = 8 << 10;

    private final byte[] block = new byte[BLOCK];
    private final long dataSize;
    private long at;

    private GeneratedBody(long dataSize) {
        this.dataSize = dataSize;
    }

    /**
     * Begins a body.
     *
     * @param dataSize bytes of the file part, 0 or more
     * @return a stream of the whole multipart body
     */
    public static GeneratedBody of(long dataSize) {
        if (dataSize < 0) {
            throw new IllegalArgumentException("dataSize is " + dataSize);
        }
        return new GeneratedBody(dataSize);
    }

    /** {@return bytes of the whole multipart body} */
    public long size() {
        return HEAD.length + dataSize + TAIL.length;
    }

    /** {@return bytes that have not been read} */
    public long remaining() {
        return size() - at;
    }

    /** {@return where the data of the file part starts} */
    public static int dataOffset() {
        return HEAD.length;
    }

    /** {@return byte {@code offset} of the file part; the pattern repeats after 251 * 65536 bytes} */
    public static byte b(long offset) {
        return (byte) (offset % 251 + (offset >>> 8));
    }

    /** As {@link #byte}, but for a run of bytes and without a division for each. */
    private static void fill(byte[] target, int from, int to, long offset) {
        int remainder = (int) (offset % 251);
        for (int i = from; i < to; i++) {
            target[i] = (byte) (remainder + (offset >>> 8));
            remainder = remainder == 250 ? 0 : remainder + 1;
            offset++;
        }
    }

    @Override
    public int read() {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] target, int from, int length) {
        if (length == 0) {
            return 0;
        }
        if (remaining() == 0) {
            return -1;
        }
        int count = (int) Math.min(length, remaining());
        int done = 0;
        while (done < count) {
            done += run(target, from + done, count - done);
        }
        return count;
    }

    /** Copies bytes up to the end of head, data or tail. {@return how many} */
    private int run(byte[] target, int from, int length) {
        long offset = at - HEAD.length;
        int count;
        if (offset < 0) {
            count = (int) Math.min(length, -offset);
            System.arraycopy(HEAD, (int) at, target, from, count);
        } else if (offset < dataSize) {
            count = (int) Math.min(length, dataSize - offset);
            fill(target, from, from + count, offset);
        } else {
            count = length;
            System.arraycopy(TAIL, (int) (offset - dataSize), target, from, count);
        }
        at += count;
        return count;
    }

    /**
     * Writes the next bytes into a buffer.
     *
     * @param target <em>borrowed</em>; written from its writer index on
     * @param length at most this many
     * @return how many, 0 at the end
     */
    public int writeTo(ByteBuf target, int length) {
        int total = (int) Math.min(length, remaining());
        for (int left = total; left > 0; ) {
            int count = read(block, 0, Math.min(left, block.length));
            target.writeBytes(block, 0, count);
            left -= count;
        }
        return total;
    }

    /** Checks the data of the file part as it comes, and counts it. */
    public static final class Check {
        private final byte[] actual = new byte[BLOCK];
        private final byte[] expected = new byte[BLOCK];
        private long count;

        /** Begins at the first byte of the file part. */
        public Check() {}

        /**
         * Checks the next bytes.
         *
         * @param data <em>borrowed</em>; its readable bytes are looked at, its indices stay
         * @throws AssertionError at the first byte that is another than the generated one
         */
        public void accept(ByteBuf data) {
            for (int at = data.readerIndex(); at < data.writerIndex(); ) {
                int length = Math.min(BLOCK, data.writerIndex() - at);
                data.getBytes(at, actual, 0, length);
                check(actual, 0, length);
                at += length;
            }
        }

        /**
         * Checks the next bytes.
         *
         * @param data whose bytes are looked at
         * @param from first of them
         * @param length how many
         * @throws AssertionError at the first byte that is another than the generated one
         */
        public void accept(byte[] data, int from, int length) {
            for (int done = 0; done < length; ) {
                int next = Math.min(BLOCK, length - done);
                check(data, from + done, next);
                done += next;
            }
        }

        private void check(byte[] data, int from, int length) {
            fill(expected, 0, length, count);
            int bad = Arrays.mismatch(expected, 0, length, data, from, from + length);
            if (bad >= 0) {
                throw new AssertionError(
                        "byte " + (count + bad) + " of the data is " + data[from + bad] + ", not " + expected[bad]);
            }
            count += length;
        }

        /** {@return how many bytes were right so far} */
        public long count() {
            return count;
        }
    }
}
