package dev.sluice.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * One row of an old run beside the same row of a new one: times, or bytes; NaN where there is no figure.
 *
 * @param bytes whether it is what is allocated, not time
 * @param margin relative change that the errors allow
 */
record Comparison(String key, boolean bytes, double before, double after, double margin) {
    /** What a change beyond the margin means. */
    enum Verdict {
        SAME,
        FASTER,
        SLOWER,
        ALLOCATES_LESS,
        ALLOCATES_MORE,
        /** The new run has no figure where there must be one. */
        MISSING;

        /** Whether the new run is worse, or cannot be judged. */
        boolean isFailure() {
            return this == SLOWER || this == ALLOCATES_MORE || this == MISSING;
        }
    }

    /** What a single figure, whose error nobody knows, may differ by. */
    private static final double UNKNOWN_ERROR = 0.2;

    private static final double ALLOCATION_MARGIN = 0.1;
    /** Fewer bytes than this come and go with what the JVM itself does meanwhile. */
    private static final double ALLOCATION_NOISE = 64;

    Verdict verdict() {
        if (Double.isNaN(after)) {
            return Verdict.MISSING;
        }
        if (bytes && Math.abs(after - before) <= ALLOCATION_NOISE) {
            return Verdict.SAME;
        }
        if (after > before * (1 + margin)) {
            return bytes ? Verdict.ALLOCATES_MORE : Verdict.SLOWER;
        }
        return after * (1 + margin) >= before ? Verdict.SAME : bytes ? Verdict.ALLOCATES_LESS : Verdict.FASTER;
    }

    /** Compares the rows of two runs by their times and by what they allocate: both of one machine. */
    static List<Comparison> of(Run before, Run after) {
        Map<String, Row> old = before.byKey();
        Map<String, Row> now = after.byKey();
        List<Comparison> comparisons = new ArrayList<>();
        for (Row row : before.rows()) {
            Row same = now.get(row.key());
            if (row.score() == null) {
                continue;
            }
            double margin = error(row) + (same == null ? 0 : error(same));
            comparisons.add(new Comparison(row.key(), false, row.cost(), cost(same), margin));
            if (row.allocated() != null && same != null && same.allocated() != null) {
                comparisons.add(new Comparison(row.key(), true, row.allocated(), same.allocated(), ALLOCATION_MARGIN));
            }
        }
        // Rows of Sluice without a figure that the old run did not have either: what fails from the start fails here
        // too.
        for (Row row : after.rows()) {
            if (row.ofSluice() && row.score() == null && Double.isNaN(cost(old.get(row.key())))) {
                comparisons.add(new Comparison(row.key(), false, Double.NaN, Double.NaN, 0));
            }
        }
        return comparisons;
    }

    private static double error(Row row) {
        return row.error() == null || row.error().isNaN() ? UNKNOWN_ERROR : row.relativeError();
    }

    private static double cost(@Nullable Row row) {
        return row == null ? Double.NaN : row.cost();
    }

    @Override
    public String toString() {
        String start = Tables.format("%s %s: %.4g -> ", verdict(), key, before);
        String unit = bytes ? " bytes" : "";
        return verdict() == Verdict.MISSING
                ? start + "no figure"
                : start + Tables.format("%.4g%s (x %.2f, margin x %.2f)", after, unit, after / before, 1 + margin);
    }
}
