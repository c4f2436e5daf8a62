package dev.sluice.testkit;

import java.nio.charset.StandardCharsets;
import java.util.List;

/** Valid bodies of one part with data that is expensive for a naive delimiter search. */
public final class HostileBodies {
    private static final String HEADERS = "Content-Disposition: form-data; name=\"a\"; filename=\"f\"\r\n\r\n";
    private static final String USUAL = "----WebKitFormBoundary7MA4YWxkTrZu0gW";

    private HostileBodies() {}

    /**
     * A body with one part.
     *
     * @param name a description of the data
     * @param pattern the text that is repeated as the data
     */
    public record Body(String name, String boundary, String pattern) {
        /** {@return the whole body, with about {@code size} bytes of data} */
        public byte[] bytes(int size) {
            String data = pattern.repeat(Math.max(1, size / pattern.length()));
            return ("--" + boundary + "\r\n" + HEADERS + data + "\r\n--" + boundary + "--\r\n")
                    .getBytes(StandardCharsets.ISO_8859_1);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    /** {@return a body for each pattern} */
    public static List<Body> all() {
        String equal = "x".repeat(70);
        String dashes = "-".repeat(70);
        String almost = "b" + "a".repeat(69);
        String start = USUAL.substring(0, USUAL.length() - 1);
        int distance = USUAL.length() + 1; // from the first dash of a delimiter to its last byte
        return List.of(
                new Body("only CR", USUAL, "\r"),
                new Body("only LF", USUAL, "\n"),
                new Body("runs of CR LF", USUAL, "\r\n"),
                new Body("CR CR LF", USUAL, "\r\r\n"),
                new Body("only dashes", USUAL, "-"),
                new Body("only the last byte of the boundary", USUAL, "W"),
                new Body("CR LF and dashes", USUAL, "\r\n--"),
                new Body("delimiters with a different first dash", USUAL, "\r\n!-" + USUAL),
                new Body("delimiters with a different byte in the middle", USUAL, "\r\n--" + USUAL.replace('B', '!')),
                new Body("delimiters with a different last byte", USUAL, "\r\n--" + start + "!"),
                new Body("delimiters without their last byte", USUAL, "\r\n--" + start),
                new Body("delimiters after a bare LF", USUAL, "\n--" + USUAL),
                new Body("delimiters after a bare CR", USUAL, "\r--" + USUAL),
                new Body("the start of the delimiter, without CR", USUAL, "\n--" + USUAL.substring(0, 5)),
                new Body("boundaries without a line end", USUAL, USUAL),
                // The last byte of the boundary follows each dash at the right distance.
                new Body("dashes and last bytes", USUAL, "\n-".repeat(distance / 2) + "W".repeat(distance)),
                new Body("one character less than a boundary of 70 equal ones", equal, "\r\n--" + equal.substring(1)),
                new Body("an endless run of the boundary's only character", equal, "x"),
                new Body("one dash less than a boundary of 70 dashes", dashes, "\r\n--" + dashes.substring(1)),
                new Body("only dashes, with a boundary of four dashes", "----", "-"),
                new Body(
                        "one character less than a boundary that ends with equal ones",
                        almost,
                        "\r\n--" + almost.substring(1)),
                new Body("altered delimiters of the boundary x", "x", "\r\n--y"),
                new Body("zeros", USUAL, "\0"));
    }
}
