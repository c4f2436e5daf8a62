package dev.sluice.form;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.Objects;

/** Keeps nothing but the state of a digest: to stand before another sink. */
final class DigestSink implements PartSink {
    private final MessageDigest digest;

    DigestSink(MessageDigest digest) {
        this.digest = Objects.requireNonNull(digest, "digest");
    }

    @Override
    public Readiness write(ByteBuf data) {
        for (ByteBuffer memory : data.nioBuffers()) {
            digest.update(memory);
        }
        return Readiness.READY;
    }

    @Override
    public Readiness complete() {
        return Readiness.READY;
    }

    @Override
    public void close() {}
}
