package dev.sluice.form;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;

/**
 * Undoes quoted-printable (RFC 2045 section 6.7) on the way to another sink. What is not an escape is taken literally,
 * as that section recommends for robust readers.
 */
final class QuotedPrintableSink implements PartSink {
    private static final int NONE = -1;

    private final PartSink sink;

    /** What an escape has had so far: nothing, {@code =}, or {@code =} and {@link #first}. */
    private boolean escaped;

    private int first = NONE;
    private byte[] decoded = {};
    private int size;

    QuotedPrintableSink(PartSink sink) {
        this.sink = sink;
    }

    @Override
    public void write(ByteBuf data) throws IOException {
        decoded = new byte[data.readableBytes() + 3];
        size = 0;
        while (data.isReadable()) {
            take(data.readUnsignedByte());
        }
        emit();
    }

    private void take(int octet) {
        if (!escaped) {
            if (octet == '=') {
                escaped = true;
            } else {
                decoded[size++] = (byte) octet;
            }
        } else if (first == NONE) {
            if (octet == '\n') {
                escaped = false; // soft line break
            } else {
                first = octet;
            }
        } else {
            second(octet);
        }
    }

    private void second(int octet) {
        int high = first;
        escaped = false;
        first = NONE;
        if (high == '\r' && octet == '\n') {
            return;
        }
        int value = Character.digit(high, 16) << 4 | Character.digit(octet, 16);
        if (value >= 0) {
            decoded[size++] = (byte) value;
        } else {
            decoded[size++] = '=';
            take(high);
            take(octet);
        }
    }

    private void emit() throws IOException {
        if (size > 0) {
            sink.write(Unpooled.wrappedBuffer(decoded, 0, size));
        }
    }

    @Override
    public void complete() throws IOException {
        decoded = new byte[2];
        size = 0;
        if (escaped) {
            decoded[size++] = '=';
        }
        if (first != NONE) {
            decoded[size++] = (byte) first;
        }
        emit();
        sink.complete();
    }

    @Override
    public void close() throws IOException {
        sink.close();
    }
}
