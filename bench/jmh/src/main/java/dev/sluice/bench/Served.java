package dev.sluice.bench;

import dev.sluice.bench.peer.Body;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import org.openjdk.jmh.util.ListStatistics;

/** A measurement of servers, each in a JVM of its own, that are loaded in turn, round by round. */
interface Served {
    /** How many figures are taken, and in how many seconds. */
    record Plan(int figures, double seconds) {}

    Plan plan();

    /** {@return the programs that load the servers, with their versions} */
    String loadedBy() throws IOException;

    /** Measures everything. */
    List<Row> run() throws IOException, InterruptedException;

    /** Takes a figure. */
    interface Figure<K, F> {
        F of(K key) throws IOException;
    }

    /** {@return a figure of each for every round, which are taken in turn, so that none is always the first; without warm-ups} */
    static <K, F> Map<K, List<F>> inTurn(List<K> all, int warmUps, int rounds, Figure<K, F> figure) throws IOException {
        Map<K, List<F>> figures = new LinkedHashMap<>();
        all.forEach(each -> figures.put(each, new ArrayList<>()));
        List<K> order = new ArrayList<>(all);
        for (int round = -warmUps; round < rounds; round++) {
            for (K each : order) {
                F taken = figure.of(each);
                if (round >= 0) {
                    figures.get(each).add(taken);
                }
            }
            Collections.rotate(order, 1);
        }
        return figures;
    }

    /** {@return of figures that were taken in the same rounds, so that what disturbs both does not count} */
    static List<Double> ratios(List<Double> figures, List<Double> others) {
        return IntStream.range(0, figures.size())
                .mapToObj(i -> figures.get(i) / others.get(i))
                .toList();
    }

    /** {@return the median of all rounds, with the least and the greatest} */
    static Row median(String benchmark, Map<String, String> params, String unit, List<Double> figures, Body body) {
        ListStatistics all = new ListStatistics();
        figures.forEach(all::addValue);
        return new Row(
                benchmark.substring(0, benchmark.indexOf('.')).toLowerCase(Locale.ROOT),
                benchmark,
                params,
                unit,
                all.getPercentile(50),
                null,
                unit.endsWith("/s") ? all.getMax() : all.getMin(),
                null,
                figures.size(),
                null,
                body.size(),
                body.truth().parts(),
                String.format(Locale.ROOT, "%.3g to %.3g", all.getMin(), all.getMax()));
    }
}
