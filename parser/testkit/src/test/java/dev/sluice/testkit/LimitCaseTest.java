package dev.sluice.testkit;

import static dev.sluice.testkit.LimitCase.LIMIT;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Checks with the reference parser that each case reaches its limit exactly. */
class LimitCaseTest {
    private static final ReferenceLimits DEFAULTS = ReferenceLimits.DEFAULTS;

    /** Excludes the limit for text, which the reference parser does not have. */
    static List<LimitCase> all() {
        return LimitCase.all().stream().filter(limit -> !limit.text()).toList();
    }

    private static Outcome.Error error(LimitCase limit, int used) {
        return ReferenceParser.parse(
                        limit.contentType(),
                        limit.body().apply(used),
                        "STANDARD",
                        DEFAULTS.with(limit.setting(), LIMIT))
                .error();
    }

    @ParameterizedTest
    @MethodSource("all")
    void limit_exceededByOne_isRejectedForThatLimit(LimitCase limit) {
        assertNull(error(limit, LIMIT - 1));
        assertNull(error(limit, LIMIT));
        Outcome.Error expected =
                limit.reason() == null ? null : new Outcome.Error(limit.reason(), limit.offset(), limit.part());
        assertEquals(expected, error(limit, LIMIT + 1));
    }
}
