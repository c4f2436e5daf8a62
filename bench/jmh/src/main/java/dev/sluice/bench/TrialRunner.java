package dev.sluice.bench;

import dev.sluice.bench.jmh.FastThreads;
import dev.sluice.bench.jmh.WorkerCpu;
import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Memory;
import dev.sluice.bench.peer.Peer;
import dev.sluice.bench.peer.PeerKind;
import dev.sluice.bench.peer.Scenario;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.BenchmarkResult;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/**
 * A runner of trials, one fork at a time, with JMH or, for parsers written in Rust, with the program in {@code bench/crates}. It converts
 * the results to rows.
 */
final class TrialRunner {
    /**
     * JVM arguments of every fork. The heap is touched in advance so that page faults are not measured. All parsers run in threads of the
     * class that netty's event loops use: see {@link FastThreads}.
     */
    static final List<String> JVM_ARGS = List.of(
            "-Xms1g",
            "-Xmx1g",
            "-Xmn600m",
            "-XX:+AlwaysPreTouch",
            "-XX:MaxDirectMemorySize=4g",
            "-Dio.netty.leakDetection.level=disabled",
            "-Djmh.executor=CUSTOM",
            "-Djmh.executor.class=" + FastThreads.class.getName());

    /** If the check, which decodes the body twice, takes longer than this, the figure is measured with {@link Effort#SLOW}. */
    private static final long SLOW_NANOS = 2_500_000_000L;

    private final Consumer<String> out;
    private @Nullable Scenario lastScenario;
    private Body lastBody;

    TrialRunner(Consumer<String> out) {
        this.out = out;
    }

    record Step(Trial trial, int fork) {}

    /**
     * Measures all trials and reports the remaining time after each fork. Consecutive trials of a group are measured in
     * turn: one fork of each, then the next fork of each. A temporary slowdown of the machine then affects all of them.
     *
     * @return a row for each figure. If a figure could not be measured, its row has a note instead of a score.
     */
    List<Row> run(List<Trial> trials) {
        List<Step> steps = inTurn(trials);
        Map<String, Figure> figures = new LinkedHashMap<>();
        double left = Trial.seconds(trials);
        double planned = 0;
        long start = System.nanoTime();
        for (int i = 0; i < steps.size(); i++) {
            Trial trial = steps.get(i).trial();
            Figure figure = figures.computeIfAbsent(trial.label(), label -> new Figure(trial));
            double seconds = trial.effort().secondsOfFork();
            figure.measure(steps.get(i).fork());
            planned += seconds;
            left -= seconds;
            double pace = (System.nanoTime() - start) / 1e9 / planned;
            out.accept("[%d/%d, %s left] %s: %s"
                    .formatted(i + 1, steps.size(), minutes(left * pace), trial.label(), figure));
        }
        return figures.values().stream().map(Figure::row).toList();
    }

    static List<Step> inTurn(List<Trial> trials) {
        List<Step> steps = new ArrayList<>();
        for (int from = 0, to; from < trials.size(); from = to) {
            String group = trials.get(from).group();
            for (to = from; to < trials.size() && trials.get(to).group().equals(group); to++) {}
            List<Trial> left = new ArrayList<>(trials.subList(from, to));
            for (int i = 0; !left.isEmpty(); i++) {
                int fork = i;
                left.forEach(trial -> steps.add(new Step(trial, fork)));
                left.removeIf(trial -> trial.effort().forks == fork + 1);
            }
        }
        return steps;
    }

    static String minutes(double seconds) {
        return "%d:%02d".formatted((int) seconds / 60, (int) seconds % 60);
    }

    private Body body(Scenario scenario) {
        if (scenario != lastScenario) {
            lastBody = scenario.body();
            lastScenario = scenario;
        }
        return lastBody;
    }

    /** Returns half the difference between the largest and the smallest mean. */
    static double halfRange(List<Double> means) {
        return (Collections.max(means) - Collections.min(means)) / 2;
    }

    private static double mean(List<Double> values) {
        return values.stream().mapToDouble(value -> value).average().orElseThrow();
    }

    /** The measurements of one figure so far. */
    private final class Figure {
        private final Trial trial;
        private final Map<String, String> params;
        private final List<BenchmarkResult> forks = new ArrayList<>();
        private final List<Double> means = new ArrayList<>();
        private final List<Double> crateTimes = new ArrayList<>();
        private long bytes;
        private long parts;
        private Effort effort;
        private @Nullable RunResult all;
        private @Nullable String note;
        private boolean finished;

        Figure(Trial trial) {
            this.trial = trial;
            this.params = new LinkedHashMap<>(trial.params());
            this.effort = trial.effort();
            if (params.containsKey("scenario")) {
                Body body = body(Scenario.of(params.get("scenario")));
                bytes = body.size();
                if (trial.decodes()) {
                    parts = body.truth().parts();
                    check(body);
                }
            }
        }

        /** Compares the parser's result with the content of the body. */
        private void check(Body body) {
            PeerKind kind = PeerKind.of(params.get("peer"));
            int chunk = Integer.parseInt(params.get("chunk"));
            long start = System.nanoTime();
            try (Peer peer = kind.open(body, chunk, Memory.of(params.get("memory")))) {
                String wrong = kind.wrong(peer, body).orElse(null);
                if (wrong != null && kind.isSluice()) {
                    throw new IllegalStateException("Sluice " + wrong);
                }
                finished = wrong != null && wrong.startsWith("rejects");
                params.put("outcome", wrong == null ? "right" : "wrong");
                note = kind == PeerKind.CHUNKS_ONLY ? null : wrong;
                effort = System.nanoTime() - start > SLOW_NANOS ? Effort.SLOW : effort;
            } catch (RuntimeException e) {
                fail(e);
            }
        }

        /** Discards the measurements and records the root cause. */
        void fail(Exception e) {
            finished = true;
            all = null;
            Throwable cause = e;
            for (Throwable deeper = e; deeper != null; deeper = cause(cause)) {
                cause = deeper;
            }
            note = Row.FAILED + cause.getClass().getSimpleName() + ": " + cause.getMessage();
        }

        /** Returns the cause or, if there is none, the first suppressed exception. JMH reports exceptions of a benchmark as suppressed. */
        private static @Nullable Throwable cause(Throwable e) {
            return e.getCause() != null || e.getSuppressed().length == 0 ? e.getCause() : e.getSuppressed()[0];
        }

        /** Measures another fork, unless the figure is finished. */
        void measure(int fork) {
            if (finished || (fork > 0 && effort.forks == 1)) {
                return;
            }
            try {
                if (trial.ofCrate()) {
                    measureCrate();
                    return;
                }
                RunResult result = new Runner(options().build()).runSingle();
                forks.addAll(result.getBenchmarkResults());
                means.add(result.getPrimaryResult().getScore());
                all = new RunResult(result.getParams(), forks);
            } catch (RunnerException | IOException | RuntimeException e) {
                fail(e);
            }
        }

        private void measureCrate() throws IOException {
            String scenario = params.get("scenario");
            List<Double> times = Crates.fork(
                    params.get("crate"),
                    scenario,
                    body(Scenario.of(scenario)),
                    Integer.parseInt(params.get("chunk")),
                    effort);
            crateTimes.addAll(times);
            means.add(mean(times));
        }

        private ChainedOptionsBuilder options() {
            ChainedOptionsBuilder options = new OptionsBuilder()
                    .include(Pattern.quote("." + trial.benchmark()) + "$")
                    .verbosity(VerboseMode.SILENT)
                    .shouldFailOnError(true)
                    .addProfiler(GCProfiler.class)
                    .addProfiler(WorkerCpu.class)
                    .forks(1)
                    .warmupIterations(effort.warmups)
                    .warmupTime(TimeValue.milliseconds(Effort.MILLIS))
                    .measurementIterations(effort.iterations)
                    .measurementTime(TimeValue.milliseconds(Effort.MILLIS))
                    .timeout(TimeValue.minutes(3));
            params.forEach((name, value) -> options.param(name, value));
            return options.jvmArgs(
                    Stream.concat(JVM_ARGS.stream(), trial.jvmArgs().stream()).toArray(String[]::new));
        }

        Row row() {
            if (note == null && !crateTimes.isEmpty()) {
                return crateRow();
            }
            if (all == null) {
                return Row.without(trial.table(), trial.benchmark(), trial.params(), bytes, parts, note);
            }
            Result<?> primary = all.getPrimaryResult();
            Result<?> cpu = all.getSecondaryResults().get(WorkerCpu.NAME);
            Result<?> allocation = all.getSecondaryResults().get("gc.alloc.rate.norm");
            String unit = primary.getScoreUnit();
            // JMH treats the iterations of all forks as one sample, which underestimates differences between forks.
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

        private Row crateRow() {
            return new Row(
                    trial.table(),
                    trial.benchmark(),
                    trial.params(),
                    "us/op",
                    mean(crateTimes),
                    halfRange(means),
                    Collections.min(crateTimes),
                    null,
                    crateTimes.size(),
                    null,
                    bytes,
                    parts,
                    null);
        }

        @Override
        public String toString() {
            Row row = row();
            String figure = row.score() == null
                    ? "-"
                    : "%,.1f %s ± %.0f %%".formatted(row.score(), row.unit(), 100 * row.relativeError());
            return figure + (row.note() == null ? "" : " (" + row.note() + ")");
        }
    }
}
