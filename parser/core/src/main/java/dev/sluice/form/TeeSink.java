package dev.sluice.form;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.Objects;

/** Gives everything to two sinks. */
final class TeeSink implements PartSink {
    private final PartSink first;
    private final PartSink second;
    private final SinkState state = new SinkState();

    TeeSink(PartSink first, PartSink second) {
        this.first = Objects.requireNonNull(first, "first");
        this.second = Objects.requireNonNull(second, "second");
    }

    @Override
    public void write(ByteBuf data) throws IOException {
        state.checkWritable();
        first.write(data.duplicate()); // its indices may be moved, and the second needs them too
        second.write(data);
    }

    @Override
    public void complete() throws IOException {
        state.complete();
        first.complete();
        second.complete();
    }

    @Override
    public void close() throws IOException {
        if (state.close()) {
            try {
                first.close();
            } finally {
                second.close();
            }
        }
    }
}
