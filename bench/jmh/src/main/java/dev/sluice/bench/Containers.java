package dev.sluice.bench;

import dev.sluice.bench.FormServer.Container;
import dev.sluice.bench.FormServer.Intake;
import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Scenario;
import dev.sluice.bench.peer.Truth;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The {@code containers} command: forms in a servlet container, parsed by Sluice's filter, parsed by the container, or
 * not parsed. The three cases run in one process and get their requests in turn, so a disturbance of the machine affects
 * all of them.
 */
final class Containers implements ServerBench {
    private static final List<Scenario> SCENARIOS = List.of(Scenario.FIELDS_100, Scenario.RANDOM_16M, Scenario.FORM);
    private static final List<Integer> THRESHOLDS = List.of(64 << 10, 0);
    private static final int CONNECTIONS = 8;
    private static final int SECONDS = 1;

    private final int warmUps;
    private final int rounds;
    private final Consumer<String> out;

    /** @param out receives progress messages */
    Containers(boolean quick, Consumer<String> out) {
        this(2, quick ? 3 : 7, out);
    }

    Containers(int warmUps, int rounds, Consumer<String> out) {
        this.warmUps = warmUps;
        this.rounds = rounds;
        this.out = out;
    }

    @Override
    public Plan plan() {
        int loads = Container.values().length * THRESHOLDS.size() * SCENARIOS.size() * Intake.values().length;
        return new Plan(loads * rounds, loads * (rounds + warmUps) * (SECONDS + 0.2));
    }

    @Override
    public String loadedBy() throws IOException {
        return LoadTool.version();
    }

    @Override
    public List<Row> run() throws IOException, InterruptedException {
        List<Row> rows = new ArrayList<>();
        for (Container container : Container.values()) {
            for (int threshold : THRESHOLDS) {
                try (ServerProcess server =
                        new ServerProcess(List.of(), FormServer.class, container.id(), Integer.toString(threshold))) {
                    for (Scenario scenario : SCENARIOS) {
                        rows.addAll(measure(server, container, threshold, scenario));
                    }
                }
            }
        }
        return rows;
    }

    List<Row> measure(ServerProcess server, Container container, int threshold, Scenario scenario)
            throws IOException, InterruptedException {
        Body body = scenario.body();
        for (Intake intake : Intake.values()) {
            check(server, intake, body);
        }
        Map<Intake, List<Double>> perSecond = ServerBench.inTurn(List.of(Intake.values()), warmUps, rounds, intake -> {
            LoadTool.Done done = LoadTool.run(body, server.port(), intake.path(), CONNECTIONS, SECONDS);
            if (done.failed() > 0 || done.requests() == 0) {
                throw new IOException("%s, %s, %s: %s".formatted(container, intake, scenario.id(), done));
            }
            return done.requests() / done.seconds();
        });
        List<Row> rows = new ArrayList<>();
        StringBuilder line =
                new StringBuilder("%s, threshold %d, %s:".formatted(container.id(), threshold, scenario.id()));
        perSecond.forEach((intake, figures) -> {
            Map<String, String> params = Map.of(
                    "container", container.id(),
                    "threshold", Integer.toString(threshold),
                    "intake", intake.id(),
                    "scenario", scenario.id());
            Row row = ServerBench.median("Containers.requests", params, "requests/s", figures, body);
            rows.add(row);
            line.append(String.format(Locale.ROOT, " %s %,.0f", intake.id(), row.score()));
            if (intake != Intake.FILTER) {
                List<Double> ratios = ServerBench.ratios(figures, perSecond.get(Intake.FILTER));
                rows.add(ServerBench.median("Containers.time", params, "ratio", ratios, body));
            }
        });
        out.accept(line.append(" requests/s").toString());
        return rows;
    }

    /** Requires that the server finds the parts and bytes of the body. */
    private static void check(ServerProcess server, Intake intake, Body body) throws IOException, InterruptedException {
        Truth truth = body.truth();
        String expected = intake == Intake.DRAIN ? "0 " + body.size() : truth.parts() + " " + truth.bytes();
        try (InputStream in = body.stream(0)) {
            String found = HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.port() + intake.path()))
                                    .header("Content-Type", body.contentType())
                                    .POST(BodyPublishers.ofByteArray(in.readAllBytes()))
                                    .build(),
                            BodyHandlers.ofString())
                    .body();
            if (!found.equals(expected)) {
                throw new IllegalStateException(
                        intake.id() + " found " + found + " (parts, bytes) instead of " + expected);
            }
        }
    }
}
