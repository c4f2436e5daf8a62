package dev.sluice.form;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.Arrays;

/**
 * Undoes base64 (RFC 2045 section 6.8) on the way to another sink. Octets outside of the alphabet are skipped, as that
 * section asks; nothing is taken after the padding; a last group of one character has no octet in it.
 */
final class Base64Sink implements PartSink {
    private static final byte[] VALUES = values();
    private static final int PADDING = -2;

    private final PartSink sink;
    private int bits;
    private int characters;
    private boolean ended;

    Base64Sink(PartSink sink) {
        this.sink = sink;
    }

    private static byte[] values() {
        byte[] values = new byte[256];
        Arrays.fill(values, (byte) -1);
        String alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        for (int value = 0; value < 64; value++) {
            values[alphabet.charAt(value)] = (byte) value;
        }
        values['='] = PADDING;
        return values;
    }

    @Override
    public void write(ByteBuf data) throws IOException {
        byte[] decoded = new byte[data.readableBytes() / 4 * 3 + 3];
        int size = 0;
        while (data.isReadable() && !ended) {
            int value = VALUES[data.readUnsignedByte()];
            if (value == PADDING) {
                size = flush(decoded, size);
                ended = true;
            } else if (value >= 0) {
                bits = bits << 6 | value;
                if (++characters == 4) {
                    decoded[size++] = (byte) (bits >> 16);
                    decoded[size++] = (byte) (bits >> 8);
                    decoded[size++] = (byte) bits;
                    characters = 0;
                }
            }
        }
        emit(decoded, size);
    }

    /** Writes the octets of a group that is not full. */
    private int flush(byte[] decoded, int size) {
        int at = size;
        if (characters >= 2) {
            decoded[at++] = (byte) (bits >> (characters == 2 ? 4 : 10));
        }
        if (characters == 3) {
            decoded[at++] = (byte) (bits >> 2);
        }
        characters = 0;
        return at;
    }

    private void emit(byte[] decoded, int size) throws IOException {
        if (size > 0) {
            sink.write(Unpooled.wrappedBuffer(decoded, 0, size));
        }
    }

    @Override
    public void complete() throws IOException {
        byte[] last = new byte[3];
        emit(last, flush(last, 0));
        sink.complete();
    }

    @Override
    public void close() throws IOException {
        sink.close();
    }
}
