package dev.sluice.bench.differential;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.testkit.Corpus;
import dev.sluice.testkit.Verdict;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares the parser of the Fetch Standard with the presets. */
class FetchTest {
    private static final long SEED = 20_261_123;
    private static final int FORMS = 3_000;

    @Test
    void differencesFromFetchStandard_areListed_andStrictAgrees() {
        Samples samples = new Samples(SEED);
        Map<String, String> found = new TreeMap<>();
        for (int i = 0; i < FORMS; i++) {
            for (Sample sample : List.of(samples.get(i), samples.accepted(i))) {
                if (!sample.contentType().regionMatches(true, 0, "multipart/form-data", 0, 19)) {
                    continue;
                }
                Reading fetch = Fetch.read(sample);
                for (Sluice preset : Sluice.values()) {
                    String kind = Fetch.kind(preset.read(sample), fetch);
                    if (kind != null) {
                        found.putIfAbsent(preset + ": " + kind, sample.contentType() + " " + sample.escaped());
                    }
                }
            }
        }
        assertTrue(found.size() > 30, found.keySet()::toString);
        Set<String> listed = Fetch.rows().stream()
                .flatMap(row -> row.kinds().stream())
                .flatMap(kind -> Stream.of("STANDARD: " + kind, "STRICT: " + kind, "COMPATIBLE: " + kind))
                .filter(kind -> !kind.startsWith("STRICT: reads"))
                .collect(Collectors.toSet());
        found.keySet().removeAll(listed);
        assertEquals(Map.of(), found);
    }

    static Stream<Corpus.Case> cases() {
        return Corpus.cases().stream().filter(each -> each.id().startsWith("fetch/"));
    }

    @ParameterizedTest
    @MethodSource("cases")
    void fetchCase_isReadAsExpected(Corpus.Case each) {
        Reading fetch = FetchParser.read(each.contentType(), each.body());
        assertEquals(each.source().isAccepted(), fetch.accepts(), fetch::describe);
        for (int i = 0; i < each.source().parts().size(); i++) {
            Verdict.ExpectedPart expected = each.source().parts().get(i);
            assertEquals(expected.name(), fetch.parts().get(i).name());
            assertEquals(expected.filename(), fetch.parts().get(i).filename());
            assertEquals(expected.size(), fetch.parts().get(i).content().length);
        }
        assertEquals(
                each.source().parts().size(), fetch.accepts() ? fetch.parts().size() : 0);
    }

    static List<Fetch.Row> rows() {
        return Fetch.rows();
    }

    @ParameterizedTest
    @MethodSource("rows")
    void example_showsDifference(Fetch.Row row) {
        Reading fetch = Fetch.read(row.example());
        List<String> kinds = Arrays.stream(Sluice.values())
                .map(preset -> Fetch.kind(preset.read(row.example()), fetch))
                .toList();
        assertTrue(row.kinds().stream().anyMatch(kinds::contains), kinds::toString);
    }
}
