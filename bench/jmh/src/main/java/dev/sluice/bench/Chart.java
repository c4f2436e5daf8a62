package dev.sluice.bench;

import dev.sluice.bench.peer.Provenance;
import dev.sluice.testkit.TextTable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Bars from left to right that begin at nothing, each with its name, its figure and its error, the best of a group first, and
 * remarks below them, as SVG for light and for dark pages. Sluice has a colour of its own. The charts of a run are those of {@code charts.txt}.
 *
 * @param remarks what is not shown, and why
 */
record Chart(String title, String axis, List<String> remarks, List<Bar> bars) {
    /**
     * One bar.
     *
     * @param scale bars of the same scale are as long beside each other as their figures say
     * @param group stands above it
     * @param error relative
     * @param own whether it is Sluice's
     */
    record Bar(String scale, String group, String name, double value, double error, boolean own) {
        double most() {
            return value * (1 + error);
        }

        Bar on(String other) {
            return new Bar(other, group, name, value, error, own);
        }
    }

    private static final int WIDTH = 960;
    private static final int EDGE = 16;
    /** Of the bars, where no name is longer. */
    private static final int LEFT = 300;

    private static final int GAP = 8;
    /** What a letter takes at most on average, in bold. */
    private static final int LETTER = 7;

    private static final int RIGHT = WIDTH - 90;
    private static final int BAR = 15;
    private static final int LINE = 20;
    /** Where the longest bars of groups lie further apart, the lesser group would not be seen: then each has a scale of its own. */
    private static final double FAR = 10;

    private static final int LETTERS = 140;

    /** {@return SVG by the names of the files; rows without a bar are told in words} */
    static Map<String, String> of(String name, Run run) {
        Map<String, String> drawn = new LinkedHashMap<>();
        for (String line : TextTable.lines("/dev/sluice/bench/charts.txt")) {
            String[] words = line.split(" \\| ");
            Chart chart = of(run, words[1], words[2], words[3], words[4], words[5], words[6]);
            if (words.length > 7) {
                chart.remarks().add(words[7]);
            }
            if (!chart.bars().isEmpty()) {
                drawn.put(name + "-" + words[0] + ".svg", chart.svg());
            }
        }
        return drawn;
    }

    private static Chart of(Run run, String title, String axis, String group, String name, String figure, String rows) {
        List<Bar> bars = new ArrayList<>();
        List<Row> left = new ArrayList<>();
        run.pick(rows).forEach(row -> {
            if (row.score() == null || row.wrong() || row.vague()) {
                left.add(row);
            } else {
                String label = Tables.label(name, row);
                boolean own = label.startsWith("Sluice") || Losses.ownWay(row);
                String above = Tables.label(group, row);
                bars.add(new Bar("", above, label, value(figure, row), row.relativeError(), own));
            }
        });
        Map<String, Double> longest = new TreeMap<>();
        bars.forEach(bar -> longest.merge(bar.group(), bar.value(), Math::max));
        if (!bars.isEmpty() && Collections.max(longest.values()) > FAR * Collections.min(longest.values())) {
            bars.replaceAll(bar -> bar.on(bar.group()));
        }
        Map<String, Set<String>> unseen = new TreeMap<>();
        for (Row row : left) {
            String label = Tables.label(name, row);
            boolean elsewhere = bars.stream().anyMatch(bar -> bar.name().equals(label));
            String why = row.score() == null
                    ? "No figure"
                    : "Left out where the " + (row.wrong() ? "result is wrong" : "error is above 30 %");
            unseen.computeIfAbsent(why, each -> new LinkedHashSet<>())
                    .add(elsewhere ? label + " (" + Tables.label(group, row) + ")" : label);
        }
        List<String> remarks = new ArrayList<>();
        unseen.forEach((why, names) -> remarks.add(why + ": " + String.join("; ", names)));
        return new Chart(title + where(run), axis, remarks, bars);
    }

    /** {@return the picture of the README: a large file beside all who read it, and what leak detection costs} */
    static String ofReadme(Run peers, Run levels) {
        String file = "main scenario=random-16m memory=heap";
        String small = "levels scenario=netty-high memory=pooled-each level=DISABLED,PARANOID";
        Chart large = of(peers, "", "", "One file of 16 MiB, chunks of 8 KiB on the heap", "$peer", "score", file);
        Chart leaks = of(
                levels, "", "", "64 small files, pooled direct chunks, leak detection $level", "$peer", "score", small);
        List<Bar> bars = new ArrayList<>();
        large.bars().forEach(bar -> bars.add(bar.on("file")));
        leaks.bars().forEach(bar -> bars.add(bar.on("leaks")));
        List<String> remarks = new ArrayList<>(large.remarks());
        remarks.addAll(leaks.remarks());
        return new Chart("Time for a whole body" + where(peers), "us: lower is better", remarks, bars).svg();
    }

    private static String where(Run run) {
        Provenance made = run.provenance();
        return " (JDK %s, %s, %s cores)"
                .formatted(made.jdk(), made.machine().get("cpu"), made.machine().get("cores"));
    }

    private static double value(String figure, Row row) {
        return switch (figure) {
            case "speed" -> row.mebibytesPerSecond();
            case "nanosPerByte" -> row.nanosPerByte();
            default -> row.score();
        };
    }

    String svg() {
        Map<String, Double> scales = new TreeMap<>();
        bars.forEach(bar -> scales.merge(bar.scale(), bar.most(), Math::max));
        Comparator<Bar> best = Comparator.comparingDouble(Bar::value);
        boolean higher = axis.contains("higher is better");
        StringBuilder body = new StringBuilder();
        int y = LINE + 4;
        body.append(text(EDGE, y, "start", " font-size=\"16\" font-weight=\"bold\"", title));
        String thin = bars.stream().anyMatch(bar -> bar.error() > 0) ? "; the thin line is the error" : "";
        String apart = scales.size() > 1 ? "; bars of different groups are not drawn to one scale" : "";
        y += LINE;
        body.append(text(EDGE, y, "start", " class=\"quiet\"", axis + thin + apart));
        int left = left();
        for (String group : bars.stream().map(Bar::group).distinct().toList()) {
            y += LINE + LINE / 2;
            body.append(text(EDGE, y, "start", " font-size=\"13\" font-weight=\"bold\"", group));
            y += LINE / 2;
            for (Bar bar : bars.stream()
                    .filter(each -> each.group().equals(group))
                    .sorted(higher ? best.reversed() : best)
                    .toList()) {
                bar(body, bar, left, y, (RIGHT - left) / scales.get(bar.scale()));
                y += LINE;
            }
        }
        List<String> lines = new ArrayList<>();
        remarks.forEach(remark -> wrap(remark, lines));
        y += lines.isEmpty() ? 0 : LINE / 2;
        for (String line : lines) {
            y += LINE;
            body.append(text(EDGE, y, "start", " class=\"quiet\"", line));
        }
        String page = TextTable.text("/dev/sluice/bench/chart.svg");
        return Tables.format(page, WIDTH, y + LINE / 2, body);
    }

    /** {@return where bars begin: right of the longest name} */
    private int left() {
        int longest = bars.stream().mapToInt(bar -> bar.name().length()).max().orElse(0);
        return Math.max(LEFT, EDGE + GAP + LETTER * longest);
    }

    private static void wrap(String remark, List<String> lines) {
        String rest = remark;
        while (rest.length() > LETTERS) {
            int end = rest.lastIndexOf(' ', LETTERS);
            lines.add(rest.substring(0, end));
            rest = rest.substring(end + 1);
        }
        lines.add(rest);
    }

    /** @param unit pixels for 1 */
    private static void bar(StringBuilder svg, Bar bar, int start, int y, double unit) {
        String kind = bar.own() ? "own" : "other";
        double end = start + bar.value() * unit;
        svg.append(text(start - GAP, y + BAR - 3, "end", bar.own() ? " class=\"own\"" : "", bar.name()));
        String rectangle = "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>\n";
        svg.append(Tables.format(rectangle, kind, start, y, Math.max(1, end - start), BAR));
        double right = start + bar.most() * unit;
        if (bar.error() > 0) {
            double left = start + bar.value() / (1 + bar.error()) * unit;
            String line = "<path class=\"error\" d=\"M%.1f %.1fH%.1f\"/>\n";
            svg.append(Tables.format(line, left, y + BAR / 2.0, right));
        }
        svg.append(text(right + 5, y + BAR - 3, "start", "", Tables.number(bar.value())));
    }

    private static String text(double x, int y, String anchor, String style, String text) {
        String escaped = text.replace("&", "&amp;").replace("<", "&lt;");
        return Tables.format(
                "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\"%s>%s</text>\n", x, y, anchor, style, escaped);
    }
}
