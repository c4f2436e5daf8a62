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
    public void write(ByteBuf data) throws IOException {
        state.checkWritable();
        data.getBytes(data.readerIndex(), out, data.readableBytes());
    }

    @Override
    public void complete() throws IOException {
        state.complete();
        out.flush();
    }

    @Override
    public void close() {
        state.close();
    }
}
