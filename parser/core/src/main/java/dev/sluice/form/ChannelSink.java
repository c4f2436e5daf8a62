package dev.sluice.form;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.WritableByteChannel;
import java.util.Objects;

/** Writes to a channel that belongs to the application. */
final class ChannelSink implements PartSink {
    private final WritableByteChannel channel;
    private final SinkState state = new SinkState();

    ChannelSink(WritableByteChannel channel) {
        this.channel = Objects.requireNonNull(channel, "channel");
        if (channel instanceof SelectableChannel selectable && !selectable.isBlocking()) {
            throw new IllegalBlockingModeException();
        }
    }

    /** Writes all readable bytes, in as many steps as the channel needs; indices stay as they are. */
    static void writeFully(WritableByteChannel channel, ByteBuf data) throws IOException {
        for (ByteBuffer memory : data.nioBuffers()) {
            while (memory.hasRemaining()) {
                if (channel.write(memory) == 0) {
                    throw new IOException("the channel takes no bytes");
                }
            }
        }
    }

    @Override
    public Readiness write(ByteBuf data) throws IOException {
        state.checkWritable();
        writeFully(channel, data);
        return Readiness.READY;
    }

    @Override
    public Readiness complete() {
        state.complete();
        return Readiness.READY;
    }

    @Override
    public void close() {
        state.close();
    }
}
