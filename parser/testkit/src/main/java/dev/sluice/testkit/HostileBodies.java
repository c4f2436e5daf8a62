package dev.sluice.testkit;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** Valid bodies of one part with data that is expensive for a naive delimiter search. */
public final class HostileBodies {
    private static final byte[] HEADERS =
            "Content-Disposition: form-data; name=\"a\"; filename=\"f\"\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private HostileBodies() {}

    /**
     * A body with one part.
     *
     * @param name a description of the data
     * @param boundary the boundary
     * @param bytes the complete multipart body
     * @param dataOffset the offset of the part's data
     * @param dataSize the size of the data in bytes
     */
    public record Body(String name, String boundary, byte[] bytes, int dataOffset, int dataSize) {
        public String contentType() {
            return "multipart/form-data; boundary=" + boundary;
        }

        @Override
        public String toString() {
            return name;
        }
    }

    /** {@return a body for each pattern, each with about {@code size} bytes of data} */
    public static List<Body> all(int size) {
        String equal = "x".repeat(70);
        String usual = "----WebKitFormBoundary7MA4YWxkTrZu0gW";
        String dashes = "-".repeat(70);
        return List.of(
                body("only CR", usual, "\r", size),
                body("only LF", usual, "\n", size),
                body("runs of CR LF", usual, "\r\n", size),
                body("CR CR LF", usual, "\r\r\n", size),
                body("only dashes", usual, "-", size),
                body("CR LF and dashes", usual, "\r\n--", size),
                body("delimiters with a different last byte", usual, "\r\n--" + lastChanged(usual), size),
                body(
                        "delimiters without their last byte",
                        usual,
                        "\r\n--" + usual.substring(0, usual.length() - 1),
                        size),
                body("delimiters after a bare LF", usual, "\n--" + usual, size),
                body("delimiters after a bare CR", usual, "\r--" + usual, size),
                body("the start of the delimiter, without CR", usual, "\n--" + usual.substring(0, 5), size),
                body("boundaries without a line end", usual, usual, size),
                body("one character less than a boundary of 70 equal ones", equal, "\r\n--" + equal.substring(1), size),
                body("an endless run of the boundary's only character", equal, "x", size),
                body("one dash less than a boundary of 70 dashes", dashes, "\r\n--" + dashes.substring(1), size),
                body("altered delimiters of the boundary x", "x", "\r\n--y", size),
                body("zeros", usual, "\0", size));
    }

    private static String lastChanged(String boundary) {
        return boundary.substring(0, boundary.length() - 1) + (boundary.endsWith("!") ? "." : "!");
    }

    private static Body body(String name, String boundary, String pattern, int size) {
        byte[] data = pattern.repeat(Math.max(1, size / pattern.length())).getBytes(StandardCharsets.ISO_8859_1);
        ByteArrayOutputStream out = new ByteArrayOutputStream(data.length + 256);
        out.writeBytes(("--" + boundary + "\r\n").getBytes(StandardCharsets.US_ASCII));
        out.writeBytes(HEADERS);
        int dataOffset = out.size();
        out.writeBytes(data);
        out.writeBytes(("\r\n--" + boundary + "--\r\n").getBytes(StandardCharsets.US_ASCII));
        return new Body(name, boundary, out.toByteArray(), dataOffset, data.length);
    }
}
