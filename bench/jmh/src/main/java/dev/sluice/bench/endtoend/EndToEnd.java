package dev.sluice.bench.endtoend;

import dev.sluice.bench.body.Body;
import dev.sluice.bench.body.Scenario;
import dev.sluice.bench.body.Truth;
import dev.sluice.bench.report.Row;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A server with different ways to take in a body, each in a JVM of its own, all running at once and loaded in turn,
 * so that what disturbs the machine for a while disturbs all of them.
 */
public final class EndToEnd {
    private static final int WARM_UPS = 2;
    private static final double START_SECONDS = 8;
    private static final int MAX_SECONDS = 32;

    /** What a server is sent in one round: so many requests by our own sender, or by the tool for so many seconds. */
    record Load(Scenario scenario, int connections, int requests, int seconds) {
        /** Our own sender: so many bodies over one connection. */
        static Load sent(Scenario scenario, int requests) {
            return new Load(scenario, 1, requests, 0);
        }

        /** A load tool. */
        static Load lasting(Scenario scenario, int connections, int seconds) {
            return new Load(scenario, connections, 0, seconds);
        }

        boolean byTool() {
            return seconds > 0;
        }

        String label() {
            return scenario.id() + ", " + connections + (connections == 1 ? " connection" : " connections");
        }

        /** In seconds, for the plan: what one server needs in one round. */
        double expected() {
            return byTool() ? seconds + 0.2 : requests * scenario.body().size() / 4e9;
        }
    }

    private final List<Load> loads;
    private final int rounds;
    private final Consumer<String> out;
    private final boolean tool = LoadTool.isInstalled();

    /** @param out is told the progress */
    public EndToEnd(boolean quick, Consumer<String> out) {
        this(loads(quick ? 1 : 2), quick ? 3 : 7, out);
    }

    EndToEnd(List<Load> loads, int rounds, Consumer<String> out) {
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

    /** {@return the programs that load the servers, with their versions} */
    public String loadedBy() throws IOException {
        return tool ? LoadTool.version() + " and a socket" : "a socket";
    }

    /** {@return the expected time in seconds} */
    public double expected() {
        double round = runnable().stream().mapToDouble(Load::expected).sum();
        return START_SECONDS + Variant.values().length * (WARM_UPS + rounds) * round;
    }

    /** {@return how many figures are taken: servers, loads and rounds multiplied} */
    public int runs() {
        return Variant.values().length * runnable().size() * rounds;
    }

    private List<Load> runnable() {
        return loads.stream().filter(load -> tool || !load.byTool()).toList();
    }

    /** Measures everything. */
    public List<Row> run() throws IOException, InterruptedException {
        if (runnable().size() < loads.size()) {
            out.accept("wrk is not on the PATH: the loads with many connections are left out");
        }
        Map<Variant, ServerProcess> servers = new EnumMap<>(Variant.class);
        try {
            for (Variant variant : Variant.values()) {
                servers.put(variant, new ServerProcess(List.of(), MeasuredServer.class, variant.id()));
            }
            return measure(servers);
        } finally {
            servers.values().forEach(ServerProcess::close);
        }
    }

    private List<Row> measure(Map<Variant, ServerProcess> servers) throws IOException, InterruptedException {
        long start = System.nanoTime();
        List<Row> rows = new ArrayList<>();
        int done = 0;
        List<Load> all = runnable();
        for (Load load : all) {
            Body body = load.scenario().body();
            Map<Variant, Measurement> measured = new LinkedHashMap<>();
            for (Variant variant : Variant.values()) {
                check(variant, servers.get(variant), body);
                measured.put(variant, new Measurement(variant, load, body));
            }
            List<Variant> order = new ArrayList<>(List.of(Variant.values()));
            for (int round = -WARM_UPS; round < rounds; round++) {
                for (Variant variant : order) {
                    ServerProcess server = servers.get(variant);
                    server.resetPeak();
                    Measurement.Round figures = round(load, body, server, variant);
                    if (round >= 0) {
                        measured.get(variant)
                                .add(figures, server.peakBytes(), server.usage().directBytes());
                    }
                }
                // So that none is always the first.
                Collections.rotate(order, 1);
            }
            done++;
            double left = (System.nanoTime() - start) / 1e9 / done * (all.size() - done);
            for (Variant variant : Variant.values()) {
                String progress = "[%d/%d, %d:%02d left]".formatted(done, all.size(), (int) left / 60, (int) left % 60);
                String figure = measured.get(variant).figure();
                out.accept("%s %s, %s: %s".formatted(progress, load.label(), variant.id(), figure));
                rows.addAll(measured.get(variant).rows(measured.get(Variant.DISCARD)));
            }
        }
        rows.sort(Comparator.comparing(Row::benchmark));
        return rows;
    }

    /** The server must find what is in the body, once with checksums, before any time is taken. */
    private static void check(Variant variant, ServerProcess server, Body body) throws IOException {
        try (Sender sender = new Sender(server.port(), MeasuredServer.CHECKED, body)) {
            expect(sender.send(), expected(variant, body, true));
        }
    }

    private static Truth expected(Variant variant, Body body, boolean checksum) {
        Truth truth = variant.decodes ? body.truth() : new Truth(0, body.size(), 0, 0, 0);
        return checksum ? truth : new Truth(truth.parts(), truth.bytes(), 0, truth.nameChars(), 0);
    }

    private static void expect(Truth found, Truth expected) {
        if (!found.equals(expected)) {
            throw new IllegalStateException("the server found " + found + " instead of " + expected);
        }
    }

    private Measurement.Round round(Load load, Body body, ServerProcess server, Variant variant) throws IOException {
        // Where the machine is busy, not even one request per connection may be through in time: a longer round then.
        for (int seconds = load.seconds(); ; seconds *= 2) {
            ServerProcess.Usage before = server.usage();
            LoadTool.Done done = load.byTool()
                    ? LoadTool.run(body, server.port(), "/upload", load.connections(), seconds)
                    : sent(load, body, server, variant);
            ServerProcess.Usage after = server.usage();
            if (done.failed() > 0 || seconds > MAX_SECONDS) {
                throw new IOException("%s, %s: %d requests failed, %d did not"
                        .formatted(load.label(), variant.id(), done.failed(), done.requests()));
            }
            if (done.requests() > 0) {
                double cpu = after.cpuSecondsSince(before);
                return new Measurement.Round(done.requests(), done.seconds(), cpu, after.bytes() - before.bytes());
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
}
