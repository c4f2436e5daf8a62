package dev.sluice.bench;

import dev.sluice.testkit.TextTable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
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

    private static final Map<String, List<String>> OF_COMMANDS = TextTable.sections("/dev/sluice/bench/goals.txt");

    private Goals() {}

    /** The goals of the run's command; empty when there are none. */
    static List<Finding> of(Run run) {
        // Where a full run lacks the rows, the goal is told as not measured; the others are made of fewer rows anyway.
        return OF_COMMANDS.getOrDefault(run.commandName(), List.of()).stream()
                .map(line -> judged(run, line.split(" \\| ")))
                .filter(finding -> run.full() || finding.outcome() != Outcome.UNKNOWN)
                .toList();
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
    private static Finding judged(Run run, String[] goal) {
        String[] limits = goal[4].split(" ");
        double limit = Double.parseDouble(limits[run.provenance().jdk().equals("17") ? 0 : limits.length - 1]);
        String[] others = goal[3].isEmpty() ? new String[0] : goal[3].split("; ");
        // One for each query; none at all where one is not there.
        List<Row> rows = new ArrayList<>(run.find(goal[2]).stream().toList());
        boolean wrong = false;
        for (String changes : others) {
            String query = changed(goal[2], changes);
            run.find(query).ifPresent(rows::add);
            wrong |= run.pick(query).anyMatch(Row::wrong);
        }
        boolean fastest = goal[0].equals("fastest");
        if (fastest && !rows.isEmpty()) {
            fastest(run, rows.get(0)).ifPresent(rows::add);
        }
        if (rows.size() <= others.length + (fastest ? 1 : 0)) {
            String why = wrong ? "not judged: the other's result is wrong" : "not measured";
            return new Finding(goal[1], Double.NaN, 0, Double.NaN, limit, why);
        }
        return worked(goal[0], goal[1], rows, limit);
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
            case "time" -> compared(title, row, rows.get(1), limit);
            case "fastest" -> compared(title + ", " + Tables.peer(rows.get(1)), row, rows.get(1), limit);
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

    /** Sluice's time by another, per byte where the bodies differ in size. */
    private static Finding compared(String title, Row sluice, Row other, double limit) {
        double sizes = other.bytes() / (double) sluice.bytes();
        boolean byCpu = sluice.cpu() != null && other.cpu() != null;
        return new Finding(
                title,
                sluice.score() / other.score() * sizes,
                sluice.relativeError() + other.relativeError(),
                least(sluice, byCpu) / least(other, byCpu) * sizes,
                limit,
                "");
    }

    /** {@return the row of the fastest parser of others that reads the same body rightly} */
    private static Optional<Row> fastest(Run run, Row sluice) {
        return run.rows().stream()
                .filter(other -> other.score() != null && !other.wrong() && !other.ofSluice())
                .filter(other -> other.keyOf("peer", "sluice-push").equals(sluice.key()))
                .min(Comparator.comparingDouble(Row::cost));
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
