package dev.sluice.testkit;

import static dev.sluice.testkit.LimitCase.LIMIT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The cases use of their limit what they say, as the reference parser sees it. */
class LimitCaseTest {
    private static final ReferenceLimits DEFAULTS = ReferenceLimits.DEFAULTS;

    /** Those that hold for more than parts read as text, which the reference parser does not do. */
    static List<LimitCase> all() {
        return LimitCase.all().stream().filter(limit -> !limit.text()).toList();
    }

    private static ReferenceLimits limits(LimitCase limit) {
        return switch (limit.setting()) {
            case "maxBodyBytes" -> DEFAULTS.withMaxBodyBytes(LIMIT);
            case "maxPartBytes" -> DEFAULTS.withMaxPartBytes(LIMIT);
            case "maxParts" -> DEFAULTS.withMaxParts(LIMIT, Long.MAX_VALUE);
            case "maxFiles" -> DEFAULTS.withMaxParts(1000, LIMIT);
            case "maxHeadersPerPart" -> DEFAULTS.withMaxHeaders(LIMIT, 8 << 10, 256 << 10);
            case "maxHeaderBytesPerPart" -> DEFAULTS.withMaxHeaders(32, LIMIT, 256 << 10);
            case "maxHeaderBytes" -> DEFAULTS.withMaxHeaders(32, 8 << 10, LIMIT);
            case "maxPreambleBytes" -> DEFAULTS.withMaxOutside(LIMIT, 4 << 10);
            case "maxEpilogueBytes" -> DEFAULTS.withMaxOutside(4 << 10, LIMIT);
            default -> throw new AssertionError(limit);
        };
    }

    private static Outcome.Error error(LimitCase limit, int used) {
        return ReferenceParser.parse(limit.contentType(), limit.body().apply(used), "STANDARD", limits(limit))
                .error();
    }

    @ParameterizedTest
    @MethodSource("all")
    void theReferenceParserRefusesOneBeyondAndNothingElse(LimitCase limit) {
        assertNull(error(limit, LIMIT - 1));
        assertNull(error(limit, LIMIT));
        Outcome.Error expected =
                limit.reason() == null ? null : new Outcome.Error(limit.reason(), limit.offset(), limit.part());
        assertEquals(expected, error(limit, LIMIT + 1));
    }
}
