package dev.sluice.samples.upload;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The SHA-256 of one part after the other, and the size of each. Not thread-safe. */
final class Digest {
    private final MessageDigest sha256;
    private long size;

    Digest() {
        try {
            this.sha256 = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** Starts with the next part. */
    void reset() {
        sha256.reset();
        size = 0;
    }

    /** Adds the readable octets of {@code data}, which is borrowed and left as it was. */
    void add(ByteBuf data) {
        for (ByteBuffer memory : data.nioBuffers()) {
            sha256.update(memory);
        }
        size += data.readableBytes();
    }

    /** {@return the octets added since the last reset} */
    long size() {
        return size;
    }

    /** {@return the digest in lower-case hexadecimal}; to be followed by {@link #reset}. */
    String hex() {
        return HexFormat.of().formatHex(sha256.digest());
    }
}
