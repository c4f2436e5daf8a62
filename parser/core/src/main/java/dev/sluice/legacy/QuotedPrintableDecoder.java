package dev.sluice.legacy;

import io.netty.buffer.ByteBuf;

/** A decoder for quoted-printable (RFC 2045 section 6.7). Malformed escapes are literal, as the RFC recommends for robust readers. */
final class QuotedPrintableDecoder implements TransferDecoder {
    private static final int NONE = -1;

    /** Whether an escape has begun with {@code =}. */
    private boolean escaped;

    /** The first character after {@code =}. */
    private int first = NONE;

    private byte[] to = {};
    private int size;

    @Override
    public int decode(ByteBuf encoded, byte[] target) {
        to = target;
        size = 0;
        while (encoded.isReadable()) {
            take(encoded.readUnsignedByte());
        }
        return size;
    }

    private void take(int b) {
        if (!escaped) {
            if (b == '=') {
                escaped = true;
            } else {
                to[size++] = (byte) b;
            }
        } else if (first == NONE) {
            if (b == '\n') {
                escaped = false; // soft line break
            } else {
                first = b;
            }
        } else {
            second(b);
        }
    }

    private void second(int b) {
        int high = first;
        escaped = false;
        first = NONE;
        if (high == '\r' && b == '\n') {
            return;
        }
        int value = ExtendedValue.hex(high, b);
        if (value >= 0) {
            to[size++] = (byte) value;
        } else {
            to[size++] = '=';
            take(high);
            take(b);
        }
    }

    @Override
    public int end(byte[] target) {
        int count = 0;
        if (escaped) {
            target[count++] = '=';
        }
        if (first != NONE) {
            target[count++] = (byte) first;
        }
        return count;
    }
}
