package dev.sluice.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One row of an old run beside the same row of a new one.
 *
 * @param key what was measured
 * @param metric which figure of the row
 * @param before the old figure: a time, a ratio of times, or bytes; NaN where there is none
 * @param after the new one; NaN where there is none
 * @param margin relative change that the errors (and the tolerance) allow
 */
public record Comparison(String key, Metric metric, double before, double after, double margin) {

    /** What is compared. */
    public enum Metric {
        TIME,
        ALLOCATED
    }

    /** What a change beyond the margin means. */
    public enum Verdict {
        SAME(false),
        FASTER(false),
        SLOWER(true),
        ALLOCATES_LESS(false),
        ALLOCATES_MORE(true),
        /** The new run has no figure where there must be one. */
        MISSING(true);

        private final boolean failure;

        Verdict(boolean failure) {
            this.failure = failure;
        }

        /** Whether the new run is worse, or cannot be judged. */
        public boolean isFailure() {
            return failure;
        }
    }

    /** What a single figure, whose error nobody knows, may differ by. */
    private static final double UNKNOWN_ERROR = 0.2;

    private static final double ALLOCATION_MARGIN = 0.1;
    /** Fewer bytes than this come and go with what the JVM itself does meanwhile. */
    private static final double ALLOCATION_NOISE = 64;

    public Verdict verdict() {
        if (Double.isNaN(after)) {
            return Verdict.MISSING;
        }
        boolean more = after > before * (1 + margin);
        boolean less = after * (1 + margin) < before;
        if (metric == Metric.ALLOCATED) {
            boolean enough = Math.abs(after - before) > ALLOCATION_NOISE;
            return more && enough ? Verdict.ALLOCATES_MORE : less && enough ? Verdict.ALLOCATES_LESS : Verdict.SAME;
        }
        return more ? Verdict.SLOWER : less ? Verdict.FASTER : Verdict.SAME;
    }

    /** Rows by their times and by what they allocate: for runs on one machine. */
    public static List<Comparison> byTime(Run before, Run after, double tolerance) {
        Map<String, Row> now = byKey(after);
        List<Comparison> comparisons = new ArrayList<>();
        for (Row row : before.rows()) {
            Row same = now.get(row.key());
            if (row.score() != null) {
                double margin = (1 + error(row) + (same == null ? 0 : error(same))) * tolerance - 1;
                comparisons.add(new Comparison(
                        row.key(), Metric.TIME, row.cost(), same == null ? Double.NaN : same.cost(), margin));
                allocation(row, same, comparisons);
            }
        }
        unscored(before, after, comparisons);
        return comparisons;
    }

    /** Sluice's rows by the ratio to the same row of a peer in the same run, and by what they allocate. */
    public static List<Comparison> byRatio(Run before, Run after, String peer, double tolerance) {
        Map<String, Row> old = byKey(before);
        Map<String, Row> now = byKey(after);
        List<Comparison> comparisons = new ArrayList<>();
        for (Row row : before.rows()) {
            Row oldYardstick = old.get(row.keyOf(peer));
            if (!ofSluice(row) || row.score() == null || !scored(oldYardstick)) {
                continue;
            }
            Row same = now.get(row.key());
            Row yardstick = now.get(row.keyOf(peer));
            double ratio = row.score() / oldYardstick.score();
            if (scored(same) && scored(yardstick)) {
                double errors = error(row) + error(same) + error(yardstick) + error(oldYardstick);
                comparisons.add(new Comparison(
                        row.key(), Metric.TIME, ratio, same.score() / yardstick.score(), (1 + errors) * tolerance - 1));
            } else {
                comparisons.add(new Comparison(row.key(), Metric.TIME, ratio, Double.NaN, tolerance - 1));
            }
            allocation(row, same, comparisons);
        }
        unscored(before, after, comparisons);
        return comparisons;
    }

    private static void allocation(Row before, @Nullable Row after, List<Comparison> comparisons) {
        Double old = before.allocated();
        Double now = after == null ? null : after.allocated();
        if (old != null && now != null) {
            comparisons.add(new Comparison(before.key(), Metric.ALLOCATED, old, now, ALLOCATION_MARGIN));
        }
    }

    /** Rows of Sluice without a figure that the old run did not have either: what fails from the start fails here too. */
    private static void unscored(Run before, Run after, List<Comparison> comparisons) {
        Map<String, Row> old = byKey(before);
        for (Row row : after.rows()) {
            if (ofSluice(row) && row.score() == null && !scored(old.get(row.key()))) {
                comparisons.add(new Comparison(row.key(), Metric.TIME, Double.NaN, Double.NaN, 0));
            }
        }
    }

    private static boolean ofSluice(Row row) {
        return row.param("peer").startsWith("sluice") || row.param("server").startsWith("sluice");
    }

    private static double error(Row row) {
        Double error = row.error();
        return error == null || error.isNaN() ? UNKNOWN_ERROR : row.relativeError();
    }

    private static boolean scored(@Nullable Row row) {
        return row != null && row.score() != null;
    }

    private static Map<String, Row> byKey(Run run) {
        Map<String, Row> rows = new LinkedHashMap<>();
        for (Row row : run.rows()) {
            rows.put(row.key(), row);
        }
        return rows;
    }

    @Override
    public String toString() {
        String unit = metric == Metric.ALLOCATED ? " bytes" : "";
        return verdict() == Verdict.MISSING
                ? String.format(Locale.ROOT, "%s %s: %.4g -> no figure", verdict(), key, before)
                : String.format(
                        Locale.ROOT,
                        "%s %s: %.4g -> %.4g%s (x %.2f, margin x %.2f)",
                        verdict(),
                        key,
                        before,
                        after,
                        unit,
                        after / before,
                        1 + margin);
    }
}
