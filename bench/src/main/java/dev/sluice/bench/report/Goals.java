package dev.sluice.bench.report;

import dev.sluice.bench.body.Scenario;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The ratios that Sluice is to reach, worked out from whatever a run holds. */
final class Goals {

    /** Rows are picked by table, benchmark and parameters. */
    private record Pick(String table, String benchmark, Map<String, String> params) {

        static Pick peer(String table, String peer, String scenario, String chunk, String memory) {
            return new Pick(
                    table,
                    "PeerBenchmark.decode",
                    Map.of("peer", peer, "scenario", scenario, "chunk", chunk, "memory", memory));
        }

        static Pick main(String peer, String scenario, String memory) {
            return peer("main", peer, scenario, "8192", memory);
        }

        static Pick level(String peer, String scenario, String memory, String level) {
            return new Pick(
                    "levels",
                    "PeerBenchmark.decode",
                    Map.of("peer", peer, "scenario", scenario, "memory", memory, "level", level));
        }

        static Pick floor(String way, String scenario, String memory) {
            return new Pick("floors", "FloorBenchmark." + way, Map.of("scenario", scenario, "memory", memory));
        }

        boolean matches(Row row) {
            return row.table().equals(table)
                    && row.benchmark().equals(benchmark)
                    && params.entrySet().stream()
                            .allMatch(p -> row.param(p.getKey()).equals(p.getValue()));
        }
    }

    /**
     * Sluice's time divided by another must not be above the limit.
     *
     * @param limit on JDK 17
     * @param laterLimit on newer ones
     */
    private record Goal(String title, Pick sluice, Pick other, double limit, double laterLimit) {

        Goal(String title, Pick sluice, Pick other, double limit) {
            this(title, sluice, other, limit, limit);
        }

        double limitFor(Run run) {
            return run.jvm().getOrDefault("version", "").startsWith("17.") ? limit : laterLimit;
        }
    }

    private static final String MISSED = " | **no** |\n";
    private static final String PUSH = "sluice-push";
    private static final String NETTY = "netty42-dropped";

    private static final List<Goal> GOALS = List.of(
            mainGoal("random-16m", "heap", NETTY, 0.33),
            mainGoal("random-16m", "heap", "jetty", 0.68),
            mainGoal("random-16m", "heap", "fileupload1", 0.05),
            floorGoal("random-16m", "heap", "searchDelimiter", 1.1),
            floorGoal("random-16m", "heap", "readWords", 1.3),
            mainGoal("random-16m", "direct", NETTY, 0.5, 0.28),
            mainGoal("csv-16m", "heap", NETTY, 0.16),
            mainGoal("csv-16m", "heap", "jetty", 0.55),
            mainGoal("csv-16m", "heap", "fileupload1", 0.05),
            floorGoal("csv-16m", "heap", "searchDelimiter", 1.1),
            mainGoal("fields-100", "heap", NETTY, 0.12),
            mainGoal("fields-100", "heap", "jetty", 0.25),
            mainGoal("fields-100", "heap", "okhttp", 0.6),
            mainGoal("fields-100", "heap", "netty-contrib", 0.3),
            mainGoal("form", "heap", NETTY, 0.35),
            mainGoal("form", "heap", "jetty", 0.5),
            mainGoal("parts-1000", "heap", "jetty", 0.5),
            mainGoal("parts-1000", "heap", NETTY, 0.5),
            mainGoal("photos-20", "heap", "jetty", 0.5),
            mainGoal("photos-20", "heap", NETTY, 0.5),
            new Goal(
                    "64 KiB in chunks of one octet / Netty 4.2",
                    Pick.peer("chunks", PUSH, "random-64k", "1", "heap"),
                    Pick.peer("chunks", NETTY, "random-64k", "1", "heap"),
                    0.03),
            new Goal(
                    "64 KiB in chunks of one octet / Undertow",
                    Pick.peer("chunks", PUSH, "random-64k", "1", "heap"),
                    Pick.peer("chunks", "undertow", "random-64k", "1", "heap"),
                    0.6),
            new Goal(
                    "100 fields and a 16 MiB file in one chunk / Netty 4.2",
                    Pick.peer("chunks", PUSH, "fields-and-file", Integer.toString(Integer.MAX_VALUE), "heap"),
                    Pick.peer("chunks", NETTY, "fields-and-file", Integer.toString(Integer.MAX_VALUE), "heap"),
                    0.03),
            new Goal(
                    "16 MiB random, direct / own time on heap",
                    Pick.main(PUSH, "random-16m", "direct"),
                    Pick.main(PUSH, "random-16m", "heap"),
                    1.7,
                    1.2),
            new Goal(
                    "16 MiB random, pull / push",
                    Pick.main("sluice-pull", "random-16m", "heap"),
                    Pick.main(PUSH, "random-16m", "heap"),
                    1.3),
            new Goal(
                    "100 fields, pull / push",
                    Pick.main("sluice-pull", "fields-100", "heap"),
                    Pick.main(PUSH, "fields-100", "heap"),
                    1.3),
            new Goal(
                    "16 MiB random, servlet filter / push",
                    Pick.main("sluice-servlet", "random-16m", "heap"),
                    Pick.main(PUSH, "random-16m", "heap"),
                    1.3),
            new Goal(
                    "form, servlet filter / push",
                    Pick.main("sluice-servlet", "form", "heap"),
                    Pick.main(PUSH, "form", "heap"),
                    1.3),
            levelGoal("netty-big", "DISABLED", "netty42-kept", 0.8),
            levelGoal("netty-high", "DISABLED", "netty42-kept", 0.4),
            levelGoal("netty-big", "PARANOID", "netty42-kept", 0.12),
            levelGoal("netty-high", "PARANOID", "netty42-kept", 0.025),
            ownLevelGoal("netty-big"),
            ownLevelGoal("netty-high"),
            new Goal(
                    "1 GiB / own time per octet on 1 MiB",
                    Pick.peer("sizes", PUSH, "random-1g", "8192", "heap"),
                    Pick.peer("sizes", PUSH, "random-1m", "8192", "heap"),
                    1.1),
            hostileGoal(Scenario.ALL_CR),
            hostileGoal(Scenario.ALL_LF),
            hostileGoal(Scenario.ALL_CRLF),
            hostileGoal(Scenario.ALL_DASHES),
            hostileGoal(Scenario.NEAR_BOUNDARIES),
            hostileGoal(Scenario.EQUAL_BOUNDARY),
            hostileGoal(Scenario.FREQUENT_CHARACTER),
            hostileGoal(Scenario.TWO_BYTE_PROBE),
            hostileGoal(Scenario.SKIP_TABLE));

    /** Ratios that are measured as such: the metric, and what it must not be above. */
    private static final Map<String, Double> END_TO_END = Map.of("timeToDiscard", 1 / 0.95, "cpuToDiscard", 1.1);

    private Goals() {}

    private static Goal mainGoal(String scenario, String memory, String peer, double limit) {
        return mainGoal(scenario, memory, peer, limit, limit);
    }

    private static Goal mainGoal(String scenario, String memory, String peer, double limit, double laterLimit) {
        return new Goal(
                scenario + ", " + memory + " / " + peer,
                Pick.main(PUSH, scenario, memory),
                Pick.main(peer, scenario, memory),
                limit,
                laterLimit);
    }

    private static Goal floorGoal(String scenario, String memory, String floor, double limit) {
        return new Goal(
                scenario + ", " + memory + " / " + floor + " alone",
                Pick.main(PUSH, scenario, memory),
                Pick.floor(floor, scenario, memory),
                limit);
    }

    private static Goal levelGoal(String scenario, String level, String peer, double limit) {
        return new Goal(
                scenario + " wrapped, " + level + " / " + peer,
                Pick.level(PUSH, scenario, "wrapped-each", level),
                Pick.level(peer, scenario, "wrapped-each", level),
                limit);
    }

    private static Goal hostileGoal(Scenario scenario) {
        return new Goal(
                scenario.id() + " / own time per octet on random data",
                Pick.peer("adversarial", PUSH, scenario.id(), "8192", "heap"),
                Pick.main(PUSH, "random-16m", "heap"),
                2.0);
    }

    private static Goal ownLevelGoal(String scenario) {
        return new Goal(
                scenario + " wrapped, PARANOID / own DISABLED",
                Pick.level(PUSH, scenario, "wrapped-each", "PARANOID"),
                Pick.level(PUSH, scenario, "wrapped-each", "DISABLED"),
                1.05);
    }

    /** The goals whose rows the run has; an empty text when there are none. */
    static String table(Run run) {
        List<String> lines = lines(run);
        return lines.isEmpty()
                ? ""
                : Tables.heading("Goals: Sluice's time / the other time, in one run")
                        + "| what | measured | least disturbed iterations | goal | reached |\n|---|---:|---:|---:|---|\n"
                        + String.join("", lines);
    }

    /** The lines of that table whose goal is not reached. */
    static List<String> missed(Run run) {
        return lines(run).stream().filter(line -> line.endsWith(MISSED)).toList();
    }

    private static List<String> lines(Run run) {
        List<String> lines = new ArrayList<>();
        for (Goal goal : GOALS) {
            Optional<Row> sluice = find(run, goal.sluice());
            Optional<Row> other = find(run, goal.other());
            if (sluice.isPresent() && other.isPresent()) {
                // Per octet, for the goals that compare bodies of different size.
                double sizes = other.get().octets() / (double) sluice.get().octets();
                double ratio = Tables.score(sluice.get()) / Tables.score(other.get()) * sizes;
                double best = Tables.leastDisturbed(sluice.get(), other.get()) * sizes;
                double error = sluice.get().relativeError() + other.get().relativeError();
                lines.add(line(goal.title(), ratio, error, best, goal.limitFor(run)));
            }
        }
        for (Row row : run.rows()) {
            Double limit = END_TO_END.get(Tables.way(row));
            if (limit != null
                    && row.param("scenario").equals("random-1g")
                    && row.param("server").startsWith("sluice")) {
                String title = "1 GiB to the sample server, %s: %s".formatted(Tables.server(row), Tables.way(row));
                lines.add(line(title, Tables.score(row), row.relativeError(), Tables.best(row), limit));
            }
        }
        return lines;
    }

    private static String line(String title, double ratio, double error, double best, double limit) {
        return String.format(
                Locale.ROOT,
                "| %s | %s ± %.0f %% | %s | %s%s",
                title,
                Tables.ratio(ratio),
                100 * error,
                Tables.ratio(best),
                Tables.ratio(limit),
                ratio <= limit ? " | yes |\n" : MISSED);
    }

    private static Optional<Row> find(Run run, Pick pick) {
        return run.rows().stream()
                .filter(row -> pick.matches(row) && row.score() != null)
                .findFirst();
    }
}
