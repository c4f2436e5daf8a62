package dev.sluice;

import static dev.sluice.Verdict.A;
import static dev.sluice.Verdict.ALL;
import static dev.sluice.Verdict.COMPATIBLE;
import static dev.sluice.Verdict.STANDARD;
import static dev.sluice.Verdict.STRICT;
import static dev.sluice.Verdict.assertAccepted;
import static dev.sluice.Verdict.assertRefused;
import static dev.sluice.Verdict.assertReported;
import static dev.sluice.Verdict.headers;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.sluice.Decoding.Result;
import dev.sluice.MultipartException.Reason;
import dev.sluice.PartHeaders.Header;
import dev.sluice.buffer.ChunkMemory;
import io.netty.buffer.Unpooled;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;

/** Rows 20 to 27 of the table of odd inputs: header sections. */
class HeaderSectionTest {
    private static final List<Preset> NOT_STRICT = List.of(STANDARD, COMPATIBLE);
    private static final List<Preset> NOT_COMPATIBLE = List.of(STANDARD, STRICT);

    private static void assertHeader(Result result, int index, String name, String value) {
        assertEquals(new Header(name, value), result.parts().get(0).headers().get(index));
    }

    // ---- row 20

    @Test
    void aFoldedHeaderIsOneLineWithASpace() {
        for (String fold : List.of("\r\n^ ", "\r\n^\t", "\r\n^ \t ", " \t\r\n^ ")) {
            String marked = headers(A + "X: a" + fold + "b\r\n");
            assertHeader(assertReported(STANDARD, marked, Deviation.FOLDED_HEADER, 0), 1, "X", "a b");
            assertRefused(STRICT, marked, Reason.MALFORMED_HEADER, 0);
            assertHeader(assertAccepted(COMPATIBLE, Verdict.unmarked(marked)), 1, "X", "a b");
        }
    }

    @Test
    void manyFoldsOfAPartAreReportedOnceAtTheFirst() {
        String marked = headers(A + "X: a\r\n^ b\r\n c\r\nY: d\r\n e\r\n");
        Result result = assertReported(STANDARD, marked, Deviation.FOLDED_HEADER, 0);
        assertHeader(result, 1, "X", "a b c");
        assertHeader(result, 2, "Y", "d e");
    }

    @Test
    void aFoldBeforeTheFirstWordOfAValueLeavesNoSpace() {
        assertHeader(assertReported(STANDARD, headers(A + "X:\r\n^ a\r\n"), Deviation.FOLDED_HEADER, 0), 1, "X", "a");
    }

    @Test
    void aFoldedContentDispositionHasItsNameAndFilename() {
        String marked = headers("Content-Disposition: form-data;\r\n^\tname=\"a\";\r\n filename=\"b.jsp\"\r\n");
        for (Preset preset : NOT_STRICT) {
            Result result = Verdict.decode(preset, Verdict.unmarked(marked));
            assertNull(result.failure());
            assertEquals("a", result.parts().get(0).name());
            assertEquals("b.jsp", result.parts().get(0).filename());
            assertHeader(result, 0, "Content-Disposition", "form-data; name=\"a\"; filename=\"b.jsp\"");
        }
        assertReported(STANDARD, marked, Deviation.FOLDED_HEADER, 0);
        assertRefused(STRICT, marked, Reason.MALFORMED_HEADER, 0);
    }

    @Test
    void aFaultBehindAFoldIsAtItsOwnOffset() {
        assertRefused(
                STANDARD,
                headers("Content-Disposition: form-data;\r\n name=\"a\"^junk\r\n"),
                Reason.MALFORMED_CONTENT_DISPOSITION,
                0);
        assertRefused(
                STANDARD,
                headers("Content-Disposition: form-data;\r\n \t name=\"a\";\r\n ^name=b\r\n"),
                Reason.DUPLICATE_PARAMETER,
                0);
    }

    /** The space that stands for a fold is its first blank, before the line end or behind it. */
    @Test
    void whatIsOddAboutABlankAtAFoldIsAtItsFirstBlank() {
        for (String value : List.of(
                "form-data; name=^ \r\n a",
                "form-data; name=^\t \t\r\n a",
                "form-data; name=\r\n^ a",
                "form-data; name=\r\n^\t \ta",
                "form-data; name=^ a",
                "form-data;\r\n name=^ \r\n\ta")) {
            String marked = Verdict.disposition(value);
            Result result = Verdict.decode(Verdict.COMPATIBLE, Verdict.unmarked(marked));
            assertEquals("a", result.parts().get(0).name(), value);
            assertEquals(
                    List.of((long) marked.indexOf('^')),
                    result.deviations().stream()
                            .filter(each -> each.kind() == Deviation.DISPOSITION_SYNTAX)
                            .map(ReportedDeviation::offset)
                            .toList(),
                    value);
        }
    }

    @Test
    void aFormFeedOrVerticalTabDoesNotFold() {
        assertRefused(ALL, headers(A + "X: a\r\n^\fb\r\n"), Reason.MALFORMED_HEADER, 0);
        assertRefused(ALL, headers(A + "X: a\r\n^\u000bb\r\n"), Reason.MALFORMED_HEADER, 0);
    }

    // ---- row 21

    @Test
    void aFirstLineThatStartsWithABlankIsRefused() {
        assertRefused(ALL, headers("^ " + A), Reason.MALFORMED_HEADER, 0);
        assertRefused(ALL, headers("^\t" + A), Reason.MALFORMED_HEADER, 0);
        assertRefused(ALL, headers("^ \r\n" + A), Reason.MALFORMED_HEADER, 0);
    }

    @Test
    void aLineOfBlanksOnlyIsRefused() {
        assertRefused(NOT_STRICT, headers(A + " ^\r\n"), Reason.MALFORMED_HEADER, 0);
        assertRefused(NOT_STRICT, headers(A + "X: a\r\n \t ^\r\nY: b\r\n"), Reason.MALFORMED_HEADER, 0);
        assertRefused(STRICT, headers(A + "^ \r\n"), Reason.MALFORMED_HEADER, 0);
    }

    // ---- row 22

    @Test
    void aNameThatIsNoTokenIsRefused() {
        for (String line : List.of(
                "X^\r\n",
                "X^",
                "^: v\r\n",
                "X^ : v\r\n",
                "X^\t: v\r\n",
                "Content-^ Disposition: v\r\n",
                "X^(y): v\r\n",
                "X^\"y\": v\r\n",
                "X^/y: v\r\n",
                "X^@y: v\r\n",
                "X^\u00e9: v\r\n",
                "^\u000eX: v\r\n",
                "X^\u000e: v\r\n",
                "X^\u0000: v\r\n",
                "X^\u007f: v\r\n",
                "^(: v\r\n",
                "^\u0000\r\n")) {
            assertRefused(ALL, headers(A + line), Reason.MALFORMED_HEADER, 0);
        }
    }

    @Test
    void everyTokenCharacterMayStandInAName() {
        String name = "!#$%&'*+-.^_`|~09azAZ";
        for (Preset preset : ALL) {
            assertHeader(assertAccepted(preset, headers(A + name + ": v\r\n")), 1, name, "v");
        }
    }

    @Test
    void aControlByteInAValueIsRefusedInEveryPreset() {
        for (int b = 0; b < 256; b++) {
            boolean control = b < ' ' && b != '\t' || b == 0x7F;
            if (!control || b == '\n' || b == '\r') {
                continue;
            }
            assertRefused(ALL, headers(A + "X: a^" + (char) b + "b\r\n"), Reason.MALFORMED_HEADER, 0);
            assertRefused(
                    ALL,
                    headers("Content-Disposition: form-data; name=\"a^" + (char) b + "\"\r\n"),
                    Reason.MALFORMED_HEADER,
                    0);
        }
    }

    @Test
    void aBareCrInAValueIsRefusedInEveryPreset() {
        assertRefused(ALL, headers(A + "X: a^\rb\r\n"), Reason.MALFORMED_HEADER, 0);
        assertRefused(ALL, headers(A + "X: a^\r\r\n"), Reason.MALFORMED_HEADER, 0);
        assertRefused(ALL, headers(A + "^\rb"), Reason.MALFORMED_HEADER, 0);
        assertRefused(ALL, "--x\r\n" + A + "^\r\rv\r\n--x--", Reason.MALFORMED_HEADER, 0);
    }

    @Test
    void aBareLfInAHeaderIsRefusedExceptByCompatible() {
        assertRefused(NOT_COMPATIBLE, headers(A + "X: a^\nY: b\r\n"), Reason.MALFORMED_HEADER, 0);
        assertRefused(NOT_COMPATIBLE, headers(A + "^\n"), Reason.MALFORMED_HEADER, 0);
        assertRefused(
                NOT_COMPATIBLE,
                headers("Content-Disposition: form-data; name=\"a^\nb\"\r\n"),
                Reason.MALFORMED_HEADER,
                0);
        Result result = assertReported(COMPATIBLE, headers(A + "X: a^\nY: b\r\n"), Deviation.BARE_LF, 0);
        assertHeader(result, 1, "X", "a");
        assertHeader(result, 2, "Y", "b");
    }

    @Test
    void aTabInAValueAndBlanksAroundItAreOrdinary() {
        for (Preset preset : ALL) {
            Result result = assertAccepted(preset, headers(A + "X:a\tb\r\nY: \t c \t\r\nZ:\r\nW:  \r\n"));
            assertHeader(result, 1, "X", "a\tb");
            assertHeader(result, 2, "Y", "c");
            assertHeader(result, 3, "Z", "");
            assertHeader(result, 4, "W", "");
        }
    }

    @Test
    void aNulAndLfInPlaceOfTheLineEndIsRefused() {
        assertRefused(
                ALL,
                "--x\r\nContent-Disposition: form-data; name=\"a\"^\u0000\nContent-Type: x\r\n\r\nv\r\n--x--",
                Reason.MALFORMED_HEADER,
                0);
    }

    // ---- row 23

    @Test
    void theThreeFieldsWithAMeaningMayOccurOnce() {
        for (String name : List.of("Content-Disposition", "Content-Type", "Content-Transfer-Encoding")) {
            String first = name.equals("Content-Disposition") ? A : A + name + ": 7bit\r\n";
            String lowerCase = name.toLowerCase(Locale.ROOT);
            String upperCase = name.toUpperCase(Locale.ROOT);
            assertRefused(ALL, headers(first + "^" + name + ": 7bit\r\n"), Reason.DUPLICATE_HEADER, 0);
            assertRefused(ALL, headers(first + "X: y\r\n^" + lowerCase + ":\r\n"), Reason.DUPLICATE_HEADER, 0);
            assertRefused(ALL, headers(first + "^" + upperCase + ": z\r\n"), Reason.DUPLICATE_HEADER, 0);
        }
    }

    @Test
    void aSecondPartMayHaveTheFieldsOfTheFirst() {
        String part = "--x\r\n" + A + "Content-Type: text/plain\r\nContent-Transfer-Encoding: 8bit\r\n\r\nv\r\n";
        assertAccepted(ALL, part + part + "--x--");
        assertRefused(ALL, part + "--x\r\n" + A + "^" + A + "\r\n", Reason.DUPLICATE_HEADER, 1);
    }

    // ---- row 24

    @Test
    void otherHeadersAreKeptInOrderWithTheirDuplicates() {
        for (Preset preset : ALL) {
            Result result = assertAccepted(preset, headers("X: 1\r\n" + A + "x: 2\r\nX: 1\r\nContent-ID: <3>\r\n"));
            assertEquals(
                    List.of(
                            new Header("X", "1"),
                            new Header("Content-Disposition", "form-data; name=\"a\""),
                            new Header("x", "2"),
                            new Header("X", "1"),
                            new Header("Content-ID", "<3>")),
                    result.parts().get(0).headers());
        }
    }

    @Test
    void aContentLengthOfAPartChangesNothing() {
        for (String length : List.of("0", "1", "-1", "+5", "1000000000000", "99999999999999999999", "abc", "")) {
            for (Preset preset : ALL) {
                Result result = assertAccepted(
                        preset,
                        "--x\r\n" + A + "Content-Length: " + length
                                + "\r\nContent-Length: 7\r\n\r\nhello\r\n--x--\r\n");
                assertEquals("hello", result.parts().get(0).body());
            }
        }
    }

    // ---- rows 25 and 26

    @Test
    void identityTransferEncodingsAreOrdinary() {
        for (String encoding : List.of("7bit", "8bit", "binary", "BINARY", "8Bit")) {
            assertAccepted(ALL, headers(A + "Content-Transfer-Encoding: " + encoding + "\r\n"));
        }
    }

    @Test
    void otherTransferEncodingsAreLeftAloneByTheDecoder() {
        for (String encoding :
                List.of("base64", "quoted-printable", "Base64", "x-uuencode", "7bit;", "7 bit", "binary, 8bit")) {
            String marked = headers(A + "Content-Transfer-Encoding: ^" + encoding + "\r\n");
            Result result = assertReported(STANDARD, marked, Deviation.TRANSFER_ENCODING, 0);
            assertEquals("v", result.parts().get(0).body());
            assertRefused(STRICT, marked, Reason.UNSUPPORTED_TRANSFER_ENCODING, 0);
            assertEquals(
                    "v",
                    assertAccepted(COMPATIBLE, Verdict.unmarked(marked))
                            .parts()
                            .get(0)
                            .body());
        }
    }

    @Test
    void theTransferEncodingIsCheckedOutsideOfFormDataToo() throws MultipartException {
        Boundary mixed = Boundary.from("multipart/mixed; boundary=x");
        byte[] body = Decoding.bytes("--x\r\nContent-Transfer-Encoding: base64\r\n\r\ndg==\r\n--x--");
        Result result = Decoding.decode(mixed, body, MultipartOptions.defaults(), 1);
        assertNull(result.failure());
        assertEquals(List.of(new ReportedDeviation(Deviation.TRANSFER_ENCODING, 0, 32)), result.deviations());
        MultipartOptions strict = MultipartOptions.builder().preset(STRICT).build();
        assertEquals(
                new Decoding.Failure(Reason.UNSUPPORTED_TRANSFER_ENCODING, 32, 0),
                Decoding.decode(mixed, body, strict, 1).failure());
    }

    @Test
    void aPartOfAnotherMultipartTypeMayHaveNoHeadersAtAll() throws MultipartException {
        Boundary mixed = Boundary.from("multipart/mixed; boundary=x");
        Result result = Decoding.decode(mixed, Decoding.bytes("--x\r\n\r\nv\r\n--x--"), MultipartOptions.defaults(), 1);
        assertNull(result.failure());
        assertEquals("v", result.parts().get(0).body());
        assertNull(result.parts().get(0).name());
        assertNull(result.parts().get(0).filename());
        assertNull(result.parts().get(0).contentType());
        assertEquals(List.of(), result.parts().get(0).headers());
    }

    // ---- row 27: the defaults; LimitsTest has every limit

    @Test
    void aHeaderSectionOf8192BytesPassesAndOneMoreIsRefused() {
        for (Preset preset : ALL) {
            int value = 8192 - A.length() - "X: \r\n".length() - "\r\n".length();
            assertAccepted(preset, headers(A + "X: " + "v".repeat(value - 1) + "\r\n"));
            assertAccepted(preset, headers(A + "X: " + "v".repeat(value) + "\r\n"));
            assertRefused(
                    preset,
                    "--x\r\n" + A + "X: " + "v".repeat(value + 1) + "\r\n\r^\nv\r\n--x--\r\n",
                    Reason.HEADER_SECTION_TOO_LARGE,
                    0);
        }
    }

    @Test
    void thirtyTwoFieldsPassAndOneMoreIsRefusedAtItsFirstByte() {
        for (Preset preset : ALL) {
            assertAccepted(preset, headers(A + "X: y\r\n".repeat(31)));
            assertRefused(preset, headers(A + "X: y\r\n".repeat(31) + "^Z: y\r\n"), Reason.TOO_MANY_HEADERS, 0);
        }
    }

    @Test
    void allHeaderSectionsTogetherMayHave256KiB() {
        // 32 sections of 8192 bytes are 256 KiB to the byte
        String part = "--x\r\n" + A + "X: " + "v".repeat(8192 - A.length() - 7) + "\r\n\r\nv\r\n";
        assertAccepted(STANDARD, part.repeat(32) + "--x--");
        assertRefused(STANDARD, part.repeat(32) + "--x\r\n^" + A + "\r\nv\r\n--x--", Reason.HEADERS_TOO_LARGE, 32);
    }

    @Test
    void anEndlessHeaderNameValueOrLineOfFieldsStopsAtTheLimit() {
        String start = "--x\r\n";
        String endless = "N".repeat(100_000);
        for (Preset preset : ALL) {
            assertRefused(preset, start + "N".repeat(8192) + "^" + endless, Reason.HEADER_SECTION_TOO_LARGE, 0);
            assertRefused(preset, start + "X:" + "N".repeat(8190) + "^" + endless, Reason.HEADER_SECTION_TOO_LARGE, 0);
            assertRefused(
                    preset,
                    start + "X: y\r\n".repeat(32) + "^" + "X: y\r\n".repeat(10_000),
                    Reason.TOO_MANY_HEADERS,
                    0);
        }
        String folds = "\r\n z".repeat(100_000);
        String folded = start + "X: y" + folds;
        assertRefused(
                STANDARD,
                folded.substring(0, 5 + 8192) + "^" + folded.substring(5 + 8192),
                Reason.HEADER_SECTION_TOO_LARGE,
                0);
    }

    @Test
    void twoLimitsHitAtOneByteAreToldAsThatOfThePart() {
        Limits limits =
                Limits.builder().maxHeaderBytesPerPart(50).maxHeaderBytes(50).build();
        MultipartOptions options = MultipartOptions.builder().limits(limits).build();
        String section = "X: " + "v".repeat(60);
        assertRefused(
                options,
                "--x\r\n" + section.substring(0, 50) + "^" + section.substring(50),
                Reason.HEADER_SECTION_TOO_LARGE,
                0);
    }

    @Test
    void saysWhatIsWrongWithALine() {
        assertEquals("a header field has no name", messageOf(": b\r\n"));
        assertEquals("a header name has the byte 0x01", messageOf("\u0001: b\r\n"));
        assertEquals("a header name has the byte '('", messageOf("a(c: b\r\n"));
        assertEquals("a header line has no colon", messageOf("abc\r\n"));
        assertEquals("a header line has no colon", messageOf("abc\n"));
        assertEquals("a header line starts with a blank", messageOf(" a: b\r\n"));
        assertEquals("a header value has the control byte 0x01", messageOf("a: \u0001\r\n"));
        assertEquals("a header line has a CR that no LF follows", messageOf("a: b\rc\r\n"));
    }

    private static String messageOf(String line) {
        try (HeaderSection section = new HeaderSection(MultipartOptions.defaults())) {
            read(section, line);
            assertEquals(Reason.MALFORMED_HEADER, section.error());
            return section.errorDetail();
        }
    }

    private static void read(HeaderSection section, String bytes) {
        section.begin(0);
        readOn(section, bytes);
    }

    private static void readOn(HeaderSection section, String bytes) {
        ChunkMemory chunk = new ChunkMemory();
        chunk.open(Unpooled.wrappedBuffer(Decoding.bytes(bytes)));
        section.read(chunk, 0, chunk.end());
        chunk.close();
    }

    @Test
    void countsBytesAndTheWordsTheyAreCopiedIn() {
        try (HeaderSection section = new HeaderSection(MultipartOptions.defaults())) {
            String lines = "a: b\r\n".repeat(10);
            read(section, lines);
            assertEquals(60 + 60 / 8, section.steps());
            readOn(section, lines.substring(0, 20) + "\r\n");
            assertEquals(60 + 60 / 8 + 22 + 22 / 8, section.steps(), "however much came before");
        }
    }
}
