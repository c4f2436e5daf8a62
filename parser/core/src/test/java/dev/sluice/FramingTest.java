package dev.sluice;

import static dev.sluice.Verdict.A;
import static dev.sluice.Verdict.ALL;
import static dev.sluice.Verdict.COMPATIBLE;
import static dev.sluice.Verdict.STANDARD;
import static dev.sluice.Verdict.STRICT;
import static dev.sluice.Verdict.assertAccepted;
import static dev.sluice.Verdict.assertRefused;
import static dev.sluice.Verdict.assertReported;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Decoding.Result;
import dev.sluice.MultipartException.Kind;
import dev.sluice.MultipartException.Reason;
import io.netty.buffer.Unpooled;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Rows 8 to 19 of the table of odd inputs: delimiters, preamble, epilogue, line ends. */
class FramingTest {
    private static final List<Preset> NOT_COMPATIBLE = List.of(STANDARD, STRICT);

    /** Up to the body of a part. */
    private static final String PART = "--x\r\n" + A + "\r\n";

    private static final String FORM = PART + "v\r\n--x--\r\n";

    private static void assertBodies(Result result, String... bodies) {
        assertEquals(
                List.of(bodies),
                result.parts().stream().map(Decoding.Part::body).toList());
        result.parts().forEach(part -> assertTrue(part.complete()));
    }

    // ---- row 8

    @Test
    void oneCrlfBeforeTheFirstDelimiterAndOneOrNoneAfterTheLastIsOrdinary() {
        for (Preset preset : ALL) {
            assertBodies(assertAccepted(preset, PART + "v\r\n--x--"), "v");
            assertBodies(assertAccepted(preset, PART + "v\r\n--x--\r\n"), "v");
            assertBodies(assertAccepted(preset, "\r\n" + PART + "v\r\n--x--"), "v");
            assertBodies(assertAccepted(preset, "\r\n" + PART + "v\r\n--x--\r\n"), "v");
        }
    }

    @Test
    void theOffsetOfAPartIsWhereItsBodyStarts() {
        Result result = assertAccepted(STANDARD, "\r\n" + PART + "one\r\n" + FORM);
        assertEquals(2 + 5 + A.length() + 2, result.parts().get(0).offset());
        assertEquals(
                result.parts().get(0).offset() + 3 + 2 + 5 + A.length() + 2,
                result.parts().get(1).offset());
        assertEquals(0, result.parts().get(0).index());
        assertEquals(1, result.parts().get(1).index());
    }

    // ---- rows 9 and 10

    @Test
    void aPreambleIsReportedByStandardRefusedByStrictAndIgnoredByCompatible() {
        for (String marked : List.of(
                "^hello\r\n" + FORM,
                "\r\n^hello\r\n" + FORM,
                "\r\n^\r\n" + FORM,
                "\r^\r\n" + FORM,
                "\r^a\r\n" + FORM,
                "^ \r\n" + FORM,
                "^\nhello\r\n" + FORM,
                "-^a\r\n" + FORM,
                "--^y\r\n" + FORM,
                "\r\n--^y\r\n" + FORM,
                "^a--x\r\n" + FORM,
                "^a\n--x\r--x\r\n" + FORM)) {
            assertBodies(assertReported(STANDARD, marked, Deviation.PREAMBLE, -1), "v");
            assertBodies(assertRefused(STRICT, marked, Reason.PREAMBLE, -1));
        }
        assertBodies(assertAccepted(COMPATIBLE, "hello\r\n" + FORM), "v");
        assertBodies(assertAccepted(COMPATIBLE, "\r\n\r\n" + FORM), "v");
        assertBodies(assertAccepted(COMPATIBLE, "--y\r\n" + FORM), "v");
    }

    @Test
    void anEpilogueIsReportedByStandardRefusedByStrictAndIgnoredByCompatible() {
        for (String marked : List.of(
                FORM + "^\r\n",
                FORM + "^more",
                FORM + "^-",
                FORM + "^\n",
                FORM + "^--x--",
                FORM + "^more\r\nand more\r\n")) {
            assertBodies(assertReported(STANDARD, marked, Deviation.EPILOGUE, -1), "v");
            assertBodies(assertRefused(STRICT, marked, Reason.EPILOGUE, -1), "v");
            assertBodies(assertAccepted(COMPATIBLE, Verdict.unmarked(marked)), "v");
        }
    }

    @Test
    void aPreambleOf4096BytesPassesAndOneMoreIsTooLarge() {
        String preamble = "p".repeat(4096);
        assertReported(STANDARD, "^" + preamble + "\r\n" + FORM, Deviation.PREAMBLE, -1);
        assertAccepted(COMPATIBLE, preamble + "\r\n" + FORM);
        for (Preset preset : List.of(STANDARD, COMPATIBLE)) {
            assertRefused(preset, preamble + "^p\r\n" + FORM, Reason.PREAMBLE_TOO_LARGE, -1);
            assertRefused(preset, preamble + "^\r\r\n" + FORM, Reason.PREAMBLE_TOO_LARGE, -1);
        }
    }

    @Test
    void strictRefusesAPreambleAsSuchHoweverLargeItIs() {
        assertRefused(STRICT, "^" + "p".repeat(4096) + "\r\n" + FORM, Reason.PREAMBLE, -1);
        assertRefused(STRICT, "^" + "p".repeat(4097) + "\r\n" + FORM, Reason.PREAMBLE, -1);
        assertRefused(STRICT, "\r\n--^" + "p".repeat(100_000), Reason.PREAMBLE, -1);
    }

    @Test
    void anEpilogueOf4096BytesPassesAndOneMoreIsTooLarge() {
        String epilogue = "e".repeat(4096);
        assertReported(STANDARD, FORM + "^" + epilogue, Deviation.EPILOGUE, -1);
        assertAccepted(COMPATIBLE, FORM + epilogue);
        for (Preset preset : List.of(STANDARD, COMPATIBLE)) {
            assertRefused(preset, FORM + epilogue + "^e", Reason.EPILOGUE_TOO_LARGE, -1);
        }
        assertRefused(STRICT, FORM + "^" + epilogue + "e", Reason.EPILOGUE, -1);
    }

    // ---- row 11

    @Test
    void paddingAfterADelimiterIsOrdinary() {
        for (String padding : List.of(" ", "\t", " \t ", " ".repeat(256))) {
            for (Preset preset : ALL) {
                String body = "--x" + padding + "\r\n" + A + "\r\none\r\n--x" + padding + "\r\n" + A
                        + "\r\ntwo\r\n--x--" + padding;
                assertBodies(assertAccepted(preset, body), "one", "two");
                assertBodies(assertAccepted(preset, body + "\r\n"), "one", "two");
            }
        }
    }

    @Test
    void the257thByteOfPaddingIsRefused() {
        String padding = " ".repeat(256);
        assertRefused(NOT_COMPATIBLE, "--x" + padding + "^ \r\n" + A + "\r\n", Reason.MALFORMED_DELIMITER, -1);
        assertRefused(NOT_COMPATIBLE, PART + "v\r\n--x" + padding + "^ \r\n", Reason.MALFORMED_DELIMITER, 0);
        assertRefused(NOT_COMPATIBLE, PART + "v\r\n--x--" + padding + "^ \r\n", Reason.MALFORMED_DELIMITER, -1);
    }

    @Test
    void compatibleTakesTooMuchPaddingAsText() {
        String line = "\r\n--x" + " ".repeat(257) + "\r\nw";
        assertBodies(assertAccepted(COMPATIBLE, PART + "v" + line + "\r\n--x--"), "v" + line);
        assertBodies(assertAccepted(COMPATIBLE, PART + "v\r\n--x--" + " ".repeat(257)), "v");
    }

    // ---- row 12

    @Test
    void dashesAndBoundaryThatDoNotStartALineAreData() {
        for (Preset preset : ALL) {
            for (String data :
                    List.of("v--x", "v--x--", "v --x\r\nw", "v\r--x--\r\nw", "\r--x", "-\r\n--", "v\r\n-\r\n--y")) {
                assertBodies(assertAccepted(preset, PART + data + "\r\n--x--"), data);
            }
        }
    }

    @Test
    void dashesAndBoundaryAfterABareLfAreDataWhereLfIsNoLineEnd() {
        for (Preset preset : NOT_COMPATIBLE) {
            assertBodies(assertAccepted(preset, PART + "v\n--x--\nw\r\n--x--"), "v\n--x--\nw");
            assertBodies(assertAccepted(preset, PART + "\n--x\r\n\r\n--x--"), "\n--x\r\n");
        }
    }

    @Test
    void aFirstDelimiterThatDoesNotStartALineIsNone() {
        assertRefused(ALL, "A--x\r\n" + A + "\r\nv", Reason.TRUNCATED, -1);
        assertRefused(ALL, " " + PART + "v", Reason.TRUNCATED, -1);
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

    // ---- row 13

    @Test
    void aDelimiterFollowedBySomethingElseIsRefusedInABody() {
        for (String line : List.of(
                "^garbage",
                "^1\r\n",
                "-^\r\n",
                "-^x",
                "-^ ",
                " ^--",
                " \t^garbage",
                "^\n",
                " ^\n",
                "\r^y",
                "\r^\r\n",
                "^\0",
                "^:")) {
            String marked = PART + "v\r\n--x" + line + "\r\n--x--";
            assertRefused(NOT_COMPATIBLE, marked, Reason.MALFORMED_DELIMITER, 0);
        }
    }

    @Test
    void aDelimiterFollowedBySomethingElseIsRefusedAtTheStart() {
        for (String line : List.of("^garbage", "-^\r\n", " ^--", "^\n", "\r^y")) {
            assertRefused(NOT_COMPATIBLE, "--x" + line + "\r\n" + FORM, Reason.MALFORMED_DELIMITER, -1);
            assertRefused(NOT_COMPATIBLE, "\r\n--x" + line + "\r\n" + FORM, Reason.MALFORMED_DELIMITER, -1);
        }
    }

    @Test
    void theDataBeforeAMalformedDelimiterIsHandedOutAndThePartIsNotComplete() {
        Result result = assertRefused(STANDARD, PART + "some data\r\n--x^y", Reason.MALFORMED_DELIMITER, 0);
        assertEquals("some data", result.parts().get(0).body());
        assertFalse(result.parts().get(0).complete());
    }

    @Test
    void compatibleTakesADelimiterFollowedBySomethingElseAsData() {
        for (String data : List.of(
                "v\r\n--xgarbage",
                "v\r\n--x1\r\nw",
                "v\r\n--x-\r\nw",
                "v\r\n--x --",
                "v\r\n--x \t garbage",
                "v\r\n--x\ry",
                "v\r\n--x \r\r",
                "v\r\n--x-x--",
                "\r\n--x:",
                "v\r\n--xa\r\n--xb\r\n--x-")) {
            assertBodies(assertAccepted(COMPATIBLE, PART + data + "\r\n--x--"), data);
        }
        assertBodies(assertAccepted(COMPATIBLE, PART + "--x1\r\n--x--"), "--x1");
    }

    @Test
    void compatibleTakesAFalseFirstDelimiterAsPreamble() {
        assertBodies(assertAccepted(COMPATIBLE, "--xgarbage\r\n" + FORM), "v");
        assertBodies(
                assertAccepted(COMPATIBLE, "\r\n--x1\r\nContent-Disposition: form-data; name=b\r\n\r\n" + FORM), "v");
    }

    // ---- row 14

    @Test
    void aCloseDelimiterFollowedBySomethingElseIsRefused() {
        for (String line : List.of("^garbage", "^-", " ^garbage", "\r^garbage", "\r^\r\n", "^\n", " \t^\n")) {
            assertRefused(NOT_COMPATIBLE, PART + "v\r\n--x--" + line, Reason.MALFORMED_DELIMITER, -1);
            assertRefused(NOT_COMPATIBLE, "--x--" + line, Reason.MALFORMED_DELIMITER, -1);
        }
    }

    @Test
    void aBodyThatEndsBetweenCrAndLfOfTheLastLineIsRefusedAtItsSize() {
        assertRefused(NOT_COMPATIBLE, PART + "v\r\n--x--\r^", Reason.MALFORMED_DELIMITER, -1);
        assertBodies(assertAccepted(COMPATIBLE, PART + "v\r\n--x--\r"), "v");
    }

    @Test
    void compatibleTakesWhatFollowsTheCloseDelimiterAsEpilogue() {
        for (String line : List.of("garbage", "-", " garbage", "\rgarbage", "--x\r\n")) {
            assertBodies(assertAccepted(COMPATIBLE, PART + "v\r\n--x--" + line), "v");
        }
        assertRefused(
                COMPATIBLE,
                FORM.substring(0, FORM.length() - 2) + "e".repeat(4096) + "^e",
                Reason.EPILOGUE_TOO_LARGE,
                -1);
    }

    @Test
    void thePartBeforeABrokenCloseDelimiterIsComplete() {
        assertBodies(assertRefused(STANDARD, PART + "v\r\n--x--^g", Reason.MALFORMED_DELIMITER, -1), "v");
    }

    // ---- row 15

    @Test
    void anEmptyFormIsOnlyTheCloseDelimiter() {
        for (String body : List.of("--x--", "--x--\r\n", "\r\n--x--", "\r\n--x--\r\n", "--x-- \r\n")) {
            ALL.forEach(preset -> assertBodies(assertAccepted(preset, body)));
        }
    }

    @Test
    void aCloseDelimiterAfterAPreambleIsRefusedExceptByCompatible() {
        assertRefused(NOT_COMPATIBLE, "hello\r\n--x-^-\r\n", Reason.MALFORMED_DELIMITER, -1);
        assertRefused(NOT_COMPATIBLE, "\r\n\r\n--x-^-", Reason.MALFORMED_DELIMITER, -1);
        assertBodies(assertAccepted(COMPATIBLE, "hello\r\n--x--\r\n"));
    }

    // ---- row 16

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
    void aBodyWithoutAnyDelimiterIsTruncated() {
        for (String body :
                List.of("", "\r", "\r\n", "hello", "--", "--y\r\n\r\n--y--", "\r\n--", "\n--x--", "a--x--")) {
            assertRefused(NOT_COMPATIBLE, body, Reason.TRUNCATED, -1);
        }
    }

    @Test
    void truncationIsAKindOfItsOwn() {
        assertEquals(Kind.TRUNCATED, Reason.TRUNCATED.kind());
    }

    // ---- row 17

    @Test
    void aBlankLineThatIsTheCrlfOfTheDelimiterMakesAnEmptyBody() {
        for (Preset preset : ALL) {
            assertBodies(assertAccepted(preset, PART + "--x--"), "");
            assertBodies(assertAccepted(preset, PART + "\r\n--x--"), "");
            assertBodies(assertAccepted(preset, PART + PART + "\r\n" + PART + "v\r\n--x--"), "", "", "v");
            assertBodies(assertAccepted(preset, PART + "\r\n\r\n--x--"), "\r\n");
        }
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

    // ---- row 18

    @Test
    void partsAfterTheCloseDelimiterAreEpilogue() {
        assertBodies(assertReported(STANDARD, FORM + "^" + FORM, Deviation.EPILOGUE, -1), "v");
        assertBodies(assertRefused(STRICT, FORM + "^" + FORM, Reason.EPILOGUE, -1), "v");
        assertBodies(assertAccepted(COMPATIBLE, FORM + FORM), "v");
        assertBodies(assertReported(STANDARD, "--x--\r\n^" + FORM, Deviation.EPILOGUE, -1));
        assertBodies(assertRefused(STRICT, "--x--\r\n^" + FORM, Reason.EPILOGUE, -1));
    }

    // ---- row 19

    @Test
    void lfThroughoutIsRefusedExceptByCompatible() {
        String body = FORM.replace("\r", "");
        assertRefused(NOT_COMPATIBLE, "--x^" + body.substring(3), Reason.MALFORMED_DELIMITER, -1);
        Result result = Verdict.decode(COMPATIBLE, body);
        assertNull(result.failure());
        assertBodies(result, "v");
        assertEquals(
                List.of(
                        new ReportedDeviation(Deviation.BARE_LF, 0, 3),
                        new ReportedDeviation(Deviation.BARE_LF, -1, body.length() - 1)),
                result.deviations());
    }

    @Test
    void oneLfAmongCrlfIsReportedWhereItIs() {
        assertBodies(assertReported(COMPATIBLE, PART + "v^\n--x--\r\n", Deviation.BARE_LF, 0), "v");
        assertBodies(assertReported(COMPATIBLE, PART + "v\r\n--x--^\n", Deviation.BARE_LF, -1), "v");
        assertBodies(assertReported(COMPATIBLE, "--x\r\n" + A + "^\nv\r\n--x--", Deviation.BARE_LF, 0), "v");
        assertBodies(assertReported(COMPATIBLE, "--x^\n" + A + "\r\nv\r\n--x--", Deviation.BARE_LF, 0), "v");
        assertBodies(
                assertReported(COMPATIBLE, PART + "v\r\n--x^\n" + A + "\r\nw\r\n--x--", Deviation.BARE_LF, 1),
                "v",
                "w");
    }

    @Test
    void anLfInDataIsDataInEveryPreset() {
        ALL.forEach(preset -> assertBodies(assertAccepted(preset, PART + "a\nb\n\r\r\n\n\r\n--x--"), "a\nb\n\r\r\n\n"));
    }

    @Test
    void compatibleKeepsACrThatIsNotPartOfTheLineEnd() {
        assertBodies(assertAccepted(COMPATIBLE, PART + "v\r\r\n--x--"), "v\r");
        assertBodies(assertReported(COMPATIBLE, PART + "v\r\r\n^\n--x--", Deviation.BARE_LF, 0), "v\r\r\n");
    }
}
