package dev.sluice.bench;

import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Scenario;
import dev.sluice.bench.peer.Truth;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import org.openjdk.jmh.util.ListStatistics;

/**
 * The {@code endtoend} command: an HTTP server in each {@link Variant} under load. Every variant has its own JVM. All
 * of them run at once and get their requests in turn, so a disturbance of the machine affects all of them.
 */
final class EndToEnd implements ServerBench {
    private static final int WARM_UPS = 2;
    private static final double START_SECONDS = 8;
    private static final int MAX_SECONDS = 32;
    private static final double CONFIDENCE = 0.999;
    private static final double MIB = 1 << 20;

    /** The load of one round: a number of requests from {@link Sender}, or a number of seconds of requests from {@link LoadTool}. */
    record Load(Scenario scenario, int connections, int requests, int seconds) {
        /** Creates a load of a number of bodies over one connection. */
        static Load sent(Scenario scenario, int requests) {
            return new Load(scenario, 1, requests, 0);
        }

        static Load lasting(Scenario scenario, int connections, int seconds) {
            return new Load(scenario, connections, 0, seconds);
        }

        boolean byTool() {
            return seconds > 0;
        }

        String label() {
            return scenario.id() + ", " + connections + (connections == 1 ? " connection" : " connections");
        }

        /** Returns the expected duration of one round in seconds. */
        double expectedSeconds() {
            return byTool() ? seconds + 0.2 : requests * scenario.body().size() / 4e9;
        }
    }

    /**
     * The result of one round.
     *
     * @param requests the number of successful requests
     * @param seconds the duration as measured by the client
     * @param bytes the number of body bytes that the server received
     * @param sent the size of each body
     * @param peakBytes the peak of the server's resident set
     */
    private record Round(
            long requests, double seconds, double cpuSeconds, long bytes, long sent, long peakBytes, long directBytes) {
        double perSecond() {
            return requests / seconds;
        }

        double throughput() {
            return requests * sent / MIB / seconds;
        }

        double cpu() {
            return cpuSeconds * 1e3 / (bytes / MIB);
        }
    }

    private final List<Variant> variants;
    private final List<Load> loads;
    private final int rounds;
    private final Consumer<String> out;
    private final boolean tool = LoadTool.isInstalled();

    /** @param out receives progress messages */
    EndToEnd(boolean quick, Consumer<String> out) {
        this(List.of(Variant.values()), loads(quick ? 1 : 2), quick ? 3 : 7, out);
    }

    /** @param variants the variants to measure, including {@link Variant#DISCARD} */
    EndToEnd(List<Variant> variants, List<Load> loads, int rounds, Consumer<String> out) {
        this.variants = variants;
        this.loads = loads;
        this.rounds = rounds;
        this.out = out;
    }

    private static List<Load> loads(int seconds) {
        return List.of(
                Load.sent(Scenario.RANDOM_1G, 2 * seconds),
                Load.sent(Scenario.FIELDS_100, 2000 * seconds),
                Load.lasting(Scenario.FORM, 1, seconds),
                Load.lasting(Scenario.FORM, 100, seconds),
                Load.lasting(Scenario.FORM, 1_000, seconds),
                Load.lasting(Scenario.FIELDS_100, 100, seconds));
    }

    @Override
    public String loadedBy() throws IOException {
        return tool ? LoadTool.version() + " and a socket" : "a socket";
    }

    @Override
    public Plan plan() {
        int servers = variants.size();
        double round = runnable().stream().mapToDouble(Load::expectedSeconds).sum();
        return new Plan(servers * runnable().size() * rounds, START_SECONDS + servers * (WARM_UPS + rounds) * round);
    }

    private List<Load> runnable() {
        return loads.stream().filter(load -> tool || !load.byTool()).toList();
    }

    @Override
    public List<Row> run() throws IOException, InterruptedException {
        if (runnable().size() < loads.size()) {
            out.accept("wrk is not on the PATH: loads that need it are skipped");
        }
        Map<Variant, ServerProcess> servers = new EnumMap<>(Variant.class);
        try {
            for (Variant variant : variants) {
                servers.put(variant, new ServerProcess(List.of(), MeasuredServer.class, variant.id()));
            }
            return measure(servers);
        } finally {
            servers.values().forEach(ServerProcess::close);
        }
    }

    private List<Row> measure(Map<Variant, ServerProcess> servers) throws IOException {
        long start = System.nanoTime();
        List<Row> rows = new ArrayList<>();
        List<Load> all = runnable();
        for (Load load : all) {
            Body body = load.scenario().body();
            for (Variant variant : variants) {
                // Before anything is timed, the server must find the content of the body, including its checksums.
                try (Sender sender = new Sender(servers.get(variant).port(), MeasuredServer.CHECKED, body)) {
                    expect(sender.send(), expected(variant, body, true));
                }
            }
            Map<Variant, List<Round>> measured = ServerBench.inTurn(
                    variants, WARM_UPS, rounds, variant -> round(load, body, servers.get(variant), variant));
            int done = all.indexOf(load) + 1;
            double left = (System.nanoTime() - start) / 1e9 / done * (all.size() - done);
            measured.forEach((variant, its) -> {
                Round last = its.get(its.size() - 1);
                out.accept(String.format(
                        Locale.ROOT,
                        "[%d/%d, %s left] %s, %s: %,.0f MiB/s, %,.0f requests/s, %.3f ms of CPU per MiB",
                        done,
                        all.size(),
                        TrialRunner.minutes(left),
                        load.label(),
                        variant.id(),
                        last.throughput(),
                        last.perSecond(),
                        last.cpu()));
                Map<String, String> params = new LinkedHashMap<>();
                params.put("server", variant.id());
                params.put("scenario", load.scenario().id());
                params.put("connections", Integer.toString(load.connections()));
                params.put("sender", load.byTool() ? "tool" : "own");
                rows.addAll(new Rows(params, body, its, measured.get(Variant.DISCARD)).all());
            });
        }
        rows.sort(Comparator.comparing(Row::benchmark));
        return rows;
    }

    private static Truth expected(Variant variant, Body body, boolean checksum) {
        Truth truth = variant.decodes ? body.truth() : new Truth(0, body.size(), 0, 0, 0);
        return checksum ? truth : new Truth(truth.parts(), truth.bytes(), 0, truth.nameChars(), 0);
    }

    private static void expect(Truth found, Truth expected) {
        if (!found.equals(expected)) {
            throw new IllegalStateException("The server found " + found + " instead of " + expected);
        }
    }

    private static Round round(Load load, Body body, ServerProcess server, Variant variant) throws IOException {
        server.resetPeak();
        // On a busy machine a round may end before its first request. Such a round is repeated with twice the time.
        for (int seconds = load.seconds(); ; seconds *= 2) {
            ServerProcess.Usage before = server.usage();
            LoadTool.Done done = load.byTool()
                    ? LoadTool.run(body, server.port(), "/upload", load.connections(), seconds)
                    : sent(load, body, server, variant);
            ServerProcess.Usage after = server.usage();
            if (done.failed() > 0 || seconds > MAX_SECONDS) {
                throw new IOException("%s, %s: %d requests failed, %d succeeded"
                        .formatted(load.label(), variant.id(), done.failed(), done.requests()));
            }
            if (done.requests() > 0) {
                return new Round(
                        done.requests(),
                        done.seconds(),
                        after.cpuSecondsSince(before),
                        after.bytes() - before.bytes(),
                        body.size(),
                        server.peakBytes(),
                        after.directBytes());
            }
        }
    }

    private static LoadTool.Done sent(Load load, Body body, ServerProcess server, Variant variant) throws IOException {
        try (Sender sender = new Sender(server.port(), "/upload", body)) {
            long start = System.nanoTime();
            for (int i = 0; i < load.requests(); i++) {
                expect(sender.send(), expected(variant, body, false));
            }
            return new LoadTool.Done(load.requests(), (System.nanoTime() - start) / 1e9, 0);
        }
    }

    /**
     * The rows of one server under one load.
     *
     * @param discard the rounds of the server that discards the body, for comparison
     */
    private record Rows(Map<String, String> params, Body body, List<Round> rounds, List<Round> discard) {
        List<Row> all() {
            List<Row> rows = new ArrayList<>();
            rows.add(row("throughput", "MiB/s", Round::throughput));
            rows.add(row("requests", "requests/s", Round::perSecond));
            rows.add(row("cpu", "ms/MiB", Round::cpu));
            rows.add(ratio("timeToDiscard", round -> 1 / round.throughput()));
            rows.add(ratio("cpuToDiscard", Round::cpu));
            double peak = Collections.max(figures(rounds, round -> round.peakBytes() / MIB));
            if (peak > 0) {
                rows.add(row("peak", "MiB", List.of(peak), peak));
            }
            double direct = Collections.max(figures(rounds, round -> round.directBytes() / MIB));
            rows.add(row("direct", "MiB", List.of(direct), direct));
            return rows;
        }

        private static List<Double> figures(List<Round> rounds, Function<Round, Double> figure) {
            return rounds.stream().map(figure).toList();
        }

        private Row row(String metric, String unit, Function<Round, Double> figure) {
            List<Double> figures = figures(rounds, figure);
            boolean rate = unit.endsWith("/s");
            return row(metric, unit, figures, rate ? Collections.max(figures) : Collections.min(figures));
        }

        /** Compares with the server that discards the body. The best ratio divides the minima of all rounds. */
        private Row ratio(String metric, Function<Round, Double> figure) {
            List<Double> mine = figures(rounds, figure);
            List<Double> theirs = figures(discard, figure);
            double best = Collections.min(mine) / Collections.min(theirs);
            return row(metric, "ratio", ServerBench.ratios(mine, theirs), best);
        }

        private Row row(String metric, String unit, List<Double> figures, double best) {
            ListStatistics all = new ListStatistics();
            figures.forEach(all::addValue);
            int count = figures.size();
            double error = all.getMeanErrorAt(CONFIDENCE);
            return new Row(
                    "endtoend",
                    "EndToEnd." + metric,
                    params,
                    unit,
                    all.getMean(),
                    count < 2 || Double.isNaN(error) ? null : error,
                    best,
                    null,
                    count,
                    null,
                    body.size(),
                    body.truth().parts(),
                    count < 2 ? null : String.format(Locale.ROOT, "%.4g to %.4g", all.getMin(), all.getMax()));
        }
    }
}
