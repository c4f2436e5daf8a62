package dev.sluice.bench;

import dev.sluice.bench.body.Body;
import dev.sluice.bench.body.Scenario;
import dev.sluice.bench.jmh.WorkerCpu;
import dev.sluice.bench.peer.Memory;
import dev.sluice.bench.peer.Peer;
import dev.sluice.bench.peer.PeerKind;
import dev.sluice.bench.peer.Verdict;
import dev.sluice.bench.report.Row;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Runs trials with JMH, one at a time, and turns what comes back into rows. */
final class TrialRunner {

    /** A small young generation touched beforehand, so that page faults are not measured. */
    static final List<String> JVM_ARGS = List.of(
            "-Xms1g",
            "-Xmx1g",
            "-Xmn600m",
            "-XX:+AlwaysPreTouch",
            "-XX:MaxDirectMemorySize=4g",
            "-Dio.netty.leakDetection.level=disabled");

    /** A check, which decodes twice, longer than this says that one operation fills an iteration. */
    private static final long SLOW_NANOS = 2_500_000_000L;

    private static final String ALLOCATION = "gc.alloc.rate.norm";

    private final Consumer<String> out;
    private @Nullable Scenario lastScenario;
    private @Nullable Body lastBody;

    TrialRunner(Consumer<String> out) {
        this.out = out;
    }

    /** Measures all trials in their order, telling after each how long the rest will take. */
    List<Row> run(List<Trial> trials) throws RunnerException {
        double left = 0;
        for (Trial trial : trials) {
            left += trial.effort().seconds();
        }
        double pace = 1;
        double planned = 0;
        long start = System.nanoTime();
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < trials.size(); i++) {
            Trial trial = trials.get(i);
            Row row = measure(trial);
            rows.add(row);
            planned += trial.effort().seconds();
            left -= trial.effort().seconds();
            pace = (System.nanoTime() - start) / 1e9 / planned;
            out.accept("[%d/%d, %s left] %s: %s"
                    .formatted(i + 1, trials.size(), minutes(left * pace), trial.label(), figure(row)));
        }
        return rows;
    }

    private static String minutes(double seconds) {
        return "%d:%02d".formatted((int) seconds / 60, (int) seconds % 60);
    }

    private static String figure(Row row) {
        String note = row.note() == null ? "" : " (" + row.note() + ")";
        if (row.score() == null) {
            return "-" + note;
        }
        return "%,.1f %s ± %.0f %%%s".formatted(row.score(), row.unit(), 100 * row.relativeError(), note);
    }

    private Row measure(Trial trial) throws RunnerException {
        if (!trial.decodes()) {
            Map<String, String> params = trial.params();
            long octets = params.containsKey("scenario")
                    ? body(Scenario.of(params.get("scenario"))).size()
                    : 0;
            return jmh(trial, params, octets, 0, null);
        }
        Scenario scenario = Scenario.of(trial.params().get("scenario"));
        Body body = body(scenario);
        PeerKind kind = PeerKind.of(trial.params().get("peer"));
        Map<String, String> params = new HashMap<>(trial.params());
        long start = System.nanoTime();
        Optional<String> wrong = verdict(kind, body, trial);
        boolean slow = System.nanoTime() - start > SLOW_NANOS;
        if (wrong.isPresent() && wrong.get().startsWith("refuses")) {
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
                    body.size(),
                    body.truth().parts(),
                    wrong.get());
        }
        params.put("outcome", wrong.isPresent() ? "wrong" : "right");
        return jmh(
                slow ? trial.with(trial.effort().forSlowOperations()) : trial,
                params,
                body.size(),
                body.truth().parts(),
                kind == PeerKind.CHUNKS_ONLY ? null : wrong.orElse(null));
    }

    private static Optional<String> verdict(PeerKind kind, Body body, Trial trial) {
        int chunk = Integer.parseInt(trial.params().get("chunk"));
        Memory memory = Memory.of(trial.params().get("memory"));
        try (Peer peer = kind.open(body, chunk, memory)) {
            Optional<String> wrong = Verdict.against(peer, body);
            if (wrong.isPresent() && kind.isSluice()) {
                throw new IllegalStateException("Sluice " + wrong.get() + ": " + trial.params());
            }
            return wrong;
        }
    }

    private Body body(Scenario scenario) {
        Body body = lastBody;
        if (body == null || scenario != lastScenario) {
            body = scenario.body();
            lastBody = body;
            lastScenario = scenario;
        }
        return body;
    }

    private static Row jmh(Trial trial, Map<String, String> params, long octets, long parts, @Nullable String note)
            throws RunnerException {
        Effort effort = trial.effort();
        ChainedOptionsBuilder options = new OptionsBuilder()
                .include("^dev\\.sluice\\.bench\\.jmh\\." + Pattern.quote(trial.benchmark()) + "$")
                .verbosity(VerboseMode.SILENT)
                .shouldFailOnError(true)
                .addProfiler(GCProfiler.class)
                .addProfiler(WorkerCpu.class)
                .forks(effort.forks())
                .warmupIterations(effort.warmups())
                .warmupTime(TimeValue.milliseconds(effort.millis()))
                .measurementIterations(effort.iterations())
                .measurementTime(TimeValue.milliseconds(effort.millis()))
                .timeout(TimeValue.minutes(3));
        params.forEach((name, value) -> options.param(name, value));
        List<String> args = new ArrayList<>(JVM_ARGS);
        args.addAll(trial.jvmArgs());
        options.jvmArgs(args.toArray(String[]::new));
        Collection<RunResult> results = new Runner(options.build()).run();
        RunResult result = results.iterator().next();
        Result<?> primary = result.getPrimaryResult();
        Result<?> allocation = result.getSecondaryResults().get(ALLOCATION);
        Result<?> cpu = result.getSecondaryResults().get(WorkerCpu.NAME);
        double error = primary.getScoreError();
        return new Row(
                trial.table(),
                trial.benchmark(),
                trial.params(),
                primary.getScoreUnit(),
                primary.getScore(),
                Double.isNaN(error) ? null : error,
                primary.getStatistics().getMin(),
                cpu == null
                        ? null
                        : cpu.getStatistics().getMin() / (primary.getScoreUnit().equals("us/op") ? 1e3 : 1),
                (int) primary.getSampleCount(),
                allocation == null ? null : allocation.getScore(),
                octets,
                parts,
                note);
    }
}
