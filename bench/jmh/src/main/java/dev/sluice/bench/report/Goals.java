package dev.sluice.bench.report;

import dev.sluice.bench.endtoend.Variant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.ToDoubleFunction;

/** What Sluice is to reach, worked out from what a run holds: figures that must not be above a limit. */
final class Goals {

    static final String COLUMNS =
            "| what | measured | least disturbed iterations | goal | reached |\n|---|---:|---:|---:|---|\n";

    private static final String PUSH = " peer=sluice-push scenario=";
    private static final String NETTY = "netty42-dropped";
    private static final String CUT = " chunk=8192";
    private static final String WHOLE = " chunk=" + Integer.MAX_VALUE;
    private static final int CHUNK = 8 * 1024;
    private static final List<String> MEMORIES = List.of("heap", "direct");
    private static final List<String> HOSTILE = List.of(
            "all-cr",
            "all-lf",
            "all-crlf",
            "all-dashes",
            "near-boundaries",
            "equal-boundary",
            "frequent-character",
            "two-byte-probe",
            "skip-table");

    /** What a measured figure says about its limit. */
    enum Outcome {
        YES("yes"),
        NO("**no**"),
        /** The limit lies within the error of the figure. */
        OPEN("open"),
        /** The run does not hold what is needed. */
        UNKNOWN("");

        private final String text;

        Outcome(String text) {
            this.text = text;
        }
    }

    /**
     * What a run says about a goal.
     *
     * @param measured NaN where the run does not hold what is needed
     * @param error relative, of {@code measured}; infinite where the figure is lost in its error
     * @param best the same figure from the least disturbed iterations; NaN for what is counted
     * @param unknown why it is not measured
     */
    record Finding(String title, double measured, double error, double best, double limit, String unknown) {

        Outcome outcome() {
            if (Double.isNaN(measured)) {
                return Outcome.UNKNOWN;
            }
            if (Double.isInfinite(error)) {
                return Outcome.OPEN;
            }
            if (measured * (1 + error) <= limit) {
                return Outcome.YES;
            }
            return measured * (1 - error) > limit ? Outcome.NO : Outcome.OPEN;
        }

        String line() {
            return "| %s | %s | %s | %s | %s |\n"
                    .formatted(
                            title,
                            figure(),
                            Double.isNaN(best) ? "-" : Tables.ratio(best),
                            number(limit),
                            outcome().text + unknown);
        }

        private String figure() {
            if (Double.isNaN(measured)) {
                return "-";
            }
            if (Double.isInfinite(error)) {
                return number(measured) + ", less than its error";
            }
            return number(measured) + (error == 0 ? "" : String.format(Locale.ROOT, " ± %.0f %%", 100 * error));
        }

        private static String number(double figure) {
            return figure == 0 ? "0" : Tables.ratio(figure);
        }
    }

    private final Run run;
    private final List<Finding> findings = new ArrayList<>();

    private Goals(Run run) {
        this.run = run;
    }

    /** The goals of the run's command; empty when there are none. */
    static List<Finding> of(Run run) {
        Goals goals = new Goals(run);
        switch (run.commandName()) {
            case "levels" -> goals.levels();
            case "peers" -> goals.peers();
            case "endtoend" -> goals.server();
            default -> {
                // no goals
            }
        }
        return goals.findings;
    }

    static String table(Run run) {
        List<Finding> findings = of(run);
        return findings.isEmpty()
                ? ""
                : Tables.heading(
                                "Goals: Sluice's time / the other time, both from this run, where nothing else is said;"
                                        + " open where the limit lies within the error")
                        + COLUMNS
                        + String.join("", findings.stream().map(Finding::line).toList());
    }

    private void peers() {
        boolean java17 = run.jvm().getOrDefault("version", "").startsWith("17.");
        for (String scenario : List.of("random-16m", "csv-16m")) {
            boolean random = scenario.equals("random-16m");
            beside(scenario, "heap", NETTY, random ? 0.33 : 0.16);
            beside(scenario, "heap", "jetty", random ? 0.68 : 0.55);
            beside(scenario, "heap", "fileupload1", 0.05);
            beside(scenario, "heap", "fileupload2", 0.05);
            besideFloor(scenario, "searchDelimiter", 1.1);
            if (random) {
                besideFloor(scenario, "readWords", 1.3);
                beside(scenario, "direct", NETTY, java17 ? 0.5 : 0.28);
            }
        }
        for (String scenario : List.of("random-16m", "csv-16m", "form", "fields-100")) {
            String title = scenario + ", direct / own time on heap";
            time(title, main(scenario, "direct"), main(scenario, "heap"), java17 ? 1.7 : 1.2);
        }
        time("1 GiB / own time per byte on 1 MiB", "sizes" + PUSH + "random-1g", "sizes" + PUSH + "random-1m", 1.1);
        smallParts();
        for (String memory : MEMORIES) {
            inChunks("64 KiB in chunks of one byte", "random-64k chunk=1", memory, NETTY, 0.03);
            inChunks("64 KiB in chunks of one byte", "random-64k chunk=1", memory, "undertow", 0.6);
        }
        inChunks("100 fields and a 16 MiB file in one chunk", "fields-and-file" + WHOLE, "heap", NETTY, 0.03);
        HOSTILE.forEach(this::hostile);
        ways();
        allocation();
    }

    private void smallParts() {
        for (String memory : MEMORIES) {
            beside("fields-100", memory, NETTY, 0.12);
            beside("fields-100", memory, "jetty", 0.25);
            beside("fields-100", memory, "netty-contrib", 0.3);
            beside("form", memory, NETTY, 0.35);
            beside("form", memory, "jetty", 0.5);
            for (String scenario : List.of("parts-1000", "photos-20")) {
                fastest(scenario + ", " + memory, main(scenario, memory), 0.5);
            }
        }
        // It takes a stream, so there is no row of it in direct memory.
        beside("fields-100", "heap", "okhttp", 0.6);
    }

    private void hostile(String scenario) {
        for (String memory : MEMORIES) {
            time(
                    scenario + ", " + memory + " / own time per byte on random data",
                    "adversarial" + PUSH + scenario + " memory=" + memory,
                    "adversarial" + PUSH + "random-16m memory=" + memory,
                    2.0);
        }
        fastest(scenario + ", heap", "adversarial" + PUSH + scenario + " memory=heap", 1.0);
    }

    private void ways() {
        for (String way : List.of("sluice-pull", "sluice-pull-chunks", "sluice-servlet", "sluice-servlet-streaming")) {
            for (String scenario : List.of("random-16m", "form", "fields-100")) {
                String other = "faces peer=" + way + " scenario=" + scenario;
                time(scenario + ", " + way + " / push", other, "faces" + PUSH + scenario, 1.3);
            }
        }
    }

    private void allocation() {
        String perHeapChunk = "bytes allocated per heap chunk of a file (1 instead of 0: noise of the profiler)";
        for (String memory : MEMORIES) {
            boolean heap = memory.equals("heap");
            String body = "chunks" + PUSH + "random-16m memory=" + memory;
            counted(
                    heap ? perHeapChunk : "bytes allocated per direct chunk of a file",
                    heap ? 1 : 32,
                    rows -> (allocated(rows.get(0)) - allocated(rows.get(1))) / (chunks(rows.get(0)) - 1),
                    body + CUT,
                    body + WHOLE);
        }
        ToDoubleFunction<List<Row>> perPart =
                rows -> allocated(rows.get(0)) / rows.get(0).parts();
        counted("bytes allocated per field, with name and content", 120, perPart, main("fields-100", "heap"));
        counted("bytes allocated per file part of 1 KiB", 250, perPart, main("parts-1000", "heap"));
    }

    private void levels() {
        for (String peer : List.of("netty42-kept", NETTY)) {
            atLevel("netty-big", "DISABLED", peer, 0.8);
            atLevel("netty-high", "DISABLED", peer, 0.4);
            atLevel("netty-big", "PARANOID", peer, 0.12);
            atLevel("netty-high", "PARANOID", peer, 0.025);
        }
        for (String scenario : List.of("netty-big", "netty-high")) {
            String wrapped = "levels" + PUSH + scenario + " memory=wrapped-each level=";
            time(scenario + " wrapped, PARANOID / own DISABLED", wrapped + "PARANOID", wrapped + "DISABLED", 1.05);
            beyondControl(scenario);
        }
        for (String scenario : List.of("netty-big", "netty-high", "fields-100", "random-16m")) {
            records(
                    scenario + ", leak records per chunk beyond those of taking it",
                    1,
                    rows -> (rows.get(0).score() - rows.get(1).score()) / chunks(rows.get(0)),
                    scenario);
        }
        for (String scenario : List.of("netty-high", "fields-100")) {
            records(
                    scenario + ", leak records per part beyond one for each chunk",
                    0,
                    rows -> Math.max(0, rows.get(0).score() - rows.get(1).score() - chunks(rows.get(0)))
                            / rows.get(0).parts(),
                    scenario);
        }
    }

    private void server() {
        for (Variant variant : List.of(Variant.SLUICE, Variant.SLUICE_LOOP)) {
            String server = " server=" + variant.id() + " scenario=random-1g";
            String title = "1 GiB to the server, " + variant.title() + ": %s / that of dropping the body";
            measured(title.formatted("time") + " (0.95 of its throughput)", "timeToDiscard" + server, 1 / 0.95);
            measured(title.formatted("CPU"), "cpuToDiscard" + server, 1.1);
        }
    }

    private static String main(String scenario, String memory) {
        return "main" + PUSH + scenario + " memory=" + memory;
    }

    private void beside(String scenario, String memory, String peer, double limit) {
        String mine = main(scenario, memory);
        time(scenario + ", " + memory + " / " + peer, mine, mine.replace("sluice-push", peer), limit);
    }

    /** The decoder's row is one of the same table, measured next to the floor. */
    private void besideFloor(String scenario, String floor, double limit) {
        time(
                scenario + ", heap / " + floor + " alone",
                "floors" + PUSH + scenario + " memory=heap",
                "floors way=" + floor + " scenario=" + scenario + " memory=heap",
                limit);
    }

    private void inChunks(String title, String body, String memory, String peer, double limit) {
        String mine = "chunks" + PUSH + body + " memory=" + memory;
        time(title + ", " + memory + " / " + peer, mine, mine.replace("sluice-push", peer), limit);
    }

    private void atLevel(String scenario, String level, String peer, double limit) {
        String mine = "levels" + PUSH + scenario + " memory=wrapped-each level=" + level;
        time(scenario + " wrapped, " + level + " / " + peer, mine, mine.replace("sluice-push", peer), limit);
    }

    private void records(String title, double limit, ToDoubleFunction<List<Row>> figure, String scenario) {
        counted(title, limit, figure, "records" + PUSH + scenario, "records peer=chunks-only scenario=" + scenario);
    }

    // ---- how a figure comes about

    private void unknown(String title, double limit, String why) {
        // Where a full run lacks the rows, the goal is told as not measured; the others are made of fewer rows anyway.
        if (run.full()) {
            findings.add(new Finding(title, Double.NaN, 0, Double.NaN, limit, why));
        }
    }

    /** Sluice's time by another, per byte where the bodies differ in size. */
    private void time(String title, String sluice, String other, double limit) {
        Optional<Row> mine = run.find(sluice);
        Optional<Row> theirs = run.find(other);
        if (mine.isPresent() && theirs.isPresent()) {
            compared(title, mine.get(), theirs.get(), limit);
        } else {
            boolean wrong = run.pick(other).anyMatch(Row::wrong);
            unknown(title, limit, wrong ? "not judged: the other's result is wrong" : "not measured");
        }
    }

    private void compared(String title, Row sluice, Row other, double limit) {
        double sizes = other.bytes() / (double) sluice.bytes();
        boolean byCpu = sluice.cpu() != null && other.cpu() != null;
        findings.add(new Finding(
                title,
                sluice.score() / other.score() * sizes,
                sluice.relativeError() + other.relativeError(),
                least(sluice, byCpu) / least(other, byCpu) * sizes,
                limit,
                ""));
    }

    /** Sluice's time by that of the fastest parser of others that reads the body rightly. */
    private void fastest(String title, String sluice, double limit) {
        Optional<Row> mine = run.find(sluice);
        Optional<Row> theirs = mine.flatMap(row -> run.rows().stream()
                .filter(other -> other.score() != null && !other.wrong() && !other.ofSluice())
                .filter(other -> other.keyOf("sluice-push").equals(row.key()))
                .min(Comparator.comparingDouble(Row::cost)));
        if (theirs.isPresent()) {
            String named = title + " / fastest of the others, " + Tables.peer(theirs.get());
            compared(named, mine.get(), theirs.get(), limit);
        } else {
            unknown(title + " / fastest of the others", limit, "not measured");
        }
    }

    /** The ratio of two times in pooled chunks, from each of which the time of the control is taken away. */
    private void beyondControl(String scenario) {
        String title = scenario + " pooled, without taking the chunks, PARANOID / own DISABLED";
        String mine = "levels" + PUSH + scenario + " memory=pooled-each level=";
        String control = mine.replace("sluice-push", "chunks-only");
        List<Row> rows = rows(mine + "PARANOID", control + "PARANOID", mine + "DISABLED", control + "DISABLED");
        if (rows.isEmpty()) {
            unknown(title, 1.2, "not measured");
            return;
        }
        double above = rows.get(0).score() - rows.get(1).score();
        double below = rows.get(2).score() - rows.get(3).score();
        double errorAbove = error(rows.get(0)) + error(rows.get(1));
        double errorBelow = error(rows.get(2)) + error(rows.get(3));
        // A difference that is not larger than its error may as well be none, and nothing can be divided by it.
        boolean lost = above <= errorAbove || below <= errorBelow;
        double error = lost ? Double.POSITIVE_INFINITY : errorAbove / above + errorBelow / below;
        boolean byCpu = rows.stream().allMatch(row -> row.cpu() != null);
        double best = (least(rows.get(0), byCpu) - least(rows.get(1), byCpu))
                / (least(rows.get(2), byCpu) - least(rows.get(3), byCpu));
        findings.add(new Finding(title, above / below, error, best, 1.2, ""));
    }

    private void counted(String title, double limit, ToDoubleFunction<List<Row>> figure, String... queries) {
        List<Row> rows = rows(queries);
        if (rows.isEmpty()) {
            unknown(title, limit, "not measured");
        } else {
            findings.add(new Finding(title, figure.applyAsDouble(rows), 0, Double.NaN, limit, ""));
        }
    }

    /** A ratio that was measured as such. */
    private void measured(String title, String query, double limit) {
        Optional<Row> row = run.find("endtoend way=" + query);
        row.ifPresentOrElse(
                found ->
                        findings.add(new Finding(title, found.score(), found.relativeError(), found.best(), limit, "")),
                () -> unknown(title, limit, "not measured"));
    }

    /** One for each query; none at all where one is not there. */
    private List<Row> rows(String... queries) {
        List<Row> rows = new ArrayList<>();
        for (String query : queries) {
            run.find(query).ifPresent(rows::add);
        }
        return rows.size() == queries.length ? rows : List.of();
    }

    private static double error(Row row) {
        return row.relativeError() * row.score();
    }

    private static double least(Row row, boolean byCpu) {
        Double least = byCpu ? row.cpu() : row.best();
        return least == null ? Double.NaN : least;
    }

    private static double allocated(Row row) {
        return row.allocated() == null ? Double.NaN : row.allocated();
    }

    private static long chunks(Row row) {
        return (row.bytes() + CHUNK - 1) / CHUNK;
    }
}
