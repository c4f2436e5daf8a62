package dev.sluice;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;

/**
 * Undoes quoted-printable (RFC 2045 section 6.7) while it is read. What is not an escape is taken literally, as that section
 * recommends for robust readers.
 */
final class QuotedPrintableInputStream extends InputStream {
    /** {@code =}, CR, LF. */
    private static final int LONGEST_ESCAPE = 3;

    private final InputStream encoded;

    /** Octets read ahead that turned out not to belong to an escape, or -1. */
    private int first = -1;

    private int second = -1;

    QuotedPrintableInputStream(InputStream encoded) {
        this.encoded = encoded;
    }

    private int take() throws IOException {
        int octet = first >= 0 ? first : encoded.read();
        first = second;
        second = -1;
        return octet;
    }

    @Override
    public int read() throws IOException {
        for (; ; ) {
            int octet = take();
            if (octet != '=') {
                return octet;
            }
            int high = take();
            if (high == '\n') {
                continue; // soft line break
            }
            int low = high < 0 ? -1 : take();
            if (high == '\r' && low == '\n') {
                continue;
            }
            if (hex(high) >= 0 && hex(low) >= 0) {
                return hex(high) << 4 | hex(low);
            }
            first = high;
            second = low;
            return '=';
        }
    }

    private static int hex(int octet) {
        return octet < 0 ? -1 : Octets.hex((byte) octet);
    }

    @Override
    public int read(byte[] target, int index, int length) throws IOException {
        Objects.checkFromIndexSize(index, length, target.length);
        int count = 0;
        // What is at hand, not more: a slow peer is not waited for twice, and an exception finds nothing decoded to
        // lose.
        while (count < length && (count == 0 || first < 0 && encoded.available() >= LONGEST_ESCAPE)) {
            int octet = read();
            if (octet < 0) {
                return count == 0 ? -1 : count;
            }
            target[index + count++] = (byte) octet;
        }
        return count;
    }

    @Override
    public void close() throws IOException {
        encoded.close();
    }
}
