package dev.sluice.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class SoupTest {
    private static final int BODIES = 200_000;

    /** All reasons of the library except the form API's. */
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
        private final Map<String, Integer> reasons = new TreeMap<>();
        private final Map<String, Integer> deviations = new TreeMap<>();
        private int accepted;

        private Met(String preset) {
            this.preset = preset;
        }

        void add(Soup.Body body) {
            Outcome outcome = ReferenceParser.parse(body.contentType(), body.bytes(), preset, body.limits());
            reasons.merge(outcome.verdict(), 1, Integer::sum);
            outcome.deviations().forEach(deviation -> deviations.merge(deviation.kind(), 1, Integer::sum));
            outcome.silent().forEach(deviation -> deviations.merge(deviation.kind(), 1, Integer::sum));
            accepted += outcome.isAccepted() && outcome.parts().size() > 0 ? 1 : 0;
        }
    }

    @Test
    void soups_reachEveryReasonAndDeviation() {
        List<Met> all = PresetRules.NAMES.stream().map(Met::new).toList();
        for (int seed = 0; seed < BODIES; seed++) {
            Soup.Body body = Soup.body(seed);
            all.forEach(each -> each.add(body));
        }
        for (Met met : all) {
            String preset = met.preset;
            PresetRules rules = PresetRules.of(preset);
            for (String reason : REASONS) {
                boolean impossible = reason.equals("PREAMBLE") && rules.accepts("PREAMBLE")
                        || reason.equals("EPILOGUE") && rules.accepts("EPILOGUE")
                        || reason.equals("PREAMBLE_TOO_LARGE") && !rules.accepts("PREAMBLE")
                        || reason.equals("EPILOGUE_TOO_LARGE") && !rules.accepts("EPILOGUE")
                        || reason.equals("MALFORMED_DELIMITER") && rules.accepts("FALSE_DELIMITER")
                        || reason.equals("UNSUPPORTED_TRANSFER_ENCODING") && rules.accepts("TRANSFER_ENCODING");
                assertEquals(
                        !impossible, met.reasons.containsKey(reason), preset + " and " + reason + " in " + met.reasons);
            }
            for (String deviation : PresetRules.DEVIATIONS) {
                assertEquals(
                        rules.accepts(deviation),
                        met.deviations.containsKey(deviation),
                        preset + " and " + deviation + " in " + met.deviations);
            }
            assertTrue(
                    met.accepted > BODIES / 4,
                    preset + " accepts " + met.accepted + " bodies with parts: " + met.reasons);
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
