package dev.sluice.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.function.Executable;

/**
 * A body and what each preset makes of it, written by hand.
 *
 * <p>In the body, {@code ^} marks the byte that matters. An expectation lists the parts as {@code
 * name(filename):body}, the unfinished part with {@code ~} before it, reported deviations as {@code
 * +KIND@offset/part} and the error as
 * {@code !REASON@offset/part}; an offset is written {@code ^} where it is the marked one. No parts and nothing else is
 * {@code ok}.
 */
final class Expectation {
    private final String contentType;
    private final byte[] body;
    private final int mark;
    private ReferenceLimits limits = ReferenceLimits.DEFAULTS;

    private Expectation(String contentType, String marked) {
        this.contentType = contentType;
        byte[] bytes = marked.getBytes(StandardCharsets.UTF_8);
        int at = marked.contains("^")
                ? marked.substring(0, marked.indexOf('^')).getBytes(StandardCharsets.UTF_8).length
                : -2;
        this.mark = at;
        this.body = at < 0 ? bytes : marked.replace("^", "").getBytes(StandardCharsets.UTF_8);
    }

    /** A form-data body with the boundary {@code x}. */
    static Expectation form(String marked) {
        return new Expectation("multipart/form-data; boundary=x", marked);
    }

    /** A body of another type with the boundary {@code x}. */
    static Expectation mixed(String marked) {
        return new Expectation("multipart/mixed; boundary=x", marked);
    }

    static Expectation of(String contentType, String marked) {
        return new Expectation(contentType, marked);
    }

    /** A form-data body with one part, of which this is the value of Content-Disposition. */
    static Expectation disposition(String marked) {
        return form("--x\r\nContent-Disposition: " + marked + "\r\n\r\n1\r\n--x--");
    }

    /** A form-data body with one part {@code a}, of which these are further header lines. */
    static Expectation headers(String marked) {
        return form("--x\r\nContent-Disposition: form-data; name=a\r\n" + marked + "\r\n1\r\n--x--");
    }

    Expectation with(ReferenceLimits other) {
        limits = other;
        return this;
    }

    Expectation b(int from, int to) {
        for (int i = 0; i < body.length; i++) {
            if (body[i] == (byte) from) {
                body[i] = (byte) to;
            }
        }
        return this;
    }

    /** All three presets. */
    void is(String standard, String strict, String compatible) {
        Assertions.assertAll(check("STANDARD", standard), check("STRICT", strict), check("COMPATIBLE", compatible));
    }

    /** The same in all three presets. */
    void isAlways(String expected) {
        is(expected, expected, expected);
    }

    private Executable check(String preset, String expected) {
        return () -> assertEquals(
                expected,
                show(ReferenceParser.parse(contentType, body, preset, limits)),
                () -> preset + ": \"" + Soup.escape(body) + "\"");
    }

    /** With rules of one's own. */
    void is(PresetRules rules, String expected) {
        assertEquals(expected, show(ReferenceParser.parse(contentType, body, rules, limits)), rules.name());
    }

    Outcome outcome(String preset) {
        return ReferenceParser.parse(contentType, body, preset, limits);
    }

    private String show(Outcome outcome) {
        StringBuilder text = new StringBuilder();
        outcome.parts().forEach(part -> text.append(' ').append(show(part)));
        if (outcome.partial() != null) {
            text.append(" ~").append(show(outcome.partial()));
        }
        outcome.deviations()
                .forEach(deviation ->
                        text.append(" +").append(deviation.kind()).append(place(deviation.offset(), deviation.part())));
        if (outcome.error() != null) {
            text.append(" !").append(outcome.error().reason());
            text.append(place(outcome.error().offset(), outcome.error().part()));
        }
        return text.isEmpty() ? "ok" : text.substring(1);
    }

    private static String show(Outcome.Part part) {
        return part.name() + (part.filename() == null ? "" : "(" + part.filename() + ")") + ":"
                + Soup.escape(part.body());
    }

    private String place(long offset, int part) {
        return "@" + (offset == mark ? "^" : Long.toString(offset)) + "/" + part;
    }
}
