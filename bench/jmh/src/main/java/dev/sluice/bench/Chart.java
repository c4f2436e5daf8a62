package dev.sluice.bench;

import dev.sluice.bench.peer.Provenance;
import dev.sluice.testkit.TextTable;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The bar chart of the project's README, as SVG for light and dark pages.
 *
 * <p>Bars are horizontal and start at zero. Within a group the fastest comes first. Bars with the same scale are comparable in length;
 * the times of a large file and of small files differ too much for one scale. Rows without a reliable figure are left out.
 */
record Chart(String title, List<Bar> bars) {
    /**
     * One bar.
     *
     * @param error relative to the value
     */
    record Bar(String scale, String group, String name, double value, double error) {
        double most() {
            return value * (1 + error);
        }
    }

    private static final int WIDTH = 960;
    private static final int EDGE = 16;
    private static final int LEFT = 300;
    private static final int RIGHT = WIDTH - 90;
    private static final int GAP = 8;
    private static final int BAR = 15;
    private static final int LINE = 20;

    /** Returns the chart of one large file with every parser, and of small files with leak detection off and at PARANOID. */
    static String ofReadme(Run peers, Run levels) {
        List<Bar> bars = new ArrayList<>();
        add(
                bars,
                peers.pick("main scenario=random-16m memory=heap").toList(),
                "file",
                "One file of 16 MiB, chunks of 8 KiB on the heap");
        for (String level : List.of("DISABLED", "PARANOID")) {
            add(
                    bars,
                    levels.pick("levels scenario=netty-high memory=pooled-each level=" + level)
                            .toList(),
                    "leaks",
                    "64 small files, pooled direct chunks, leak detection " + level);
        }
        Provenance made = peers.provenance();
        String where = " (JDK %s, %s, %s cores)"
                .formatted(made.jdk(), made.machine().get("cpu"), made.machine().get("cores"));
        return new Chart("Time for a whole body" + where, bars).svg();
    }

    private static void add(List<Bar> bars, List<Row> rows, String scale, String group) {
        rows.stream()
                .filter(row -> row.score() != null && !row.wrong() && !row.vague())
                .map(row -> new Bar(scale, group, Tables.peer(row), row.score(), row.relativeError()))
                .sorted(Comparator.comparingDouble(Bar::value))
                .forEach(bars::add);
    }

    String svg() {
        Map<String, Double> longest = new HashMap<>();
        bars.forEach(bar -> longest.merge(bar.scale(), bar.most(), Math::max));
        StringBuilder body = new StringBuilder();
        int y = LINE + 4;
        body.append(text(EDGE, y, "start", " font-size=\"16\" font-weight=\"bold\"", title));
        y += LINE;
        String legend = "us: lower is better; the thin line is the error; the first group has a scale of its own";
        body.append(text(EDGE, y, "start", " class=\"quiet\"", legend));
        String group = "";
        for (Bar bar : bars) {
            if (!bar.group().equals(group)) {
                group = bar.group();
                y += LINE + LINE / 2;
                body.append(text(EDGE, y, "start", " font-size=\"13\" font-weight=\"bold\"", group));
                y += LINE / 2;
            }
            draw(body, bar, y, (RIGHT - LEFT) / longest.get(bar.scale()));
            y += LINE;
        }
        return Tables.format(TextTable.text("/dev/sluice/bench/chart.svg"), WIDTH, y + LINE / 2, body);
    }

    private static void draw(StringBuilder svg, Bar bar, int y, double pixelsPerUnit) {
        boolean own = bar.name().startsWith("Sluice");
        svg.append(text(LEFT - GAP, y + BAR - 3, "end", own ? " class=\"own\"" : "", bar.name()));
        svg.append(Tables.format(
                "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n",
                own ? "own" : "other", LEFT, y, Math.max(1, bar.value() * pixelsPerUnit), BAR));
        double from = LEFT + bar.value() / (1 + bar.error()) * pixelsPerUnit;
        double to = LEFT + bar.most() * pixelsPerUnit;
        svg.append(Tables.format("<path class=\"error\" d=\"M%.1f %.1fH%.1f\"/>\n", from, y + BAR / 2.0, to));
        svg.append(text(to + 5, y + BAR - 3, "start", "", Tables.number(bar.value())));
    }

    private static String text(double x, int y, String anchor, String style, String text) {
        String escaped = text.replace("&", "&amp;").replace("<", "&lt;");
        return Tables.format(
                "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\"%s>%s</text>\n", x, y, anchor, style, escaped);
    }
}
