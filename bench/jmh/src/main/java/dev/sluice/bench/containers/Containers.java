package dev.sluice.bench.containers;

import dev.sluice.bench.body.Body;
import dev.sluice.bench.body.Scenario;
import dev.sluice.bench.body.Truth;
import dev.sluice.bench.containers.FormServer.Container;
import dev.sluice.bench.endtoend.LoadTool;
import dev.sluice.bench.endtoend.ServerProcess;
import dev.sluice.bench.report.Row;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import org.openjdk.jmh.util.ListStatistics;

/**
 * Forms in a servlet container: by the filter, by the container's own parser, and not parsed at all. The three are servlets
 * of one process and are loaded in turn, so that what disturbs the machine for a while disturbs all of them.
 */
public final class Containers {
    private static final List<Scenario> SCENARIOS = List.of(Scenario.FIELDS_100, Scenario.RANDOM_16M, Scenario.FORM);
    private static final List<Integer> THRESHOLDS = List.of(64 << 10, 0);
    private static final int CONNECTIONS = 8;
    private static final int WARM_UPS = 2;

    private final int seconds;
    private final int rounds;
    private final Consumer<String> out;

    /** @param out is told the progress */
    public Containers(boolean quick, Consumer<String> out) {
        this(1, quick ? 3 : 7, out);
    }

    Containers(int seconds, int rounds, Consumer<String> out) {
        this.seconds = seconds;
        this.rounds = rounds;
        this.out = out;
    }

    /** {@return how many figures are taken} */
    public int runs() {
        return Container.values().length * THRESHOLDS.size() * SCENARIOS.size() * Intake.values().length * rounds;
    }

    /** {@return the expected time in seconds} */
    public double expected() {
        return runs() / (double) rounds * (rounds + WARM_UPS) * (seconds + 0.2);
    }

    /** Measures everything. */
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
        Map<Intake, double[]> perSecond = new EnumMap<>(Intake.class);
        for (Intake intake : Intake.values()) {
            check(server, intake, body);
            perSecond.put(intake, new double[rounds]);
        }
        for (int round = -WARM_UPS; round < rounds; round++) {
            for (int i = 0; i < Intake.values().length; i++) { // none is always the first
                Intake intake = Intake.values()[Math.floorMod(i + round, Intake.values().length)];
                LoadTool.Done done = LoadTool.run(body, server.port(), intake.path(), CONNECTIONS, seconds);
                if (done.failed() > 0 || done.requests() == 0) {
                    throw new IOException("%s, %s, %s: %s".formatted(container, intake, scenario.id(), done));
                }
                if (round >= 0) {
                    perSecond.get(intake)[round] = done.requests() / done.seconds();
                }
            }
        }
        List<Row> rows = new ArrayList<>();
        StringBuilder told =
                new StringBuilder("%s, threshold %d, %s:".formatted(container.id(), threshold, scenario.id()));
        for (Intake intake : Intake.values()) {
            Row row = row("requests", "requests/s", container, threshold, intake, scenario, perSecond.get(intake));
            rows.add(row);
            told.append(String.format(Locale.ROOT, " %s %,.0f", intake.id(), row.score()));
            if (intake != Intake.FILTER) {
                double[] ratios = new double[rounds];
                for (int i = 0; i < rounds; i++) {
                    ratios[i] = perSecond.get(intake)[i] / perSecond.get(Intake.FILTER)[i];
                }
                rows.add(row("time", "ratio", container, threshold, intake, scenario, ratios));
            }
        }
        out.accept(told.append(" requests/s").toString());
        return rows;
    }

    /** The server must find what is in the body before any time is taken. */
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
                throw new IllegalStateException(intake.id() + " found " + found + " instead of " + expected);
            }
        }
    }

    /** The median of all rounds, with the least and the greatest. */
    private Row row(
            String metric,
            String unit,
            Container container,
            int threshold,
            Intake intake,
            Scenario scenario,
            double[] figures) {
        ListStatistics all = new ListStatistics(figures);
        Map<String, String> params = Map.of(
                "container", container.id(),
                "threshold", Integer.toString(threshold),
                "intake", intake.id(),
                "scenario", scenario.id());
        return new Row(
                "containers",
                "Containers." + metric,
                params,
                unit,
                all.getPercentile(50),
                null,
                metric.equals("time") ? all.getMin() : all.getMax(),
                null,
                rounds,
                null,
                scenario.body().size(),
                scenario.body().truth().parts(),
                String.format(Locale.ROOT, "%.3g to %.3g", all.getMin(), all.getMax()));
    }
}
