package dev.sluice.form;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.Objects;

/** Lets a number of bytes pass. */
final class LimitedSink implements PartSink {
    private final PartSink sink;
    private final long maxBytes;
    private final SinkState state = new SinkState();
    private long size;

    LimitedSink(PartSink sink, long maxBytes) {
        if (maxBytes < 0) {
            throw new IllegalArgumentException("maxBytes is " + maxBytes + ", must be 0 or more");
        }
        this.sink = Objects.requireNonNull(sink, "sink");
        this.maxBytes = maxBytes;
    }

    @Override
    public void write(ByteBuf data) throws IOException {
        state.checkWritable();
        if (data.readableBytes() > maxBytes - size) {
            throw MultipartException.of(
                    Reason.PART_TOO_LARGE,
                    -1,
                    -1,
                    "the size of the part body exceeds the limit of " + maxBytes + " bytes (set for its sink)");
        }
        size += data.readableBytes();
        sink.write(data);
    }

    @Override
    public void complete() throws IOException {
        state.complete();
        sink.complete();
    }

    @Override
    public void close() throws IOException {
        state.close();
        sink.close();
    }
}
