package dev.sluice.samples.upload.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.samples.upload.soak.Trend.Point;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.LongToDoubleFunction;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A short form of the soak. The published figures come from {@code .ci/soak}. */
@Timeout(300)
@Tag("sized")
class SoakTest {
    /** The number of uploads, of which the first third is the warm-up. */
    private static final long UPLOADS =
            Long.getLong("sluice.soak.uploads", Boolean.getBoolean("sluice.full") ? 12_000 : 4_000);

    @TempDir
    Path directory;

    @Test
    void uploadsOfAllKinds_leaveNothing() throws Exception {
        UploadSoak.Result result = new UploadSoak(UPLOADS, 8, 8, Duration.ofDays(1)).run(directory);
        assertTrue(result.isGood(), result::toString);
        assertEquals(UPLOADS, result.uploads());
        assertEquals(RequestKind.values().length, result.kinds().size());
    }

    @Test
    void trend_growingFigure_isNotFlat() {
        List<Point> noise = points(i -> 5000 + i % 3 * 100);
        assertTrue(Trend.of("heap, KiB", noise, 1024, 256).isFlat());

        List<Point> leak = noise.stream()
                .map(point -> new Point(point.uploads(), point.value() + 2 * point.uploads() / 1024.0))
                .toList();
        Trend trend = Trend.of("heap, KiB", leak, 1024, 256);
        assertFalse(trend.isFlat(), trend::toString);
        assertEquals(2e6 / 1024, trend.perMillion(), 100);
    }

    @Test
    void trend_lateStep_isNotFlat() {
        Trend trend = Trend.of("heap, KiB", points(i -> 5000 + i % 3 * 100 + (i >= 17 ? 1200 : 0)), 1024, 256);
        assertTrue(trend.rise() < trend.allowed(), trend::toString);
        assertFalse(trend.isFlat(), trend::toString);
        assertEquals(6400, trend.most());
        assertEquals(5000, trend.least());
    }

    @Test
    void trend_stepAfterFall_isNotFlat() {
        Trend trend = Trend.of("heap, KiB", points(i -> i == 0 ? 20_000 : i < 16 ? 5000 : 8000), 1024, 256);
        assertTrue(trend.rise() < 0, trend::toString);
        assertFalse(trend.isFlat(), trend::toString);
        assertEquals(5000, trend.early());
        assertEquals(8000, trend.late());
    }

    @Test
    void trend_singleOutlier_isFlat() {
        assertTrue(Trend.of("heap, KiB", points(i -> i == 10 ? 9000 : 5000), 1024, 256)
                .isFlat());
    }

    private static List<Point> points(LongToDoubleFunction value) {
        return LongStream.range(0, 20)
                .mapToObj(i -> new Point(i * 50_000, value.applyAsDouble(i)))
                .toList();
    }

    @Test
    void shares_addUpToHundred() {
        assertEquals(
                100,
                List.of(RequestKind.values()).stream()
                        .mapToInt(RequestKind::share)
                        .sum());
    }
}
