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
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.CategorySeries;
import org.knowm.xchart.ChartEncoder;
import org.knowm.xchart.style.CategoryStyler;
import org.knowm.xchart.style.Styler;

/** Bars with their errors, in greys that stay apart in black and white. */
public final class Charts {

    private static final Color[] GREYS = {
        new Color(120, 120, 120), new Color(165, 165, 165), new Color(205, 205, 205), new Color(235, 235, 235)
    };
    private static final int WIDTH = 1100;
    private static final int HEIGHT = 600;
    private static final int DPI = 110;

    private Charts() {}

    /**
     * Draws what the run holds.
     *
     * @return names of the files without their endings
     */
    public static List<String> draw(Run run, String prefix, Path directory) throws IOException {
        Files.createDirectories(directory);
        List<String> drawn = new ArrayList<>();
        for (String memory : List.of("wrapped-each", "pooled-each")) {
            for (String workload : List.of("netty-big", "netty-high")) {
                Bars bars = new Bars(
                        "Leak-detection levels, %s, %s".formatted(workload, memory),
                        "us per decode",
                        Tables::peer,
                        row -> row.param("level"),
                        Tables::score);
                Predicate<Row> picked = row -> row.table().equals("levels")
                        && row.param("memory").equals(memory)
                        && row.param("scenario").equals(workload);
                draw(run, bars, picked, directory, prefix + "-" + workload + "-" + memory, drawn);
            }
        }
        for (String scenario : List.of("random-16m", "csv-16m", "form", "parts-1000", "photos-20")) {
            Bars bars = new Bars(
                    "%s, 8 KiB chunks".formatted(scenario),
                    "MiB/s",
                    Tables::peer,
                    row -> row.param("memory"),
                    Row::mebibytesPerSecond);
            draw(run, bars, picked("main", scenario), directory, prefix + "-" + scenario, drawn);
        }
        Bars fields = new Bars(
                "100 fields of 16 bytes", "us per body", Tables::peer, row -> row.param("memory"), Tables::score);
        draw(run, fields, picked("main", "fields-100"), directory, prefix + "-fields-100", drawn);
        Bars hostile = new Bars(
                "Adversarial bodies, 8 KiB chunks on heap",
                "MiB/s",
                row -> row.param("scenario"),
                Tables::peer,
                Row::mebibytesPerSecond);
        Set<String> shown = Set.of("sluice-push", "netty42-dropped", "jetty", "mimepull");
        draw(
                run,
                hostile,
                row -> row.table().equals("adversarial")
                        && row.param("memory").equals("heap")
                        && shown.contains(row.param("peer")),
                directory,
                prefix + "-adversarial",
                drawn);
        for (String metric : List.of("throughput", "cpu")) {
            Bars server = new Bars(
                    "The sample server, digest and disk off",
                    metric.equals("cpu") ? "ms of CPU per MiB" : "MiB/s",
                    Tables::load,
                    Tables::server,
                    Tables::score);
            Predicate<Row> endToEnd =
                    row -> row.table().equals("endtoend") && Tables.way(row).equals(metric);
            draw(run, server, endToEnd, directory, prefix + "-" + metric, drawn);
        }
        return drawn;
    }

    private static Predicate<Row> picked(String table, String scenario) {
        return row -> row.table().equals(table) && row.param("scenario").equals(scenario);
    }

    private static void draw(Run run, Bars bars, Predicate<Row> picked, Path directory, String name, List<String> drawn)
            throws IOException {
        List<Row> rows = run.rows().stream()
                .filter(row -> picked.test(row) && row.score() != null)
                .toList();
        if (rows.isEmpty()) {
            return;
        }
        CategoryChart chart = bars.chart(rows);
        String file = directory.resolve(name).toString();
        try (OutputStream out = Files.newOutputStream(directory.resolve(name + ".svg"))) {
            ChartEncoder.saveChart(chart, out, "svg");
        }
        BitmapEncoder.saveBitmapWithDPI(chart, file, BitmapEncoder.BitmapFormat.PNG, DPI);
        drawn.add(name);
    }

    /**
     * A bar chart to be filled.
     *
     * @param group what stands on the axis below
     * @param series what the greys mean
     * @param value height of a bar
     */
    private record Bars(
            String title,
            String unit,
            Function<Row, String> group,
            Function<Row, String> series,
            ToDoubleFunction<Row> value) {

        CategoryChart chart(List<Row> rows) {
            Set<String> groups = new LinkedHashSet<>();
            Map<String, Map<String, Row>> bySeries = new LinkedHashMap<>();
            for (Row row : rows) {
                groups.add(group.apply(row));
                bySeries.computeIfAbsent(series.apply(row), key -> new LinkedHashMap<>())
                        .put(group.apply(row), row);
            }
            CategoryChart chart = new CategoryChartBuilder()
                    .width(WIDTH)
                    .height(HEIGHT)
                    .title(title)
                    .yAxisTitle(unit + " (logarithmic)")
                    .build();
            // A linear axis of logarithms: on its own logarithmic axis the library draws errors in the wrong place.
            double lowest = rows.stream().mapToDouble(value).min().orElseThrow();
            double floor = Math.floor(Math.log10(lowest / 2));
            style(chart.getStyler());
            chart.getStyler()
                    .setYAxisTickLabelsFormattingFunction(height -> Tables.number(Math.pow(10, height + floor)));
            int colour = 0;
            for (Map.Entry<String, Map<String, Row>> entry : bySeries.entrySet()) {
                addSeries(chart, entry, groups, floor, GREYS[colour++ % GREYS.length]);
            }
            return chart;
        }

        private void addSeries(
                CategoryChart chart,
                Map.Entry<String, Map<String, Row>> named,
                Set<String> groups,
                double floor,
                Color colour) {
            List<@Nullable Double> heights = new ArrayList<>();
            List<@Nullable Double> errors = new ArrayList<>();
            for (String key : groups) {
                Row row = named.getValue().get(key);
                heights.add(row == null ? null : Math.log10(value.applyAsDouble(row)) - floor);
                errors.add(row == null ? null : Math.log10(1 + row.relativeError()));
            }
            CategorySeries series = chart.addSeries(named.getKey(), new ArrayList<>(groups), heights, errors);
            series.setFillColor(colour);
            series.setLineColor(Color.BLACK);
        }

        private static void style(CategoryStyler styler) {
            styler.setYAxisMin(0.0);
            styler.setPlotGridVerticalLinesVisible(false);
            styler.setPlotGridLinesStroke(new BasicStroke(0.5f));
            styler.setXAxisLabelRotation(45);
            styler.setAvailableSpaceFill(0.85);
            styler.setLegendPosition(Styler.LegendPosition.OutsideE);
            styler.setChartBackgroundColor(Color.WHITE);
            styler.setPlotBorderVisible(false);
            styler.setErrorBarsColor(Color.BLACK);
            styler.setAxisTickLabelsFont(new Font(Font.SANS_SERIF, Font.PLAIN, 12));
        }
    }
}
