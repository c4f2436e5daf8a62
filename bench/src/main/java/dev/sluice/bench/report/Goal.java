package dev.sluice.bench.report;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** A figure of Sluice that must not be above a limit. */
interface Goal {

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

        Finding(String title, double measured, double error, double best, double limit) {
            this(title, measured, error, best, limit, "");
        }

        static Finding notMeasured(String title, double limit, String why) {
            return new Finding(title, Double.NaN, 0, Double.NaN, limit, why);
        }

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
            String best = Double.isNaN(best()) ? "-" : Tables.ratio(best());
            return "| %s | %s | %s | %s | %s |\n"
                    .formatted(title, figure(), best, number(limit()), outcome().text + unknown);
        }

        private String figure() {
            if (outcome() == Outcome.UNKNOWN) {
                return "-";
            }
            if (Double.isInfinite(error)) {
                return number(measured) + ", less than its error";
            }
            return number(measured) + (error() == 0 ? "" : String.format(Locale.ROOT, " ± %.0f %%", 100 * error()));
        }

        private static String number(double figure) {
            return figure == 0 ? "0" : Tables.ratio(figure);
        }
    }

    /** What the scenarios are cut into where nothing else is said. */
    int CHUNK = 8 * 1024;

    String title();

    double limit();

    /** {@return what the figure must not be above on the run's JVM} */
    default double limitIn(Run run) {
        return limit();
    }

    /** Why a run has no figure for it. */
    default String whyNot(Run run) {
        return "not measured";
    }

    /** {@return nothing where the run does not hold the rows that are needed} */
    Optional<Finding> in(Run run);

    /**
     * Sluice's time by another, per byte where the bodies differ in size.
     *
     * @param limit on JDK 17
     * @param laterLimit on newer ones
     */
    record Time(String title, Pick sluice, Pick other, double limit, double laterLimit) implements Goal {

        Time(String title, Pick sluice, Pick other, double limit) {
            this(title, sluice, other, limit, limit);
        }

        @Override
        public double limitIn(Run run) {
            return run.jvm().getOrDefault("version", "").startsWith("17.") ? limit : laterLimit;
        }

        @Override
        public String whyNot(Run run) {
            return other.wrongIn(run) ? "not judged: the other's result is wrong" : Goal.super.whyNot(run);
        }

        @Override
        public Optional<Finding> in(Run run) {
            return sluice.in(run)
                    .flatMap(mine -> other.in(run).map(theirs -> compared(title, mine, theirs, limitIn(run))));
        }
    }

    /** Sluice's time by that of the fastest parser of others that reads the body rightly. */
    record Fastest(String title, Pick sluice, double limit) implements Goal {

        @Override
        public Optional<Finding> in(Run run) {
            return sluice.in(run)
                    .flatMap(mine -> run.rows().stream()
                            .filter(row -> row.score() != null
                                    && !row.wrong()
                                    && !row.param("peer").startsWith("sluice")
                                    && row.keyOf(mine.param("peer")).equals(mine.key()))
                            .min(Comparator.comparingDouble(Tables::score))
                            .map(row -> compared(title + ", " + Tables.peer(row), mine, row, limit)));
        }
    }

    /** The ratio of two times, from each of which the time of a control is taken away. */
    record TimeBeyond(String title, Pick sluice, Pick control, Pick other, Pick otherControl, double limit)
            implements Goal {

        @Override
        public Optional<Finding> in(Run run) {
            List<Optional<Row>> found = List.of(sluice.in(run), control.in(run), other.in(run), otherControl.in(run));
            if (found.stream().anyMatch(Optional::isEmpty)) {
                return Optional.empty();
            }
            List<Row> rows = found.stream().map(Optional::orElseThrow).toList();
            double above = Tables.score(rows.get(0)) - Tables.score(rows.get(1));
            double below = Tables.score(rows.get(2)) - Tables.score(rows.get(3));
            double errorAbove = error(rows.get(0)) + error(rows.get(1));
            double errorBelow = error(rows.get(2)) + error(rows.get(3));
            // A difference that is not larger than its error may as well be none, and nothing can be divided by it.
            boolean lost = above <= errorAbove || below <= errorBelow;
            double error = lost ? Double.POSITIVE_INFINITY : errorAbove / above + errorBelow / below;
            boolean cpu = rows.stream().allMatch(row -> row.cpu() != null);
            double best = (least(rows.get(0), cpu) - least(rows.get(1), cpu))
                    / (least(rows.get(2), cpu) - least(rows.get(3), cpu));
            return Optional.of(new Finding(title, above / below, error, best, limit));
        }

        private static double least(Row row, boolean byCpu) {
            Double cpu = row.cpu();
            return byCpu && cpu != null ? cpu : Tables.best(row);
        }

        private static double error(Row row) {
            return row.relativeError() * Tables.score(row);
        }
    }

    /** Bytes allocated for each part. */
    record AllocationPerPart(String title, Pick sluice, double limit) implements Goal {

        @Override
        public Optional<Finding> in(Run run) {
            return sluice.in(run)
                    .filter(row -> row.allocated() != null && row.parts() > 0)
                    .map(row -> counted(title, Tables.allocation(row) / row.parts(), limit));
        }
    }

    /** Bytes allocated for each chunk beyond the one that the whole body makes when it is not cut. */
    record AllocationPerChunk(String title, Pick cut, Pick whole, double limit) implements Goal {

        @Override
        public Optional<Finding> in(Run run) {
            return cut.in(run)
                    .filter(row -> row.allocated() != null && chunks(row) > 1)
                    .flatMap(row -> whole.in(run)
                            .filter(other -> other.allocated() != null)
                            .map(other -> counted(
                                    title,
                                    (Tables.allocation(row) - Tables.allocation(other)) / (chunks(row) - 1),
                                    limit)));
        }
    }

    /** Leak records beyond those that taking and releasing the chunks leaves, per chunk. */
    record RecordsPerChunk(String title, Pick sluice, Pick control, double limit) implements Goal {

        @Override
        public Optional<Finding> in(Run run) {
            return sluice.in(run)
                    .flatMap(mine -> control.in(run)
                            .map(chunksOnly -> counted(title, beyond(mine, chunksOnly) / chunks(mine), limit)));
        }
    }

    /** Leak records beyond one for each chunk, per part. */
    record RecordsPerPart(String title, Pick sluice, Pick control, double limit) implements Goal {

        @Override
        public Optional<Finding> in(Run run) {
            return sluice.in(run)
                    .flatMap(mine -> control.in(run)
                            .map(chunksOnly -> counted(
                                    title,
                                    Math.max(0, beyond(mine, chunksOnly) - chunks(mine)) / mine.parts(),
                                    limit)));
        }
    }

    /** A ratio that was measured as such. */
    record Measured(String title, Pick row, double limit) implements Goal {

        @Override
        public Optional<Finding> in(Run run) {
            return row.in(run)
                    .map(found ->
                            new Finding(title, Tables.score(found), found.relativeError(), Tables.best(found), limit));
        }
    }

    private static double beyond(Row row, Row control) {
        return Tables.score(row) - Tables.score(control);
    }

    private static long chunks(Row row) {
        return (row.bytes() + CHUNK - 1) / CHUNK;
    }

    private static Finding counted(String title, double figure, double limit) {
        return new Finding(title, figure, 0, Double.NaN, limit);
    }

    private static Finding compared(String title, Row sluice, Row other, double limit) {
        double sizes = other.bytes() / (double) sluice.bytes();
        return new Finding(
                title,
                Tables.score(sluice) / Tables.score(other) * sizes,
                sluice.relativeError() + other.relativeError(),
                Tables.leastDisturbed(sluice, other) * sizes,
                limit);
    }
}
