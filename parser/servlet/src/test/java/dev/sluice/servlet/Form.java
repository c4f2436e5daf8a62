package dev.sluice.servlet;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;

/** A builder of multipart bodies and of requests with them. */
public final class Form {
    public static final String BOUNDARY = "----sluice";
    public static final String CONTENT_TYPE = "multipart/form-data; boundary=" + BOUNDARY;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    public Form field(String name, String value) {
        return part("Content-Disposition: form-data; name=\"" + name + "\"", value);
    }

    public Form file(String name, String filename, byte[] content) {
        return part(
                "Content-Disposition: form-data; name=\"" + name + "\"; filename=\"" + filename
                        + "\"\r\nContent-Type: application/octet-stream",
                content);
    }

    /** Adds a part. CRLF separates the header lines in {@code headers}. */
    public Form part(String headers, String content) {
        return part(headers, content.getBytes(StandardCharsets.UTF_8));
    }

    public Form part(String headers, byte[] content) {
        return text("--" + BOUNDARY + "\r\n" + headers + "\r\n\r\n")
                .bytes(content)
                .text("\r\n");
    }

    /** Adds raw bytes, which may make the form malformed. */
    public Form bytes(byte[] bytes) {
        out.writeBytes(bytes);
        return this;
    }

    private Form text(String text) {
        return bytes(text.getBytes(StandardCharsets.UTF_8));
    }

    public static Form malformed() {
        return new Form().text("--" + BOUNDARY + "garbage\r\n");
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
        return request("POST", target, CONTENT_TYPE, body());
    }

    public static byte[] request(String method, String target, String contentType, byte[] body) {
        return join(head(method, target, "Content-Type: " + contentType, "Content-Length: " + body.length), body);
    }

    public static byte[] head(String method, String target, String... headers) {
        StringBuilder head = new StringBuilder(method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n");
        for (String header : headers) {
            head.append(header).append("\r\n");
        }
        return head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    /** {@return the head of a POST with a form of {@code length} bytes} */
    public static byte[] head(String target, long length) {
        return head("POST", target, "Content-Type: " + CONTENT_TYPE, "Content-Length: " + length);
    }

    /** {@return a request whose body comes in chunks of {@code size} bytes} */
    public static byte[] chunked(String target, byte[] body, int size) {
        return join(
                head("POST", target, "Content-Type: " + CONTENT_TYPE, "Transfer-Encoding: chunked"),
                chunked(body, size));
    }

    /** {@return the body in chunks of {@code size} bytes} */
    public static byte[] chunked(byte[] body, int size) {
        ByteArrayOutputStream chunks = new ByteArrayOutputStream();
        for (int from = 0; from < body.length; from += size) {
            int to = Math.min(body.length, from + size);
            chunks.writeBytes((Integer.toHexString(to - from) + "\r\n").getBytes(StandardCharsets.US_ASCII));
            chunks.write(body, from, to - from);
            chunks.writeBytes("\r\n".getBytes(StandardCharsets.US_ASCII));
        }
        chunks.writeBytes("0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        return chunks.toByteArray();
    }

    public static byte[] join(byte[] one, byte[] two) {
        byte[] both = Arrays.copyOf(one, one.length + two.length);
        System.arraycopy(two, 0, both, one.length, two.length);
        return both;
    }

    public static byte[] noise(int size, long seed) {
        byte[] noise = new byte[size];
        new Random(seed).nextBytes(noise);
        return noise;
    }
}
