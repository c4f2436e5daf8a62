package dev.sluice;

import static dev.sluice.Verdict.A;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.sluice.Decoding.Failure;
import dev.sluice.Decoding.Result;
import dev.sluice.MultipartException.Reason;
import dev.sluice.testkit.LimitCase;
import dev.sluice.testkit.TextTable;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** What counts against each limit, and limits of 0. {@code LimitsThroughEveryApiTest} has the usual body at each limit. */
class LimitsTest {
    private static final String PART = "--x\r\n" + A + "\r\n";
    private static final String FILE = "--x\r\nContent-Disposition: form-data; name=\"a\"; filename=\"f\"\r\n\r\n";
    private static final String CLOSE = "\r\n--x--";

    /** The value of each limit in these tests. */
    private static final int N = LimitCase.LIMIT;

    private static MultipartOptions options(String setting, long value) {
        return MultipartOptions.builder()
                .maxHeadersPerPart(1000)
                .set(Setting.of(setting), String.valueOf(value))
                .build();
    }

    private static LimitCase limit(String setting, IntFunction<String> body, Reason reason, long offset, int part) {
        return new LimitCase(
                setting, false, false, used -> Decoding.bytes(body.apply(used)), reason.name(), offset, part);
    }

    static Stream<LimitCase> limits() {
        String unnamed = FILE.replace("\"f\"", "\"\"");
        String extended = FILE.replace("filename=\"f\"", "filename*=UTF-8''f") + "\r\n";
        String pair = PART + "v\r\n" + unnamed + "\r\n";
        int disposition = "--x\r\nContent-Disposition: ".length();
        return Stream.of(
                // the preamble and the epilogue belong to the body
                limit("maxBodyBytes", used -> "--x--\r\n" + "e".repeat(used - 7), Reason.BODY_TOO_LARGE, N, -1),
                limit(
                        "maxBodyBytes",
                        used -> "p".repeat(used - PART.length() - 9) + "\r\n" + PART + CLOSE,
                        Reason.BODY_TOO_LARGE,
                        N,
                        0),
                // text that looks like a delimiter belongs to the part
                limit(
                        "maxPartBytes",
                        used -> PART + "v".repeat(used - 4) + "\r\n--" + CLOSE,
                        Reason.PART_TOO_LARGE,
                        PART.length() + N,
                        0),
                limit(
                        "maxPartBytes",
                        used -> PART + "v".repeat(used - 2) + "\r\n" + CLOSE,
                        Reason.PART_TOO_LARGE,
                        PART.length() + N,
                        0),
                // a part with an empty or extended file name is a file too
                limit(
                        "maxFiles",
                        used -> pair.repeat(used) + "--x--",
                        Reason.TOO_MANY_FILES,
                        (long) N * pair.length() + PART.length() + 3 + disposition,
                        2 * N + 1),
                limit(
                        "maxFiles",
                        used -> extended.repeat(used) + "--x--",
                        Reason.TOO_MANY_FILES,
                        (long) N * extended.length() + disposition,
                        N),
                // line ends belong to the preamble
                limit(
                        "maxPreambleBytes",
                        used -> "\r\n" + "p".repeat(used - 4) + "\r\n\r\n" + PART + "v" + CLOSE,
                        Reason.PREAMBLE_TOO_LARGE,
                        N,
                        -1));
    }

    @ParameterizedTest
    @MethodSource("limits")
    void limit_exactValueIsAccepted_oneMoreIsRejected(LimitCase limit) {
        MultipartOptions options = options(limit.setting(), N);
        for (int used : new int[] {N - 1, N, N + 1}) {
            String body = new String(limit.body().apply(used), StandardCharsets.ISO_8859_1);
            Failure failure = Verdict.decode(options, body).failure();
            Failure expected = new Failure(Reason.valueOf(limit.reason()), limit.offset(), limit.part());
            assertEquals(used <= N ? null : expected, failure, () -> limit.setting() + " of " + used);
        }
    }

    @Test
    void partLimit_dataUpToLimit_isDelivered() {
        Result result = Verdict.decode(options("maxPartBytes", N), PART + "v".repeat(N + 1) + CLOSE);
        assertEquals("v".repeat(N), result.parts().get(0).body());
        assertFalse(result.parts().get(0).complete());
    }

    /** A limit of 0; {@code ^} marks the byte that is rejected. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "maxBodyBytes | ^--x-- | BODY_TOO_LARGE | -1",
                "maxPartBytes | PART^v\\r\\n--x-- | PART_TOO_LARGE | 0",
                "maxPartBytes | PART--x-- | |",
                "maxParts | --x\\r^\\nA: b | TOO_MANY_PARTS | 0",
                "maxParts | --x-- | |",
                "maxHeaderBytesPerPart | --x\\r\\n^A: b | HEADER_SECTION_TOO_LARGE | 0",
                "maxHeaderBytes | --x\\r\\n^A: b | HEADERS_TOO_LARGE | 0",
                "maxHeadersPerPart | --x\\r\\n^A: b\\r\\n\\r\\n | TOO_MANY_HEADERS | 0",
                "maxPreambleBytes | ^p\\r\\nPART\\r\\n--x-- | PREAMBLE_TOO_LARGE | -1",
                "maxEpilogueBytes | --x--\\r\\n^e | EPILOGUE_TOO_LARGE | -1",
            })
    void limit_zero_rejectsFirstByteOrItem(String setting, String marked, Reason reason, Integer part) {
        String text = TextTable.unescaped(marked.replace("PART", PART));
        if (reason == null) {
            assertNull(Verdict.decode(options(setting, 0), text).failure());
        } else {
            Verdict.assertRejected(options(setting, 0), text, reason, part);
        }
    }

    @Test
    void headerBudget_everyRemainder_isExact() {
        // the remaining bytes never become negative, even if few of them remain at the start of a part
        int first = A.length() + 2;
        for (int left = 0; left < 60; left++) {
            Result result = Verdict.decode(
                    options("maxHeaderBytes", first + left), PART + "v\r\n--x\r\nX: " + "y".repeat(2000));
            assertEquals(new Failure(Reason.HEADERS_TOO_LARGE, PART.length() + 3 + 5 + left, 1), result.failure());
        }
    }

    @Test
    void limitsBeyondInt_acceptSmallBody() {
        for (long value : new long[] {Integer.MAX_VALUE, 1L << 31, 1L << 32, Long.MAX_VALUE - 1}) {
            for (Setting setting : List.of(
                    Setting.MAX_BODY_BYTES,
                    Setting.MAX_PART_BYTES,
                    Setting.MAX_FIELD_BYTES,
                    Setting.MAX_PARTS,
                    Setting.MAX_FILES,
                    Setting.MAX_HEADER_BYTES)) {
                MultipartOptions limits = options(setting.key(), value);
                assertNull(Verdict.decode(limits, PART + "v\r\n" + FILE + "w" + CLOSE)
                        .failure());
            }
        }
    }
}
