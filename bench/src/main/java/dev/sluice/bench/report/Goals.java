package dev.sluice.bench.report;

import dev.sluice.bench.body.Scenario;
import dev.sluice.bench.endtoend.Variant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What Sluice is to reach, worked out from what a run holds. */
final class Goals {

    static final String COLUMNS =
            "| what | measured | least disturbed iterations | goal | reached |\n|---|---:|---:|---:|---|\n";

    private static final String PUSH = "sluice-push";
    private static final String NETTY = "netty42-dropped";
    private static final String CONTROL = "chunks-only";
    private static final String CUT = "8192";
    private static final String WHOLE = Integer.toString(Integer.MAX_VALUE);
    private static final List<String> MEMORIES = List.of("heap", "direct");

    private static final List<Scenario> HOSTILE = List.of(
            Scenario.ALL_CR,
            Scenario.ALL_LF,
            Scenario.ALL_CRLF,
            Scenario.ALL_DASHES,
            Scenario.NEAR_BOUNDARIES,
            Scenario.EQUAL_BOUNDARY,
            Scenario.FREQUENT_CHARACTER,
            Scenario.TWO_BYTE_PROBE,
            Scenario.SKIP_TABLE);

    private static final Map<String, List<Goal>> BY_COMMAND = byCommand();

    private Goals() {}

    private static Map<String, List<Goal>> byCommand() {
        Map<String, List<Goal>> commands = new LinkedHashMap<>();
        List<Goal> levels = new ArrayList<>();
        levels(levels);
        commands.put("levels", List.copyOf(levels));
        List<Goal> peers = new ArrayList<>();
        files(peers);
        smallParts(peers);
        inChunks(peers);
        hostile(peers);
        faces(peers);
        allocation(peers);
        commands.put("peers", List.copyOf(peers));
        List<Goal> server = new ArrayList<>();
        server(server);
        commands.put("endtoend", List.copyOf(server));
        return commands;
    }

    private static void files(List<Goal> goals) {
        goals.add(beside("random-16m", "heap", NETTY, 0.33));
        goals.add(beside("random-16m", "heap", "jetty", 0.68));
        goals.add(beside("random-16m", "heap", "fileupload1", 0.05));
        goals.add(beside("random-16m", "heap", "fileupload2", 0.05));
        goals.add(besideFloor("random-16m", "searchDelimiter", 1.1));
        goals.add(besideFloor("random-16m", "readWords", 1.3));
        goals.add(new Goal.Time(
                "random-16m, direct / " + NETTY,
                Pick.main(PUSH, "random-16m", "direct"),
                Pick.main(NETTY, "random-16m", "direct"),
                0.5,
                0.28));
        goals.add(beside("csv-16m", "heap", NETTY, 0.16));
        goals.add(beside("csv-16m", "heap", "jetty", 0.55));
        goals.add(beside("csv-16m", "heap", "fileupload1", 0.05));
        goals.add(beside("csv-16m", "heap", "fileupload2", 0.05));
        goals.add(besideFloor("csv-16m", "searchDelimiter", 1.1));
        for (String scenario : List.of("random-16m", "csv-16m", "form", "fields-100")) {
            goals.add(new Goal.Time(
                    scenario + ", direct / own time on heap",
                    Pick.main(PUSH, scenario, "direct"),
                    Pick.main(PUSH, scenario, "heap"),
                    1.7,
                    1.2));
        }
        goals.add(new Goal.Time(
                "1 GiB / own time per byte on 1 MiB",
                Pick.decode("sizes", PUSH, "random-1g", CUT, "heap"),
                Pick.decode("sizes", PUSH, "random-1m", CUT, "heap"),
                1.1));
    }

    private static void smallParts(List<Goal> goals) {
        for (String memory : MEMORIES) {
            goals.add(beside("fields-100", memory, NETTY, 0.12));
            goals.add(beside("fields-100", memory, "jetty", 0.25));
            goals.add(beside("fields-100", memory, "netty-contrib", 0.3));
            goals.add(beside("form", memory, NETTY, 0.35));
            goals.add(beside("form", memory, "jetty", 0.5));
            for (String scenario : List.of("parts-1000", "photos-20")) {
                goals.add(new Goal.Fastest(
                        scenario + ", " + memory + " / fastest of the others", Pick.main(PUSH, scenario, memory), 0.5));
            }
        }
        // It takes a stream, so there is no row of it in direct memory.
        goals.add(beside("fields-100", "heap", "okhttp", 0.6));
    }

    private static void inChunks(List<Goal> goals) {
        for (String memory : MEMORIES) {
            goals.add(inChunks("64 KiB in chunks of one byte", "random-64k", "1", memory, NETTY, 0.03));
            goals.add(inChunks("64 KiB in chunks of one byte", "random-64k", "1", memory, "undertow", 0.6));
        }
        goals.add(inChunks("100 fields and a 16 MiB file in one chunk", "fields-and-file", WHOLE, "heap", NETTY, 0.03));
    }

    private static void hostile(List<Goal> goals) {
        for (Scenario scenario : HOSTILE) {
            for (String memory : MEMORIES) {
                goals.add(new Goal.Time(
                        scenario.id() + ", " + memory + " / own time per byte on random data",
                        Pick.decode("adversarial", PUSH, scenario.id(), CUT, memory),
                        Pick.decode("adversarial", PUSH, "random-16m", CUT, memory),
                        2.0));
            }
            goals.add(new Goal.Fastest(
                    scenario.id() + ", heap / fastest of the others",
                    Pick.decode("adversarial", PUSH, scenario.id(), CUT, "heap"),
                    1.0));
        }
    }

    private static void faces(List<Goal> goals) {
        for (String face : List.of("sluice-pull", "sluice-pull-chunks", "sluice-servlet", "sluice-servlet-streaming")) {
            for (String scenario : List.of("random-16m", "form", "fields-100")) {
                goals.add(new Goal.Time(
                        scenario + ", " + face + " / push",
                        Pick.decode("faces", face, scenario, CUT, "heap"),
                        Pick.decode("faces", PUSH, scenario, CUT, "heap"),
                        1.3));
            }
        }
    }

    private static void levels(List<Goal> goals) {
        for (String peer : List.of("netty42-kept", NETTY)) {
            goals.add(besideNetty("netty-big", "DISABLED", peer, 0.8));
            goals.add(besideNetty("netty-high", "DISABLED", peer, 0.4));
            goals.add(besideNetty("netty-big", "PARANOID", peer, 0.12));
            goals.add(besideNetty("netty-high", "PARANOID", peer, 0.025));
        }
        for (String scenario : List.of("netty-big", "netty-high")) {
            goals.add(new Goal.Time(
                    scenario + " wrapped, PARANOID / own DISABLED",
                    Pick.level(PUSH, scenario, "wrapped-each", "PARANOID"),
                    Pick.level(PUSH, scenario, "wrapped-each", "DISABLED"),
                    1.05));
            goals.add(new Goal.TimeBeyond(
                    scenario + " pooled, without taking the chunks, PARANOID / own DISABLED",
                    Pick.level(PUSH, scenario, "pooled-each", "PARANOID"),
                    Pick.level(CONTROL, scenario, "pooled-each", "PARANOID"),
                    Pick.level(PUSH, scenario, "pooled-each", "DISABLED"),
                    Pick.level(CONTROL, scenario, "pooled-each", "DISABLED"),
                    1.2));
        }
        for (String scenario : List.of("netty-big", "netty-high", "fields-100", "random-16m")) {
            goals.add(new Goal.RecordsPerChunk(
                    scenario + ", leak records per chunk beyond those of taking it",
                    Pick.records(PUSH, scenario),
                    Pick.records(CONTROL, scenario),
                    1));
        }
        for (String scenario : List.of("netty-high", "fields-100")) {
            goals.add(new Goal.RecordsPerPart(
                    scenario + ", leak records per part beyond one for each chunk",
                    Pick.records(PUSH, scenario),
                    Pick.records(CONTROL, scenario),
                    0));
        }
    }

    private static void allocation(List<Goal> goals) {
        goals.add(perChunk(
                "bytes allocated per heap chunk of a file (1 instead of 0: noise of the profiler)", "heap", 1));
        goals.add(perChunk("bytes allocated per direct chunk of a file", "direct", 32));
        goals.add(new Goal.AllocationPerPart(
                "bytes allocated per field, with name and content", Pick.main(PUSH, "fields-100", "heap"), 120));
        goals.add(new Goal.AllocationPerPart(
                "bytes allocated per file part of 1 KiB", Pick.main(PUSH, "parts-1000", "heap"), 250));
    }

    private static void server(List<Goal> goals) {
        for (Variant variant : List.of(Variant.SLUICE, Variant.SLUICE_LOOP)) {
            goals.add(new Goal.Measured(
                    "1 GiB to the sample server, %s: time / that of dropping the body (0.95 of its throughput)"
                            .formatted(variant.title()),
                    Pick.endToEnd("timeToDiscard", variant.id(), "random-1g"),
                    1 / 0.95));
            goals.add(new Goal.Measured(
                    "1 GiB to the sample server, %s: CPU / that of dropping the body".formatted(variant.title()),
                    Pick.endToEnd("cpuToDiscard", variant.id(), "random-1g"),
                    1.1));
        }
    }

    private static Goal beside(String scenario, String memory, String peer, double limit) {
        return new Goal.Time(
                scenario + ", " + memory + " / " + peer,
                Pick.main(PUSH, scenario, memory),
                Pick.main(peer, scenario, memory),
                limit);
    }

    /** The decoder's row is one of the same table, measured next to the floor. */
    private static Goal besideFloor(String scenario, String floor, double limit) {
        return new Goal.Time(
                scenario + ", heap / " + floor + " alone",
                Pick.decode("floors", PUSH, scenario, CUT, "heap"),
                Pick.floor(floor, scenario, "heap"),
                limit);
    }

    private static Goal inChunks(
            String title, String scenario, String chunk, String memory, String peer, double limit) {
        return new Goal.Time(
                title + ", " + memory + " / " + peer,
                Pick.decode("chunks", PUSH, scenario, chunk, memory),
                Pick.decode("chunks", peer, scenario, chunk, memory),
                limit);
    }

    private static Goal besideNetty(String scenario, String level, String peer, double limit) {
        return new Goal.Time(
                scenario + " wrapped, " + level + " / " + peer,
                Pick.level(PUSH, scenario, "wrapped-each", level),
                Pick.level(peer, scenario, "wrapped-each", level),
                limit);
    }

    private static Goal perChunk(String title, String memory, double limit) {
        return new Goal.AllocationPerChunk(
                title,
                Pick.decode("chunks", PUSH, "random-16m", CUT, memory),
                Pick.decode("chunks", PUSH, "random-16m", WHOLE, memory),
                limit);
    }

    /** The goals of the run's command; an empty text when there are none. */
    static String table(Run run) {
        List<Goal.Finding> findings = findings(run);
        return findings.isEmpty()
                ? ""
                : Tables.heading(
                                "Goals: Sluice's time / the other time, both from this run, where nothing else is said;"
                                        + " open where the limit lies within the error")
                        + COLUMNS
                        + String.join(
                                "", findings.stream().map(Goal.Finding::line).toList());
    }

    /** The lines of that table with this outcome. */
    static List<String> lines(Run run, Goal.Outcome outcome) {
        return findings(run).stream()
                .filter(finding -> finding.outcome() == outcome)
                .map(Goal.Finding::line)
                .toList();
    }

    /** Where a full run lacks the rows, the goal is told as not measured; the others are made of fewer rows anyway. */
    private static List<Goal.Finding> findings(Run run) {
        List<Goal.Finding> findings = new ArrayList<>();
        for (Goal goal : BY_COMMAND.getOrDefault(run.commandName(), List.of())) {
            Optional<Goal.Finding> found = goal.in(run);
            if (found.isPresent()) {
                findings.add(found.get());
            } else if (run.full()) {
                findings.add(Goal.Finding.notMeasured(goal.title(), goal.limitIn(run), goal.whyNot(run)));
            }
        }
        return findings;
    }
}
