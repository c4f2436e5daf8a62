package dev.sluice.bench;

import dev.sluice.bench.peer.PeerKind;
import dev.sluice.testkit.TextTable;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The tables of a run in Markdown, as described by {@code tables.txt}. */
final class Tables {
    /** The relative error above which a figure is shown with its error. */
    private static final double NOISY = 0.10;

    private static final int SMALL_BODY = 64 * 1024;

    private static final Pattern LABEL = Pattern.compile("\\$([a-z]+)");
    private static final List<String> LINES = TextTable.lines("/dev/sluice/bench/tables.txt");

    private static final String OMITTED = "\nRows omitted because their error is above 30 %%: %d.\n";

    private Tables() {}

    /** Returns all tables of the run, each with a heading of level 3. */
    static String of(Run run) {
        List<Row> published = run.rows().stream()
                .filter(row -> showsBest(row) || !row.vague())
                .toList();
        int omitted = run.rows().size() - published.size();
        StringBuilder text = new StringBuilder(omitted == 0 ? "" : OMITTED.formatted(omitted));
        grouped(published, row -> row.table().replaceFirst(":.*", "")).forEach((name, rows) -> {
            List<String[]> lines = LINES.stream()
                    .map(line -> line.split(" \\| "))
                    .filter(line -> line[0].equals(name) || line[0].startsWith(name + " way="))
                    .toList();
            for (int i = 0; i < lines.size(); i++) {
                String[] line = lines.get(i);
                String[] below = i + 1 < lines.size() && lines.get(i + 1)[1].startsWith("+") ? lines.get(++i) : null;
                List<Row> shown = rows.stream()
                        .filter(row -> line[0].equals(name) || row.matches(line[0]))
                        .toList();
                grouped(shown, row -> label(line[1], row)).forEach((title, same) -> {
                    text.append(heading(title)).append(table(line, same));
                    if (below != null) {
                        text.append("\n" + below[1].substring(1) + "\n\n").append(table(below, same));
                    }
                });
            }
        });
        return text.toString();
    }

    /** Returns whether the tables of the row show its fastest iteration instead of the mean. */
    private static boolean showsBest(Row row) {
        return LINES.stream().anyMatch(line -> line.startsWith(row.table() + " | ") && line.endsWith(" | least"));
    }

    static Map<String, List<Row>> grouped(List<Row> rows, Function<Row, String> key) {
        return rows.stream().collect(Collectors.groupingBy(key, LinkedHashMap::new, Collectors.toList()));
    }

    /** @param line a line of {@code tables.txt} */
    private static String table(String[] line, List<Row> rows) {
        if (line[5].equals("copies")) {
            return copies(rows);
        }
        Map<String, Row> byKey = rows.stream().collect(Collectors.toMap(Row::key, row -> row));
        return pivot(line, rows, row -> switch (line[5]) {
            case "counted" -> "%s (%s)".formatted(number(row.score()), row.note());
            case "served" -> number(row.score()) + noise(row);
            case "rounds" -> number(row.score()) + " (" + row.note() + ")";
            case "ratio" -> ratio(row.score()) + " (" + row.note() + ")";
            case "timeAndError" -> timeAndError(row);
            case "toDisabled" -> {
                Row disabled = byKey.get(row.keyOf("level", "DISABLED"));
                yield disabled == null || disabled.score() == null || disabled == row || row.score() == null
                        ? timeAndError(row)
                        : timeAndError(row) + " (" + ratio(row.score() / disabled.score()) + ")";
            }
            case "toSluice" -> {
                Row sluice = byKey.get(row.keyOf("peer", "sluice-push"));
                yield sluice == null || sluice.score() == null || row.score() == null
                        ? "-"
                        : ratio(sluice.score() / row.score()) + (row.wrong() ? " (wrong)" : "");
            }
            case "least" -> row.best() == null ? note(row) : number(row.best());
            case "leastToSluice" -> {
                Row sluice = row.params().containsKey("writer")
                        ? byKey.get(row.keyOf("writer", "sluice"))
                        : heapRowOfSluice(rows, row);
                yield sluice == null || sluice.best() == null || row.best() == null
                        ? "-"
                        : ratio(sluice.best() / row.best());
            }
            case "allocated" -> row.allocated() == null ? "-" : number(row.allocated());
            case "speed" -> row.bytes() < SMALL_BODY ? figure(row, row.cost(), " µs") : throughput(row);
            case "throughput" -> throughput(row);
            case "nanosPerByte" -> figure(row, row.nanosPerByte(), "");
            case "cost" -> figure(row, row.cost(), "");
            default -> throw new IllegalArgumentException(line[5]);
        });
    }

    /** Creates a table with a line and a column for each distinct label, in order of appearance. */
    private static String pivot(String[] line, List<Row> rows, Function<Row, String> cell) {
        Map<String, Map<String, String>> lines = new LinkedHashMap<>();
        Set<String> columns = new LinkedHashSet<>();
        for (Row row : rows) {
            columns.add(label(line[4], row));
            lines.computeIfAbsent(label(line[3], row), name -> new HashMap<>())
                    .put(label(line[4], row), cell.apply(row));
        }
        StringBuilder text = new StringBuilder("| %s | %s |\n|---|%s\n"
                .formatted(line[2], String.join(" | ", columns), "---:|".repeat(columns.size())));
        lines.forEach((name, cells) -> text.append(columns.stream()
                .map(column -> cells.getOrDefault(column, ""))
                .collect(Collectors.joining(" | ", "| " + name + " | ", " |\n"))));
        return text.toString();
    }

    private static @Nullable Row heapRowOfSluice(List<Row> rows, Row other) {
        return rows.stream()
                .filter(row -> row.param("memory").equals("heap"))
                .filter(row ->
                        scenario(row).equals(scenario(other)) && chunk(row).equals(chunk(other)))
                .findFirst()
                .orElse(null);
    }

    private static String copies(List<Row> rows) {
        Set<String> copies = new LinkedHashSet<>();
        for (Row row : rows) {
            PeerKind kind = PeerKind.of(row.param("peer"));
            copies.add("| %s | %s | %s |\n".formatted(kind.title, kind.copies, kind.readsNames ? "yes" : "no"));
        }
        return "| parser | copies | reads name and file name |\n|---|---|---|\n" + String.join("", copies);
    }

    /** Formats independently of the default locale. */
    static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }

    static String heading(String title) {
        return "\n### " + title + "\n\n";
    }

    // ---- labels

    /** Replaces variables such as $peer by their values in the row. */
    static String label(String text, Row row) {
        return LABEL.matcher(text).replaceAll(found -> Matcher.quoteReplacement(word(found.group(1), row)));
    }

    private static String word(String name, Row row) {
        return switch (name) {
            case "peer" -> peer(row);
            case "rival" -> row.param("crate").isEmpty() ? peer(row) + ", " + row.param("memory") : row.param("crate");
            case "server" -> server(row);
            case "load" -> load(row);
            case "chunk" -> chunk(row);
            case "body" -> scenario(row).replace("random-", "");
            case "way" -> row.way();
            case "done" -> row.param("peer").isEmpty() ? row.way() : peer(row);
            case "setting" -> row.table().replaceFirst(".*: ", "");
            case "params" -> String.join(", ", new TreeMap<>(row.params()).values());
            default -> row.param(name);
        };
    }

    static String peer(Row row) {
        return PeerKind.of(row.param("peer")).title;
    }

    static String server(Row row) {
        return Variant.of(row.param("server")).title;
    }

    static String scenario(Row row) {
        return row.param("scenario");
    }

    static String load(Row row) {
        String connections = row.param("connections");
        return scenario(row) + ", " + connections + (connections.equals("1") ? " connection" : " connections");
    }

    static String chunk(Row row) {
        return row.param("chunk").equals(Integer.toString(Integer.MAX_VALUE)) ? "whole" : row.param("chunk");
    }

    // ---- figures

    /** Always shows the error, because differences between leak detection levels can be a few percent. */
    private static String timeAndError(Row row) {
        return row.score() == null
                ? note(row)
                : number(row.score()) + format(" ± %.0f %%", 100 * row.relativeError()) + wrong(row);
    }

    private static String throughput(Row row) {
        return figure(row, row.mebibytesPerSecond(), "");
    }

    /** Shows the figure, its error if it is above 10 %, and a mark if the parser's result is wrong. */
    private static String figure(Row row, double figure, String unit) {
        return row.score() == null ? note(row) : number(figure) + unit + noise(row) + wrong(row);
    }

    private static String note(Row row) {
        return row.note() == null ? "" : row.note();
    }

    private static String wrong(Row row) {
        return row.wrong() ? " (wrong: " + row.note() + ")" : "";
    }

    private static String noise(Row row) {
        return row.relativeError() > NOISY ? format(" ± %.0f %%", 100 * row.relativeError()) : "";
    }

    static String number(double figure) {
        String format = figure >= 100 ? "%,.0f" : figure >= 10 ? "%.1f" : figure >= 1 ? "%.2f" : "%.3f";
        return format(format, figure);
    }

    static String ratio(double ratio) {
        return format(ratio >= 10 ? "%.1f" : ratio >= 0.1 ? "%.2f" : ratio >= 0.001 ? "%.3f" : "%.1e", ratio);
    }
}
