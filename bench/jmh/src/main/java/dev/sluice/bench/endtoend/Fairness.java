package dev.sluice.bench.endtoend;

import dev.sluice.bench.body.Body;
import dev.sluice.bench.body.Scenario;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/** What small forms wait for on a server of one event loop while 1 GiB comes in over another connection of it. */
public final class Fairness {
    private static final int WARM_UPS = 3;
    private static final int ROUNDS = 7;
    private static final int FORMS = 100;
    private static final String ONE_LOOP = "-Dio.netty.eventLoopThreads=1";

    private final Body form = Scenario.FIELDS_100.body();
    private final Body large = Scenario.RANDOM_1G.body();
    private final Consumer<String> out;

    /** @param out is told what came of it */
    public Fairness(Consumer<String> out) {
        this.out = out;
    }

    /** Measures the handler, and for comparison a server that drops the body. */
    public void run() throws IOException {
        for (Variant variant : List.of(Variant.HANDLER, Variant.HANDLER_LOOP, Variant.DISCARD)) {
            try (ServerProcess server = new ServerProcess(List.of(ONE_LOOP), MeasuredServer.class, variant.id())) {
                measure(variant, server.port());
            }
        }
    }

    private void measure(Variant variant, int port) throws IOException {
        List<Double> alone = new ArrayList<>();
        List<Double> beside = new ArrayList<>();
        List<Double> ratios = new ArrayList<>();
        for (int round = -WARM_UPS; round < ROUNDS; round++) {
            double without = percentile99(port);
            double with = besideLarge(port);
            if (round >= 0) {
                alone.add(without);
                beside.add(with);
                ratios.add(with / without);
            }
        }
        out.accept(String.format(
                Locale.ROOT,
                "%s: 99th percentile of %d forms %.2f ms alone, %.2f ms beside 1 GiB, ratio %.2f (medians of %d rounds)",
                variant.title,
                FORMS,
                median(alone),
                median(beside),
                median(ratios),
                ROUNDS));
    }

    /** The large body is sent over and over until the forms are through, so that none of them comes after it. */
    private double besideLarge(int port) throws IOException {
        try (Sender sender = new Sender(port, "/upload", large)) {
            AtomicBoolean over = new AtomicBoolean();
            CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> {
                try {
                    do {
                        sender.send();
                    } while (!over.get());
                } catch (IOException e) {
                    throw new CompletionException(e);
                }
            });
            try {
                return percentile99(port);
            } finally {
                over.set(true);
                sent.join();
            }
        }
    }

    /** {@return in milliseconds, of forms one after the other over one connection} */
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

    private static double median(List<Double> of) {
        return of.stream().sorted().toList().get(of.size() / 2);
    }
}
