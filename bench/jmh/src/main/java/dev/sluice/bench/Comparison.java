package dev.sluice.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The comparison of a figure of an old run with the same figure of a new run. A missing figure is NaN.
 *
 * @param bytes whether the figure is the number of allocated bytes, not a time
 * @param margin the relative change that measurement errors can explain
 */
record Comparison(String key, boolean bytes, double before, double after, double margin) {
    enum Verdict {
        SAME,
        FASTER,
        SLOWER,
        ALLOCATES_LESS,
        ALLOCATES_MORE,
        /** The figure is missing in the new run. */
        MISSING;

        /** Returns whether the new run is worse or cannot be compared. */
        boolean isFailure() {
            return this == SLOWER || this == ALLOCATES_MORE || this == MISSING;
        }
    }

    /** The assumed relative error of a single measurement. */
    private static final double UNKNOWN_ERROR = 0.2;

    private static final double ALLOCATION_MARGIN = 0.1;
    /** Changes of up to this many bytes are ignored, because the JVM itself allocates during a measurement. */
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

    /** Compares the times and allocations of two runs on the same machine. */
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
        // Rows of Sluice that are new and could not be measured are failures too.
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
