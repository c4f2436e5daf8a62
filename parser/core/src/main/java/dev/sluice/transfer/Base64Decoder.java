package dev.sluice.transfer;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.Arrays;
import java.util.function.Function;

/**
 * Undoes base64 (RFC 2045 section 6.8). Bytes outside of the alphabet are skipped, as that section asks. The padding may
 * be missing, but not half of it; a last group of one character, or characters behind the padding, are errors: whatever
 * they were meant to be, it would be lost.
 */
final class Base64Decoder implements TransferDecoder {
    private static final byte[] VALUES = values();
    private static final int PADDING = -2;
    private static final int GROUP = 4;

    private final Function<String, IOException> refusal;
    private int bits;

    /** Characters of the group under way, with its padding. */
    private int characters;

    private boolean padded;

    Base64Decoder(Function<String, IOException> refusal) {
        this.refusal = refusal;
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
    public int decode(ByteBuf encoded, byte[] to) throws IOException {
        int size = 0;
        while (encoded.isReadable()) {
            int value = VALUES[encoded.readUnsignedByte()];
            if (value == PADDING) {
                size = pad(to, size);
            } else if (value >= 0) {
                if (padded) {
                    throw malformed("characters behind the padding");
                }
                bits = bits << 6 | value;
                if (++characters == GROUP) {
                    to[size++] = (byte) (bits >> 16);
                    to[size++] = (byte) (bits >> 8);
                    to[size++] = (byte) bits;
                    characters = 0;
                }
            }
        }
        return size;
    }

    private int pad(byte[] to, int size) throws IOException {
        int after = size;
        if (!padded) {
            if (characters < 2) {
                throw malformed("padding where a group starts");
            }
            after = flush(to, size);
            padded = true;
        } else if (characters == 0) {
            throw malformed("more padding than a group has");
        }
        characters = (characters + 1) % GROUP;
        return after;
    }

    /** Writes the bytes of a group that is not full. */
    private int flush(byte[] to, int size) {
        int at = size;
        to[at++] = (byte) (bits >> (characters == 2 ? 4 : 10));
        if (characters == 3) {
            to[at++] = (byte) (bits >> 2);
        }
        return at;
    }

    @Override
    public int end(byte[] to) throws IOException {
        if (characters == 1 || padded && characters > 0) {
            throw malformed("its end is missing");
        }
        return characters == 0 ? 0 : flush(to, 0);
    }

    private IOException malformed(String how) {
        return refusal.apply("is not valid base64: " + how);
    }
}
