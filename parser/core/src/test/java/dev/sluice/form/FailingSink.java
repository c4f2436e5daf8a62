package dev.sluice.form;

import io.netty.buffer.ByteBuf;
import java.io.IOException;

/** A sink that fails after a number of bytes. Like a sink with a queue, it retains a chunk until it is closed. */
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
