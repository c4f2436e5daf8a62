package dev.sluice.bench;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The comparisons that Sluice loses. Every row of Sluice is compared with every row that differs from it only in the parser or in the
 * decoder of the server. Results that are wrong do not count.
 */
final class Losses {
    /** A smaller ratio does not count as faster. */
    private static final double AHEAD = 1.05;

    private static final Set<String> SERVER_METRICS = Set.of("throughput", "cpu");

    /** A row of Sluice and a comparable row of another parser. */
    private record Pair(String run, Row own, Row other) {
        /** Returns Sluice's time divided by the other parser's time. */
        double ratio() {
            return own.cost() / other.cost();
        }

        double error() {
            return own.relativeError() + other.relativeError();
        }

        String line() {
            boolean server = isServer(own);
            String names = server
                    ? Tables.server(own) + " | " + Tables.server(other)
                    : Tables.peer(own) + " | " + Tables.peer(other);
            String ratio = Tables.ratio(ratio()) + Tables.format(" ± %.0f %%", 100 * error());
            String certain = ratio() * (1 - error()) > 1 ? "yes" : "no";
            return "| %s | %s | %s | %s | %s |\n".formatted(run, input(own), names, ratio, certain);
        }
    }

    private Losses() {}

    /** Returns a sentence with the number of comparisons, and a table of the comparisons that Sluice loses. */
    static String of(Map<String, Run> runs) {
        List<Pair> pairs = new ArrayList<>();
        runs.forEach((name, run) -> {
            List<Row> usable = run.rows().stream()
                    .filter(row -> row.score() != null && !row.vague())
                    .toList();
            usable.stream()
                    .filter(Losses::ofSluice)
                    .forEach(own -> usable.stream()
                            .filter(other -> !ofSluice(other) && comparable(own, other))
                            .forEach(other -> pairs.add(new Pair(name, own, other))));
        });
        List<Pair> losses = pairs.stream()
                .filter(pair -> pair.ratio() > AHEAD)
                .sorted(Comparator.comparingDouble(Pair::ratio).reversed())
                .toList();
        String compared = pairs.stream().map(Pair::run).collect(Collectors.toCollection(TreeSet::new)).stream()
                .collect(Collectors.joining(", "));
        String text = "The runs %s have %d such pairs. The other parser is more than 5 %% faster in %d:\n\n"
                .formatted(compared, pairs.size(), losses.size());
        return text
                + "| run | body | Sluice | other parser | Sluice's time / other time | beyond the error |\n|---|---|---|---|---:|---|\n"
                + losses.stream().map(Pair::line).collect(Collectors.joining());
    }

    private static boolean comparable(Row sluice, Row other) {
        if (isServer(other)) {
            return Variant.of(other.param("server")).decodes && differOnlyIn("server", sluice, other);
        }
        return !other.wrong()
                && !other.param("peer").isEmpty()
                && !other.param("peer").equals("chunks-only")
                && differOnlyIn("peer", sluice, other);
    }

    private static boolean differOnlyIn(String param, Row row, Row other) {
        return row.table().equals(other.table())
                && row.benchmark().equals(other.benchmark())
                && without(row, param).equals(without(other, param));
    }

    private static Map<String, String> without(Row row, String param) {
        Map<String, String> params = new TreeMap<>(row.params());
        params.remove(param);
        return params;
    }

    private static boolean ofSluice(Row row) {
        return row.ofSluice() && (isServer(row) || row.way().equals("decode"));
    }

    private static boolean isServer(Row row) {
        return row.table().equals("endtoend") && SERVER_METRICS.contains(row.way());
    }

    private static String input(Row row) {
        if (isServer(row)) {
            return Tables.load(row) + ", " + row.way();
        }
        List<String> words = new ArrayList<>(List.of(row.table(), row.param("scenario")));
        if (!row.param("chunk").isEmpty() && !row.param("chunk").equals("0")) {
            words.add("chunks of " + Tables.chunk(row));
        }
        words.add(row.param("memory"));
        if (!row.param("level").isEmpty()) {
            words.add(row.param("level"));
        }
        return String.join(", ", words);
    }
}
