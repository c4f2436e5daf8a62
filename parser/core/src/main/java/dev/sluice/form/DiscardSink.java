package dev.sluice.form;

import io.netty.buffer.ByteBuf;

/** Keeps nothing. */
final class DiscardSink implements PartSink {
    private final SinkState state = new SinkState();

    @Override
    public void write(ByteBuf data) {
        state.checkWritable();
    }

    @Override
    public void complete() {
        state.complete();
    }

    @Override
    public void close() {
        state.close();
    }
}
