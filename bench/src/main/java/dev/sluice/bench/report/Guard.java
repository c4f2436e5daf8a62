package dev.sluice.bench.report;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.Consumer;

/** Judges bodies one after the other by a recorded run, and measures a slow one again before it counts. */
public final class Guard {

    private static final int SLOWER = 1;
    private static final int NOTHING_COMPARED = 2;

    private final List<Row> recorded;
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
    public Guard(List<Row> recorded, double factor, int attempts, Consumer<String> out) {
        this.recorded = recorded;
        this.factor = factor;
        this.attempts = attempts;
        this.out = out;
    }

    /**
     * One body.
     *
     * @param name for what is said about it
     * @param measure takes the rows of Sluice and of its peers, each time anew
     * @throws Exception what {@code measure} throws
     */
    public void judge(String name, Callable<List<Row>> measure) throws Exception {
        boolean slow = true;
        for (int attempt = 0; attempt < attempts && slow; attempt++) {
            List<Row> rows = measure.call();
            List<Row> without = rows.stream().filter(row -> row.score() == null).toList();
            if (!without.isEmpty()) {
                failed.add(name);
                without.forEach(row -> out.accept("FAILED " + name + ", " + row.param("peer") + ": " + row.note()));
                return;
            }
            List<Regression> regressions = Regression.between(recorded, rows, factor);
            if (regressions.isEmpty()) {
                unknown.add(name);
                out.accept("NOT COMPARED " + name
                        + ": the record has no CPU times of Sluice and a peer on this body, or" + " this run has none");
                return;
            }
            slow = false;
            for (Regression regression : regressions) {
                slow |= regression.isThere();
                out.accept(regression.toString());
            }
        }
        compared++;
        if (slow) {
            slower.add(name);
        }
    }

    /** @return 0 where all bodies were compared and none is slower, 2 where none was compared, else 1 */
    public int exitCode() {
        if (compared == 0) {
            return NOTHING_COMPARED;
        }
        return slower.isEmpty() && failed.isEmpty() && unknown.isEmpty() ? 0 : SLOWER;
    }

    /** What came out, and what is to be done where it is not what it should be. */
    public String summary() {
        List<String> lines = new ArrayList<>();
        if (!slower.isEmpty()) {
            lines.add(slower.size() + " bodies became slower: " + String.join("; ", slower));
        }
        if (!failed.isEmpty()) {
            lines.add(failed.size() + " bodies were not measured: " + String.join("; ", failed));
        }
        if (!unknown.isEmpty()) {
            lines.add(unknown.size() + " bodies could not be compared: " + String.join("; ", unknown)
                    + ". Record them on an idle machine, on a commit that is known to be fast: guard --record");
        }
        if (compared == 0) {
            lines.add("nothing was compared");
        }
        return lines.isEmpty() ? "nothing became slower" : String.join(System.lineSeparator(), lines);
    }
}
