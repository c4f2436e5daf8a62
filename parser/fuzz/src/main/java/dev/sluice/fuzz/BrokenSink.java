package dev.sluice.fuzz;

import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** A sink that fails after a number of bytes and retains all data until it is closed. */
final class BrokenSink implements PartSink {
    private final List<ByteBuf> held = new ArrayList<>();
    private int left;

    BrokenSink(int bytes) {
        this.left = bytes;
    }

    @Override
    public Readiness write(ByteBuf data) throws IOException {
        left -= data.readableBytes();
        held.add(data.retainedSlice());
        if (left < 0) {
            throw new IOException("the sink is broken");
        }
        return Readiness.READY;
    }

    @Override
    public Readiness complete() throws IOException {
        if (left == 0) {
            throw new IOException("the sink cannot complete");
        }
        return Readiness.READY;
    }

    @Override
    public void close() {
        held.forEach(ByteBuf::release);
        held.clear();
    }
}
