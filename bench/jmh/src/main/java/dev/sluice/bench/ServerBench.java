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

/** A command that measures servers in their own JVMs. */
interface ServerBench {
    /** The number of figures and the expected duration of a command. */
    record Plan(int figures, double seconds) {}

    Plan plan();

    /** Returns the names and versions of the programs that send requests to the servers. */
    String loadedBy() throws IOException;

    List<Row> run() throws IOException, InterruptedException;

    /** Measures one key once. */
    interface Figure<K, F> {
        F of(K key) throws IOException;
    }

    /**
     * Measures each key once per round and returns the figures of all rounds after the warm-up. The order rotates, so that no
     * key is always first.
     */
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

    /** Divides each figure by the other figure of the same round, because a disturbance of the machine affects both alike. */
    static List<Double> ratios(List<Double> figures, List<Double> others) {
        return IntStream.range(0, figures.size())
                .mapToObj(i -> figures.get(i) / others.get(i))
                .toList();
    }

    /** Returns a row with the median of all rounds. Its note has the minimum and the maximum. */
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
