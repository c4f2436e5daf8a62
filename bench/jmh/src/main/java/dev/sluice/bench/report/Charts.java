package dev.sluice.bench.report;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/** The charts of a run. Parsers whose result is wrong are left out, and the chart says so. */
final class Charts {
    private static final String TIME = "us per body: less is better";
    private static final String SPEED = "MiB/s: more is better";
    private static final String PER_BYTE = "ns per byte: less is better";
    private static final Set<String> SHOWN_HOSTILE =
            Set.of("sluice-push", "netty42-dropped", "jetty", "mimepull", "fileupload2");

    private final Run run;
    private final String name;
    private final Map<String, String> drawn = new LinkedHashMap<>();

    private Charts(String name, Run run) {
        this.name = name;
        this.run = run;
    }

    /** {@return SVG by the names of the files} */
    static Map<String, String> of(String name, Run run) {
        Charts charts = new Charts(name, run);
        charts.levels();
        charts.peers();
        charts.chunks();
        charts.buffers();
        for (String metric : List.of("throughput", "cpu")) {
            String axis = metric.equals("cpu") ? "ms of CPU per MiB: less is better" : SPEED;
            charts.draw(
                    metric,
                    "The server",
                    axis,
                    Tables::load,
                    Tables::server,
                    Row::score,
                    charts.pick("endtoend way=" + metric));
        }
        return charts.drawn;
    }

    private Stream<Row> pick(String query) {
        return run.pick(query);
    }

    private void levels() {
        for (String memory : List.of("wrapped-each", "pooled-each")) {
            for (String workload : List.of("netty-big", "netty-high")) {
                String query = "levels memory=" + memory + " scenario=" + workload;
                String title = "Leak-detection levels, %s, %s".formatted(workload, memory);
                String file = workload + "-" + memory;
                draw(file, title, TIME, Tables::peer, row -> row.param("level"), Row::score, pick(query));
            }
        }
    }

    private void peers() {
        Function<Row, String> memory = row -> row.param("memory");
        for (String body : List.of("random-16m", "csv-16m", "form", "parts-1000", "photos-20")) {
            String title = body + ", chunks of 8 KiB";
            draw(body, title, SPEED, Tables::peer, memory, Row::mebibytesPerSecond, pick("main scenario=" + body));
        }
        String fields = "100 fields of 16 bytes";
        draw("fields-100", fields, TIME, Tables::peer, memory, Row::score, pick("main scenario=fields-100"));
        draw(
                "adversarial",
                "Adversarial bodies, chunks of 8 KiB on the heap",
                SPEED,
                Tables::scenario,
                Tables::peer,
                Row::mebibytesPerSecond,
                pick("adversarial memory=heap").filter(row -> SHOWN_HOSTILE.contains(row.param("peer"))));
    }

    private void chunks() {
        for (String memory : List.of("heap", "direct")) {
            draw(
                    "chunks-" + memory,
                    "Chunk size, %s: a file of 64 KiB in tiny chunks, of 16 MiB in larger ones".formatted(memory),
                    PER_BYTE,
                    row -> Tables.chunk(row) + " of " + row.param("scenario").replace("random-", ""),
                    Tables::peer,
                    Row::nanosPerByte,
                    pick("chunks memory=" + memory)
                            .filter(row -> row.param("scenario").startsWith("random-")));
        }
        String title = "Body size, chunks of 8 KiB on the heap";
        draw("sizes", title, PER_BYTE, Tables::scenario, Tables::peer, Row::nanosPerByte, pick("sizes"));
    }

    private void buffers() {
        ways("text", "Text of 64 bytes out of a buffer", pick("text size=64"));
        ways("scans", "Visiting every line end", pick("scans"));
        Stream<Row> access = pick("access").filter(row -> Set.of("on", "off").contains(row.param("checks")));
        ways("access", "Access to 8 KiB, Netty's checks on or off", access);
        String axis = "ns: less is better";
        Function<Row, String> buffer = row -> row.param("memory") + ", " + row.param("size");
        Function<Row, String> allocator = row -> row.param("allocator");
        String title = "Taking and releasing a buffer in one thread";
        draw("allocation", title, axis, buffer, allocator, Row::score, pick("allocation way=sameThread"));
    }

    private void ways(String file, String title, Stream<Row> rows) {
        Function<Row, String> input = row -> {
            Map<String, String> params = new TreeMap<>(row.params());
            params.replaceAll((param, value) -> param.equals("checks") ? "checks " + value : value);
            return String.join(", ", params.values());
        };
        draw(file, title, "ns: less is better", input, Row::way, Row::score, rows);
    }

    private void draw(
            String file,
            String title,
            String axis,
            Function<Row, String> group,
            Function<Row, String> series,
            ToDoubleFunction<Row> value,
            Stream<Row> rows) {
        List<Chart.Bar> bars = new ArrayList<>();
        Set<String> wrong = new TreeSet<>();
        rows.filter(row -> row.score() != null).forEach(row -> {
            if (row.wrong()) {
                wrong.add(Tables.peer(row));
            } else {
                bars.add(new Chart.Bar(
                        group.apply(row), series.apply(row), value.applyAsDouble(row), row.relativeError()));
            }
        });
        if (!bars.isEmpty()) {
            String left = wrong.isEmpty() ? "" : "Left out where the result is wrong: " + String.join("; ", wrong);
            String jvm = " (JDK " + run.jvm().getOrDefault("version", "?").split("\\.")[0] + ")";
            drawn.put(name + "-" + file + ".svg", new Chart(title + jvm, axis, left, bars).svg());
        }
    }
}
