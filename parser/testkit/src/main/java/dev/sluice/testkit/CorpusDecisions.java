package dev.sluice.testkit;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Writes {@code parser/docs/corpus-decisions.md} from {@code verdicts.json}. */
public final class CorpusDecisions {
    private CorpusDecisions() {}

    /**
     * Writes the page anew.
     *
     * @param args none
     * @throws IOException where it cannot be written
     */
    public static void main(String[] args) throws IOException {
        Files.writeString(page(), text());
    }

    static Path page() {
        return Corpus.root().resolve("parser/docs/corpus-decisions.md");
    }

    static String text() {
        StringBuilder text = new StringBuilder();
        long decided = Corpus.cases().stream()
                .filter(each -> !each.decisions().isEmpty())
                .count();
        text.append("""
                # Where Sluice decides otherwise than the corpus

                Written by `CorpusDecisions` from `parser/testkit/corpus/verdicts.json`; do not edit. \
                A test fails when this page is out of date.

                The corpus holds %d cases. Their expectations are what \
                their sources assert, or the plain reading of the bytes. \
                %d of them get another verdict in at least one preset; all others get, \
                in every preset, what the corpus says.

                | preset | accepted | refused | otherwise than the corpus |
                |---|---|---|---|
                """.formatted(Corpus.cases().size(), decided));
        for (String preset : PresetRules.NAMES) {
            long accepted = Corpus.cases().stream()
                    .filter(each -> each.expected(preset).isAccepted())
                    .count();
            long otherwise = Corpus.cases().stream()
                    .filter(each -> each.decisions().containsKey(preset))
                    .count();
            row(text, preset, accepted, Corpus.cases().size() - accepted, otherwise);
        }
        text.append(
                "\n| case | preset | corpus says | Sluice decides | policy row | why |\n|---|---|---|---|---|---|\n");
        for (Corpus.Case each : Corpus.cases()) {
            Map<Corpus.Decision, List<String>> presets = new LinkedHashMap<>();
            each.decisions()
                    .forEach((preset, decision) -> presets.computeIfAbsent(decision, d -> new ArrayList<>())
                            .add(preset));
            presets.forEach((decision, names) -> row(
                    text,
                    each.id(),
                    names.size() == PresetRules.NAMES.size() ? "all" : String.join(", ", names),
                    each.says(),
                    decides(each, decision),
                    decision.row(),
                    decision.why()));
        }
        return text.toString();
    }

    private static void row(StringBuilder text, Object... cells) {
        for (Object cell : cells) {
            text.append("| ").append(cell).append(' ');
        }
        text.append("|\n");
    }

    private static String decides(Corpus.Case each, Corpus.Decision decision) {
        boolean otherParts = decision.verdict().isAccepted() && each.source().isAccepted();
        return decision.verdict().describe() + (otherParts ? ", other names" : "");
    }
}
