package dev.sluice;

import dev.sluice.transfer.TransferDecoder;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Undoes a transfer encoding while it is read: what is at hand at each time, so that a slow client is not waited for twice. */
final class TransferDecodingInputStream extends InputStream {
    private static final int ENCODED_AT_A_TIME = 8192;

    private final InputStream raw;
    private final TransferDecoder decoder;
    private final byte[] encoded = new byte[ENCODED_AT_A_TIME];
    private final byte[] decoded = new byte[TransferDecoder.mostFrom(ENCODED_AT_A_TIME)];
    private int at;
    private int size;
    private boolean ended;
    private @Nullable IOException malformed;

    TransferDecodingInputStream(InputStream raw, TransferDecoder decoder) {
        this.raw = raw;
        this.decoder = decoder;
    }

    @Override
    public int read() throws IOException {
        byte[] b = new byte[1];
        return read(b, 0, 1) < 0 ? -1 : b[0] & 0xFF;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, target.length);
        if (length == 0) {
            return 0;
        }
        while (at == size && !ended) {
            fill();
        }
        int count = Math.min(length, size - at);
        System.arraycopy(decoded, at, target, offset, count);
        at += count;
        return count == 0 ? -1 : count;
    }

    private void fill() throws IOException {
        if (malformed != null) {
            throw malformed;
        }
        int count = raw.read(encoded, 0, encoded.length);
        try {
            at = 0;
            size = 0;
            size = count < 0
                    ? decoder.end(decoded)
                    : decoder.decode(Unpooled.wrappedBuffer(encoded, 0, count), decoded);
        } catch (IOException e) {
            malformed = e;
            throw e;
        }
        ended = count < 0;
    }

    @Override
    public int available() {
        return size - at;
    }

    @Override
    public void close() throws IOException {
        at = 0;
        size = 0;
        ended = false; // to be told by the raw stream that it is closed
        raw.close();
    }
}
