package dev.sluice.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class SoupTest {
    private static final int MIN_BODIES = 20_000;
    private static final int MAX_BODIES = 200_000;

    /** The reasons of the decoder, except {@code UNKNOWN_CHARSET}. */
    private static final List<String> REASONS = List.of("""
            MISSING_BOUNDARY INVALID_BOUNDARY DUPLICATE_BOUNDARY UNSUPPORTED_MEDIA_TYPE TRUNCATED PREAMBLE EPILOGUE
            PREAMBLE_TOO_LARGE EPILOGUE_TOO_LARGE MALFORMED_DELIMITER MALFORMED_HEADER DUPLICATE_HEADER
            HEADER_SECTION_TOO_LARGE TOO_MANY_HEADERS HEADERS_TOO_LARGE MISSING_CONTENT_DISPOSITION
            MALFORMED_CONTENT_DISPOSITION MISSING_NAME DUPLICATE_PARAMETER UNSUPPORTED_TRANSFER_ENCODING
            TOO_MANY_PARTS TOO_MANY_FILES PART_TOO_LARGE BODY_TOO_LARGE
            """.strip().split("\\s+"));

    /** The reasons and deviations found with one preset. */
    private static final class Met {
        private final String preset;
        private final PresetRules rules;
        private final Map<String, Integer> reasons = new TreeMap<>();
        private final Map<String, Integer> deviations = new TreeMap<>();
        private int accepted;

        private Met(String preset) {
            this.preset = preset;
            this.rules = PresetRules.of(preset);
        }

        void add(Soup.Body body) {
            Outcome outcome = ReferenceParser.parse(body.contentType(), body.bytes(), preset, body.limits());
            reasons.merge(outcome.verdict(), 1, Integer::sum);
            outcome.deviations().forEach(deviation -> deviations.merge(deviation.kind(), 1, Integer::sum));
            outcome.silent().forEach(deviation -> deviations.merge(deviation.kind(), 1, Integer::sum));
            accepted += outcome.isAccepted() && outcome.parts().size() > 0 ? 1 : 0;
        }

        boolean isPossible(String reason) {
            return switch (reason) {
                case "PREAMBLE", "EPILOGUE" -> !rules.accepts(reason);
                case "PREAMBLE_TOO_LARGE" -> rules.accepts("PREAMBLE");
                case "EPILOGUE_TOO_LARGE" -> rules.accepts("EPILOGUE");
                case "MALFORMED_DELIMITER" -> !rules.accepts("FALSE_DELIMITER");
                case "UNSUPPORTED_TRANSFER_ENCODING" -> !rules.accepts("TRANSFER_ENCODING");
                default -> true;
            };
        }

        boolean isComplete() {
            return REASONS.stream().allMatch(reason -> reasons.containsKey(reason) || !isPossible(reason))
                    && PresetRules.DEVIATIONS.stream()
                            .allMatch(kind -> deviations.containsKey(kind) || !rules.accepts(kind));
        }

        @Override
        public String toString() {
            return preset + " met " + reasons + " and " + deviations;
        }
    }

    @Test
    void bodies_reachEveryReasonAndDeviation() {
        List<Met> all = PresetRules.NAMES.stream().map(Met::new).toList();
        int bodies = 0;
        while (bodies < MIN_BODIES || bodies < MAX_BODIES && !all.stream().allMatch(Met::isComplete)) {
            Soup.Body body = Soup.body(bodies++);
            all.forEach(each -> each.add(body));
        }
        for (Met met : all) {
            for (String reason : REASONS) {
                assertEquals(met.isPossible(reason), met.reasons.containsKey(reason), met + ": " + reason);
            }
            for (String deviation : PresetRules.DEVIATIONS) {
                assertEquals(
                        met.rules.accepts(deviation), met.deviations.containsKey(deviation), met + ": " + deviation);
            }
            assertTrue(met.accepted > bodies / 4, met + ": " + met.accepted + " of " + bodies + " are accepted");
        }
    }

    @Test
    void sameSeed_createsSameBody() {
        for (int seed = 0; seed < 1000; seed++) {
            assertArrayEquals(Soup.body(seed).bytes(), Soup.body(seed).bytes());
            assertEquals(Soup.body(seed).toString(), Soup.body(seed).toString());
        }
    }

    @Test
    void bodies_areMostlySmall() {
        int large = 0;
        for (int seed = 0; seed < 10_000; seed++) {
            large += Soup.body(seed).bytes().length > 400 ? 1 : 0;
        }
        assertTrue(large < 500, large + " bodies of more than 400 bytes");
    }
}
