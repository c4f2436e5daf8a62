package dev.sluice.servlet;

import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import io.netty.buffer.ByteBuf;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** A sink that counts bytes and is not ready while it is shut. */
public final class GatedSink implements PartSink {
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicReference<Readiness> gate = new AtomicReference<>(Readiness.READY);

    public long bytes() {
        return bytes.get();
    }

    /** Makes the sink not ready from the next call. */
    public GatedSink shut() {
        gate.set(Readiness.pending());
        return this;
    }

    /** Makes the sink ready. */
    public void open() {
        gate.getAndSet(Readiness.READY).ready();
    }

    @Override
    public Readiness write(ByteBuf data) {
        Readiness now = gate.get();
        bytes.addAndGet(data.readableBytes());
        return now;
    }

    @Override
    public Readiness complete() {
        return gate.get();
    }

    @Override
    public void close() {}
}
