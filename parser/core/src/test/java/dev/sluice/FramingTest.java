package dev.sluice;

import static dev.sluice.Verdict.A;
import static dev.sluice.Verdict.ALL;
import static dev.sluice.Verdict.STRICT;
import static dev.sluice.Verdict.assertAccepted;
import static dev.sluice.Verdict.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Decoding.Result;
import dev.sluice.MultipartException.Kind;
import dev.sluice.MultipartException.Reason;
import io.netty.buffer.Unpooled;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Delimiters, beside what {@link PolicyRowsTest} has of them. */
class FramingTest {
    /** Up to the body of a part. */
    private static final String PART = "--x\r\n" + A + "\r\n";

    private static final String FORM = PART + "v\r\n--x--\r\n";

    private static void assertBodies(Result result, String... bodies) {
        assertEquals(
                List.of(bodies),
                result.parts().stream().map(Decoding.Part::body).toList());
        result.parts().forEach(part -> assertTrue(part.complete()));
    }

    @Test
    void strictRefusesAPreambleAsSuchHoweverLargeItIs() {
        assertRefused(STRICT, "^" + "p".repeat(4096) + "\r\n" + FORM, Reason.PREAMBLE, -1);
        assertRefused(STRICT, "^" + "p".repeat(4097) + "\r\n" + FORM, Reason.PREAMBLE, -1);
        assertRefused(STRICT, "\r\n--^" + "p".repeat(100_000), Reason.PREAMBLE, -1);
    }

    @Test
    void everyStartOfADelimiterIsDataWhenItGoesOnDifferently() {
        Boundary boundary = Boundary.of("abab");
        String delimiter = "\r\n--abab";
        for (int length = 1; length < delimiter.length(); length++) {
            String start = delimiter.substring(0, length);
            for (String data :
                    List.of(start, start + start, start + "\r", start + "!", "\r" + start + "\n", start + "ab-")) {
                byte[] body = Decoding.bytes("--abab\r\n" + A + "\r\n" + data + delimiter + "--");
                for (int size : new int[] {1, 2, 3, 5, 8, Integer.MAX_VALUE}) {
                    Result result = Decoding.decode(boundary, body, MultipartOptions.defaults(), size);
                    if (data.startsWith(delimiter)) {
                        assertFalse(result.reasons().isEmpty());
                    } else {
                        assertBodies(result, data);
                    }
                }
            }
        }
    }

    @Test
    void aBodyThatEndsAnywhereBeforeItsCloseDelimiterIsTruncatedAtItsSize() {
        String body = PART + "v\r\n--x \r\n" + A + "X: y\r\n\r\nw\r\n--x--";
        int secondPart = body.indexOf("--x \r\n") + 6;
        for (int size = 0; size < body.length(); size++) {
            int part = size < 5 ? -1 : size < secondPart ? 0 : 1;
            for (Preset preset : ALL) {
                Result result = assertRefused(preset, body.substring(0, size), Reason.TRUNCATED, part);
                assertEquals(size, result.size());
                assertEquals(
                        size < secondPart ? 0 : 1,
                        result.parts().stream().filter(Decoding.Part::complete).count());
            }
        }
        ALL.forEach(preset -> assertBodies(assertAccepted(preset, body), "v", "w"));
    }

    @Test
    void truncationIsAKindOfItsOwn() {
        assertEquals(Kind.TRUNCATED, Reason.TRUNCATED.kind());
    }

    @Test
    void anEmptyBodyHasNoDataEvent() throws MultipartException {
        try (MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("x"))) {
            decoder.feed(Unpooled.wrappedBuffer(Decoding.bytes(PART + "\r\n--x--")));
            assertEquals(MultipartDecoder.Event.PART_BEGIN, decoder.next());
            assertEquals(MultipartDecoder.Event.PART_END, decoder.next());
            assertEquals(MultipartDecoder.Event.NEED_INPUT, decoder.next());
        }
    }
}
