package dev.sluice.samples.upload;

import dev.sluice.samples.report.Digest;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.Random;

/** A builder of multipart bodies and HTTP requests. */
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

    /** {@return the body with the close-delimiter} */
    public byte[] body() {
        return joined(open(), ("--" + BOUNDARY + "--\r\n").getBytes(StandardCharsets.UTF_8));
    }

    /** {@return the body without the close-delimiter} */
    public byte[] open() {
        return out.toByteArray();
    }

    /** {@return the request head for a form, with additional header fields} */
    public static String head(String path, String... fields) {
        return "POST " + path + " HTTP/1.1\r\nHost: x\r\nContent-Type: " + CONTENT_TYPE + "\r\n"
                + String.join("\r\n", fields) + "\r\n\r\n";
    }

    /** {@return the request head for a body of the given size} */
    public static String head(String path, long length) {
        return head(path, "Content-Length: " + length);
    }

    public static byte[] request(String path, byte[] body) {
        return joined(head(path, body.length).getBytes(StandardCharsets.US_ASCII), body);
    }

    /** {@return a complete request with the body in one HTTP chunk} */
    public static byte[] chunked(String path, byte[] body) {
        String head = head(path, "Transfer-Encoding: chunked") + Integer.toHexString(body.length) + "\r\n";
        return joined(
                head.getBytes(StandardCharsets.US_ASCII), body, "\r\n0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    }

    public static byte[] joined(byte[]... all) {
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        for (byte[] one : all) {
            joined.writeBytes(one);
        }
        return joined.toByteArray();
    }

    public static byte[] noise(int size, long seed) {
        byte[] noise = new byte[size];
        new Random(seed).nextBytes(noise);
        return noise;
    }

    public static String sha256(byte[] bytes) {
        return HexFormat.of().formatHex(Digest.sha256().digest(bytes));
    }
}
