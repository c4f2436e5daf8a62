package dev.sluice.legacy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.util.Arrays;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A decoder for base64 (RFC 2045 section 6.8). It skips bytes outside of the alphabet, as the RFC requires. The padding may be missing, but
 * not incomplete. A last group of one character is an error, and so are characters after the padding, because data would be lost.
 */
final class Base64Decoder implements TransferDecoder {
    private static final byte[] VALUES = values();
    private static final int PADDING = -2;
    private static final int GROUP = 4;

    private final Function<String, IOException> error;
    private int bits;

    /** The number of characters in the current group, including padding. */
    private int characters;

    private boolean padded;

    Base64Decoder(Function<String, IOException> error) {
        this.error = error;
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
    public ByteBuf decode(ByteBuf encoded) throws IOException {
        byte[] to = new byte[encoded.readableBytes() + MAX_KEPT];
        int size = 0;
        while (encoded.isReadable()) {
            int value = VALUES[encoded.readUnsignedByte()];
            String problem = problem(value);
            if (problem != null && size == 0) {
                throw malformed(problem);
            } else if (problem != null) {
                encoded.readerIndex(encoded.readerIndex() - 1);
                break;
            } else if (value == PADDING) {
                size = padded ? size : flush(to, size);
                padded = true;
                characters = (characters + 1) % GROUP;
            } else if (value >= 0) {
                bits = bits << 6 | value;
                if (++characters == GROUP) {
                    to[size++] = (byte) (bits >> 16);
                    to[size++] = (byte) (bits >> 8);
                    to[size++] = (byte) bits;
                    characters = 0;
                }
            }
        }
        return Unpooled.wrappedBuffer(to, 0, size);
    }

    /** {@return why the next character is malformed, or null} */
    private @Nullable String problem(int value) {
        if (value != PADDING) {
            return value >= 0 && padded ? "there are characters after the padding" : null;
        } else if (padded) {
            return characters == 0 ? "there is too much padding" : null;
        } else {
            return characters < 2 ? "the padding comes before the second character of a group" : null;
        }
    }

    /** Writes the bytes of an incomplete group. */
    private int flush(byte[] to, int size) {
        int at = size;
        to[at++] = (byte) (bits >> (characters == 2 ? 4 : 10));
        if (characters == 3) {
            to[at++] = (byte) (bits >> 2);
        }
        return at;
    }

    @Override
    public ByteBuf end() throws IOException {
        if (characters == 1 || padded && characters > 0) {
            throw malformed("its end is missing");
        }
        byte[] to = new byte[MAX_KEPT];
        return Unpooled.wrappedBuffer(to, 0, characters == 0 ? 0 : flush(to, 0));
    }

    private IOException malformed(String problem) {
        return error.apply("is not valid base64: " + problem);
    }
}
