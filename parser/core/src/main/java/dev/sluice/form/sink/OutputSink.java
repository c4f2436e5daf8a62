package dev.sluice.form.sink;

import dev.sluice.buffer.ChannelOutput;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import io.netty.buffer.ByteBuf;
import java.io.Flushable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.WritableByteChannel;
import java.util.Objects;

/** A sink that writes to a channel or a stream of the application. */
public final class OutputSink implements PartSink {
    private interface Output {
        void write(ByteBuf data) throws IOException;
    }

    private final Output output;
    private final Flushable flush;
    private final SinkState state = new SinkState();

    private OutputSink(Output output, Flushable flush) {
        this.output = output;
        this.flush = flush;
    }

    public static OutputSink to(WritableByteChannel channel) {
        Objects.requireNonNull(channel, "channel");
        ChannelOutput.requireBlocking(channel);
        return new OutputSink(data -> ChannelOutput.writeFully(channel, data), () -> {});
    }

    public static OutputSink to(OutputStream out) {
        Objects.requireNonNull(out, "out");
        return new OutputSink(data -> data.getBytes(data.readerIndex(), out, data.readableBytes()), out);
    }

    @Override
    public Readiness write(ByteBuf data) throws IOException {
        state.checkWritable();
        output.write(data);
        return Readiness.READY;
    }

    @Override
    public Readiness complete() throws IOException {
        state.complete();
        flush.flush();
        return Readiness.READY;
    }

    @Override
    public void close() {
        state.close();
    }
}
