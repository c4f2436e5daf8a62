package dev.sluice.bench.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.ChartEncoder;
import org.knowm.xchart.style.CategoryStyler;

/** Bars and lines with their errors, on logarithmic axes. Parsers whose result is wrong are left out, and the chart says so. */
public final class Charts {

    private static final int WIDTH = 1100;
    private static final int HEIGHT = 620;
    private static final int DPI = 110;

    private final Run run;
    private final String prefix;
    private final Path directory;
    private final List<String> drawn = new ArrayList<>();

    private Charts(Run run, String prefix, Path directory) {
        this.run = run;
        this.prefix = prefix;
        this.directory = directory;
    }

    /**
     * Draws what the run holds.
     *
     * @return names of the files without their endings
     */
    public static List<String> draw(Run run, String prefix, Path directory) throws IOException {
        Files.createDirectories(directory);
        Charts charts = new Charts(run, prefix, directory);
        charts.levels();
        charts.main();
        charts.adversarial();
        charts.lines();
        charts.buffers();
        charts.endToEnd();
        return charts.drawn;
    }

    private void levels() throws IOException {
        for (String memory : List.of("wrapped-each", "pooled-each")) {
            for (String workload : List.of("netty-big", "netty-high")) {
                Plan bars = Plan.bars(
                        "Leak-detection levels, %s, %s".formatted(workload, memory),
                        "us per decode",
                        Tables::peer,
                        row -> row.param("level"),
                        Tables::score);
                draw(
                        workload + "-" + memory,
                        bars,
                        of("levels").and(with("memory", memory)).and(with("scenario", workload)));
            }
        }
    }

    private void main() throws IOException {
        for (String scenario : List.of("random-16m", "csv-16m", "form", "parts-1000", "photos-20")) {
            Plan bars = Plan.bars(
                    scenario + ", 8 KiB chunks",
                    "MiB/s",
                    Tables::peer,
                    row -> row.param("memory"),
                    Row::mebibytesPerSecond);
            draw(scenario, bars, of("main").and(with("scenario", scenario)));
        }
        Plan fields = Plan.bars(
                "100 fields of 16 bytes", "us per body", Tables::peer, row -> row.param("memory"), Tables::score);
        draw("fields-100", fields, of("main").and(with("scenario", "fields-100")));
    }

    private void adversarial() throws IOException {
        Set<String> shown = Set.of("sluice-push", "netty42-dropped", "jetty", "mimepull", "fileupload2");
        Plan hostile = Plan.bars(
                "Adversarial bodies, 8 KiB chunks on heap",
                "MiB/s",
                row -> row.param("scenario"),
                Tables::peer,
                Row::mebibytesPerSecond);
        draw(
                "adversarial",
                hostile,
                of("adversarial").and(with("memory", "heap")).and(row -> shown.contains(row.param("peer"))));
    }

    private void lines() throws IOException {
        for (String memory : List.of("heap", "direct")) {
            Plan chunks = Plan.lines(
                    "Chunk size, %s: a file of 64 KiB in tiny chunks, of 16 MiB in larger ones".formatted(memory),
                    "ns per byte",
                    row -> Tables.chunk(row) + " of " + row.param("scenario").replace("random-", ""),
                    Tables::peer,
                    row -> row.secondsPerByte() * 1e9);
            draw(
                    "chunks-" + memory,
                    chunks,
                    of("chunks")
                            .and(with("memory", memory))
                            .and(row -> row.param("scenario").startsWith("random-")));
        }
        Plan sizes = Plan.lines(
                "Body size, 8 KiB chunks on heap",
                "ns per byte",
                row -> row.param("scenario").replace("random-", ""),
                Tables::peer,
                row -> row.secondsPerByte() * 1e9);
        draw("sizes", sizes, of("sizes"));
    }

    private void buffers() throws IOException {
        Plan text = ways("Text of 64 bytes out of a buffer", "size");
        draw("text", text, of("text").and(with("size", "64")));
        draw("scans", ways("Visiting every line end", ""), of("scans"));
        Plan access = ways("Access to 8 KiB, netty's checks on or off", "");
        draw("access", access, of("access").and(row -> Set.of("on", "off").contains(row.param("checks"))));
        Plan allocation = Plan.bars(
                "Taking and releasing a buffer in one thread",
                "ns",
                row -> row.param("memory") + ", " + row.param("size"),
                row -> row.param("allocator"),
                Tables::score);
        draw(
                "allocation",
                allocation,
                of("allocation").and(row -> Tables.way(row).equals("sameThread")));
    }

    /** @param constant a parameter that is the same in all rows and not named again */
    private static Plan ways(String title, String constant) {
        return Plan.bars(
                title,
                "ns",
                row -> {
                    Map<String, String> params = new TreeMap<>(row.params());
                    params.remove(constant);
                    params.replaceAll((name, value) -> name.equals("checks") ? "checks " + value : value);
                    return String.join(", ", params.values());
                },
                Tables::way,
                Tables::score);
    }

    private void endToEnd() throws IOException {
        for (String metric : List.of("throughput", "cpu")) {
            Plan server = Plan.bars(
                    "The sample server, digest and disk off",
                    metric.equals("cpu") ? "ms of CPU per MiB" : "MiB/s",
                    Tables::load,
                    Tables::server,
                    Tables::score);
            draw(metric, server, of("endtoend").and(row -> Tables.way(row).equals(metric)));
        }
    }

    private static Predicate<Row> of(String table) {
        return row -> row.table().equals(table);
    }

    private static Predicate<Row> with(String param, String value) {
        return row -> row.param(param).equals(value);
    }

    private void draw(String name, Plan plan, Predicate<Row> picked) throws IOException {
        List<Row> rows = new ArrayList<>();
        Set<String> wrong = new TreeSet<>();
        for (Row row : run.rows()) {
            if (!picked.test(row) || row.score() == null) {
                continue;
            }
            if (row.wrong()) {
                wrong.add(Tables.peer(row));
            } else {
                rows.add(row);
            }
        }
        // A line needs two points.
        if (rows.stream().map(plan.group()).distinct().count() < (plan.lines() ? 2 : 1)) {
            return;
        }
        PrintedChart chart = plan.chart(
                rows, wrong.isEmpty() ? "" : "Left out where the result is wrong: " + String.join("; ", wrong));
        String file = prefix + "-" + name;
        try (OutputStream out = Files.newOutputStream(directory.resolve(file + ".svg"))) {
            ChartEncoder.saveChart(chart, out, "svg");
        }
        BitmapEncoder.saveBitmapWithDPI(chart, directory.resolve(file).toString(), BitmapEncoder.BitmapFormat.PNG, DPI);
        drawn.add(file);
    }

    /**
     * A chart to be filled.
     *
     * @param group what stands on the axis below
     * @param series what the fills or the marks mean
     * @param value height
     */
    private record Plan(
            String title,
            String unit,
            boolean lines,
            Function<Row, String> group,
            Function<Row, String> series,
            ToDoubleFunction<Row> value) {

        static Plan bars(
                String title,
                String unit,
                Function<Row, String> group,
                Function<Row, String> series,
                ToDoubleFunction<Row> value) {
            return new Plan(title, unit, false, group, series, value);
        }

        static Plan lines(
                String title,
                String unit,
                Function<Row, String> group,
                Function<Row, String> series,
                ToDoubleFunction<Row> value) {
            return new Plan(title, unit, true, group, series, value);
        }

        PrintedChart chart(List<Row> rows, String remark) {
            Set<String> groups = new LinkedHashSet<>();
            Map<String, Map<String, Row>> bySeries = new LinkedHashMap<>();
            for (Row row : rows) {
                groups.add(group.apply(row));
                bySeries.computeIfAbsent(series.apply(row), key -> new LinkedHashMap<>())
                        .put(group.apply(row), row);
            }
            PrintedChart chart = new PrintedChart(WIDTH, HEIGHT, title, remark, lines);
            chart.setYAxisTitle(unit + " (logarithmic)");
            // A linear axis of logarithms: on its own logarithmic axis the library draws errors in the wrong place.
            double floor = Math.floor(log(rows.stream().mapToDouble(value).min().orElseThrow() / 2));
            double top = rows.stream()
                    .mapToDouble(row -> log(value.applyAsDouble(row) * (1 + row.relativeError())))
                    .max()
                    .orElseThrow();
            style(chart.getStyler(), Math.ceil(top - floor));
            // Else the points of a group stand beside each other, as its bars do.
            chart.getStyler().setOverlapped(lines);
            chart.getStyler()
                    .setYAxisTickLabelsFormattingFunction(
                            height -> height == Math.rint(height) ? powerOfTwo(height + floor) : "");
            int n = 0;
            for (Map.Entry<String, Map<String, Row>> entry : bySeries.entrySet()) {
                List<@Nullable Double> heights = new ArrayList<>();
                List<@Nullable Double> errors = new ArrayList<>();
                for (String key : groups) {
                    Row row = entry.getValue().get(key);
                    heights.add(row == null ? null : log(value.applyAsDouble(row)) - floor);
                    errors.add(row == null ? null : log(1 + row.relativeError()));
                }
                chart.style(chart.addSeries(entry.getKey(), new ArrayList<>(groups), heights, errors), n++);
            }
            return chart;
        }

        private static String powerOfTwo(double exponent) {
            double power = Math.pow(2, exponent);
            return power < 1 ? Tables.number(power) : String.format(Locale.ROOT, "%,.0f", power);
        }

        private static double log(double figure) {
            return Math.log(figure) / Math.log(2);
        }

        private static void style(CategoryStyler styler, double top) {
            styler.setYAxisMin(0.0);
            styler.setYAxisMax(top);
            styler.setPlotGridVerticalLinesVisible(false);
            styler.setPlotGridLinesStroke(new BasicStroke(0.5f));
            styler.setXAxisLabelRotation(30);
            styler.setXAxisTickMarkSpacingHint(40); // else every other name is left out where there are many
            styler.setAvailableSpaceFill(0.85);
            styler.setChartBackgroundColor(Color.WHITE);
            styler.setPlotBorderVisible(false);
            styler.setErrorBarsColor(Color.BLACK);
            styler.setMarkerSize(9);
            styler.setAxisTickLabelsFont(new Font(Font.SANS_SERIF, Font.PLAIN, 12));
        }
    }
}
