package dev.sluice.testkit;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares the reference parser with each row of the policy table, which is written by hand. */
class PolicyRowsTest {
    private static final ReferenceLimits DEFAULTS = ReferenceLimits.DEFAULTS;

    static List<PolicyRow> rows() {
        return PolicyRow.all();
    }

    @ParameterizedTest
    @MethodSource("rows")
    void row_hasExpectedResults(PolicyRow row) {
        assertAll(row.expected().entrySet().stream()
                .map(expected -> () -> assertEquals(
                        expected.getValue(),
                        row.show(ReferenceParser.parse(
                                row.contentType(), row.body(), PolicyRow.rules(expected.getKey()), row.limits())),
                        expected.getKey())));
    }

    @Test
    void rows_coverPolicyOfDecoder() {
        List<PolicyRow> rows = rows();
        assertTrue(rows.size() > 700, "rows: " + rows.size());
        // Row 45 is about the text of forms. The decoder has the rows 45a and 45b.
        for (int number = 1; number <= 46; number++) {
            String start = "row " + number + ":";
            assertEquals(number != 45, rows.stream().anyMatch(row -> row.title().startsWith(start)), start);
        }
    }

    private static Outcome.Part part(String headers) {
        byte[] body = ("--x\r\n" + headers + "\r\n\r\n1\r\n--x--").getBytes(StandardCharsets.UTF_8);
        return ReferenceParser.parse("multipart/form-data; boundary=x", body, "STANDARD")
                .parts()
                .get(0);
    }

    @Test
    void headers_keepOrderAndFoldsAreOneSpace() {
        Outcome.Part part = part("Content-Disposition: form-data; name=a\r\nX:  a \t\r\n \t b\r\n c \r\nX:\r\n d\r\n"
                + "Content-Length: 99\r\n!#$%&'*+-.|~0: ");
        assertEquals(
                "[Content-Disposition: form-data; name=a, X: a b c, X: d, Content-Length: 99, !#$%&'*+-.|~0: ]",
                part.headers().toString());
    }

    @Test
    void rawBytes_areUnescapedEvenIfUndecodable() {
        Outcome.Part part = part("Content-Disposition: form-data; name=\"\\\"\u20ac\"; filename*=UTF-8''%41");
        assertArrayEquals("\"\u20ac".getBytes(StandardCharsets.UTF_8), part.rawName());
        assertArrayEquals(new byte[] {'A'}, part.rawFilename());
        byte[] broken = "--x\r\nContent-Disposition: form-data; name=\"a\u00c3!\"\r\n\r\n1\r\n--x--"
                .getBytes(StandardCharsets.ISO_8859_1);
        assertArrayEquals(
                new byte[] {'a', (byte) 0xC3, '!'},
                ReferenceParser.parse("multipart/form-data; boundary=x", broken, "STANDARD")
                        .parts()
                        .get(0)
                        .rawName());
    }

    @Test
    void inputsOutsideTheTable_haveExpectedResults() {
        assertEquals(
                "UNSUPPORTED_MEDIA_TYPE",
                ReferenceParser.parse(null, new byte[0], "STANDARD").verdict());
        String tooLong = "multipart/mixed; boundary=" + "b".repeat(71);
        assertEquals(
                "LONG_BOUNDARY",
                ReferenceParser.parse(tooLong, new byte[0], "COMPATIBLE")
                        .silent()
                        .get(0)
                        .kind());
    }

    @Test
    void bodyTooLarge_atEachByte_isRejectedThere() {
        String body = "--x\r\nContent-Disposition: form-data; name=a\r\n\r\n1\r\n--x--\r\n";
        int closed = body.indexOf("--x--") + 5;
        for (int limit = 0; limit < body.length(); limit++) {
            Outcome.Error expected = new Outcome.Error("BODY_TOO_LARGE", limit, limit < 5 || limit >= closed ? -1 : 0);
            for (String preset : PresetRules.NAMES) {
                assertEquals(
                        expected,
                        ReferenceParser.parse(
                                        "multipart/form-data; boundary=x",
                                        body.getBytes(StandardCharsets.US_ASCII),
                                        preset,
                                        DEFAULTS.with("maxBodyBytes", limit))
                                .error());
            }
        }
    }
}
