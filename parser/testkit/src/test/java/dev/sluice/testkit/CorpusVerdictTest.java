package dev.sluice.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Compares the reference parser's result for every case and preset with the corpus, or with the decision in verdicts.json.
 */
class CorpusVerdictTest {
    static List<Corpus.Case> cases() {
        return Corpus.cases();
    }

    @ParameterizedTest
    @MethodSource("cases")
    void case_matchesVerdictInEveryPreset(Corpus.Case each) {
        for (String preset : PresetRules.NAMES) {
            Outcome outcome = ReferenceParser.parse(each.contentType(), each.body(), preset);
            assertNull(each.expected(preset).mismatch(outcome, each.isFormData()), each + " with " + preset);
        }
    }

    @Test
    void decisions_differFromTheCorpus() {
        for (Corpus.Case each : Corpus.cases()) {
            for (String preset : each.decisions().keySet()) {
                assertTrue(PresetRules.NAMES.contains(preset), each + " decides for " + preset);
                Outcome outcome = ReferenceParser.parse(each.contentType(), each.body(), preset);
                assertNotNull(
                        each.source().mismatch(outcome, each.isFormData()),
                        each + " with " + preset + " agrees with the corpus, so the decision is not needed");
            }
        }
    }

    @Test
    void decision_namesPolicyRowAndReason() {
        for (Corpus.Case each : Corpus.cases()) {
            each.decisions().values().forEach(decision -> {
                assertTrue(Character.isDigit(decision.row().charAt(0)), each + " names no row of the policy");
                assertTrue(decision.why().length() > 10, each + " gives no reason");
            });
        }
    }

    @Test
    void case_hasFieldsOfSchema() {
        JsonNode schema = Corpus.json(Corpus.root().resolve("parser/testkit/suite/case.schema.json"));
        for (Corpus.Case each : Corpus.cases()) {
            JsonNode json = Corpus.json(Corpus.root().resolve("parser/testkit/corpus/" + each.id() + ".json"));
            assertFields(schema, json, each.id());
            json.at("/expect/parts").forEach(part -> assertFields(schema.at("/$defs/part"), part, each.id()));
        }
    }

    private static void assertFields(JsonNode schema, JsonNode json, String id) {
        json.fieldNames()
                .forEachRemaining(field -> assertTrue(schema.get("properties").has(field), id + " " + field));
        schema.get("required").forEach(field -> assertTrue(json.has(field.asText()), id + " " + field));
    }

    @Test
    void corpus_isComplete_withLicences() throws IOException {
        assertEquals(470, Corpus.cases().size());
        Set<String> folders = new HashSet<>();
        Corpus.cases()
                .forEach(each -> folders.add(each.id().substring(0, each.id().indexOf('/'))));
        String licences = Files.readString(Corpus.root().resolve("parser/testkit/corpus/LICENSES.md"));
        for (String folder : folders) {
            assertTrue(licences.contains("| " + folder + " |"), "licence missing for " + folder);
        }
        folders.removeAll(Set.of("sluice", "written", "fuzz", "fetch"));
        try (Stream<Path> texts = Files.list(Corpus.root().resolve("parser/testkit/corpus/licenses"))) {
            assertTrue(texts.count() >= folders.size());
        }
    }
}
