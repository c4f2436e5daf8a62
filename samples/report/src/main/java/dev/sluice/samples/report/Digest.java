package dev.sluice.samples.report;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The SHA-256 of one part after the other, and the size of each. Not thread-safe. */
public final class Digest {
    private static final int BLOCK = 16 << 10;

    private final MessageDigest sha256 = sha256();
    private long size;

    /** {@return what makes one} */
    public static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** Starts with the next part. */
    public void reset() {
        sha256.reset();
        size = 0;
    }

    /** Adds the readable bytes of {@code data}, which is borrowed and left as it was. */
    public void add(ByteBuf data) {
        for (ByteBuffer memory : data.nioBuffers()) {
            sha256.update(memory);
        }
        size += data.readableBytes();
    }

    /**
     * Adds all that {@code in} has.
     *
     * @param in not closed
     */
    public void addAll(InputStream in) throws IOException {
        byte[] bytes = new byte[BLOCK];
        for (int n; (n = in.read(bytes)) >= 0; ) {
            sha256.update(bytes, 0, n);
            size += n;
        }
    }

    /** {@return the bytes added since the last reset} */
    public long size() {
        return size;
    }

    /** {@return the digest in lower-case hexadecimal}; to be followed by {@link #reset}. */
    public String hex() {
        return HexFormat.of().formatHex(sha256.digest());
    }
}
