package dev.sluice.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the figures in a text up to date. A figure stands between two comments, of which the first says what it is:
 *
 * <pre>{@code <!--= METRIC RUN TABLE NAME=VALUE ... -->0.40<!--/-->}</pre>
 *
 * <p>METRIC is one of
 *
 * <ul>
 *   <li>{@code us}: time of one operation;
 *   <li>{@code ns}: time per byte of the body;
 *   <li>{@code mibs}: MiB/s;
 *   <li>{@code alloc}: bytes allocated per operation;
 *   <li>{@code score}: the figure with its unit;
 *   <li>{@code ratio}: of two scores;
 *   <li>{@code per-byte}: ratio of two times per byte of their bodies.
 * </ul>
 *
 * or, with nothing but a RUN behind it, {@code minutes}: how long a full run took. RUN is the name of a results file, in whose place that of the quick run is taken when there is none; TABLE is written
 * without blanks; NAME is a parameter or {@code way} (the benchmark method). For the ratios RUN, TABLE and every VALUE may be
 * {@code a/b}, {@code a} for the row above and {@code b} for the one below; where one of the rows does not have the
 * parameter, its side stays empty.
 *
 * <p>Whole tables stand between {@code <!--= losses -->}, {@code older-ways}, {@code missed}, {@code open} or
 * {@code unmeasured} and {@code <!--/-->}.
 */
public final class Learned {

    private static final Pattern FIGURE = Pattern.compile("<!--= ([^>]*?) -->(?s:.*?)<!--/-->");
    private static final String ABSENT = "(not recorded)";

    private final Map<String, Run> runs;
    private final Map<String, Run> judged;

    private Learned(Map<String, Run> runs) {
        this.runs = runs;
        this.judged = Losses.judged(runs);
    }

    /** Fills in all figures of the file. */
    public static void update(Path file, Map<String, Run> runs) throws IOException {
        Learned learned = new Learned(runs);
        String text = FIGURE.matcher(Files.readString(file))
                .replaceAll(found -> Matcher.quoteReplacement(learned.filled(found)));
        Files.writeString(file, text);
    }

    private String filled(MatchResult found) {
        String query = found.group(1);
        String value = switch (query) {
            case "losses" -> "\n" + Losses.peers(judged);
            case "older-ways" -> "\n" + Losses.ways(judged);
            case "missed" -> "\n" + goals(Goal.Outcome.NO, "No goal is missed by more than the error of its figure.");
            case "open" -> "\n" + goals(Goal.Outcome.OPEN, "There are none.");
            case "unmeasured" -> "\n" + goals(Goal.Outcome.UNKNOWN, "There are none.");
            default -> figure(query.split(" "));
        };
        return "<!--= " + query + " -->" + value + "<!--/-->";
    }

    // ---- single figures

    private String figure(String[] words) {
        String metric = words[0];
        if (metric.equals("minutes")) {
            Run run = runs.get(words[1]);
            return run == null || run.seconds() == 0 ? ABSENT : Math.round(run.seconds() / 60) + " minutes";
        }
        Row first = find(words, 0);
        if (first == null) {
            return ABSENT;
        }
        String value = switch (metric) {
            case "us" -> Tables.number(first.seconds() * 1e6) + " us";
            case "ns" -> Tables.number(first.secondsPerByte() * 1e9) + " ns";
            case "mibs" -> Tables.number(first.mebibytesPerSecond()) + " MiB/s";
            case "alloc" -> first.allocated() == null ? ABSENT : Tables.number(first.allocated()) + " bytes";
            case "score" -> Tables.number(Tables.score(first)) + " " + first.unit();
            case "ratio", "per-byte" -> {
                Row second = find(words, 1);
                yield second == null
                        ? ABSENT
                        : Tables.ratio(
                                metric.equals("ratio")
                                        ? Tables.score(first) / Tables.score(second)
                                        : first.secondsPerByte() / second.secondsPerByte());
            }
            default -> throw new IllegalArgumentException("no metric is called " + metric);
        };
        return first.wrong() ? value + " (with a wrong result)" : value;
    }

    /** @param side which of two values separated by a slash is meant */
    private @Nullable Row find(String[] words, int side) {
        Run run = run(side(words[1], side));
        if (run == null) {
            return null;
        }
        String table = side(words[2], side);
        for (Row row : run.rows()) {
            if (row.score() != null && row.table().replace(": ", ":").equals(table) && matches(row, words, side)) {
                return row;
            }
        }
        return null;
    }

    private @Nullable Run run(String name) {
        Run run = runs.get(name);
        return run != null ? run : runs.get(name.replaceFirst("-jdk", "-quick-jdk"));
    }

    private static String side(String value, int side) {
        String[] values = value.split("/", -1);
        return values[Math.min(side, values.length - 1)];
    }

    private static boolean matches(Row row, String[] words, int side) {
        for (int i = 3; i < words.length; i++) {
            int equals = words[i].indexOf('=');
            String name = words[i].substring(0, equals);
            String value = side(words[i].substring(equals + 1), side);
            if (!value.equals(name.equals("way") ? Tables.way(row) : row.param(name))) {
                return false;
            }
        }
        return true;
    }

    // ---- whole tables

    private String goals(Goal.Outcome outcome, String none) {
        StringBuilder text = new StringBuilder();
        judged.forEach((name, run) -> Goals.lines(run, outcome)
                .forEach(line -> text.append("| ").append(name).append(' ').append(line)));
        return text.isEmpty()
                ? none + "\n"
                : Goals.COLUMNS.replaceFirst("what", "run | what").replaceFirst("---", "---|---") + text;
    }
}
