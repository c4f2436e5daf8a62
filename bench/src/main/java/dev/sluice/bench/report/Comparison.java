package dev.sluice.bench.report;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One row of an old run beside the same row of a new one.
 *
 * @param key what was measured
 * @param before the old figure: a time, or a ratio of times
 * @param after the new one
 * @param margin relative change that the errors (and the tolerance) allow
 */
public record Comparison(String key, double before, double after, double margin) {

    /** What a change beyond the margin means. */
    public enum Verdict {
        SAME,
        FASTER,
        SLOWER
    }

    public Verdict verdict() {
        double factor = after / before;
        if (factor > 1 + margin) {
            return Verdict.SLOWER;
        }
        return factor < 1 / (1 + margin) ? Verdict.FASTER : Verdict.SAME;
    }

    /** Rows by their times: for runs on one machine. */
    public static List<Comparison> byTime(Run before, Run after, double tolerance) {
        Map<String, Row> old = byKey(before);
        List<Comparison> comparisons = new ArrayList<>();
        for (Row row : after.rows()) {
            Row same = old.get(row.key());
            if (same != null && same.score() != null && row.score() != null) {
                double margin = (1 + same.relativeError() + row.relativeError()) * tolerance - 1;
                comparisons.add(new Comparison(row.key(), same.cost(), row.cost(), margin));
            }
        }
        return comparisons;
    }

    /** Sluice's rows by the ratio to the same row of a peer in the same run. */
    public static List<Comparison> byRatio(Run before, Run after, String peer, double tolerance) {
        Map<String, Row> old = byKey(before);
        Map<String, Row> now = byKey(after);
        List<Comparison> comparisons = new ArrayList<>();
        for (Row row : after.rows()) {
            if (!row.param("peer").startsWith("sluice")) {
                continue;
            }
            Row same = old.get(row.key());
            Row yardstick = now.get(row.keyOf(peer));
            Row oldYardstick = old.get(row.keyOf(peer));
            if (scored(row) && scored(same) && scored(yardstick) && scored(oldYardstick)) {
                double errors = row.relativeError()
                        + same.relativeError()
                        + yardstick.relativeError()
                        + oldYardstick.relativeError();
                comparisons.add(new Comparison(
                        row.key(),
                        same.score() / oldYardstick.score(),
                        row.score() / yardstick.score(),
                        (1 + errors) * tolerance - 1));
            }
        }
        return comparisons;
    }

    private static boolean scored(@Nullable Row row) {
        return row != null && row.score() != null;
    }

    private static Map<String, Row> byKey(Run run) {
        Map<String, Row> rows = new HashMap<>();
        for (Row row : run.rows()) {
            rows.put(row.key(), row);
        }
        return rows;
    }

    @Override
    public String toString() {
        return String.format(
                Locale.ROOT,
                "%s %s: %.4g -> %.4g (x %.2f, margin x %.2f)",
                verdict(),
                key,
                before,
                after,
                after / before,
                1 + margin);
    }
}
