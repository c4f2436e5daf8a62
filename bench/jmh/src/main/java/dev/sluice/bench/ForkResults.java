package dev.sluice.bench;

import dev.sluice.bench.jmh.WorkerCpu;
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

    int count() {
        return means.size();
    }

    private Result<?> primary() {
        return all.getPrimaryResult();
    }

    String unit() {
        return primary().getScoreUnit();
    }

    double score() {
        return primary().getScore();
    }

    double best() {
        return primary().getStatistics().getMin();
    }

    int samples() {
        return (int) primary().getSampleCount();
    }

    /** JMH takes the iterations of all forks for one sample; what differs from fork to fork may be larger than that says. */
    @Nullable
    Double error() {
        double pooled = primary().getScoreError();
        return Double.isNaN(pooled) ? null : (Double) Math.max(pooled, halfRange(means));
    }

    static double halfRange(List<Double> means) {
        return (Collections.max(means) - Collections.min(means)) / 2;
    }

    /** In the unit of the score. */
    @Nullable
    Double cpu() {
        Result<?> cpu = all.getSecondaryResults().get(WorkerCpu.NAME);
        return cpu == null ? null : (Double) (cpu.getStatistics().getMin() / (unit().equals("us/op") ? 1e3 : 1));
    }

    @Nullable
    Double allocated() {
        Result<?> allocation = all.getSecondaryResults().get(ALLOCATION);
        return allocation == null ? null : (Double) allocation.getScore();
    }
}
