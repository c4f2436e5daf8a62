package dev.sluice.bench.report;

import dev.sluice.testkit.TextTable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Bars from left to right on a logarithmic axis, each with its figure and its error, as SVG. Series differ by greys and
 * hatching, so that the chart can be printed in black and white; groups that are Sluice are in bold. The charts of a run are
 * those of {@code charts.txt}.
 */
record Chart(String title, String axis, String remark, List<Bar> bars) {
    /** One bar, beside which its group stands, with the fill of its series and a relative error. */
    record Bar(String group, String series, double value, double error) {
        double most() {
            return value * (1 + error);
        }
    }

    private static final int WIDTH = 960;
    private static final int LEFT = 290;
    private static final int RIGHT = WIDTH - 90;
    private static final int BAR = 13;
    private static final int GAP = 9;
    private static final int LINE = 20;
    private static final String[] FILLS = {"#555", "url(#rising)", "#bbb", "url(#crossed)", "#fff", "url(#falling)"};
    private static final String BEGIN = """
        <svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">
        <rect width="100%%" height="100%%" fill="#fff"/>
        <defs>
        <pattern id="rising" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="#fff"/>\
        <path d="M0 6 6 0" stroke="#000"/></pattern>
        <pattern id="falling" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="#ccc"/>\
        <path d="M0 0 6 6" stroke="#000"/></pattern>
        <pattern id="crossed" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="#fff"/>\
        <path d="M0 6 6 0M0 0 6 6" stroke="#000"/></pattern>
        </defs>
        """;

    /** {@return SVG by the names of the files; parsers whose result is wrong are left out, and the chart says so} */
    static Map<String, String> of(String name, Run run) {
        Map<String, String> drawn = new LinkedHashMap<>();
        String jvm = " (JDK " + run.jvm().getOrDefault("version", "?").split("\\.")[0] + ")";
        for (String line : TextTable.lines("/dev/sluice/bench/report/charts.txt")) {
            String[] words = line.split(" \\| ");
            List<Bar> bars = new ArrayList<>();
            Set<String> wrong = new TreeSet<>();
            run.pick(words[6]).filter(row -> row.score() != null).forEach(row -> {
                if (row.wrong()) {
                    wrong.add(Tables.peer(row));
                } else {
                    String group = Tables.label(words[3], row);
                    String series = Tables.label(words[4], row);
                    bars.add(new Bar(group, series, value(words[5], row), row.relativeError()));
                }
            });
            if (!bars.isEmpty()) {
                String left = wrong.isEmpty() ? "" : "Left out where the result is wrong: " + String.join("; ", wrong);
                drawn.put(name + "-" + words[0] + ".svg", new Chart(words[1] + jvm, words[2], left, bars).svg());
            }
        }
        return drawn;
    }

    private static double value(String figure, Row row) {
        return switch (figure) {
            case "speed" -> row.mebibytesPerSecond();
            case "nanosPerByte" -> row.nanosPerByte();
            default -> row.score();
        };
    }

    String svg() {
        List<String> groups = bars.stream().map(Bar::group).distinct().toList();
        List<String> series = bars.stream().map(Bar::series).distinct().toList();
        // Half of the least bar is still to be seen.
        double least = Math.log10(bars.stream().mapToDouble(Bar::value).min().orElseThrow() / 2);
        double most = Math.log10(bars.stream().mapToDouble(Bar::most).max().orElseThrow());
        int top = (remark.isEmpty() ? 3 : 4) * LINE;
        StringBuilder body = new StringBuilder();
        int y = top + legend(body, series, top) + LINE;
        int first = y;
        for (String group : groups) {
            int from = y;
            for (Bar bar : bars) {
                if (bar.group().equals(group)) {
                    bar(body, bar, series.indexOf(bar.series()), y, least, most);
                    y += BAR;
                }
            }
            String weight = group.startsWith("Sluice") ? " font-weight=\"bold\"" : "";
            body.append(text(LEFT - 8, (from + y) / 2 + 4, "end", weight, group));
            y += GAP;
        }
        StringBuilder svg = new StringBuilder(Tables.format(BEGIN, WIDTH, y + LINE))
                .append(text(GAP, LINE, "start", " font-size=\"15\" font-weight=\"bold\"", title))
                .append(text(GAP, 2 * LINE, "start", "", axis + "; logarithmic"))
                .append(remark.isEmpty() ? "" : text(GAP, 3 * LINE, "start", "", remark));
        for (int power = (int) Math.ceil(least); power <= most; power++) {
            double x = at(power, least, most);
            String number = Tables.number(Math.pow(10, power)).replaceFirst("\\.0+$", "");
            svg.append(Tables.format(
                            "<path d=\"M%.1f %dV%d\" stroke=\"#999\" stroke-width=\".5\"/>\n", x, first - 4, y))
                    .append(text(x, y + 12, "middle", "", number));
        }
        return svg.append(body).append("</svg>\n").toString();
    }

    private static int legend(StringBuilder svg, List<String> series, int top) {
        int x = GAP;
        int y = top;
        for (int i = 0; i < series.size(); i++) {
            int width = 44 + 7 * series.get(i).length();
            if (x + width > WIDTH) {
                x = GAP;
                y += LINE;
            }
            svg.append(rectangle(i, x, y - 11, 26)).append(text(x + 32, y, "start", "", series.get(i)));
            x += width;
        }
        return y - top;
    }

    private static void bar(StringBuilder svg, Bar bar, int series, int y, double least, double most) {
        svg.append(rectangle(series, LEFT, y, at(Math.log10(bar.value()), least, most) - LEFT));
        double right = at(Math.log10(bar.most()), least, most);
        if (bar.error() > 0) {
            double left = Math.max(LEFT, at(Math.log10(bar.value() / (1 + bar.error())), least, most));
            String line = "<path d=\"M%.1f %.1fH%.1f\" stroke=\"#000\" stroke-width=\"2\"/>\n";
            svg.append(Tables.format(line, left, y + BAR / 2.0, right));
        }
        svg.append(text(right + 4, y + BAR - 2, "start", " font-size=\"10\"", Tables.number(bar.value())));
    }

    private static double at(double logarithm, double least, double most) {
        return LEFT + (RIGHT - LEFT) * (logarithm - least) / (most - least);
    }

    private static String rectangle(int series, double x, int y, double width) {
        String rectangle = "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\" stroke=\"#000\"/>\n";
        return Tables.format(rectangle, x, y, width, BAR, FILLS[series % FILLS.length]);
    }

    private static String text(double x, int y, String anchor, String style, String text) {
        String escaped = text.replace("&", "&amp;").replace("<", "&lt;");
        return Tables.format(
                "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\"%s>%s</text>\n", x, y, anchor, style, escaped);
    }
}
