package dev.sluice.form;

import io.netty.buffer.ByteBuf;
import java.io.IOException;

/** Takes all and does nothing with it; a test overrides what it is about. */
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
