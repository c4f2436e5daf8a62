package dev.sluice.bench;

import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Scenario;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * The {@code fairness} command: the response time of small forms on a server with one event loop, once alone, and once
 * while the loop receives a large body over another connection. Each time is the median of the 99th percentiles of all rounds.
 */
final class Fairness implements ServerBench {
    private static final List<Variant> VARIANTS = List.of(Variant.HANDLER, Variant.HANDLER_LOOP, Variant.DISCARD);
    private static final int WARM_UPS = 3;
    private static final int FORMS = 100;
    private static final String ONE_LOOP = "-Dio.netty.eventLoopThreads=1";

    /** The expected duration of a round, in which the large body is sent at least once. */
    private static final double ROUND_SECONDS = 2;

    private final Body form = Scenario.FIELDS_100.body();
    private final List<Variant> variants;
    private final Scenario scenario;
    private final Body large;
    private final int warmUps;
    private final int rounds;
    private final Consumer<String> out;

    /** @param out receives progress messages */
    Fairness(boolean quick, Consumer<String> out) {
        this(VARIANTS, Scenario.RANDOM_1G, WARM_UPS, quick ? 3 : 15, out);
    }

    Fairness(List<Variant> variants, Scenario large, int warmUps, int rounds, Consumer<String> out) {
        this.variants = variants;
        this.scenario = large;
        this.large = large.body();
        this.warmUps = warmUps;
        this.rounds = rounds;
        this.out = out;
    }

    @Override
    public Plan plan() {
        return new Plan(variants.size() * rounds * 2, variants.size() * (warmUps + rounds) * ROUND_SECONDS);
    }

    @Override
    public String loadedBy() {
        return "two sockets";
    }

    @Override
    public List<Row> run() throws IOException {
        List<Row> rows = new ArrayList<>();
        for (Variant variant : variants) {
            try (ServerProcess server = new ServerProcess(List.of(ONE_LOOP), MeasuredServer.class, variant.id())) {
                rows.addAll(measure(variant, server.port()));
            }
        }
        return rows;
    }

    private List<Row> measure(Variant variant, int port) throws IOException {
        List<Double> alone = new ArrayList<>();
        List<Double> during = new ArrayList<>();
        for (int round = -warmUps; round < rounds; round++) {
            double without = percentile99(port);
            double with = percentile99WithLarge(port);
            if (round >= 0) {
                alone.add(without);
                during.add(with);
            }
        }
        Map<String, String> params = Map.of("server", variant.id(), "scenario", scenario.id());
        List<Row> rows = List.of(
                ServerBench.median("Fairness.alone", params, "ms", alone, form),
                ServerBench.median("Fairness.during", params, "ms", during, form),
                ServerBench.median("Fairness.ratio", params, "ratio", ServerBench.ratios(during, alone), form));
        out.accept(String.format(
                Locale.ROOT,
                "%s: %.2f ms alone, %.2f ms during %s, ratio %.2f",
                variant.title,
                rows.get(0).score(),
                rows.get(1).score(),
                scenario.id(),
                rows.get(2).score()));
        return rows;
    }

    /** Measures the forms while the large body is sent repeatedly, until the response to the last form. */
    private double percentile99WithLarge(int port) throws IOException {
        try (Sender sender = new Sender(port, "/upload", large)) {
            AtomicBoolean done = new AtomicBoolean();
            CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
                try {
                    do {
                        sender.send();
                    } while (!done.get());
                } catch (IOException e) {
                    throw new CompletionException(e);
                }
            });
            try {
                return percentile99(port);
            } finally {
                done.set(true);
                sent.join();
            }
        }
    }

    /** Sends forms one after the other over one connection and returns the 99th percentile of their times in milliseconds. */
    private double percentile99(int port) throws IOException {
        double[] millis = new double[FORMS];
        try (Sender sender = new Sender(port, "/upload", form)) {
            sender.send();
            for (int i = 0; i < FORMS; i++) {
                long start = System.nanoTime();
                sender.send();
                millis[i] = (System.nanoTime() - start) / 1e6;
            }
        }
        Arrays.sort(millis);
        return millis[FORMS * 99 / 100 - 1];
    }
}
