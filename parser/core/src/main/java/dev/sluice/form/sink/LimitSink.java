package dev.sluice.form.sink;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import io.netty.buffer.ByteBuf;
import java.io.IOException;

/**
 * A sink that discards the content, and fails if the content exceeds a maximum size. {@link TeeSink} combines it with
 * another sink.
 */
public final class LimitSink implements PartSink {
    private final long maxBytes;
    private long size;

    public LimitSink(long maxBytes) {
        if (maxBytes < 0) {
            throw new IllegalArgumentException("maxBytes is " + maxBytes + ", must be 0 or more");
        }
        this.maxBytes = maxBytes;
    }

    @Override
    public Readiness write(ByteBuf data) throws IOException {
        if (data.readableBytes() > maxBytes - size) {
            throw MultipartException.because(Reason.PART_TOO_LARGE)
                    .ownLimit(maxBytes)
                    .build();
        }
        size += data.readableBytes();
        return Readiness.READY;
    }

    @Override
    public Readiness complete() {
        return Readiness.READY;
    }

    @Override
    public void close() {}
}
