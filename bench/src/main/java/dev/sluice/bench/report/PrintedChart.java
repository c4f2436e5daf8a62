package dev.sluice.bench.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.font.FontRenderContext;
import java.awt.font.TextLayout;
import java.awt.geom.AffineTransform;
import java.awt.geom.Line2D;
import java.awt.geom.Rectangle2D;
import java.util.ArrayList;
import java.util.List;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategorySeries;
import org.knowm.xchart.style.markers.Marker;
import org.knowm.xchart.style.markers.SeriesMarkers;

/**
 * A chart that can be read in black and white: bars with hatching and outlines, which the library does not draw, or lines with
 * different marks; above it title, remark and legend.
 */
final class PrintedChart extends CategoryChart {

    private static final int MARGIN = 14;
    private static final int LINE = 24;
    private static final int MARK = 8;
    private static final Font TITLE = new Font(Font.SANS_SERIF, Font.BOLD, 15);
    private static final Font TEXT = new Font(Font.SANS_SERIF, Font.PLAIN, 12);
    private static final FontRenderContext METRICS = new FontRenderContext(null, true, true);
    private static final double BOX_WIDTH = 30;
    private static final double BOX_HEIGHT = 14;
    private static final double SPACE = 26;

    private static final Marker[] MARKS = {
        SeriesMarkers.CIRCLE,
        SeriesMarkers.SQUARE,
        SeriesMarkers.TRIANGLE_UP,
        SeriesMarkers.DIAMOND,
        SeriesMarkers.CROSS,
        SeriesMarkers.PLUS
    };
    private static final float[][] DASHES = {{}, {8, 4}, {2, 3}, {10, 3, 2, 3}, {4, 4}, {14, 4}};

    private final String heading;
    private final String remark;
    private final boolean lines;

    /** @param lines whether a series is a line instead of a bar in each group */
    PrintedChart(int width, int height, String heading, String remark, boolean lines) {
        super(width, height);
        this.heading = heading;
        this.remark = remark;
        this.lines = lines;
        getStyler().setLegendVisible(false);
        getStyler().setChartTitleVisible(false);
    }

    /** Gives the series added as the n-th its look. */
    void style(CategorySeries series, int n) {
        if (lines) {
            series.setChartCategorySeriesRenderStyle(CategorySeries.CategorySeriesRenderStyle.Line);
            series.setMarker(MARKS[n % MARKS.length]);
            series.setMarkerColor(Color.BLACK);
            series.setLineColor(Color.BLACK);
            series.setLineStyle(stroke(n));
        } else {
            series.setFillColor(Fill.of(n).ground());
        }
    }

    private static BasicStroke stroke(int n) {
        float[] dashes = DASHES[n % DASHES.length];
        return dashes.length == 0
                ? new BasicStroke(1.4f)
                : new BasicStroke(1.4f, BasicStroke.CAP_BUTT, BasicStroke.JOIN_ROUND, 10f, dashes, 0f);
    }

    @Override
    public void paint(Graphics2D g, int width, int height) {
        List<List<CategorySeries>> legend = legend(width);
        int top = MARGIN + LINE * (1 + (remark.isEmpty() ? 0 : 1) + legend.size());
        g.setRenderingHint(RenderingHints.KEY_ANTIALIASING, RenderingHints.VALUE_ANTIALIAS_ON);
        AffineTransform before = g.getTransform();
        g.translate(0, top);
        super.paint(g, width, height - top);
        if (!lines) {
            drawOverBars(g);
        }
        g.setTransform(before);
        // The encoders ask for the size after painting.
        setHeight(height);
        g.setColor(Color.WHITE);
        g.fill(new Rectangle2D.Double(0, 0, width, top));
        drawHead(g, legend);
    }

    private void drawHead(Graphics2D g, List<List<CategorySeries>> legend) {
        double y = MARGIN + LINE / 2;
        write(g, TITLE, heading, 2 * MARGIN, y);
        if (!remark.isEmpty()) {
            y += LINE;
            write(g, TEXT, remark, 2 * MARGIN, y);
        }
        int n = 0;
        for (List<CategorySeries> row : legend) {
            y += LINE;
            double x = 2 * MARGIN;
            for (CategorySeries series : row) {
                drawKey(g, n++, x, y);
                write(g, TEXT, series.getName(), x + BOX_WIDTH + MARK, y);
                x += keyWidth(series);
            }
        }
    }

    /** As outlines, as the library does it, so that it has the same width everywhere. */
    private static void write(Graphics2D g, Font font, String text, double x, double y) {
        g.setColor(Color.BLACK);
        g.fill(new TextLayout(text, font, METRICS).getOutline(AffineTransform.getTranslateInstance(x, y)));
    }

    private void drawKey(Graphics2D g, int n, double x, double y) {
        if (lines) {
            double middle = y - BOX_HEIGHT / 3;
            g.setColor(Color.BLACK);
            g.setStroke(stroke(n));
            g.draw(new Line2D.Double(x, middle, x + BOX_WIDTH, middle));
            MARKS[n % MARKS.length].paint(g, x + BOX_WIDTH / 2, middle, MARK);
            return;
        }
        Rectangle2D box = new Rectangle2D.Double(x, y - BOX_HEIGHT + 2, BOX_WIDTH, BOX_HEIGHT);
        g.setColor(Fill.of(n).ground());
        g.fill(box);
        Fill.of(n).drawOver(g, box);
    }

    private List<List<CategorySeries>> legend(int width) {
        List<List<CategorySeries>> rows = new ArrayList<>();
        double used = width;
        for (CategorySeries series : getSeriesCollection()) {
            double needed = keyWidth(series);
            if (used + needed > width - 2 * MARGIN) {
                rows.add(new ArrayList<>());
                used = 2 * MARGIN;
            }
            rows.get(rows.size() - 1).add(series);
            used += needed;
        }
        return rows;
    }

    private static double keyWidth(CategorySeries series) {
        return BOX_WIDTH
                + MARK
                + TEXT.getStringBounds(series.getName(), METRICS).getWidth()
                + SPACE;
    }

    /** Where the library puts a bar: groups share the width, and bars of a group the part of it that is to be filled. */
    private void drawOverBars(Graphics2D g) {
        Rectangle2D area = plot.getBounds();
        double size = getStyler().getPlotContentSize();
        double left = area.getX() + area.getWidth() * (1 - size) / 2;
        double foot = area.getMaxY() - area.getHeight() * (1 - size) / 2;
        double top = getStyler().getYAxisMax();
        List<CategorySeries> all = new ArrayList<>(getSeriesCollection());
        double fill = getStyler().getAvailableSpaceFill();
        for (int n = 0; n < all.size(); n++) {
            double[] heights = all.get(n).getYData();
            double group = area.getWidth() * size / heights.length;
            double bar = group * fill / all.size();
            for (int at = 0; at < heights.length; at++) {
                if (!Double.isNaN(heights[at])) {
                    double pixels = area.getHeight() * size * heights[at] / top;
                    double x = left + at * group + group * (1 - fill) / 2 + n * bar;
                    Fill.of(n).drawOver(g, new Rectangle2D.Double(x, foot - pixels, bar, pixels));
                }
            }
        }
    }
}
