package dev.sluice.form;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Objects;

/** Digests a part in the pass in which it goes to another sink. */
public final class DigestSink implements PartSink {
    private final MessageDigest digest;
    private final PartSink sink;
    private byte[] result = {};
    private final SinkState state = new SinkState();

    private DigestSink(MessageDigest digest, PartSink sink) {
        this.digest = digest;
        this.sink = sink;
    }

    /**
     * {@return a sink}
     *
     * @param algorithm such as {@code SHA-256}, as {@link MessageDigest#getInstance(String)} takes it
     * @param sink where the bytes go
     * @throws IllegalArgumentException if the platform has no such algorithm
     */
    public static DigestSink create(String algorithm, PartSink sink) {
        try {
            return new DigestSink(MessageDigest.getInstance(algorithm), Objects.requireNonNull(sink, "sink"));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalArgumentException("no digest algorithm " + algorithm, e);
        }
    }

    @Override
    public void write(ByteBuf data) throws IOException {
        state.checkWritable();
        for (ByteBuffer memory : data.nioBuffers()) {
            digest.update(memory);
        }
        sink.write(data);
    }

    @Override
    public void complete() throws IOException {
        state.complete();
        result = digest.digest();
        sink.complete();
    }

    /**
     * {@return the digest: a new array}
     *
     * @throws IllegalStateException before {@link #complete()}
     */
    public byte[] digest() {
        state.requireComplete();
        return result.clone();
    }

    @Override
    public void close() throws IOException {
        state.close();
        sink.close();
    }
}
