package dev.sluice.testkit;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Random;
import java.util.function.IntSupplier;

/** A builder of multipart bodies, and of HTTP/1.1 requests that send them. */
public final class TestForm {
    public static final String BOUNDARY = "----sluice";
    public static final String CONTENT_TYPE = "multipart/form-data; boundary=" + BOUNDARY;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    public TestForm field(String name, String value) {
        return part("Content-Disposition: form-data; name=\"" + name + "\"", value);
    }

    public TestForm file(String name, String filename, byte[] content) {
        return part(
                "Content-Disposition: form-data; name=\"" + name + "\"; filename=\"" + filename
                        + "\"\r\nContent-Type: application/octet-stream",
                content);
    }

    /** Adds a part. CRLF separates the header lines in {@code headers}. */
    public TestForm part(String headers, String content) {
        return part(headers, content.getBytes(StandardCharsets.UTF_8));
    }

    public TestForm part(String headers, byte[] content) {
        return text("--" + BOUNDARY + "\r\n" + headers + "\r\n\r\n")
                .bytes(content)
                .text("\r\n");
    }

    /** Adds raw bytes, which may make the form malformed. */
    public TestForm bytes(byte[] bytes) {
        out.writeBytes(bytes);
        return this;
    }

    private TestForm text(String text) {
        return bytes(text.getBytes(StandardCharsets.UTF_8));
    }

    public static TestForm malformed() {
        return new TestForm().text("--" + BOUNDARY + "garbage\r\n");
    }

    /** {@return the bytes so far, without a close-delimiter} */
    public byte[] open() {
        return out.toByteArray();
    }

    /** {@return the body with its close-delimiter} */
    public byte[] body() {
        return join(open(), ("--" + BOUNDARY + "--\r\n").getBytes(StandardCharsets.US_ASCII));
    }

    /** {@return a whole request with this form} */
    public byte[] post(String target) {
        return request(target, body());
    }

    public static byte[] request(String target, byte[] body) {
        return request("POST", target, CONTENT_TYPE, body);
    }

    public static byte[] request(String method, String target, String contentType, byte[] body) {
        return join(headOf(method, target, "Content-Type: " + contentType, "Content-Length: " + body.length), body);
    }

    /** {@return a request head with these fields only, and a Host} */
    public static byte[] headOf(String method, String target, String... fields) {
        StringBuilder head = new StringBuilder(method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n");
        for (String field : fields) {
            head.append(field).append("\r\n");
        }
        return head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    /** {@return the head of a POST with a form, and these fields} */
    public static byte[] head(String target, String... fields) {
        return headOf("POST", target, "Content-Type: " + CONTENT_TYPE, String.join("\r\n", fields));
    }

    /** {@return the head of a POST with a form of {@code length} bytes} */
    public static byte[] head(String target, long length) {
        return head(target, "Content-Length: " + length);
    }

    /** {@return a request whose body comes in one chunk} */
    public static byte[] chunked(String target, byte[] body) {
        return chunked(target, body, body.length);
    }

    /** {@return a request whose body comes in chunks of {@code size} bytes} */
    public static byte[] chunked(String target, byte[] body, int size) {
        return chunked(target, body, () -> size);
    }

    /** {@return a request whose body comes in chunks of these sizes} */
    public static byte[] chunked(String target, byte[] body, IntSupplier sizes) {
        return join(head(target, "Transfer-Encoding: chunked"), chunked(body, sizes));
    }

    /** {@return the body in chunks of {@code size} bytes} */
    public static byte[] chunked(byte[] body, int size) {
        return chunked(body, () -> size);
    }

    private static byte[] chunked(byte[] body, IntSupplier sizes) {
        ByteArrayOutputStream chunks = new ByteArrayOutputStream();
        for (int from = 0; from < body.length; ) {
            int count = Math.min(body.length - from, sizes.getAsInt());
            chunks.writeBytes((Integer.toHexString(count) + "\r\n").getBytes(StandardCharsets.US_ASCII));
            chunks.write(body, from, count);
            chunks.writeBytes("\r\n".getBytes(StandardCharsets.US_ASCII));
            from += count;
        }
        chunks.writeBytes("0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        return chunks.toByteArray();
    }

    public static byte[] join(byte[]... all) {
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        for (byte[] one : all) {
            joined.writeBytes(one);
        }
        return joined.toByteArray();
    }

    /** {@return random bytes, the same for the same seed} */
    public static byte[] noise(int size, long seed) {
        byte[] noise = new byte[size];
        new Random(seed).nextBytes(noise);
        return noise;
    }

    public static String sha256(byte[] bytes) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is missing, although every Java platform must have it", e);
        }
    }
}
