package dev.sluice;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;

/**
 * Bodies with enough data for each mode of the search, and with data that looks like delimiters. {@link dev.sluice.buffer.DelimiterSearch}
 * explains grams, spans and candidates.
 */
final class SearchedBodies {
    /** Boundaries of three lengths: too short for grams, long enough for grams only if the loop {@code anyPair} cannot be used, and always long enough. */
    private static final List<Boundary> BOUNDARIES = List.of(
            Boundary.of("boundary"),
            Boundary.of("boundary-of-20-byte"),
            Boundary.of("----WebKitFormBoundary7MA4YWxkTrZu0gW7"));

    private static final String HEAD = "\r\nContent-Disposition: form-data; name=\"";

    /** Bytes that are equal to a dash or to the last byte of a delimiter, or that differ from one of these by one or in one bit. */
    private static final String FILLER = "abc\u00ad,.dyz\u00f9\u00ff8x7\u00b76W\u00d7V0gt\u00f4u\u0000\u0080";

    /** {@link #FILLER} without the equal bytes. */
    private static final String CLEAR = "abc\u00ad,.dz\u00f9\u00ff8x\u00b76W\u00d7V0g\u00f4u\u0000\u0080";

    record Body(String name, Boundary boundary, byte[] bytes) {}

    private SearchedBodies() {}

    static List<Body> all() {
        return BOUNDARIES.stream()
                .flatMap(boundary -> Stream.of(stretches(boundary), pieces(boundary), candidates(boundary)))
                .toList();
    }

    /**
     * Parts of a few hundred bytes without candidates, and a short part between each two of them, so that a span starts with a delimiter.
     */
    private static Body stretches(Boundary boundary) {
        return body("stretches", boundary, clear(330), clear(5), clear(560));
    }

    /** Content with pieces of a delimiter between other bytes. */
    private static Body pieces(Boundary boundary) {
        String text = "\r\n--" + boundary.value();
        int length = text.length();
        String[] pieces = {
            text.substring(0, length - 1),
            text.substring(0, length / 2),
            text.substring(2),
            "\r" + text.substring(2),
            "\r\r" + text.substring(1, length - 1),
            text.substring(length / 2),
            text.substring(0, length - 1) + text.substring(0, length - 2)
        };
        StringBuilder content = new StringBuilder();
        for (int i = 0; i < pieces.length; i++) {
            content.append(filler(31 + i)).append(pieces[i]);
        }
        return body("pieces", boundary, content.append('!').append(filler(290)).toString());
    }

    /** The first dash and the last byte of a delimiter at the right distance, in the middle of a span and at its start. */
    private static Body candidates(Boundary boundary) {
        String text = boundary.value();
        String candidate = "-" + filler(text.length()) + text.charAt(text.length() - 1);
        String content = filler(150) + candidate + filler(140) + candidate + filler(40);
        return body("candidates", boundary, content, "", candidate + filler(300));
    }

    private static String filler(int length) {
        return repeat(FILLER, length);
    }

    private static String clear(int length) {
        return repeat(CLEAR, length);
    }

    private static String repeat(String text, int length) {
        return text.repeat(length / text.length() + 1).substring(0, length);
    }

    private static Body body(String name, Boundary boundary, String... contents) {
        StringBuilder body = new StringBuilder();
        for (int part = 0; part < contents.length; part++) {
            body.append("--").append(boundary.value()).append(HEAD).append(part).append("\"\r\n\r\n");
            body.append(contents[part]).append("\r\n");
        }
        body.append("--").append(boundary.value()).append("--\r\n");
        return new Body(name + " " + boundary.value(), boundary, body.toString().getBytes(StandardCharsets.ISO_8859_1));
    }
}
