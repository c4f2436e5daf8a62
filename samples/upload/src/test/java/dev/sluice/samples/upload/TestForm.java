package dev.sluice.samples.upload;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;

/** Writes multipart bodies by hand. */
public final class TestForm {
    public static final String BOUNDARY = "----sluice-test";
    public static final String CONTENT_TYPE = "multipart/form-data; boundary=" + BOUNDARY;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    public TestForm field(String name, String value) {
        return part("Content-Disposition: form-data; name=\"" + name + "\"", value.getBytes(StandardCharsets.UTF_8));
    }

    public TestForm file(String name, String filename, byte[] content) {
        return part(
                "Content-Disposition: form-data; name=\"" + name + "\"; filename=\"" + filename
                        + "\"\r\nContent-Type: application/octet-stream",
                content);
    }

    public TestForm part(String headers, byte[] content) {
        out.writeBytes(("--" + BOUNDARY + "\r\n" + headers + "\r\n\r\n").getBytes(StandardCharsets.UTF_8));
        out.writeBytes(content);
        out.writeBytes(new byte[] {'\r', '\n'});
        return this;
    }

    /** {@return the body with its close-delimiter} */
    public byte[] body() {
        byte[] open = open();
        byte[] close = ("--" + BOUNDARY + "--\r\n").getBytes(StandardCharsets.UTF_8);
        byte[] body = Arrays.copyOf(open, open.length + close.length);
        System.arraycopy(close, 0, body, open.length, close.length);
        return body;
    }

    /** {@return the body without its close-delimiter} */
    public byte[] open() {
        return out.toByteArray();
    }

    public static byte[] noise(int size, long seed) {
        byte[] noise = new byte[size];
        new Random(seed).nextBytes(noise);
        return noise;
    }

    public static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }
}
