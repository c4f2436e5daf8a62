package dev.sluice.legacy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;

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
    public ByteBuf decode(ByteBuf encoded) {
        to = new byte[encoded.readableBytes() + MAX_KEPT];
        size = 0;
        while (encoded.isReadable()) {
            take(encoded.readUnsignedByte());
        }
        return Unpooled.wrappedBuffer(to, 0, size);
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
    public ByteBuf end() {
        byte[] literal = {'=', (byte) first};
        return Unpooled.wrappedBuffer(literal, 0, !escaped ? 0 : first == NONE ? 1 : 2);
    }
}
