package dev.sluice.bench.report;

import dev.sluice.testkit.TextTable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** What Sluice is to reach, as the table {@code goals.txt} says, worked out from what a run holds. */
final class Goals {
    static final String COLUMNS =
            "| what | measured | least disturbed iterations | goal | reached |\n|---|---:|---:|---:|---|\n";

    private static final int CHUNK = 8 * 1024;

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
            String least = Double.isNaN(best) ? "-" : Tables.ratio(best);
            return "| %s | %s | %s | %s | %s%s |\n"
                    .formatted(title, figure(), least, number(limit), outcome().text, unknown);
        }

        private String figure() {
            if (Double.isNaN(measured)) {
                return "-";
            }
            if (Double.isInfinite(error)) {
                return number(measured) + ", less than its error";
            }
            return number(measured) + (error == 0 ? "" : Tables.format(" ± %.0f %%", 100 * error));
        }

        private static String number(double figure) {
            return figure == 0 ? "0" : Tables.ratio(figure);
        }
    }

    private static final List<String> LINES = TextTable.lines("/dev/sluice/bench/report/goals.txt");

    private final Run run;
    private final List<Finding> findings = new ArrayList<>();

    private Goals(Run run) {
        this.run = run;
    }

    /** The goals of the run's command; empty when there are none. */
    static List<Finding> of(Run run) {
        Goals goals = new Goals(run);
        String section = "";
        for (String line : LINES) {
            if (line.startsWith("[")) {
                section = line.substring(1, line.length() - 1);
            } else if (section.equals(run.commandName())) {
                goals.judge(line.split(" \\| "));
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

    /** @param goal as it stands in the table */
    private void judge(String[] goal) {
        String title = goal[1];
        String[] limits = goal[4].split(" ");
        boolean java17 = run.provenance().jdk().equals("17");
        double limit = Double.parseDouble(limits[java17 ? 0 : limits.length - 1]);
        List<String> queries = new ArrayList<>(List.of(goal[2]));
        for (String changes : goal[3].isEmpty() ? new String[0] : goal[3].split("; ")) {
            queries.add(changed(goal[2], changes));
        }
        switch (goal[0]) {
            case "time" -> time(title, queries.get(0), queries.get(1), limit);
            case "fastest" -> fastest(title, queries.get(0), limit);
            default -> {
                // One for each query; none at all where one is not there.
                List<Row> rows = queries.stream()
                        .flatMap(query -> run.find(query).stream())
                        .toList();
                if (rows.size() < queries.size()) {
                    unknown(title, limit, "not measured");
                } else {
                    findings.add(worked(goal[0], title, rows, limit));
                }
            }
        }
    }

    /** The query with other values for some parameters. */
    private static String changed(String query, String changes) {
        String changed = query;
        for (String change : changes.split(" ")) {
            String name = change.substring(0, change.indexOf('=') + 1);
            changed = changed.contains(" " + name)
                    ? changed.replaceFirst(" " + name + "\\S*", " " + change)
                    : changed + " " + change;
        }
        return changed;
    }

    private static Finding worked(String how, String title, List<Row> rows, double limit) {
        Row row = rows.get(0);
        return switch (how) {
            case "beyond" -> beyondControl(title, rows, limit);
            case "measured" -> new Finding(title, row.score(), row.relativeError(), row.best(), limit, "");
            case "records-per-chunk" ->
                counted(title, (row.score() - rows.get(1).score()) / chunks(row), limit);
            case "records-per-part" ->
                counted(title, Math.max(0, row.score() - rows.get(1).score() - chunks(row)) / row.parts(), limit);
            case "bytes-per-chunk" ->
                counted(title, (allocated(row) - allocated(rows.get(1))) / (chunks(row) - 1), limit);
            case "bytes-per-part" -> counted(title, allocated(row) / row.parts(), limit);
            default -> throw new IllegalArgumentException(how);
        };
    }

    private static Finding counted(String title, double figure, double limit) {
        return new Finding(title, figure, 0, Double.NaN, limit, "");
    }

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
                .filter(other -> other.keyOf("peer", "sluice-push").equals(row.key()))
                .min(Comparator.comparingDouble(Row::cost)));
        if (theirs.isPresent()) {
            compared(title + ", " + Tables.peer(theirs.get()), mine.get(), theirs.get(), limit);
        } else {
            unknown(title, limit, "not measured");
        }
    }

    /** The ratio of two times, from each of which the time of the control is taken away. */
    private static Finding beyondControl(String title, List<Row> rows, double limit) {
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
        return new Finding(title, above / below, error, best, limit, "");
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
