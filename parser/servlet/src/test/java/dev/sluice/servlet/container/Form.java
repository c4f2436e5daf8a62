package dev.sluice.servlet.container;

import java.io.ByteArrayOutputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;

/** A multipart body, and the request that brings it. */
final class Form {
    static final String BOUNDARY = "----sluice";
    static final String CONTENT_TYPE = "multipart/form-data; boundary=" + BOUNDARY;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    Form field(String name, String value) {
        return part("Content-Disposition: form-data; name=\"" + name + "\"", value);
    }

    Form file(String name, String filename, byte[] content) {
        return part(
                "Content-Disposition: form-data; name=\"" + name + "\"; filename=\"" + filename
                        + "\"\r\nContent-Type: application/octet-stream",
                content);
    }

    /** Adds a part with these header lines, which are separated by CRLF. */
    Form part(String headers, String content) {
        return part(headers, content.getBytes(StandardCharsets.UTF_8));
    }

    Form part(String headers, byte[] content) {
        return text("--" + BOUNDARY + "\r\n" + headers + "\r\n\r\n", StandardCharsets.UTF_8)
                .bytes(content)
                .text("\r\n", StandardCharsets.US_ASCII);
    }

    /** Adds bytes as they are, which may break the form. */
    Form bytes(byte[] bytes) {
        out.writeBytes(bytes);
        return this;
    }

    Form text(String text, Charset charset) {
        return bytes(text.getBytes(charset));
    }

    /** {@return the bytes so far, without a close-delimiter} */
    byte[] open() {
        return out.toByteArray();
    }

    /** {@return the body with its close-delimiter} */
    byte[] body() {
        return join(open(), ("--" + BOUNDARY + "--\r\n").getBytes(StandardCharsets.US_ASCII));
    }

    /** {@return a whole request with this form} */
    byte[] post(String target) {
        return request("POST", target, CONTENT_TYPE, body());
    }

    static byte[] request(String method, String target, String contentType, byte[] body) {
        return join(head(method, target, "Content-Type: " + contentType, "Content-Length: " + body.length), body);
    }

    static byte[] head(String method, String target, String... headers) {
        StringBuilder head = new StringBuilder(method + " " + target + " HTTP/1.1\r\nHost: localhost\r\n");
        for (String header : headers) {
            head.append(header).append("\r\n");
        }
        return head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1);
    }

    /** {@return the body in chunks of {@code size} bytes} */
    static byte[] chunked(byte[] body, int size) {
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

    static byte[] join(byte[] one, byte[] two) {
        byte[] both = Arrays.copyOf(one, one.length + two.length);
        System.arraycopy(two, 0, both, one.length, two.length);
        return both;
    }

    static byte[] noise(int size, long seed) {
        byte[] noise = new byte[size];
        new Random(seed).nextBytes(noise);
        return noise;
    }
}
