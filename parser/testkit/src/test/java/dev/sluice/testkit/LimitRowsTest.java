package dev.sluice.testkit;

import static dev.sluice.testkit.Expectation.form;

import org.junit.jupiter.api.Test;

/** Row 44 of the policy and the offsets of decision 0001, against expectations written by hand. */
class LimitRowsTest {
    private static final ReferenceLimits DEFAULTS = ReferenceLimits.DEFAULTS;
    private static final String PART = "Content-Disposition: form-data; name=a\r\n\r\n";
    private static final String FILE = "Content-Disposition: ^form-data; name=a; filename=\"\"\r\n\r\n";

    @Test
    void row44TooManyParts() {
        String two = "--x\r\n" + PART + "1\r\n--x\r^\n" + PART + "2\r\n--x--";
        form(two).with(DEFAULTS.withMaxParts(2, 0)).isAlways("a:1 a:2");
        form(two).with(DEFAULTS.withMaxParts(1, 0)).isAlways("a:1 !TOO_MANY_PARTS@^/1");
        form("--x\r^\n").with(DEFAULTS.withMaxParts(0, 0)).isAlways("!TOO_MANY_PARTS@^/0");
        form("--x--").with(DEFAULTS.withMaxParts(0, 0)).isAlways("ok");
        form("--x\r\n" + (PART + "--x\r\n").repeat(1000))
                .isAlways("a: ".repeat(1000) + "!TOO_MANY_PARTS@" + (4 + 1000 * 47) + "/1000");
    }

    @Test
    void row44TooManyFiles() {
        String plain = FILE.replace("^", "");
        form("--x\r\n" + plain + "--x--").with(DEFAULTS.withMaxParts(9, 1)).isAlways("a():");
        form("--x\r\n" + plain + "--x\r\n" + PART + "--x\r\n" + FILE + "--x--")
                .with(DEFAULTS.withMaxParts(9, 1))
                .isAlways("a(): a: !TOO_MANY_FILES@^/2");
    }

    @Test
    void row44PartTooLarge() {
        String end = "\r\n--x--";
        form("--x\r\n" + PART + "123" + end).with(DEFAULTS.withMaxPartBytes(3)).isAlways("a:123");
        form("--x\r\n" + PART + "123^4" + end)
                .with(DEFAULTS.withMaxPartBytes(3))
                .isAlways("~a:123 !PART_TOO_LARGE@^/0");
        form("--x\r\n" + PART + "--x--").with(DEFAULTS.withMaxPartBytes(0)).isAlways("a:");
    }

    @Test
    void row44BytesThatMayBeADelimiterAreNoDataYet() {
        ReferenceLimits limits = DEFAULTS.withMaxPartBytes(3);
        form("--x\r\n" + PART + "123\r\n--^").with(limits).isAlways("~a:123 !TRUNCATED@^/0");
        form("--x\r\n" + PART + "123^\r\n--y").with(limits).isAlways("~a:123 !PART_TOO_LARGE@^/0");
        form("--x\r\n" + PART + "123\r\n--x^y")
                .with(limits)
                .is(
                        "~a:123 !MALFORMED_DELIMITER@^/0",
                        "~a:123 !MALFORMED_DELIMITER@^/0",
                        "~a:123 !PART_TOO_LARGE@50/0");
    }

    @Test
    void row44BodyTooLarge() {
        String body = "--x\r\n" + PART + "1\r\n--x--\r\n";
        form(body).with(DEFAULTS.withMaxBodyBytes(body.length())).isAlways("a:1");
        int headersEnd = body.indexOf("1");
        int closed = body.indexOf("--x--") + 5;
        for (int limit = 0; limit < body.length(); limit++) {
            String parts = limit < headersEnd ? "" : limit == headersEnd ? "~a: " : limit < closed ? "~a:1 " : "a:1 ";
            int part = limit < 5 || limit >= closed ? -1 : 0;
            form(body).with(DEFAULTS.withMaxBodyBytes(limit)).isAlways(parts + "!BODY_TOO_LARGE@" + limit + "/" + part);
        }
        form(body + "x")
                .with(DEFAULTS.withMaxBodyBytes(body.length()))
                .isAlways("a:1 !BODY_TOO_LARGE@" + body.length() + "/-1");
    }

    @Test
    void anByteBeyondALimitIsNotLookedAt() {
        form("--x\r\n^\0").with(DEFAULTS.withMaxBodyBytes(5)).isAlways("!BODY_TOO_LARGE@^/0");
        form("--x\r\n^\0").with(DEFAULTS.withMaxHeaders(9, 0, 9)).isAlways("!HEADER_SECTION_TOO_LARGE@^/0");
        form("--x\r\nX:\r^x").with(DEFAULTS.withMaxHeaders(9, 3, 9)).isAlways("!HEADER_SECTION_TOO_LARGE@^/0");
    }
}
