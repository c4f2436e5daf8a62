package dev.sluice.fuzz;

import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import java.io.IOException;
import java.util.Objects;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** A body as received from a connection: in pieces, and possibly incomplete. */
final class BareStream extends ServletInputStream {
    private final byte[] body;
    private final int end;
    private final boolean fails;
    private final SplittableRandom cuts;
    private final int shift;
    private @Nullable IOException failure;
    private boolean ended;
    private int at;

    /**
     * @param end the number of bytes to deliver
     * @param fails whether the stream fails after these bytes instead of ending
     * @param cuts chooses the sizes of the pieces
     */
    BareStream(byte[] body, int end, boolean fails, SplittableRandom cuts) {
        this.body = body;
        this.end = end;
        this.fails = fails;
        this.cuts = cuts;
        this.shift = cuts.nextInt(10);
    }

    /** {@return the exception thrown by this stream, or null} */
    @Nullable
    IOException failure() {
        return failure;
    }

    /** {@return whether the end was read} */
    boolean hasEnded() {
        return ended;
    }

    /** {@return the number of bytes read} */
    int position() {
        return at;
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, target.length);
        if (length == 0) {
            return 0;
        }
        if (at == end) {
            if (fails) {
                throw gone();
            }
            ended = true;
            return -1;
        }
        int count = Math.min(Math.min(length, end - at), 1 + (cuts.nextInt(1024) >> shift));
        System.arraycopy(body, at, target, offset, count);
        at += count;
        return count;
    }

    private IOException gone() {
        failure = Objects.requireNonNullElseGet(failure, () -> new IOException("the connection was lost"));
        return failure;
    }

    /** Often returns a larger number than the next read delivers. */
    @Override
    public int available() throws IOException {
        if (at == end && fails) {
            throw gone();
        }
        return (end - at) >> shift;
    }

    @Override
    public boolean isFinished() {
        return ended;
    }

    @Override
    public boolean isReady() {
        return true;
    }

    @Override
    public void setReadListener(ReadListener listener) {
        throw new IllegalStateException("the request does not support asynchronous operation");
    }
}
