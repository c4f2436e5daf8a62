package dev.sluice.bench.report;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.geom.Path2D;
import java.awt.geom.Rectangle2D;

/** What a bar is filled with: greys far apart, and hatching between them, so that none needs a colour. */
enum Fill {
    DARK(new Color(125, 125, 125), false, false),
    RISING(Color.WHITE, true, false),
    LIGHT(new Color(205, 205, 205), false, false),
    CROSSED(Color.WHITE, true, true),
    WHITE(Color.WHITE, false, false),
    FALLING(new Color(205, 205, 205), false, true);

    private static final double GAP = 6;
    private static final BasicStroke HATCH = new BasicStroke(0.8f);
    private static final BasicStroke OUTLINE = new BasicStroke(1f);

    private final Color ground;
    private final boolean rising;
    private final boolean falling;

    Fill(Color ground, boolean rising, boolean falling) {
        this.ground = ground;
        this.rising = rising;
        this.falling = falling;
    }

    static Fill of(int series) {
        return values()[series % values().length];
    }

    Color ground() {
        return ground;
    }

    /** Hatching and outline, to be drawn over a bar that has the ground already. */
    void drawOver(Graphics2D g, Rectangle2D bar) {
        g.setColor(Color.BLACK);
        g.setStroke(HATCH);
        double width = bar.getWidth();
        double height = bar.getHeight();
        Path2D lines = new Path2D.Double();
        // Counted from the foot of the bar, so that bars of one series look alike whatever their height.
        for (double at = GAP; at < width + height; at += GAP) {
            double left = Math.max(0, at - height);
            double right = Math.min(at, width);
            double low = Math.min(at, height);
            double high = Math.max(0, at - width);
            if (falling) {
                lines.moveTo(bar.getX() + left, bar.getMaxY() - low);
                lines.lineTo(bar.getX() + right, bar.getMaxY() - high);
            }
            if (rising) {
                lines.moveTo(bar.getMaxX() - left, bar.getMaxY() - low);
                lines.lineTo(bar.getMaxX() - right, bar.getMaxY() - high);
            }
        }
        g.draw(lines);
        g.setStroke(OUTLINE);
        g.draw(bar);
    }
}
