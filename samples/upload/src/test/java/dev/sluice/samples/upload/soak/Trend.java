package dev.sluice.samples.upload.soak;

import java.util.List;

/**
 * Whether a row of figures rises more than it may: the straight line through it, by least squares, and the median of its
 * last quarter beside that of its first. The line sees what each upload loses; the medians see a step, also one that the
 * line does not because of what came before. A step behind the middle of the last quarter is too late for either: it
 * shows in the largest figure only.
 *
 * <p>What a figure may rise by in all is the larger of a floor, below which it is noise (what was loaded or cached late),
 * and a rate: where each upload loses something, the line outgrows both, the sooner the more uploads there are.
 *
 * @param what the figure, with its unit
 * @param before at the first point
 * @param after at the last point
 * @param least the smallest
 * @param most the largest
 * @param early the median of the first quarter of the points
 * @param late the median of the last quarter
 * @param perMillion what the line rises by in a million uploads
 * @param rise what it rises by from the first point to the last
 * @param allowed the most that the line may rise by, and {@code late} be above {@code early}
 */
public record Trend(
        String what,
        double before,
        double after,
        double least,
        double most,
        double early,
        double late,
        double perMillion,
        double rise,
        double allowed) {
    /** A figure after so many uploads. */
    public record Point(long uploads, double value) {}

    /**
     * {@return how {@code points} rise}
     *
     * @param points at least two, at different numbers of uploads, in their order
     * @param floor what they may rise by at any rate
     * @param rate what they may rise by in a million uploads
     */
    public static Trend of(String what, List<Point> points, double floor, double rate) {
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
        int count = points.size();
        Point first = points.get(0);
        Point last = points.get(count - 1);
        double span = last.uploads() - first.uploads();
        int quarter = Math.max(count / 4, 1);
        return new Trend(
                what,
                first.value(),
                last.value(),
                points.stream().mapToDouble(Point::value).min().orElseThrow(),
                points.stream().mapToDouble(Point::value).max().orElseThrow(),
                median(points.subList(0, quarter)),
                median(points.subList(count - quarter, count)),
                slope * 1e6,
                slope * span,
                Math.max(floor, rate * span / 1e6));
    }

    private static double median(List<Point> points) {
        double[] sorted = points.stream().mapToDouble(Point::value).sorted().toArray();
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    }

    boolean isFlat() {
        return rise <= allowed && late - early <= allowed;
    }
}
