package dev.sluice.form;

import io.netty.buffer.ByteBuf;
import java.io.IOException;

/**
 * Fails after a number of bytes, holding a reference to one of its chunks until it is closed, as a queueing sink
 * would.
 */
final class FailingSink extends IdleSink {
    private final IOException failure;
    private long left;
    private ByteBuf held;
    private boolean closed;

    FailingSink(IOException failure, long bytes) {
        this.failure = failure;
        this.left = bytes;
    }

    boolean isClosed() {
        return closed;
    }

    @Override
    public Readiness write(ByteBuf data) throws IOException {
        if (held == null) {
            held = data.retain();
        }
        left -= data.readableBytes();
        if (left < 0) {
            throw failure;
        }
        return Readiness.READY;
    }

    @Override
    public void close() {
        closed = true;
        if (held != null) {
            held.release();
            held = null;
        }
    }
}
