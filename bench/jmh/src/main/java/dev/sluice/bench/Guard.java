package dev.sluice.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Judges groups of rows, one after the other, by ratios of times now and in a recorded run: Sluice's push decoder to another
 * parser, another way to use Sluice to its push decoder, and PARANOID to DISABLED; the last the other way round for other
 * parsers, so that less is always better for Sluice.
 */
final class Guard {
    private static final String PUSH = "sluice-push";
    /** Up to which a ratio may grow before it is called slower. */
    private static final double FACTOR = 1.6;
    /** How often a slow body is measured before it fails. */
    private static final int ATTEMPTS = 3;
    /** Up to which a ratio may be greater on this machine than on that of the README. */
    static final double CLAIMED = 1.25;

    private final Map<String, Row> recorded;
    private final boolean claims;
    private final Consumer<String> out;
    private final List<String> worse = new ArrayList<>();
    private final List<String> failed = new ArrayList<>();
    private final List<String> unknown = new ArrayList<>();
    private int compared;

    /** @param error the relative errors of all that it is made of */
    private record Ratio(String title, double before, double after, double error) {}

    /**
     * Made for claims, it compares mean times, within their errors; each ratio is a claim, and whoever was ahead has to be ahead.
     * Else it compares the least CPU times of an iteration: they depend least on what else the machine is doing. A body is then
     * slower where Sluice is beside every other parser, since beside one alone it may be that one which was lucky, and is measured
     * again before it counts.
     *
     * @param out is told each result
     */
    Guard(List<Row> recorded, boolean claims, Consumer<String> out) {
        this.recorded = recorded.stream().collect(Collectors.toMap(Row::key, row -> row, (one, same) -> one));
        this.claims = claims;
        this.out = out;
    }

    /**
     * One group.
     *
     * @param name for what is said about it
     * @param measure takes the rows of Sluice and of the others, each time anew
     * @throws Exception what {@code measure} throws
     */
    void judge(String name, Callable<List<Row>> measure) throws Exception {
        List<Ratio> ratios = List.of();
        List<String> over = List.of();
        for (int attempt = 0; attempt < (claims ? 1 : ATTEMPTS) && over.size() == ratios.size(); attempt++) {
            List<Row> rows = measure.call();
            List<Row> without = rows.stream().filter(row -> row.score() == null).toList();
            if (!without.isEmpty()) {
                failed.add(name);
                without.forEach(row -> out.accept("FAILED " + name + ", " + row.param("peer") + ": " + row.note()));
                return;
            }
            ratios = ratios(name, rows);
            ratios.forEach(this::tell);
            over = ratios.stream().filter(this::isOver).map(Ratio::title).toList();
            if (ratios.isEmpty()) {
                unknown.add(name);
                out.accept("NOT COMPARED " + name + ": the record, or this run, lacks the times of two rows of it");
                return;
            }
        }
        compared += claims ? ratios.size() : 1;
        worse.addAll(claims ? over : over.size() == ratios.size() ? List.of(name) : List.of());
    }

    private boolean isOver(Ratio ratio) {
        return ratio.after() > ratio.before() * (claims ? CLAIMED : FACTOR) * (1 + ratio.error())
                || (claims && ratio.before() < 1 && ratio.after() > 1 + ratio.error());
    }

    private void tell(Ratio ratio) {
        String verdict = !isOver(ratio) ? "holds  " : claims ? "FALSE  " : "SLOWER ";
        double growth = ratio.after() / ratio.before();
        String figures = Tables.format("%.3f -> %.3f (x %.2f)", ratio.before(), ratio.after(), growth);
        out.accept(verdict + ratio.title() + ": " + figures);
    }

    private List<Ratio> ratios(String name, List<Row> rows) {
        Map<String, Row> now = rows.stream().collect(Collectors.toMap(Row::key, row -> row));
        List<Ratio> ratios = new ArrayList<>();
        for (Row row : rows) {
            for (String key : List.of(row.keyOf("peer", PUSH), row.keyOf("level", "DISABLED"))) {
                Row other = now.get(key);
                if (other != null && other != row) {
                    boolean own = row.ofSluice();
                    add(ratios, name, own ? row : other, own ? other : row);
                }
            }
        }
        return ratios;
    }

    private void add(List<Ratio> ratios, String name, Row above, Row below) {
        Row aboveThen = recorded.get(above.key());
        Row belowThen = recorded.get(below.key());
        Double before = ratio(aboveThen, belowThen);
        Double after = ratio(above, below);
        if (before != null && after != null) {
            double error = claims ? error(above, below, aboveThen, belowThen) : 0;
            ratios.add(new Ratio("%s: %s / %s".formatted(name, title(above), title(below)), before, after, error));
        }
    }

    private static String title(Row row) {
        return (Tables.peer(row) + " " + row.param("level")).strip();
    }

    private static double error(Row... rows) {
        return Arrays.stream(rows).mapToDouble(Row::relativeError).sum();
    }

    private @Nullable Double ratio(@Nullable Row above, @Nullable Row below) {
        Double more = above == null ? null : claims ? above.score() : above.cpu();
        Double less = below == null ? null : claims ? below.score() : below.cpu();
        return more == null || less == null ? null : (Double) (more / less);
    }

    /** {@return 0 where all was compared and nothing is worse, 2 where nothing was compared, else 1} */
    int exitCode() {
        if (compared == 0) {
            return 2;
        }
        return worse.isEmpty() && failed.isEmpty() && unknown.isEmpty() ? 0 : 1;
    }

    /** What came out, and what is to be done where it is not what it should be. */
    String summary() {
        String lines = told(worse, claims ? "do not hold here" : "became slower", "")
                + told(failed, "were not measured", "")
                + told(
                        unknown,
                        "could not be compared",
                        ". Record them on an idle machine, on a commit that is known to be fast");
        String good = claims ? "each of %d claims holds here" : "none of %d bodies became slower";
        return lines.isEmpty() ? good.formatted(compared) : lines.strip();
    }

    private static String told(List<String> what, String verdict, String remedy) {
        return what.isEmpty() ? "" : "%d %s: %s%s%n".formatted(what.size(), verdict, String.join("; ", what), remedy);
    }
}
