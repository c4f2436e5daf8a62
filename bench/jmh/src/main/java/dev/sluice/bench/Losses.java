package dev.sluice.bench;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** Where something else is faster than Sluice: the rows themselves, and in a sentence which rows were looked at. */
final class Losses {
    /** Less than this is not called being ahead. */
    private static final double AHEAD = 1.05;

    /** Ways that go word by word: no measure of one that goes byte by byte. */
    private static final Set<String> BY_WORDS = Set.of("getLongs", "setLongs");

    /** In the tables about buffers, the benchmark method that stands for what Sluice does; the others are Netty's ways. */
    private static final Map<String, String> OWN_WAYS =
            Map.of("text", "sluice", "scans", "chunkMemory", "access", "oncePerChunk");

    /** In these, Sluice's way is the allocator it takes where it is given none. */
    private static final Set<String> ALLOCATION = Set.of("allocation", "short-lived threads");

    private static final Set<String> SERVER_METRICS = Set.of("throughput", "cpu");

    private final List<Loss> losses = new ArrayList<>();
    /** Those that have a pair. */
    private final Set<String> runs = new TreeSet<>();

    private int pairs;

    /** A pair of rows of which the other's is the faster. */
    private record Loss(String run, Row own, Row other) {
        /** Sluice's time by the other's. */
        double ratio() {
            return own.cost() / other.cost();
        }

        double error() {
            return own.relativeError() + other.relativeError();
        }
    }

    /** Every pair of a row of Sluice and a rival's. */
    private Losses(Map<String, Run> runs, Predicate<Row> own, BiPredicate<Row, Row> rivals) {
        runs.forEach((name, run) -> {
            List<Row> told = run.rows().stream()
                    .filter(row -> row.score() != null && !row.vague())
                    .toList();
            told.stream()
                    .filter(own)
                    .forEach(row -> told.stream()
                            .filter(other -> !own.test(other) && rivals.test(row, other))
                            .forEach(other -> add(new Loss(name, row, other))));
        });
        losses.sort(Comparator.comparingDouble(Loss::ratio).reversed());
    }

    private void add(Loss pair) {
        pairs++;
        runs.add(pair.run());
        if (pair.ratio() > AHEAD) {
            losses.add(pair);
        }
    }

    /** @param head of the table of what was found */
    private StringBuilder looked(String head) {
        StringBuilder text = new StringBuilder(
                pairs == 0
                        ? "No recorded run has such rows.\n"
                        : "Pairs of rows in the runs %s: %d. The other is ahead by more than 5 %% in %d.\n"
                                .formatted(String.join(", ", runs), pairs, losses.size()));
        return losses.isEmpty() ? text : text.append(head);
    }

    /** Every way to use Sluice beside every other parser. */
    static String peers(Map<String, Run> runs) {
        Losses found = new Losses(runs, Losses::ofSluice, Losses::rivals);
        StringBuilder text = found.looked("""

            | run | body | way to use Sluice | who is ahead | Sluice's time / its time | beyond the errors |
            |---|---|---|---|---:|---|
            """);
        Function<Row, String> title = row -> served(row) ? Tables.server(row) : Tables.peer(row);
        found.losses.forEach(loss -> {
            String who = "%s | %s".formatted(title.apply(loss.own()), title.apply(loss.other()));
            String ratio = Tables.ratio(loss.ratio()) + Tables.format(" ± %.0f %%", 100 * loss.error());
            String beyond = loss.ratio() * (1 - loss.error()) > 1 ? "yes" : "open";
            text.append("| %s | %s | %s | %s | %s |\n".formatted(loss.run(), input(loss.own()), who, ratio, beyond));
        });
        return text.toString();
    }

    /** Netty's ways to read, search and take buffers beside those that Sluice uses: a line for each pair of ways. */
    static String ways(Map<String, Run> runs) {
        Losses found = new Losses(runs, Losses::ownWay, Losses::otherWay);
        StringBuilder text = found.looked("""

            | run | table | Sluice's way | what is faster | inputs | Sluice's time / its time, least and greatest |
            |---|---|---|---|---:|---:|
            """);
        Map<String, List<Loss>> groups = found.losses.stream()
                .collect(Collectors.groupingBy(
                        loss -> "| %s | %s | %s | %s |"
                                .formatted(loss.run(), loss.own().table(), way(loss.own()), way(loss.other())),
                        TreeMap::new,
                        Collectors.toList()));
        groups.forEach((pair, ahead) -> {
            String least = Tables.ratio(ahead.get(ahead.size() - 1).ratio());
            String greatest = Tables.ratio(ahead.get(0).ratio());
            text.append("%s %d | %s to %s |\n".formatted(pair, ahead.size(), least, greatest));
        });
        return text.toString();
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

    // ---- parsers and servers

    private static boolean ofSluice(Row row) {
        return row.ofSluice() && (served(row) || row.way().equals("decode"));
    }

    private static boolean served(Row row) {
        return row.table().equals("endtoend") && SERVER_METRICS.contains(row.way());
    }

    /** One that delivers something wrong is not ahead, and one that delivers nothing is no rival. */
    private static boolean rivals(Row sluice, Row other) {
        if (served(other)) {
            return Variant.of(other.param("server")).decodes && alike(sluice, other, "server");
        }
        return !other.wrong()
                && !other.param("peer").isEmpty()
                && !other.param("peer").equals("chunks-only")
                && alike(sluice, other, "peer");
    }

    private static String input(Row row) {
        if (served(row)) {
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

    // ---- ways to use buffers

    static boolean ownWay(Row row) {
        return ALLOCATION.contains(row.table())
                ? row.param("allocator").equals("pooled")
                : row.way().equals(OWN_WAYS.get(row.table()));
    }

    private static boolean otherWay(Row own, Row other) {
        return ALLOCATION.contains(own.table())
                ? alike(own, other, "allocator")
                : own.table().equals(other.table())
                        && own.params().equals(other.params())
                        && !BY_WORDS.contains(other.way());
    }

    private static String way(Row row) {
        return ALLOCATION.contains(row.table()) ? row.param("allocator") + ", " + row.way() : row.way();
    }
}
