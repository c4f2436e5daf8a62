package dev.sluice.bench.differential;

import dev.sluice.testkit.TextTable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Why some parsers read a body otherwise than Sluice: the table {@code explanations.txt}. */
final class Explanations {
    /** Of minimal bodies. */
    static final String USUAL_TYPE = "multipart/form-data; boundary=x";

    private static final Explanations TABLE = read();

    private final List<Explanation> all = new ArrayList<>();
    /** Of errors at cuts, by the titles of parsers. */
    private final Map<String, String> splits = new HashMap<>();

    /**
     * Why some disagreements are what they are: who reads what otherwise because of what, and where it is said what is right.
     *
     * @param minimal a body that shows it, where the readers are not Java
     */
    record Explanation(
            Set<Contender> contenders,
            Set<Difference> differences,
            Set<Feature> features,
            String text,
            String rule,
            @Nullable Sample minimal) {
        boolean explains(Signature signature) {
            return contenders.contains(signature.contender())
                    && differences.contains(signature.difference())
                    && features.contains(signature.feature());
        }
    }

    private static Explanations read() {
        Explanations table = new Explanations();
        List<String> lines = TextTable.lines("/dev/sluice/bench/differential/explanations.txt");
        for (int at = 0; at < lines.size(); ) {
            String[] words = lines.get(at++).split(" \\| ");
            Set<Contender> contenders = named(Contender.class, words[0]);
            String text = lines.get(at++).strip();
            if (words[1].equals("splits")) {
                contenders.forEach(contender -> table.splits.put(contender.title, text));
            } else {
                Set<Difference> differences = named(Difference.class, words[1]);
                Set<Feature> features = named(Feature.class, words[2]);
                String rule = lines.get(at++).strip();
                boolean foreign = Contender.foreign().containsAll(contenders);
                table.all.add(new Explanation(
                        contenders, differences, features, text, rule, foreign ? minimal(lines.get(at++)) : null));
            }
        }
        return table;
    }

    /** A body with escapes, with the Content-Type before it where the usual one will not do. */
    static Sample minimal(String line) {
        String body = line.strip();
        int start = body.startsWith("multipart/") ? body.indexOf(" --") + 1 : 0;
        String type = start == 0 ? USUAL_TYPE : body.substring(0, start - 1);
        byte[] bytes = TextTable.unescaped(body.substring(start)).getBytes(StandardCharsets.ISO_8859_1);
        return new Sample(Sample.Origin.CRAFTED, type, bytes);
    }

    private static <E extends Enum<E>> Set<E> named(Class<E> type, String names) {
        return Arrays.stream(names.split(" "))
                .map(name -> Enum.valueOf(type, name))
                .collect(Collectors.toCollection(() -> EnumSet.noneOf(type)));
    }

    static List<Explanation> all() {
        return TABLE.all;
    }

    static Optional<Explanation> of(Signature signature) {
        return TABLE.all.stream()
                .filter(explanation -> explanation.explains(signature))
                .findFirst();
    }

    /** {@return why the parser of that title reads some bodies otherwise when they are cut, if that is known} */
    static Optional<String> ofSplits(String title) {
        return Optional.ofNullable(TABLE.splits.get(title));
    }
}
