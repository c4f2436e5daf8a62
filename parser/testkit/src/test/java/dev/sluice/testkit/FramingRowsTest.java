package dev.sluice.testkit;

import static dev.sluice.testkit.Expectation.form;
import static dev.sluice.testkit.Expectation.mixed;

import org.junit.jupiter.api.Test;

/** Rows 8 to 19 of the policy and the offsets of decision 0001, against expectations written by hand. */
class FramingRowsTest {
    private static final String PART = "Content-Disposition: form-data; name=a\r\n\r\n";
    private static final ReferenceLimits DEFAULTS = ReferenceLimits.DEFAULTS;

    @Test
    void row8OneCrlfBeforeAndOneOrNoneAfter() {
        form("--x\r\n" + PART + "1\r\n--x--").isAlways("a:1");
        form("\r\n--x\r\n" + PART + "1\r\n--x--\r\n").isAlways("a:1");
    }

    @Test
    void row9Preamble() {
        form("^text\r\n--x\r\n" + PART + "1\r\n--x--").is("a:1 +PREAMBLE@^/-1", "!PREAMBLE@^/-1", "a:1");
        form("\r\n^\r\n--x\r\n" + PART + "1\r\n--x--").is("a:1 +PREAMBLE@^/-1", "!PREAMBLE@^/-1", "a:1");
        form("\r\n--^y\r\n--x\r\n" + PART + "1\r\n--x--").is("a:1 +PREAMBLE@^/-1", "!PREAMBLE@^/-1", "a:1");
        form("-^x\r\n--x\r\n" + PART + "1\r\n--x--").is("a:1 +PREAMBLE@^/-1", "!PREAMBLE@^/-1", "a:1");
        form("\r^x\r\n--x\r\n" + PART + "1\r\n--x--").is("a:1 +PREAMBLE@^/-1", "!PREAMBLE@^/-1", "a:1");
        PresetRules all = PresetRules.of("COMPATIBLE").reportingAll();
        form("\n--^y\r\n--x\r\n" + PART + "1\r\n--x--").is(all, "a:1 +PREAMBLE@^/-1");
        form("\n^\n--x\r\n" + PART + "1\r\n--x--").is(all, "a:1 +PREAMBLE@^/-1 +BARE_LF@^/-1");
    }

    @Test
    void row9PreambleIsJudgedWhenTheFirstDelimiterLineIsComplete() {
        form("text\r\n--x^").isAlways("!TRUNCATED@^/-1");
        form("text\r\n--x\r^").isAlways("!TRUNCATED@^/-1");
        form("text\r\n--x^y").is("!MALFORMED_DELIMITER@^/-1", "!MALFORMED_DELIMITER@^/-1", "!TRUNCATED@10/-1");
    }

    @Test
    void row9Epilogue() {
        form("--x\r\n" + PART + "1\r\n--x--\r\n^text").is("a:1 +EPILOGUE@^/-1", "a:1 !EPILOGUE@^/-1", "a:1");
        form("--x\r\n" + PART + "1\r\n--x--\r\n^\r\n").is("a:1 +EPILOGUE@^/-1", "a:1 !EPILOGUE@^/-1", "a:1");
    }

    @Test
    void row10PreambleBeyondItsLimit() {
        String end = "\r\n--x\r\n" + PART + "1\r\n--x--";
        form("abc" + end).with(DEFAULTS.withMaxOutside(3, 0)).is("a:1 +PREAMBLE@0/-1", "!PREAMBLE@0/-1", "a:1");
        form("ab^c" + end)
                .with(DEFAULTS.withMaxOutside(2, 0))
                .is("!PREAMBLE_TOO_LARGE@^/-1", "!PREAMBLE@0/-1", "!PREAMBLE_TOO_LARGE@^/-1");
        form("\r^\n--y")
                .with(DEFAULTS.withMaxOutside(1, 0))
                .is("!PREAMBLE_TOO_LARGE@^/-1", "!PREAMBLE@4/-1", "!PREAMBLE_TOO_LARGE@^/-1");
        form("\r\n--x--").with(DEFAULTS.withMaxOutside(0, 0)).isAlways("ok");
        form("ab\r\n--^").with(DEFAULTS.withMaxOutside(2, 0)).isAlways("!TRUNCATED@^/-1");
        form("t".repeat(4096) + "^t").is("!PREAMBLE_TOO_LARGE@^/-1", "!PREAMBLE@0/-1", "!PREAMBLE_TOO_LARGE@^/-1");
        form("t".repeat(4096) + "^").isAlways("!TRUNCATED@^/-1");
    }

    @Test
    void row10EpilogueBeyondItsLimit() {
        form("--x--\r\n^abc").with(DEFAULTS.withMaxOutside(0, 3)).is("+EPILOGUE@^/-1", "!EPILOGUE@^/-1", "ok");
        form("--x--\r\nabc^d")
                .with(DEFAULTS.withMaxOutside(0, 3))
                .is("+EPILOGUE@7/-1 !EPILOGUE_TOO_LARGE@^/-1", "!EPILOGUE@7/-1", "!EPILOGUE_TOO_LARGE@^/-1");
        String most = "e".repeat(4096);
        form("--x--\r\n" + most).is("+EPILOGUE@7/-1", "!EPILOGUE@7/-1", "ok");
        form("--x--\r\n" + most + "^e")
                .is("+EPILOGUE@7/-1 !EPILOGUE_TOO_LARGE@^/-1", "!EPILOGUE@7/-1", "!EPILOGUE_TOO_LARGE@^/-1");
        form("--x-- abc^d")
                .with(DEFAULTS.withMaxOutside(0, 3))
                .is("!MALFORMED_DELIMITER@6/-1", "!MALFORMED_DELIMITER@6/-1", "!EPILOGUE_TOO_LARGE@^/-1");
    }

    @Test
    void row11TransportPadding() {
        String most = " ".repeat(255) + "\t";
        form("--x" + most + "\r\n" + PART + "1\r\n--x \t\r\n" + PART + "2\r\n--x--" + most + "\r\n")
                .isAlways("a:1 a:2");
        form("--x--" + most).isAlways("ok");
        form("--x" + most + "^ \r\n" + PART + "1\r\n--x--")
                .is("!MALFORMED_DELIMITER@^/-1", "!MALFORMED_DELIMITER@^/-1", "ok");
        form("--x--" + most + "^ ").is("!MALFORMED_DELIMITER@^/-1", "!MALFORMED_DELIMITER@^/-1", "ok");
    }

    @Test
    void row12DashBoundaryThatIsNotAtTheStartOfALine() {
        form("--x\r\n" + PART + "1--x\r--x\r\r--x--\r\n--x--").isAlways("a:1--x\\r--x\\r\\r--x--");
        form("--x\r\n" + PART + "1\n--x--\r\n--x--").is("a:1\\n--x--", "a:1\\n--x--", "a:1 +BARE_LF@48/0");
        form("a--x\r\n\n--x\r\n" + PART + "1^")
                .is("!TRUNCATED@^/-1", "!TRUNCATED@^/-1", "~a:1 +BARE_LF@6/-1 !TRUNCATED@^/0");
    }

    @Test
    void row13BrokenDelimiterInABody() {
        for (String line :
                new String[] {"^garbage", "-^", "-^x", "-^\r\n", " ^--", " \t^x", "\r^x", "\r^\r\n", "^\0"}) {
            String data = Soup.escape(
                    ("1\r\n--x" + line.replace("^", "") + "2").getBytes(java.nio.charset.StandardCharsets.UTF_8));
            String refused = "~a:1 !MALFORMED_DELIMITER@^/0";
            form("--x\r\n" + PART + "1\r\n--x" + line + "2\r\n--x--").is(refused, refused, "a:" + data);
        }
        form("--x\r\n" + PART + "1\r\n--x^\n2\r\n--x--")
                .is(
                        "~a:1 !MALFORMED_DELIMITER@^/0",
                        "~a:1 !MALFORMED_DELIMITER@^/0",
                        "a:1 +BARE_LF@^/1 !MALFORMED_HEADER@55/1");
    }

    @Test
    void row13BrokenDelimiterAtTheStart() {
        String refused = "!MALFORMED_DELIMITER@^/-1";
        form("--x^garbage\r\n--x\r\n" + PART + "1\r\n--x--").is(refused, refused, "a:1");
        form("\r\n--x-^x\r\n--x\r\n" + PART + "1\r\n--x--").is(refused, refused, "a:1");
    }

    @Test
    void row13AFalseDelimiterMayBeFollowedAtOnceByATrueOne() {
        String refused = "~a:1 !MALFORMED_DELIMITER@^/0";
        form("--x\r\n" + PART + "1\r\n--x\r^\r\n--x--").is(refused, refused, "a:1\\r\\n--x\\r");
        form("--x\r\n" + PART + "1\r\n--x-^\r\n--x--").is(refused, refused, "a:1\\r\\n--x-");
    }

    @Test
    void row14TextAfterTheCloseDelimiter() {
        String refused = "a:1 !MALFORMED_DELIMITER@^/-1";
        for (String text : new String[] {"^garbage", " ^garbage\r\n", "^-", "\r^x", "\r^"}) {
            form("--x\r\n" + PART + "1\r\n--x--" + text).is(refused, refused, "a:1");
        }
        form("--x\r\n" + PART + "1\r\n--x--^\n").is(refused, refused, "a:1 +BARE_LF@^/-1");
    }

    @Test
    void row15OnlyTheCloseDelimiter() {
        form("--x--").isAlways("ok");
        form("\r\n--x-- \t\r\n").isAlways("ok");
    }

    @Test
    void row15aCloseDelimiterAfterAPreamble() {
        String refused = "!MALFORMED_DELIMITER@^/-1";
        form("text\r\n--x-^-").is(refused, refused, "ok");
        form("\r\n\r\n--x-^-\r\n").is(refused, refused, "ok");
    }

    @Test
    void row16EndBeforeTheCloseDelimiter() {
        for (String text : new String[] {"", "text", "\r\n", "-", "--", "--x", "--x-", "--x ", "--x\r", "\r\n--y--"}) {
            form(text + "^").isAlways("!TRUNCATED@^/-1");
        }
        for (String text : new String[] {"", "Con", "Content-Disposition:", "X: a\r", "X: a\r\n", "X: a\r\n\r"}) {
            form("--x\r\n" + text + "^").isAlways("!TRUNCATED@^/0");
        }
        form("--x\r\n" + PART + "^").isAlways("~a: !TRUNCATED@^/0");
        form("--x\r\n" + PART + "12^").isAlways("~a:12 !TRUNCATED@^/0");
        for (String text :
                new String[] {"\r", "\r\n", "\r\n-", "\r\n--", "\r\n--x", "\r\n--x-", "\r\n--x ", "\r\n--x\r"}) {
            form("--x\r\n" + PART + "1" + text + "^").isAlways("~a:1 !TRUNCATED@^/0");
        }
        form("--x\r\n" + PART + "--x^").isAlways("~a: !TRUNCATED@^/0");
        form("--x\r\n" + PART + "--y^").isAlways("~a:--y !TRUNCATED@^/0");
        form("--x\r\n" + PART + "1\n--^")
                .is("~a:1\\n-- !TRUNCATED@^/0", "~a:1\\n-- !TRUNCATED@^/0", "~a:1 !TRUNCATED@^/0");
        form("--x\r\n" + PART + "1\r\n\ny^").isAlways("~a:1\\r\\n\\ny !TRUNCATED@^/0");
        form("--x\r\n" + PART + "1\r\n--x\r\n^").isAlways("a:1 !TRUNCATED@^/1");
    }

    @Test
    void row17BlankLineThatIsTheDelimitersCrlf() {
        form("--x\r\n" + PART + "--x--").isAlways("a:");
        form("--x\r\n" + PART + "--x\r\n" + PART + "\r\n--x--").isAlways("a: a:");
        mixed("--x\r\n\r\n--x--").isAlways("null:");
        form("--x\r\n" + PART + "--y\r\n--x--").isAlways("a:--y");
    }

    @Test
    void row18PartsAfterTheCloseDelimiter() {
        form("--x\r\n" + PART + "1\r\n--x--\r\n^--x\r\n" + PART + "2\r\n--x--")
                .is("a:1 +EPILOGUE@^/-1", "a:1 !EPILOGUE@^/-1", "a:1");
    }

    @Test
    void row19LfAloneThroughout() {
        form("--x^\nContent-Disposition: form-data; name=a\n\n1\n--x--\n")
                .is("!MALFORMED_DELIMITER@^/-1", "!MALFORMED_DELIMITER@^/-1", "a:1 +BARE_LF@^/0 +BARE_LF@51/-1");
        form("\n--x\n" + PART + "1\n--x\r\n" + PART + "2\n\n--x\r\n" + PART + "3\r\n--x-^-")
                .is(
                        "!MALFORMED_DELIMITER@^/-1",
                        "!MALFORMED_DELIMITER@^/-1",
                        "a:1 a:2\\n a:3 +BARE_LF@0/-1 +BARE_LF@4/0 +BARE_LF@98/1");
        form("text\n--x\r\n" + PART + "1\r\n--x-^-")
                .is("!MALFORMED_DELIMITER@^/-1", "!MALFORMED_DELIMITER@^/-1", "a:1 +BARE_LF@4/-1");
        form("--x\r\n" + PART + "1\r\r\n--x--").isAlways("a:1\\r");
        form("--x\r\n" + PART + "\n--x--")
                .is("~a:\\n--x-- !TRUNCATED@53/0", "~a:\\n--x-- !TRUNCATED@53/0", "a: +BARE_LF@47/0");
    }

    @Test
    void theSilentDeviationsAreWhereTheirRefusalsAre() {
        PresetRules all = PresetRules.of("COMPATIBLE").reportingAll();
        form("--x\r\n" + PART + "1\r\n--x^y\r\n--x--").is(all, "a:1\\r\\n--xy +FALSE_DELIMITER@^/0");
        form("--x^y\r\n--x--").is(all, "+FALSE_DELIMITER@^/-1 +CLOSE_DELIMITER_AFTER_PREAMBLE@10/-1 +PREAMBLE@^/-1");
        form("--x\r\n" + PART + "1\r\n--x--^y").is(all, "a:1 +TEXT_AFTER_CLOSE_DELIMITER@^/-1 +EPILOGUE@^/-1");
        form("text\r\n--x-^-").is(all, "+CLOSE_DELIMITER_AFTER_PREAMBLE@^/-1 +PREAMBLE@0/-1");
    }
}
