package dev.sluice.bench;

import dev.sluice.bench.jmh.FastThreads;
import dev.sluice.bench.jmh.WorkerCpu;
import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Memory;
import dev.sluice.bench.peer.Peer;
import dev.sluice.bench.peer.PeerKind;
import dev.sluice.bench.peer.Scenario;
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

/** Runs trials with JMH, one fork at a time, and turns what comes back into rows. */
final class TrialRunner {
    /**
     * A young generation of 600 MiB of 1 GiB, touched beforehand so that page faults are not measured; and threads like
     * those of netty's event loops, for all parsers alike.
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

    /** A check, which decodes twice, longer than this says that one operation fills an iteration. */
    private static final long SLOW_NANOS = 2_500_000_000L;

    private final Consumer<String> out;
    private @Nullable Scenario lastScenario;
    private Body lastBody;

    TrialRunner(Consumer<String> out) {
        this.out = out;
    }

    record Step(Trial trial, int fork) {}

    /**
     * Measures all trials. Those of a group that follow one another are measured in turn, a fork of each, then the next fork
     * of each, so that what slows the machine down for a while slows all of them down. After each fork it tells how long the
     * rest will take.
     *
     * @return a row for each figure; without a score, and with a note, for one that could not be measured
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

    /** Of the greatest and the least. */
    static double halfRange(List<Double> means) {
        return (Collections.max(means) - Collections.min(means)) / 2;
    }

    /** What is known of one figure so far. */
    private final class Figure {
        private final Trial trial;
        private final Map<String, String> params;
        private final List<BenchmarkResult> forks = new ArrayList<>();
        private final List<Double> means = new ArrayList<>();
        private long bytes;
        private long parts;
        private Effort effort;
        private @Nullable RunResult all;
        private @Nullable String note;
        private boolean over;

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

        /** Looks what the parser makes of the body. */
        private void check(Body body) {
            PeerKind kind = PeerKind.of(params.get("peer"));
            int chunk = Integer.parseInt(params.get("chunk"));
            long start = System.nanoTime();
            try (Peer peer = kind.open(body, chunk, Memory.of(params.get("memory")))) {
                String wrong = kind.wrong(peer, body).orElse(null);
                if (wrong != null && kind.isSluice()) {
                    throw new IllegalStateException("Sluice " + wrong);
                }
                over = wrong != null && wrong.startsWith("refuses");
                params.put("outcome", wrong == null ? "right" : "wrong");
                note = kind == PeerKind.CHUNKS_ONLY ? null : wrong;
                effort = System.nanoTime() - start > SLOW_NANOS ? Effort.SLOW : effort;
            } catch (RuntimeException e) {
                fail(e);
            }
        }

        /** What was measured counts no more. */
        void fail(Exception e) {
            over = true;
            all = null;
            Throwable cause = e;
            for (Throwable deeper = e; deeper != null; deeper = cause(cause)) {
                cause = deeper;
            }
            note = Row.FAILED + cause.getClass().getSimpleName() + ": " + cause.getMessage();
        }

        /** JMH keeps what a benchmark has thrown among the suppressed. */
        private static @Nullable Throwable cause(Throwable e) {
            return e.getCause() != null || e.getSuppressed().length == 0 ? e.getCause() : e.getSuppressed()[0];
        }

        /** Measures one fork more, unless there is nothing more to be measured. */
        void measure(int fork) {
            if (over || (fork > 0 && effort.forks == 1)) {
                return;
            }
            try {
                RunResult result = new Runner(options().build()).runSingle();
                forks.addAll(result.getBenchmarkResults());
                means.add(result.getPrimaryResult().getScore());
                all = new RunResult(result.getParams(), forks);
            } catch (RunnerException | RuntimeException e) {
                fail(e);
            }
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

        /** {@return the row of the figure; without a score where there is none} */
        Row row() {
            if (all == null) {
                return Row.without(trial.table(), trial.benchmark(), trial.params(), bytes, parts, note);
            }
            Result<?> primary = all.getPrimaryResult();
            Result<?> cpu = all.getSecondaryResults().get(WorkerCpu.NAME);
            Result<?> allocation = all.getSecondaryResults().get("gc.alloc.rate.norm");
            String unit = primary.getScoreUnit();
            // JMH takes the iterations of all forks for one sample; what differs from fork to fork may be larger than
            // that says.
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
