package dev.sluice.form;

import io.netty.buffer.ByteBuf;
import java.io.IOException;

/** A sink that ignores its content. A test overrides the methods that it needs. */
public class IdleSink implements PartSink {
    @Override
    public Readiness write(ByteBuf data) throws IOException {
        return Readiness.READY;
    }

    @Override
    public Readiness complete() throws IOException {
        return Readiness.READY;
    }

    @Override
    public void close() {}
}
