package dev.sluice.servlet;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A multipart body under construction. */
final class FormBody {
    static final String TYPE = "multipart/form-data; boundary=B";

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    FormBody field(String name, String value) {
        return part("Content-Disposition: form-data; name=\"" + name + "\"", value.getBytes(StandardCharsets.UTF_8));
    }

    FormBody file(String name, String filename, byte[] content) {
        return part(
                "Content-Disposition: form-data; name=\"" + name + "\"; filename=\"" + filename
                        + "\"\r\nContent-Type: text/plain",
                content);
    }

    FormBody part(String headers, byte[] content) {
        text("--B\r\n" + headers + "\r\n\r\n");
        out.writeBytes(content);
        return text("\r\n");
    }

    FormBody text(String text) {
        out.writeBytes(text.getBytes(StandardCharsets.UTF_8));
        return this;
    }

    /** {@return what is there so far} */
    byte[] open() {
        return out.toByteArray();
    }

    byte[] closed() {
        byte[] open = out.toByteArray();
        byte[] end = "--B--\r\n".getBytes(StandardCharsets.US_ASCII);
        byte[] all = Arrays.copyOf(open, open.length + end.length);
        System.arraycopy(end, 0, all, open.length, end.length);
        return all;
    }

    static byte[] head(String method, String target, String type, long length) {
        return (method + " " + target + " HTTP/1.1\r\nHost: x\r\nContent-Type: " + type + "\r\n"
                        + (length < 0 ? "Transfer-Encoding: chunked" : "Content-Length: " + length) + "\r\n\r\n")
                .getBytes(StandardCharsets.US_ASCII);
    }

    byte[] post(String target) {
        return request("POST", target, TYPE, closed());
    }

    static byte[] request(String method, String target, String type, byte[] body) {
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        request.writeBytes(head(method, target, type, body.length));
        request.writeBytes(body);
        return request.toByteArray();
    }

    static byte[] bytes(int size) {
        byte[] bytes = new byte[size];
        Arrays.fill(bytes, (byte) 'x');
        return bytes;
    }
}
