package dev.sluice.form;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Objects;

/** Writes to a stream that belongs to the application. */
final class StreamSink implements PartSink {
    private final OutputStream out;
    private final SinkState state = new SinkState();

    StreamSink(OutputStream out) {
        this.out = Objects.requireNonNull(out, "out");
    }

    @Override
    public Readiness write(ByteBuf data) throws IOException {
        state.checkWritable();
        data.getBytes(data.readerIndex(), out, data.readableBytes());
        return Readiness.READY;
    }

    @Override
    public Readiness complete() throws IOException {
        state.complete();
        out.flush();
        return Readiness.READY;
    }

    @Override
    public void close() {
        state.close();
    }
}
