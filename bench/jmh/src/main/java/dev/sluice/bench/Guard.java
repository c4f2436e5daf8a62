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
 * The comparison made by the commands {@code guard} and {@code claims}. It compares ratios of times, measured now, with
 * the same ratios in a recorded run. Ratios depend less on the machine than times do. There are three kinds of ratios.
 * In each, a smaller ratio is better for Sluice:
 *
 * <ul>
 *   <li>the time of the push decoder, divided by the time of another parser
 *   <li>the time of another API of Sluice, divided by the time of the push decoder
 *   <li>for Sluice, the time with leak detection PARANOID divided by the time with DISABLED;
 *       for other parsers, the reverse
 * </ul>
 *
 * <p>{@code claims} compares mean times and allows for their errors. Each ratio is a claim. It holds if the ratio is at
 * most {@link #CLAIMED} times the recorded one and Sluice is not slower where the record says it is faster. If the
 * ratio exceeds this limit by less than the errors, the claim is undecided.
 *
 * <p>{@code guard} is for busy machines and compares the smallest CPU times of an iteration. Sluice counts as slower on
 * a body only if it is slower relative to every other parser, in every attempt, because chance may distort a single
 * comparison.
 */
final class Guard {
    private static final String PUSH = "sluice-push";
    /** The largest acceptable growth of a ratio for {@code guard}. */
    private static final double FACTOR = 1.6;
    /** How often {@code guard} measures a body that seems slower before it reports a failure. */
    private static final int ATTEMPTS = 3;
    /** The largest acceptable growth of a ratio for {@code claims}, which may run on a different kind of machine. */
    private static final double CLAIMED = 1.25;

    private final Map<String, Row> recorded;
    private final boolean claims;
    private final Consumer<String> out;
    private final List<String> worse = new ArrayList<>();
    private final List<String> undecided = new ArrayList<>();
    private final List<String> failed = new ArrayList<>();
    private final List<String> unknown = new ArrayList<>();
    private int compared;

    /** @param error the sum of the relative errors of the four times */
    private record Ratio(String title, double before, double after, double error) {}

    /**
     * @param claims true for {@code claims}, false for {@code guard}
     * @param out receives each result
     */
    Guard(List<Row> recorded, boolean claims, Consumer<String> out) {
        this.recorded = recorded.stream().collect(Collectors.toMap(Row::key, row -> row, (one, same) -> one));
        this.claims = claims;
        this.out = out;
    }

    /**
     * Measures and compares a group of rows.
     *
     * @param name the name of the group in messages
     * @param measure the function that measures the rows of Sluice and of the other parsers
     * @throws Exception if {@code measure} throws it
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
            ratios.forEach(this::print);
            over = ratios.stream().filter(this::isOver).map(Ratio::title).toList();
            if (ratios.isEmpty()) {
                unknown.add(name);
                out.accept("NOT COMPARED " + name + ": no pair of rows has times in both the record and this run");
                return;
            }
        }
        compared += claims ? ratios.size() : 1;
        if (claims) {
            ratios.stream().filter(this::isUndecided).map(Ratio::title).forEach(undecided::add);
        }
        worse.addAll(claims ? over : over.size() == ratios.size() ? List.of(name) : List.of());
    }

    private boolean isOver(Ratio ratio) {
        return exceeds(ratio, 1 + ratio.error());
    }

    private boolean isUndecided(Ratio ratio) {
        return !isOver(ratio) && exceeds(ratio, 1);
    }

    private boolean exceeds(Ratio ratio, double allowance) {
        return ratio.after() > ratio.before() * (claims ? CLAIMED : FACTOR) * allowance
                || (claims && ratio.before() < 1 && ratio.after() > allowance);
    }

    private void print(Ratio ratio) {
        String verdict = isUndecided(ratio) ? "UNSURE " : !isOver(ratio) ? "holds  " : claims ? "FALSE  " : "SLOWER ";
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

    /**
     * Returns 0 if everything was compared and nothing is worse; 1 if something is worse or was not compared; 2 if
     * nothing was compared, or if some claims are undecided and all others hold.
     */
    int exitCode() {
        boolean bad = !worse.isEmpty() || !failed.isEmpty() || !unknown.isEmpty();
        return compared == 0 || (!bad && !undecided.isEmpty()) ? 2 : bad ? 1 : 0;
    }

    /** Returns the overall result, and what to do about failures. */
    String summary() {
        String lines = line(worse, claims ? "do not hold here" : "became slower", "")
                + line(undecided, "are undecided, because the errors are too large", "")
                + line(failed, "were not measured", "")
                + line(
                        unknown,
                        "could not be compared",
                        ". Record them on an idle machine, with a commit that is known to be fast");
        String good = claims ? "all %d claims hold here" : "none of %d bodies became slower";
        return lines.isEmpty() ? good.formatted(compared) : lines.strip();
    }

    private static String line(List<String> names, String verdict, String remedy) {
        return names.isEmpty()
                ? ""
                : "%d %s: %s%s%n".formatted(names.size(), verdict, String.join("; ", names), remedy);
    }
}
