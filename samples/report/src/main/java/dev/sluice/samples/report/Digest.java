package dev.sluice.samples.report;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** A SHA-256 digest and byte counter for the current part, reusable for the next one. Not thread-safe. */
public final class Digest {
    private static final int BLOCK = 16 << 10;

    private final MessageDigest sha256 = sha256();
    private long size;

    public static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is missing, although every Java platform must have it", e);
        }
    }

    /** Starts the next part. */
    public void reset() {
        sha256.reset();
        size = 0;
    }

    /** Adds the readable bytes of {@code data}, which is <em>borrowed</em>; its indices are unchanged. */
    public void add(ByteBuf data) {
        for (ByteBuffer memory : data.nioBuffers()) {
            sha256.update(memory);
        }
        size += data.readableBytes();
    }

    /**
     * Adds all bytes of {@code in}.
     *
     * @param in the stream, which is not closed
     */
    public void addAll(InputStream in) throws IOException {
        byte[] bytes = new byte[BLOCK];
        for (int n; (n = in.read(bytes)) >= 0; ) {
            sha256.update(bytes, 0, n);
            size += n;
        }
    }

    /** {@return the number of bytes since the last reset} */
    public long size() {
        return size;
    }

    /** {@return the digest in lower-case hexadecimal} Call {@link #reset} before the next part. */
    public String hex() {
        return HexFormat.of().formatHex(sha256.digest());
    }
}
