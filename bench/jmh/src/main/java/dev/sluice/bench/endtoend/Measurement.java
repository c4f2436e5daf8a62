package dev.sluice.bench.endtoend;

import dev.sluice.bench.body.Body;
import dev.sluice.bench.report.Row;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.openjdk.jmh.util.ListStatistics;

/** What was measured of one server under one load, round by round. */
final class Measurement {
    private static final double CONFIDENCE = 0.999;
    private static final double MIB = 1 << 20;

    private final Variant variant;
    private final EndToEnd.Load load;
    private final Body body;
    private final List<Round> rounds = new ArrayList<>();
    private long peakBytes;
    private long directBytes;

    /** One round: requests answered with success in the seconds of the client, and the bodies that came to the server. */
    record Round(long requests, double seconds, double cpuSeconds, long bytes) {}

    Measurement(Variant variant, EndToEnd.Load load, Body body) {
        this.variant = variant;
        this.load = load;
        this.body = body;
    }

    void add(Round round, long peak, long direct) {
        rounds.add(round);
        peakBytes = Math.max(peakBytes, peak);
        directBytes = Math.max(directBytes, direct);
    }

    private double perSecond(Round round) {
        return round.requests() / round.seconds();
    }

    private double mebibytes(Round round) {
        return round.requests() * body.size() / MIB;
    }

    double throughput(Round round) {
        return mebibytes(round) / round.seconds();
    }

    double cpu(Round round) {
        return round.cpuSeconds() * 1e3 / (round.bytes() / MIB);
    }

    String figure() {
        Round last = rounds.get(rounds.size() - 1);
        return String.format(
                Locale.ROOT,
                "%,.0f MiB/s, %,.0f requests/s, %.3f ms of CPU per MiB",
                throughput(last),
                perSecond(last),
                cpu(last));
    }

    /** @param discard the server beside which this one is judged, measured in the same rounds */
    List<Row> rows(Measurement discard) {
        List<Row> rows = new ArrayList<>();
        rows.add(row("throughput", "MiB/s", figures(this::throughput)));
        rows.add(row("requests", "requests/s", figures(this::perSecond)));
        rows.add(row("cpu", "ms/MiB", figures(this::cpu)));
        rows.add(beside("timeToDiscard", discard, round -> 1 / throughput(round)));
        rows.add(beside("cpuToDiscard", discard, this::cpu));
        if (peakBytes > 0) {
            rows.add(row("peak", "MiB", List.of(peakBytes / MIB)));
        }
        rows.add(row("direct", "MiB", List.of(directBytes / MIB)));
        return rows;
    }

    private List<Double> figures(Function<Round, Double> figure) {
        return rounds.stream().map(figure).toList();
    }

    /**
     * Figures divided by the other's of the same round, so that what disturbs both does not count. The best is the least of
     * the one by the least of the other, not the round that was luckiest for the one.
     */
    private Row beside(String metric, Measurement other, Function<Round, Double> figure) {
        List<Double> mine = figures(figure);
        List<Double> theirs = other.figures(figure);
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < mine.size(); i++) {
            ratios.add(mine.get(i) / theirs.get(i));
        }
        return row(metric, "ratio", ratios, Collections.min(mine) / Collections.min(theirs));
    }

    private Row row(String metric, String unit, List<Double> figures) {
        boolean rate = unit.endsWith("/s");
        return row(metric, unit, figures, rate ? Collections.max(figures) : Collections.min(figures));
    }

    private Row row(String metric, String unit, List<Double> figures, double best) {
        ListStatistics all = new ListStatistics();
        figures.forEach(all::addValue);
        Map<String, String> params = new LinkedHashMap<>();
        params.put("server", variant.id());
        params.put("scenario", load.scenario().id());
        params.put("connections", Integer.toString(load.connections()));
        params.put("sender", load.byTool() ? "tool" : "own");
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
