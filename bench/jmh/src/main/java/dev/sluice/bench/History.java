package dev.sluice.bench;

import dev.sluice.bench.peer.PeerKind;
import dev.sluice.testkit.TextTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The history page: the time of the push decoder in every recorded run, next to the fastest other parser of the same run.
 *
 * <p>The results of a recorded run replace the results of the run before, so {@code history.csv} keeps a line for each run and body.
 */
final class History {
    private static final String BODIES = "random-16m,random-1m,csv-16m,fields-100,form,near-boundaries";
    private static final String LOWER_BOUNDS = "memmem,copy";

    /**
     * The fastest iteration of the decoder and of the fastest other parser, for one body in chunks of 8 KiB on the heap.
     *
     * @param jdk the major version of Java
     * @param table {@code main} for parsers in Java, {@code crates} for parsers in Rust
     * @param micros the decoder's time, in microseconds
     * @param ratio the decoder's time divided by the other parser's time
     */
    private record Entry(
            String date,
            String version,
            String jdk,
            String table,
            String body,
            String micros,
            String ratio,
            String parser) {
        static Entry of(String line) {
            String[] cells = line.split(",");
            return new Entry(cells[0], cells[1], cells[2], cells[3], cells[4], cells[5], cells[6], cells[7]);
        }

        String line() {
            return String.join(",", date, version, jdk, table, body, micros, ratio, parser);
        }

        String day() {
            return date.substring(0, 10);
        }

        String section() {
            return "JDK %s, next to parsers in %s".formatted(jdk, table.equals("crates") ? "Rust" : "Java");
        }
    }

    private final Map<String, Entry> entries = new TreeMap<>();

    /** Creates a history from the lines of its file. */
    History(List<String> lines) {
        lines.stream().map(Entry::of).forEach(this::add);
    }

    /**
     * Adds the runs to the file in the directory of the results, and returns the text of the page.
     *
     * @throws IOException if the file cannot be read or written
     */
    static String update(Path results, Collection<Run> runs) throws IOException {
        Path file = results.resolve("history.csv");
        History history = new History(Files.exists(file) ? Files.readAllLines(file) : List.of());
        runs.forEach(history::add);
        Files.write(file, history.lines());
        return history.page();
    }

    private void add(Entry entry) {
        entries.put(entry.section() + entry.date() + entry.body(), entry);
    }

    /** Adds the figures of a run if it has measured the tables {@code main} or {@code crates}. */
    void add(Run run) {
        for (String table : List.of("main", "crates")) {
            Tables.grouped(
                            run.rows().stream()
                                    .filter(row -> row.matches(table + " chunk=8192 scenario=" + BODIES))
                                    .filter(row -> List.of("", "heap").contains(row.param("memory")))
                                    .filter(row -> row.best() != null && !row.wrong())
                                    .toList(),
                            Tables::scenario)
                    .forEach((body, rows) -> entry(run, table, body, rows).ifPresent(this::add));
        }
    }

    private static Optional<Entry> entry(Run run, String table, String body, List<Row> rows) {
        Optional<Row> decoder = rows.stream()
                .filter(row -> row.param("peer").equals(PeerKind.SLUICE_PUSH.id()))
                .findFirst();
        Optional<Row> other = rows.stream()
                .filter(row -> !row.ofSluice() && !row.matches(table + " crate=" + LOWER_BOUNDS))
                .filter(row -> !row.param("peer").equals(PeerKind.CHUNKS_ONLY.id()))
                .min(Comparator.comparing(Row::best));
        return decoder.isEmpty() || other.isEmpty()
                ? Optional.empty()
                : Optional.of(new Entry(
                        run.again()
                                .getOrDefault(
                                        table + " " + body, run.provenance().date()),
                        run.provenance().versions().getOrDefault("sluice", "?"),
                        run.provenance().jdk(),
                        table,
                        body,
                        Tables.format("%.2f", decoder.get().best()),
                        Tables.ratio(decoder.get().best() / other.get().best()),
                        Tables.label("$rival", other.get()).replaceFirst(", .*", "")));
    }

    List<String> lines() {
        return entries.values().stream().map(Entry::line).toList();
    }

    String page() {
        Map<String, List<Entry>> sections = entries.values().stream()
                .collect(Collectors.groupingBy(Entry::section, LinkedHashMap::new, Collectors.toList()));
        StringBuilder tables = new StringBuilder();
        sections.forEach((title, its) -> tables.append("\n## " + title + "\n\n").append(table(its)));
        return TextTable.text("/dev/sluice/bench/history.md").formatted(tables);
    }

    /** Creates a table with a line for each day and a column for each body. */
    private static String table(List<Entry> its) {
        Set<String> bodies =
                its.stream().map(Entry::body).sorted().collect(Collectors.toCollection(LinkedHashSet::new));
        Map<String, List<Entry>> runs =
                its.stream().collect(Collectors.groupingBy(Entry::day, LinkedHashMap::new, Collectors.toList()));
        List<String> lines = new ArrayList<>();
        lines.add("| day | version | " + String.join(" | ", bodies) + " |");
        lines.add("|---|---|" + "---:|".repeat(bodies.size()));
        for (List<Entry> run : runs.values()) {
            Map<String, Entry> byBody =
                    run.stream().collect(Collectors.toMap(Entry::body, entry -> entry, (earlier, later) -> later));
            lines.add(bodies.stream()
                    .map(body -> Optional.ofNullable(byBody.get(body))
                            .map(entry -> "%s µs, %s of %s".formatted(entry.micros(), entry.ratio(), entry.parser()))
                            .orElse(""))
                    .collect(Collectors.joining(
                            " | ", "| " + run.get(0).day() + " | " + run.get(0).version() + " | ", " |")));
        }
        return String.join("\n", lines) + "\n";
    }
}
