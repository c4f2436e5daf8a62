package dev.sluice.samples.upload.soak;

import java.util.List;

/**
 * The straight line through a row of figures, by least squares, and whether it rises more than it may.
 *
 * <p>What a figure may rise by in all is the larger of a floor, below which it is noise (what was loaded or cached late),
 * and a rate: where each upload loses something, the line outgrows both, the sooner the more uploads there are.
 *
 * @param what the figure, with its unit
 * @param before at the first point
 * @param after at the last point
 * @param perMillion what the line rises by in a million uploads
 * @param rise what it rises by from the first point to the last
 * @param allowed the most that it may rise by
 */
record Trend(String what, double before, double after, double perMillion, double rise, double allowed) {
    /** A figure after so many uploads. */
    record Point(long uploads, double value) {}

    /**
     * {@return the line through {@code points}}
     *
     * @param points at least two, at different numbers of uploads
     * @param floor what it may rise by at any rate
     * @param rate what it may rise by in a million uploads
     */
    static Trend of(String what, List<Point> points, double floor, double rate) {
        double meanUploads =
                points.stream().mapToDouble(Point::uploads).average().orElseThrow();
        double meanValue = points.stream().mapToDouble(Point::value).average().orElseThrow();
        double products = 0;
        double squares = 0;
        for (Point point : points) {
            products += (point.uploads() - meanUploads) * (point.value() - meanValue);
            squares += (point.uploads() - meanUploads) * (point.uploads() - meanUploads);
        }
        double slope = products / squares;
        Point first = points.get(0);
        Point last = points.get(points.size() - 1);
        double span = last.uploads() - first.uploads();
        return new Trend(
                what, first.value(), last.value(), slope * 1e6, slope * span, Math.max(floor, rate * span / 1e6));
    }

    boolean isFlat() {
        return rise <= allowed;
    }
}
