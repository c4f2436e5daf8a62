package dev.sluice.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Judges bodies one after the other by the ratios of Sluice's time to those of other parsers, now and in a recorded run. The
 * least CPU times of an iteration are compared: they depend least on what else the machine is doing. A slow body is measured
 * again before it counts.
 */
public final class Guard {
    private static final String SLUICE = "sluice-push";

    private final Map<String, Row> recorded;
    private final double factor;
    private final int attempts;
    private final Consumer<String> out;
    private final List<String> slower = new ArrayList<>();
    private final List<String> failed = new ArrayList<>();
    private final List<String> unknown = new ArrayList<>();
    private int compared;

    /**
     * @param factor up to which a ratio may have grown
     * @param attempts how often a slow body is measured
     * @param out is told each result
     */
    public Guard(Run recorded, double factor, int attempts, Consumer<String> out) {
        this.recorded = recorded.byKey();
        this.factor = factor;
        this.attempts = attempts;
        this.out = out;
    }

    /**
     * One body.
     *
     * @param name for what is said about it
     * @param measure takes the rows of Sluice and of the others, each time anew
     * @throws Exception what {@code measure} throws
     */
    public void judge(String name, Callable<List<Row>> measure) throws Exception {
        Boolean slow = true;
        for (int attempt = 0; attempt < attempts && Boolean.TRUE.equals(slow); attempt++) {
            List<Row> rows = measure.call();
            List<Row> without = rows.stream().filter(row -> row.score() == null).toList();
            if (!without.isEmpty()) {
                failed.add(name);
                without.forEach(row -> out.accept("FAILED " + name + ", " + row.param("peer") + ": " + row.note()));
                return;
            }
            slow = isSlow(name, rows);
        }
        if (slow == null) {
            unknown.add(name);
            out.accept("NOT COMPARED " + name
                    + ": the record has no CPU times of Sluice and another parser on this body, or this run has none");
            return;
        }
        compared++;
        if (slow) {
            slower.add(name);
        }
    }

    /** Only what is slower beside every other parser is: beside one alone it may be that one which was lucky. Null without any. */
    private @Nullable Boolean isSlow(String name, List<Row> rows) {
        Map<String, Row> now = rows.stream().collect(Collectors.toMap(Row::key, row -> row));
        List<String> told = new ArrayList<>();
        boolean slow = true;
        for (Row row : rows) {
            Row sluice = now.get(row.keyOf(SLUICE));
            Double before = ratio(recorded.get(row.keyOf(SLUICE)), recorded.get(row.key()));
            Double after = ratio(sluice, row);
            if (row != sluice && before != null && after != null) {
                double growth = after / before;
                slow &= growth > factor;
                told.add(Tables.format("%.3f -> %.3f of %s (x %.2f)", before, after, row.param("peer"), growth));
            }
        }
        if (told.isEmpty()) {
            return null;
        }
        out.accept((slow ? "SLOWER " : "ok     ") + name + ": " + String.join(", ", told));
        return slow;
    }

    private static @Nullable Double ratio(@Nullable Row sluice, @Nullable Row other) {
        return sluice == null || other == null || sluice.cpu() == null || other.cpu() == null
                ? null
                : (Double) (sluice.cpu() / other.cpu());
    }

    /** {@return 0 where all bodies were compared and none is slower, 2 where none was compared, else 1} */
    public int exitCode() {
        if (compared == 0) {
            return 2;
        }
        return slower.isEmpty() && failed.isEmpty() && unknown.isEmpty() ? 0 : 1;
    }

    /** What came out, and what is to be done where it is not what it should be. */
    public String summary() {
        String lines = told(slower, "became slower", "")
                + told(failed, "were not measured", "")
                + told(
                        unknown,
                        "could not be compared",
                        ". Record them on an idle machine, on a commit that is known to be fast: guard --record")
                + (compared == 0 ? "nothing was compared" : "");
        return lines.isEmpty() ? "nothing became slower" : lines.strip();
    }

    private static String told(List<String> bodies, String what, String remedy) {
        return bodies.isEmpty()
                ? ""
                : "%d bodies %s: %s%s%n".formatted(bodies.size(), what, String.join("; ", bodies), remedy);
    }
}
