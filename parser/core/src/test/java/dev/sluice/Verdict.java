package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.sluice.Decoding.Failure;
import dev.sluice.Decoding.Result;
import dev.sluice.MultipartException.Reason;
import dev.sluice.testkit.Soup;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Assertions on the result of a preset for a body with the boundary {@code x}. A {@code ^} marks the byte after it, which is rejected or
 * reported; the mark is removed from the body. Every body is decoded as a whole and byte by byte.
 */
final class Verdict {
    static final List<Preset> ALL = List.of(Preset.STANDARD, Preset.STRICT, Preset.COMPATIBLE);

    /** The header line of a form field called {@code a}. */
    static final String A = "Content-Disposition: form-data; name=\"a\"\r\n";

    private static final char MARK = '^';

    private Verdict() {}

    /** {@return a form of one part that has these header lines, each with its line end, and the body {@code v}} */
    static String headers(String lines) {
        return "--x\r\n" + lines + "\r\nv\r\n--x--\r\n";
    }

    /** {@return a form of one part with this Content-Disposition} */
    static String disposition(String value) {
        return headers("Content-Disposition: " + value + "\r\n");
    }

    /** {@return the UTF-8 bytes of {@code text}, each as one character, as bodies are written in these tests} */
    static String utf8(String text) {
        return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }

    static String unmarked(String marked) {
        int mark = marked.indexOf(MARK);
        assertEquals(mark, marked.lastIndexOf(MARK), "one mark at most: " + marked);
        return mark < 0 ? marked : marked.substring(0, mark) + marked.substring(mark + 1);
    }

    static Result decode(Preset preset, String body) {
        return decode(MultipartOptions.builder().preset(preset).build(), body);
    }

    /** {@return the result, after a check that chunks of one byte give the same result} */
    static Result decode(MultipartOptions options, String body) {
        Result whole = Decoding.decode(body, options, Integer.MAX_VALUE);
        Decoding.assertSame(whole, Decoding.decode(body, options, 1), "byte by byte: " + show(body));
        return whole;
    }

    /** Asserts that the body is rejected at the mark, or at its end if there is no mark. */
    static Result assertRejected(Preset preset, String marked, Reason reason, int part) {
        return assertRejected(MultipartOptions.builder().preset(preset).build(), marked, reason, part);
    }

    static Result assertRejected(MultipartOptions options, String marked, Reason reason, int part) {
        String body = unmarked(marked);
        Result result = decode(options, body);
        String what = options.preset() + " " + show(marked);
        Failure failure = result.failure();
        assertNotNull(failure, what + " is not rejected: " + result);
        int offset = marked.indexOf(MARK) < 0 ? body.length() : marked.indexOf(MARK);
        assertEquals(new Failure(reason, offset, part), failure, what);
        return result;
    }

    static void assertRejected(List<Preset> presets, String marked, Reason reason, int part) {
        presets.forEach(preset -> assertRejected(preset, marked, reason, part));
    }

    /** Asserts that the body is accepted without a report. */
    static Result assertAccepted(Preset preset, String body) {
        Result result = decode(preset, body);
        assertNull(result.failure(), () -> preset + " " + show(body) + " is rejected: " + result);
        assertEquals(List.of(), result.deviations(), () -> preset + " " + show(body));
        assertEquals(body.length(), result.size());
        return result;
    }

    static void assertAccepted(List<Preset> presets, String body) {
        presets.forEach(preset -> assertAccepted(preset, body));
    }

    /** Asserts that the body is accepted and exactly one deviation is reported, at the mark. */
    static Result assertReported(Preset preset, String marked, Deviation kind, int part) {
        String body = unmarked(marked);
        Result result = decode(preset, body);
        assertNull(result.failure(), () -> preset + " " + show(marked) + " is rejected: " + result);
        assertEquals(
                List.of(new ReportedDeviation(kind, part, marked.indexOf(MARK))),
                result.deviations(),
                () -> preset + " " + show(marked));
        return result;
    }

    private static String show(String body) {
        return Soup.escape(Decoding.bytes(body));
    }
}
