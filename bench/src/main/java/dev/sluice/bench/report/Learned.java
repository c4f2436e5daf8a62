package dev.sluice.bench.report;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the figures in a text up to date. A figure stands between two comments, of which the first says what it is:
 *
 * <pre>{@code <!--= METRIC RUN TABLE NAME=VALUE ... -->0.40<!--/-->}</pre>
 *
 * <p>METRIC is {@code us} (time), {@code mibs} (MiB/s), {@code alloc} (octets per operation), {@code score} or
 * {@code ratio} (of two scores); RUN is the name of a results file, in whose place that of the quick run is taken when there
 * is none; TABLE is written without blanks; NAME is a parameter or {@code way} (the benchmark method), and with {@code ratio} one VALUE is {@code a/b}.
 * Between {@code <!--= losses -->} or {@code <!--= missed -->} and {@code <!--/-->} stands a whole table.
 */
public final class Learned {

    private static final Pattern FIGURE = Pattern.compile("<!--= ([^>]*?) -->(?s:.*?)<!--/-->");
    private static final String ABSENT = "(not recorded)";
    private static final double NOISE = 1.05;

    private final Map<String, Run> runs;

    private Learned(Map<String, Run> runs) {
        this.runs = runs;
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
            case "losses" -> "\n" + losses();
            case "missed" -> "\n" + missed();
            default -> figure(query.split(" "));
        };
        return "<!--= " + query + " -->" + value + "<!--/-->";
    }

    // ---- single figures

    private String figure(String[] words) {
        String metric = words[0];
        Run run = run(words[1]);
        if (run == null) {
            return ABSENT;
        }
        Row first = find(run, words, 0);
        if (first == null) {
            return ABSENT;
        }
        return switch (metric) {
            case "us" -> Tables.number(first.seconds() * 1e6) + " us";
            case "mibs" -> Tables.number(first.mebibytesPerSecond()) + " MiB/s";
            case "alloc" -> first.allocated() == null ? ABSENT : Tables.number(first.allocated()) + " octets";
            case "score" -> Tables.number(Tables.score(first)) + " " + first.unit();
            case "ratio" -> {
                Row second = find(run, words, 1);
                yield second == null ? ABSENT : Tables.ratio(Tables.score(first) / Tables.score(second));
            }
            default -> throw new IllegalArgumentException("no metric is called " + metric);
        };
    }

    private @Nullable Run run(String name) {
        Run run = runs.get(name);
        return run != null ? run : runs.get(name.replaceFirst("-jdk", "-quick-jdk"));
    }

    /** @param side which of two values separated by a slash is meant */
    private static @Nullable Row find(Run run, String[] words, int side) {
        for (Row row : run.rows()) {
            if (row.score() != null && row.table().replace(": ", ":").equals(words[2]) && matches(row, words, side)) {
                return row;
            }
        }
        return null;
    }

    private static boolean matches(Row row, String[] words, int side) {
        for (int i = 3; i < words.length; i++) {
            int equals = words[i].indexOf('=');
            String name = words[i].substring(0, equals);
            String[] values = words[i].substring(equals + 1).split("/");
            String value = values[Math.min(side, values.length - 1)];
            if (!value.equals(name.equals("way") ? Tables.way(row) : row.param(name))) {
                return false;
            }
        }
        return true;
    }

    // ---- whole tables

    /** A row on which a peer needs less time than Sluice's push decoder on the same octets in the same memory. */
    private record Loss(String run, String what, String peer, double ratio, double error) {

        String line() {
            return String.format(
                    Locale.ROOT,
                    "| %s | %s | %s | %s ± %.0f %% |\n",
                    run,
                    what,
                    peer,
                    Tables.ratio(ratio),
                    100 * error);
        }
    }

    private String losses() {
        List<Loss> losses = new ArrayList<>();
        runs.forEach((name, run) -> {
            for (Row row : run.rows()) {
                if (row.param("peer").equals("sluice-push") && row.score() != null) {
                    losses.addAll(losses(name, run, row));
                }
            }
        });
        if (losses.isEmpty()) {
            return "In the recorded runs no peer is ahead by more than 5 %.\n";
        }
        losses.sort(Comparator.comparingDouble(Loss::ratio).reversed());
        StringBuilder text =
                new StringBuilder("| run | body | who is ahead | Sluice's time / its time |\n|---|---|---|---:|\n");
        losses.forEach(loss -> text.append(loss.line()));
        return text.toString();
    }

    private static List<Loss> losses(String name, Run run, Row sluice) {
        List<Loss> losses = new ArrayList<>();
        for (Row row : run.rows()) {
            String peer = row.param("peer");
            boolean rival = !peer.isEmpty() && !peer.startsWith("sluice") && !peer.equals("chunks-only");
            // One that delivers something wrong is not ahead.
            if (rival
                    && row.score() != null
                    && row.note() == null
                    && row.keyOf("sluice-push").equals(sluice.key())) {
                double ratio = Tables.score(sluice) / Tables.score(row);
                if (ratio > NOISE) {
                    losses.add(new Loss(
                            name, what(sluice), Tables.peer(row), ratio, sluice.relativeError() + row.relativeError()));
                }
            }
        }
        return losses;
    }

    private static String what(Row row) {
        List<String> words = new ArrayList<>(List.of(row.table(), row.param("scenario")));
        if (!row.param("chunk").isEmpty() && !row.param("chunk").equals("0")) {
            words.add("chunks of " + Tables.chunk(row));
        }
        words.add(row.param("memory"));
        Optional.of(row.param("level")).filter(level -> !level.isEmpty()).ifPresent(words::add);
        return String.join(", ", words);
    }

    private String missed() {
        StringBuilder text = new StringBuilder();
        runs.forEach((name, run) -> Goals.missed(run)
                .forEach(line -> text.append("| ").append(name).append(' ').append(line)));
        return text.isEmpty()
                ? "In the recorded runs all goals are reached.\n"
                : "| run | what | measured | least disturbed iterations | goal | reached |\n|---|---|---:|---:|---:|---|\n"
                        + text;
    }
}
