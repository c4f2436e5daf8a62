package dev.sluice.bench;

import dev.sluice.bench.jmh.WorkerCpu;
import dev.sluice.bench.report.Row;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;

/** What the forks of one figure gave, put together. */
final class ForkResults {
    private static final String ALLOCATION = "gc.alloc.rate.norm";

    private final List<BenchmarkResult> forks = new ArrayList<>();
    private final List<Double> means = new ArrayList<>();
    private @Nullable RunResult all;

    /** @param fork of one fork */
    void add(RunResult fork) {
        forks.addAll(fork.getBenchmarkResults());
        means.add(fork.getPrimaryResult().getScore());
        all = new RunResult(fork.getParams(), forks);
    }

    /** What was measured counts no more. */
    void clear() {
        means.clear();
    }

    /** {@return the row of the figure; without a score where there is none} */
    Row row(Trial trial, long bytes, long parts, @Nullable String note) {
        if (means.isEmpty()) {
            return new Row(
                    trial.table(),
                    trial.benchmark(),
                    trial.params(),
                    "us/op",
                    null,
                    null,
                    null,
                    null,
                    0,
                    null,
                    bytes,
                    parts,
                    note);
        }
        Result<?> primary = all.getPrimaryResult();
        Result<?> cpu = all.getSecondaryResults().get(WorkerCpu.NAME);
        Result<?> allocation = all.getSecondaryResults().get(ALLOCATION);
        String unit = primary.getScoreUnit();
        // JMH takes the iterations of all forks for one sample; what differs from fork to fork may be larger than that
        // says.
        double pooled = primary.getScoreError();
        return new Row(
                trial.table(),
                trial.benchmark(),
                trial.params(),
                unit,
                primary.getScore(),
                Double.isNaN(pooled) ? null : (Double) Math.max(pooled, halfRange(means)),
                primary.getStatistics().getMin(),
                cpu == null ? null : (Double) (cpu.getStatistics().getMin() / (unit.equals("us/op") ? 1e3 : 1)),
                (int) primary.getSampleCount(),
                allocation == null ? null : (Double) allocation.getScore(),
                bytes,
                parts,
                note);
    }

    static double halfRange(List<Double> means) {
        return (Collections.max(means) - Collections.min(means)) / 2;
    }
}
