package dev.sluice.bench.differential;

import dev.sluice.bench.differential.Findings.Disagreement;
import dev.sluice.bench.differential.Findings.Signature;
import dev.sluice.testkit.TextTable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The explanation of a disagreement: which parsers read which bodies differently, and the rule that decides which reading is right. All
 * explanations are in {@code explanations.txt}.
 *
 * @param differences the kinds of differences; empty for errors caused by splits
 * @param minimal a short body that shows the disagreement; only for readers in other languages
 */
record Explanation(
        Set<Contender> contenders,
        Set<Difference> differences,
        Set<Feature> features,
        String text,
        String rule,
        @Nullable Sample minimal) {
    static final String USUAL_TYPE = "multipart/form-data; boundary=x";

    private static final List<Explanation> ALL = new ArrayList<>();

    static {
        List<String> lines = TextTable.lines("/dev/sluice/bench/differential/explanations.txt");
        for (int at = 0; at < lines.size(); ) {
            String[] words = lines.get(at++).split(" \\| ");
            Set<Contender> contenders = named(words[0], Contender::valueOf);
            String text = lines.get(at++).strip();
            if (words[1].equals("splits")) {
                ALL.add(new Explanation(contenders, Set.of(), Set.of(), text, "", null));
            } else {
                Set<Difference> differences = named(words[1], Difference::valueOf);
                Set<Feature> features = named(words[2], Feature::of);
                String rule = lines.get(at++).strip();
                boolean foreign = Contender.foreign().containsAll(contenders);
                Sample minimal = foreign ? minimal(lines.get(at++)) : null;
                ALL.add(new Explanation(contenders, differences, features, text, rule, minimal));
            }
        }
    }

    /** Parses a body with escapes, preceded by its Content-Type unless that is {@link #USUAL_TYPE}. */
    static Sample minimal(String line) {
        String body = line.strip();
        int start = body.startsWith("multipart/") ? body.indexOf(" --") + 1 : 0;
        String type = start == 0 ? USUAL_TYPE : body.substring(0, start - 1);
        byte[] bytes = TextTable.unescaped(body.substring(start)).getBytes(StandardCharsets.ISO_8859_1);
        return new Sample(Sample.Origin.CRAFTED, type, bytes);
    }

    private static <E> Set<E> named(String names, Function<String, E> named) {
        return Arrays.stream(names.split(" ")).map(named).collect(Collectors.toCollection(TreeSet::new));
    }

    static List<Explanation> defects() {
        return ALL.stream().filter(each -> each.minimal != null).toList();
    }

    static Optional<Explanation> of(Signature signature) {
        return ALL.stream().filter(each -> each.explains(signature)).findFirst();
    }

    /** Returns why a parser reads some split bodies incorrectly, if that is known. */
    static Optional<String> ofSplits(String title) {
        return ALL.stream()
                .filter(each -> each.differences.isEmpty())
                .filter(each -> each.contenders.stream().anyMatch(contender -> contender.title.equals(title)))
                .map(Explanation::text)
                .findFirst();
    }

    static List<Disagreement> unexplained(List<Disagreement> disagreements) {
        return disagreements.stream()
                .filter(each -> of(each.signature()).isEmpty())
                .toList();
    }

    boolean explains(Signature signature) {
        return contenders.contains(signature.peer())
                && differences.contains(signature.difference())
                && features.contains(signature.feature());
    }
}
