package dev.sluice.bench.report;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Bars from left to right on a logarithmic axis, each with its figure and its error, as SVG. Series differ by greys and
 * hatching, so that the chart can be printed in black and white; groups that are Sluice are in bold.
 */
record Chart(String title, String axis, String remark, List<Bar> bars) {
    /** One bar, beside which its group stands, with the fill of its series and a relative error. */
    record Bar(String group, String series, double value, double error) {}

    private static final int WIDTH = 960;
    private static final int LEFT = 290;
    private static final int RIGHT = WIDTH - 90;
    private static final int BAR = 13;
    private static final int GAP = 9;
    private static final int LINE = 20;
    private static final String[] FILLS = {"#555", "url(#rising)", "#bbb", "url(#crossed)", "#fff", "url(#falling)"};
    private static final String PATTERNS = """
        <defs>
        <pattern id="rising" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="#fff"/>\
        <path d="M0 6 6 0" stroke="#000"/></pattern>
        <pattern id="falling" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="#ccc"/>\
        <path d="M0 0 6 6" stroke="#000"/></pattern>
        <pattern id="crossed" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="#fff"/>\
        <path d="M0 6 6 0M0 0 6 6" stroke="#000"/></pattern>
        </defs>
        """;

    String svg() {
        Set<String> groups = new LinkedHashSet<>();
        Set<String> series = new LinkedHashSet<>();
        bars.forEach(bar -> groups.add(bar.group()));
        bars.forEach(bar -> series.add(bar.series()));
        // Half of the least bar is still to be seen.
        double least = Math.log10(bars.stream().mapToDouble(Bar::value).min().orElseThrow() / 2);
        double most = Math.log10(bars.stream()
                .mapToDouble(bar -> bar.value() * (1 + bar.error()))
                .max()
                .orElseThrow());
        int top = (remark.isEmpty() ? 3 : 4) * LINE;
        StringBuilder body = new StringBuilder();
        int y = top + legend(body, List.copyOf(series), top) + LINE;
        int first = y;
        for (String group : groups) {
            int from = y;
            for (Bar bar : bars) {
                if (bar.group().equals(group)) {
                    bar(body, bar, List.copyOf(series).indexOf(bar.series()), y, least, most);
                    y += BAR;
                }
            }
            String weight = group.startsWith("Sluice") ? " font-weight=\"bold\"" : "";
            text(body, LEFT - 8, (from + y) / 2 + 4, "end", weight, group);
            y += GAP;
        }
        StringBuilder svg = new StringBuilder(String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\""
                        + " font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
                WIDTH,
                y + LINE));
        svg.append(PATTERNS);
        text(svg, GAP, LINE, "start", " font-size=\"15\" font-weight=\"bold\"", title);
        text(svg, GAP, 2 * LINE, "start", "", axis + "; logarithmic");
        if (!remark.isEmpty()) {
            text(svg, GAP, 3 * LINE, "start", "", remark);
        }
        for (int power = (int) Math.ceil(least); power <= most; power++) {
            double x = at(power, least, most);
            svg.append(String.format(
                    Locale.ROOT, "<path d=\"M%.1f %dV%d\" stroke=\"#999\" stroke-width=\".5\"/>\n", x, first - 4, y));
            text(
                    svg,
                    x,
                    y + 12,
                    "middle",
                    "",
                    Tables.number(Math.pow(10, power)).replaceFirst("\\.0+$", ""));
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
            rectangle(svg, i, x, y - 11, 26);
            text(svg, x + 32, y, "start", "", series.get(i));
            x += width;
        }
        return y - top;
    }

    private static void bar(StringBuilder svg, Bar bar, int series, int y, double least, double most) {
        double end = at(Math.log10(bar.value()), least, most);
        rectangle(svg, series, LEFT, y, end - LEFT);
        double right = at(Math.log10(bar.value() * (1 + bar.error())), least, most);
        if (bar.error() > 0) {
            double left = at(Math.log10(bar.value() / (1 + bar.error())), least, most);
            svg.append(String.format(
                    Locale.ROOT,
                    "<path d=\"M%.1f %.1fH%.1f\" stroke=\"#000\" stroke-width=\"2\"/>\n",
                    Math.max(LEFT, left),
                    y + BAR / 2.0,
                    right));
        }
        text(svg, right + 4, y + BAR - 2, "start", " font-size=\"10\"", Tables.number(bar.value()));
    }

    private static double at(double logarithm, double least, double most) {
        return LEFT + (RIGHT - LEFT) * (logarithm - least) / (most - least);
    }

    private static void rectangle(StringBuilder svg, int series, double x, int y, double width) {
        svg.append(String.format(
                Locale.ROOT,
                "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"%s\" stroke=\"#000\"/>\n",
                x,
                y,
                width,
                BAR,
                FILLS[series % FILLS.length]));
    }

    private static void text(StringBuilder svg, double x, int y, String anchor, String style, String text) {
        svg.append(String.format(
                Locale.ROOT,
                "<text x=\"%.1f\" y=\"%d\" text-anchor=\"%s\"%s>%s</text>\n",
                x,
                y,
                anchor,
                style,
                text.replace("&", "&amp;").replace("<", "&lt;")));
    }
}
