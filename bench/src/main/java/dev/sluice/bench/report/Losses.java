package dev.sluice.bench.report;

import dev.sluice.bench.endtoend.Variant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Where something else is faster than Sluice: the rows themselves, and in a sentence which rows were looked at. */
final class Losses {

    /** Less than this is not called being ahead. */
    private static final double AHEAD = 1.05;

    /** Ways that go word by word: no measure of one that goes byte by byte. */
    private static final Set<String> BY_WORDS = Set.of("getLongs", "setLongs");

    /** In the tables about buffers, the benchmark methods that stand for what Sluice does; the others are netty's ways. */
    private static final Map<String, Set<String>> OWN_WAYS = Map.of(
            "text", Set.of("sluice"),
            "scans", Set.of("chunkMemory"),
            "access", Set.of("oncePerChunk"));

    /** In these, Sluice's way is the allocator it takes where it is given none. */
    private static final Set<String> ALLOCATION = Set.of("allocation", "short-lived threads");

    private static final String OWN_ALLOCATOR = "pooled";
    private static final Set<String> SERVER_METRICS = Set.of("throughput", "cpu");

    private final String columns;
    private final List<Loss> losses = new ArrayList<>();
    /** Those that have a pair. */
    private final Set<String> runs = new TreeSet<>();

    private int pairs;

    private Losses(String columns) {
        this.columns = columns;
    }

    /**
     * A pair of rows of which the other's is the faster.
     *
     * @param ratio Sluice's time by the other's
     * @param error of the ratio, relative
     */
    private record Loss(String run, String what, String own, String other, double ratio, double error) {

        String line() {
            return String.format(
                    Locale.ROOT,
                    "| %s | %s | %s | %s | %s ± %.0f %% | %s |\n",
                    run,
                    what,
                    own,
                    other,
                    Tables.ratio(ratio),
                    100 * error,
                    ratio * (1 - error) > 1 ? "yes" : "open");
        }
    }

    /** The runs that say something about Sluice beside others: no quick one where there is the full one, and no guard. */
    static Map<String, Run> judged(Map<String, Run> runs) {
        Map<String, Run> judged = new TreeMap<>(runs);
        judged.keySet()
                .removeIf(name -> name.startsWith("guard-")
                        || (name.contains("-quick-") && runs.containsKey(name.replace("-quick-", "-"))));
        return judged;
    }

    /** Every way to use Sluice beside every other parser. */
    static String peers(Map<String, Run> runs) {
        Losses found = new Losses("| run | body | way to use Sluice | who is ahead |");
        runs.forEach((name, run) -> {
            for (Row row : run.rows()) {
                if (ofSluice(row) && row.score() != null) {
                    run.rows().stream()
                            .filter(other -> rivals(row, other))
                            .forEach(other -> found.add(name, what(row), face(row), face(other), row, other));
                }
            }
        });
        return found.text(
                "Each row of the push decoder, the pull reader, the servlet filter and the sample server was held against"
                        + " each row of another parser (of the same server with Netty's decoder) that differs from it in the parser"
                        + " alone: same table, body, chunk size, memory and leak level, so whether or not the two are fed in the same"
                        + " way. Rows whose result is wrong are left out.");
    }

    /** Netty's ways to read, search and take buffers beside those that Sluice uses. */
    static String ways(Map<String, Run> runs) {
        Losses found = new Losses("| run | table | Sluice's way | what is faster |");
        runs.forEach((name, run) -> {
            for (Row row : run.rows()) {
                if (ownWay(row) && row.score() != null) {
                    run.rows().stream()
                            .filter(other -> otherWay(row, other))
                            .forEach(other -> found.add(name, input(row), way(row), way(other), row, other));
                }
            }
        });
        return found.summary(
                "In the tables about text, scanning, access and allocation each row of a way that Sluice uses was held"
                        + " against each row of another way on the same input, those that go word by word aside.");
    }

    /** One line for all inputs on which one way is ahead of another. */
    private String summary(String sentence) {
        Map<String, List<Loss>> groups = new TreeMap<>();
        losses.forEach(loss -> groups.computeIfAbsent(
                        "| %s | %s | %s | %s |"
                                .formatted(loss.run(), loss.what().replaceAll(",.*", ""), loss.own(), loss.other()),
                        key -> new ArrayList<>())
                .add(loss));
        StringBuilder text = new StringBuilder(looked(sentence)).append('\n');
        if (!groups.isEmpty()) {
            text.append("\n")
                    .append(columns)
                    .append(" inputs | Sluice's time / its time, least and greatest |\n|---|---|---|---|---:|---:|\n");
        }
        groups.forEach((pair, ahead) -> {
            ahead.sort(Comparator.comparingDouble(Loss::ratio));
            text.append("%s %d | %s to %s |\n"
                    .formatted(
                            pair,
                            ahead.size(),
                            Tables.ratio(ahead.get(0).ratio()),
                            Tables.ratio(ahead.get(ahead.size() - 1).ratio())));
        });
        return text.toString();
    }

    private void add(String run, String what, String own, String other, Row sluice, Row rival) {
        pairs++;
        runs.add(run);
        double ratio = sluice.cost() / rival.cost();
        if (ratio > AHEAD) {
            losses.add(new Loss(run, what, own, other, ratio, sluice.relativeError() + rival.relativeError()));
        }
    }

    private String looked(String sentence) {
        return pairs == 0
                ? sentence + " No recorded run has such rows."
                : "%s Pairs of rows in the runs %s: %d. The other is ahead by more than 5 %% in %d."
                        .formatted(sentence, String.join(", ", runs), pairs, losses.size());
    }

    private String text(String sentence) {
        String looked = looked(sentence);
        if (losses.isEmpty()) {
            return looked + "\n";
        }
        losses.sort(Comparator.comparingDouble(Loss::ratio).reversed());
        StringBuilder text = new StringBuilder(looked)
                .append("\n\n")
                .append(columns)
                .append(" Sluice's time / its time | beyond the errors |\n|---|---|---|---|---:|---|\n");
        losses.forEach(loss -> text.append(loss.line()));
        return text.toString();
    }

    // ---- parsers and servers

    private static boolean ofSluice(Row row) {
        return row.benchmark().equals("PeerBenchmark.decode")
                ? row.param("peer").startsWith("sluice")
                : served(row) && row.param("server").startsWith("sluice");
    }

    private static boolean served(Row row) {
        return row.table().equals("endtoend") && SERVER_METRICS.contains(Tables.way(row));
    }

    /** One that delivers something wrong is not ahead, and one that delivers nothing is no rival. */
    private static boolean rivals(Row sluice, Row other) {
        if (other.score() == null || other.wrong() || ofSluice(other)) {
            return false;
        }
        if (served(other)) {
            return Variant.of(other.param("server")).decodes() && alike(sluice, other, "server");
        }
        return !other.param("peer").isEmpty()
                && !other.param("peer").equals("chunks-only")
                && alike(sluice, other, "peer");
    }

    private static boolean alike(Row row, Row other, String but) {
        return row.table().equals(other.table())
                && row.benchmark().equals(other.benchmark())
                && without(row, but).equals(without(other, but));
    }

    private static Map<String, String> without(Row row, String name) {
        Map<String, String> params = new TreeMap<>(row.params());
        params.remove(name);
        return params;
    }

    private static String face(Row row) {
        return served(row) ? Tables.server(row) : Tables.peer(row);
    }

    private static String what(Row row) {
        if (served(row)) {
            return Tables.load(row) + ", " + Tables.way(row);
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

    // ---- ways to use buffers

    private static boolean ownWay(Row row) {
        return ALLOCATION.contains(row.table())
                ? row.param("allocator").equals(OWN_ALLOCATOR)
                : OWN_WAYS.getOrDefault(row.table(), Set.of()).contains(Tables.way(row));
    }

    private static boolean otherWay(Row own, Row other) {
        if (other.score() == null || ownWay(other) || !other.table().equals(own.table())) {
            return false;
        }
        if (BY_WORDS.contains(Tables.way(other))) {
            return false;
        }
        return ALLOCATION.contains(own.table())
                ? alike(own, other, "allocator")
                : own.params().equals(other.params());
    }

    private static String way(Row row) {
        return ALLOCATION.contains(row.table()) ? row.param("allocator") + ", " + Tables.way(row) : Tables.way(row);
    }

    private static String input(Row row) {
        String params = String.join(", ", without(row, "allocator").values());
        return row.table() + ", " + params;
    }
}
