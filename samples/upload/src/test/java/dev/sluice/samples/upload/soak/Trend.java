package dev.sluice.samples.upload.soak;

import java.util.List;

/**
 * The trend of a series of figures, for detecting leaks: the least-squares line, and the medians of the first and last
 * quarters. The line shows what each upload leaks. The medians also show a step that the line misses because of earlier
 * values. A step after the middle of the last quarter is too late for both and shows only in the maximum.
 *
 * <p>A figure may rise by a fixed floor, or by a rate per million uploads if that is more. The floor allows for noise
 * such as late loading and caching. If every upload leaks, the rise exceeds both after enough uploads.
 *
 * @param what the figure and its unit
 * @param before the value of the first point
 * @param after the value of the last point
 * @param least the smallest value
 * @param most the largest value
 * @param early the median of the first quarter
 * @param late the median of the last quarter
 * @param perMillion the rise of the line per million uploads
 * @param rise the rise of the line from the first point to the last
 * @param allowed the most that the line may rise, and that {@code late} may exceed {@code early}
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
    /** A value after a number of uploads. */
    public record Point(long uploads, double value) {}

    /**
     * {@return the trend of {@code points}}
     *
     * @param points at least two, in order, with different numbers of uploads
     * @param floor the allowed rise in any case
     * @param rate the allowed rise per million uploads
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
