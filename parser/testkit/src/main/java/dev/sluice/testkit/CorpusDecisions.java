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
        text.append("# Where Sluice decides otherwise than the corpus\n\n");
        text.append("Written by `CorpusDecisions` from `parser/testkit/corpus/verdicts.json`; do not edit. ");
        text.append("A test fails when this page is out of date.\n\n");
        text.append("The corpus holds ").append(Corpus.cases().size()).append(" cases. Their expectations are what ");
        text.append("their sources assert, or the plain reading of the bytes. ");
        text.append(decided).append(" of them get another verdict in at least one preset; all others get, ");
        text.append("in every preset, what the corpus says.\n\n");
        text.append("| preset | accepted | refused | otherwise than the corpus |\n|---|---|---|---|\n");
        for (String preset : PresetRules.NAMES) {
            long accepted = Corpus.cases().stream()
                    .filter(each -> each.expected(preset).isAccepted())
                    .count();
            long otherwise = Corpus.cases().stream()
                    .filter(each -> each.decisions().containsKey(preset))
                    .count();
            text.append("| ").append(preset).append(" | ").append(accepted).append(" | ");
            text.append(Corpus.cases().size() - accepted)
                    .append(" | ")
                    .append(otherwise)
                    .append(" |\n");
        }
        text.append(
                "\n| case | preset | corpus says | Sluice decides | policy row | why |\n|---|---|---|---|---|---|\n");
        for (Corpus.Case each : Corpus.cases()) {
            Map<Corpus.Decision, List<String>> presets = new LinkedHashMap<>();
            each.decisions()
                    .forEach((preset, decision) -> presets.computeIfAbsent(decision, d -> new ArrayList<>())
                            .add(preset));
            presets.forEach((decision, names) -> text.append("| ")
                    .append(each.id())
                    .append(" | ")
                    .append(names.size() == PresetRules.NAMES.size() ? "all" : String.join(", ", names))
                    .append(" | ")
                    .append(each.says())
                    .append(" | ")
                    .append(decides(each, decision))
                    .append(" | ")
                    .append(decision.row())
                    .append(" | ")
                    .append(decision.why())
                    .append(" |\n"));
        }
        return text.toString();
    }

    private static String decides(Corpus.Case each, Corpus.Decision decision) {
        boolean otherParts = decision.verdict().isAccepted() && each.source().isAccepted();
        return decision.verdict().describe() + (otherParts ? ", other names" : "");
    }
}
