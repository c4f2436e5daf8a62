package dev.sluice.testkit;

import static dev.sluice.testkit.Expectation.form;
import static dev.sluice.testkit.Expectation.headers;
import static dev.sluice.testkit.Expectation.mixed;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.api.Test;

/** Rows 20 to 27 and 46 of the policy and the offsets of decision 0001, against expectations written by hand. */
class HeaderRowsTest {
    private static final String MALFORMED = "!MALFORMED_HEADER@^/0";

    @Test
    void row20FoldedHeader() {
        headers("X: a\r\n^ b\r\n").is("a:1 +FOLDED_HEADER@^/0", MALFORMED, "a:1");
        form("--x\r\nContent-Disposition: form-data;\r\n^\tname=a\r\n \t; filename=f\r\n\r\n1\r\n--x--")
                .is("a(f):1 +FOLDED_HEADER@^/0", MALFORMED, "a(f):1");
    }

    @Test
    void row20EachFoldIsOneSpace() {
        Outcome outcome = mixed("--x\r\nX:  a \t\r\n \t b\r\n c \r\nY:\r\n d\r\nZ: \r\n\r\n--x--")
                .outcome("STANDARD");
        assertEquals(
                List.of("X: a b c", "Y: d", "Z: "),
                outcome.parts().get(0).headers().stream()
                        .map(Outcome.Header::toString)
                        .toList());
    }

    @Test
    void row21FirstLineWithABlankAndLineOfBlanks() {
        form("--x\r\n^ X: a\r\n\r\n\r\n--x--").isAlways(MALFORMED);
        form("--x\r\n^ \r\n\r\n--x--").isAlways(MALFORMED);
        headers("X: a\r\n \t^\r\n").is("+FOLDED_HEADER@51/0 " + MALFORMED, "!MALFORMED_HEADER@51/0", MALFORMED);
    }

    @Test
    void row21LineOfBlanksThatLfEnds() {
        headers("X: a\r\n ^\n").is("+FOLDED_HEADER@51/0 " + MALFORMED, "!MALFORMED_HEADER@51/0", MALFORMED);
    }

    @Test
    void row22MalformedLines() {
        for (String line : new String[] {
            "X^\r\n", "X^\n", "^: a\r\n", "X^ : a\r\n", "X^\t: a\r\n", "X^/y: a\r\n", "X^\u00e9: a\r\n", "X^\0: a\r\n",
            "X^\ry: a\r\n", "X: ^\0\r\n", "X: a^\rb\r\n", "X: a^\r\r\n", "X: ^\u007f\r\n", "X: ^\u001f\r\n", "^\rx",
                    "^\u0001"
        }) {
            headers(line).isAlways(MALFORMED);
        }
        headers("X: a\tb\r\n").isAlways("a:1");
        headers("X: a^\nY: b\r\n").is(MALFORMED, MALFORMED, "a:1 +BARE_LF@^/0");
        headers("X: a\r\n^\n").is(MALFORMED, MALFORMED, "a:\\r\\n1 +BARE_LF@^/0");
        headers("X: a^\n b\r\n").is(MALFORMED, MALFORMED, "a:1 +BARE_LF@^/0");
    }

    @Test
    void row23DuplicateFields() {
        headers("^content-disposition: form-data; name=b\r\n").isAlways("!DUPLICATE_HEADER@^/0");
        headers("Content-Type: a/b\r\n^CONTENT-type: a/b\r\n").isAlways("!DUPLICATE_HEADER@^/0");
        headers("Content-Transfer-Encoding: 8bit\r\n^Content-Transfer-Encoding: 8bit\r\n")
                .isAlways("!DUPLICATE_HEADER@^/0");
        mixed("--x\r\nContent-Type: a/b\r\n^Content-Type: a/b\r\n\r\n\r\n--x--").isAlways("!DUPLICATE_HEADER@^/0");
    }

    @Test
    void row24OtherFieldsAreKept() {
        Outcome outcome = headers("X: a\r\nX: b\r\nContent-Length: 99\r\n!#$%&'*+-.|~0: c\r\n")
                .outcome("STRICT");
        assertEquals("ok", outcome.verdict());
        assertEquals(
                List.of(
                        "Content-Disposition: form-data; name=a",
                        "X: a",
                        "X: b",
                        "Content-Length: 99",
                        "!#$%&'*+-.|~0: c"),
                outcome.parts().get(0).headers().stream()
                        .map(Outcome.Header::toString)
                        .toList());
    }

    @Test
    void row25IdentityTransferEncodings() {
        for (String encoding : new String[] {"7bit", "8bit", "binary", "BINARY", "8Bit \t"}) {
            headers("Content-Transfer-Encoding: " + encoding + "\r\n").isAlways("a:1");
        }
    }

    @Test
    void row26OtherTransferEncodings() {
        for (String encoding : new String[] {" ^base64", "^quoted-printable", " ^x", " ^"}) {
            headers("Content-Transfer-Encoding:" + encoding + "\r\n")
                    .is("a:1 +TRANSFER_ENCODING@^/0", "!UNSUPPORTED_TRANSFER_ENCODING@^/0", "a:1");
        }
    }

    @Test
    void row27HeaderSectionTooLarge() {
        ReferenceLimits limits = ReferenceLimits.DEFAULTS;
        String section = "X: a\r\n\r\n";
        mixed("--x\r\n" + section + "1\r\n--x--")
                .with(limits.withMaxHeaders(32, 8, 8))
                .isAlways("null:1");
        mixed("--x\r\nX: a\r\n\r^\n1\r\n--x--")
                .with(limits.withMaxHeaders(32, 7, 7))
                .isAlways("!HEADER_SECTION_TOO_LARGE@^/0");
        String fields = "X: a\r\n".repeat(31);
        headers(fields).isAlways("a:1");
        headers(fields + "^Y").isAlways("!TOO_MANY_HEADERS@^/0");
        mixed("--x\r\n^:").with(limits.withMaxHeaders(0, 9, 9)).isAlways("!TOO_MANY_HEADERS@^/0");
        mixed("--x\r\n\r\n\r\n--x--").with(limits.withMaxHeaders(0, 2, 2)).isAlways("null:");
        mixed("--x\r\n" + section + "1\r\n--x\r\nX: a\r\n\r^\n2\r\n--x--")
                .with(limits.withMaxHeaders(32, 8, 15))
                .isAlways("null:1 !HEADERS_TOO_LARGE@^/1");
        mixed("--x\r\n" + section + "1\r\n--x\r\n" + section + "2\r\n--x--")
                .with(limits.withMaxHeaders(32, 8, 16))
                .isAlways("null:1 null:2");
        mixed("--x\r\nX:" + " ".repeat(8190) + "^ ").isAlways("!HEADER_SECTION_TOO_LARGE@^/0");
    }

    @Test
    void row46NestedMultipart() {
        headers("Content-Type: ^multipart/mixed; boundary=y\r\n").is("a:1", "!UNSUPPORTED_MEDIA_TYPE@^/0", "a:1");
        headers("Content-Type: ^Multipart/Related\r\n").is("a:1", "!UNSUPPORTED_MEDIA_TYPE@^/0", "a:1");
        headers("Content-Type: text/plain\r\n").isAlways("a:1");
        headers("Content-Type: multipart\r\n").isAlways("a:1");
        mixed("--x\r\nContent-Type: multipart/mixed\r\n\r\n1\r\n--x--").isAlways("null:1");
    }

    @Test
    void aCompleteSectionIsJudgedInTheOrderOfDecision0001() {
        String all = "Content-Type: multipart/mixed\r\nContent-Transfer-Encoding: base64\r\nX: \u00ff\r\n";
        String dup = "--x\r\n" + all + "^X-dup: 1\r\n\r\n";
        form(dup.replace("X-dup", "content-type")).b(0xC3, 'c').isAlways("!DUPLICATE_HEADER@^/0");
        form("--x\r\nContent-Type: multipart/mixed\r\nContent-Transfer-Encoding: base64\r\nX: ^\u00ff\r\n\r\n")
                .b(0xC3, 0xFF)
                .is(
                        "+UNDECODABLE_HEADER@^/0 +TRANSFER_ENCODING@63/0 !MISSING_CONTENT_DISPOSITION@78/0",
                        MALFORMED,
                        "+UNDECODABLE_HEADER@^/0 !MISSING_CONTENT_DISPOSITION@78/0");
    }
}
