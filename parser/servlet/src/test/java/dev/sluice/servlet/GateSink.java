package dev.sluice.servlet;

import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import io.netty.buffer.ByteBuf;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/** Counts what it is given, and is not ready while it is shut. */
public final class GateSink implements PartSink {
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicReference<Readiness> gate = new AtomicReference<>(Readiness.READY);

    /** {@return how many bytes have come} */
    public long bytes() {
        return bytes.get();
    }

    /** From the next call on this is not ready. */
    public GateSink shut() {
        gate.set(Readiness.pending());
        return this;
    }

    /** This is ready, and stays so. */
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
