package dev.sluice.bench.report;

import dev.sluice.bench.endtoend.Variant;
import dev.sluice.bench.peer.PeerKind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;

/** The tables of a run in Markdown. */
public final class Tables {
    /** A greater relative error is told beside the figure. */
    private static final double NOISY = 0.10;

    private static final int SMALL_BODY = 64 * 1024;

    private static final Map<String, String> WAYS = Map.of(
            "text", "Text out of a buffer: ns",
            "scans", "Visiting every line end: ns",
            "access", "Access to 8 KiB, byte by byte or word by word: ns",
            "allocation", "Taking and releasing a buffer: ns",
            "short-lived threads", "A thread that lives for one buffer of 8 KiB: ns");

    private Tables() {}

    /** All tables of the run, each with a heading of the third level. */
    public static String of(Run run) {
        Map<String, List<Row>> tables = grouped(run.rows(), row -> row.table().replaceFirst(":.*", ""));
        StringBuilder text = new StringBuilder();
        tables.forEach((name, rows) -> text.append(table(name, rows)));
        return text.append(Goals.table(run)).toString();
    }

    static Map<String, List<Row>> grouped(List<Row> rows, Function<Row, String> key) {
        return rows.stream().collect(Collectors.groupingBy(key, LinkedHashMap::new, Collectors.toList()));
    }

    private static String table(String name, List<Row> rows) {
        Function<Row, String> parser = row -> peer(row) + ", " + row.param("memory");
        return switch (name) {
            case "records" ->
                heading("Leak records of one decode at PARANOID, counted")
                        + new Pivot(rows, Tables::peer, Tables::scenario)
                                .markdown("decoder", row -> "%s (%s)".formatted(number(row.score()), row.note()));
            case "levels" -> levels(rows);
            case "leak-settings" ->
                heading("Settings of leak detection: 64 files in pooled direct chunks, us per decode")
                        + new Pivot(
                                        rows,
                                        row -> row.table().substring("leak-settings: ".length()),
                                        row -> peer(row) + " " + row.param("level"))
                                .markdown("setting", Tables::timeAndError);
            case "main" -> peers("Every parser, 8 KiB chunks", rows) + copies(rows);
            case "faces" -> peers("The ways to use Sluice, 8 KiB chunks", rows) + copies(rows);
            case "adversarial" -> peers("Adversarial bodies, 8 KiB chunks", rows);
            case "defnull" -> peers("The scenarios of defnull/multipart_bench, 8 KiB chunks", rows);
            case "chunks" ->
                heading("Chunk size: ns per byte")
                        + new Pivot(rows, parser, row -> scenario(row) + " " + chunk(row))
                                .markdown("parser", row -> figure(row, row.nanosPerByte(), ""));
            case "sizes" ->
                heading("Body size: ns per byte")
                        + new Pivot(rows, Tables::peer, Tables::scenario)
                                .markdown("parser", row -> figure(row, row.nanosPerByte(), ""));
            case "floors" ->
                heading("The floor: MiB/s")
                        // Beside the floors stands what the decoder does in all, measured next to them.
                        + new Pivot(
                                        rows,
                                        row -> row.param("peer").isEmpty() ? row.way() : peer(row),
                                        row -> scenario(row) + ", " + row.param("memory"))
                                .markdown("what is done with each byte", Tables::throughput);
            case "endtoend" -> endToEnd(rows);
            case "pool-size" ->
                heading("Bytes the allocator holds after 2,000 threads that lived for 64 buffers of 8 KiB")
                        + new Pivot(
                                        rows,
                                        row -> row.param("allocator"),
                                        row -> row.param("memory") + ", " + row.param("threads"))
                                .markdown("allocator", row -> number(row.score()));
            default ->
                heading(WAYS.getOrDefault(name, name))
                        + new Pivot(rows, row -> String.join(", ", new TreeMap<>(row.params()).values()), Row::way)
                                .markdown("input", row -> figure(row, row.cost(), ""));
        };
    }

    private static String levels(List<Row> all) {
        StringBuilder text = new StringBuilder();
        grouped(all, row -> scenario(row) + ", " + row.param("memory")).forEach((input, rows) -> {
            Pivot pivot = new Pivot(rows, Tables::peer, row -> row.param("level"));
            text.append(heading("Levels: " + input + ", us per decode, in brackets the ratio to DISABLED"))
                    .append(pivot.markdown("decoder", row -> {
                        Row disabled = pivot.at(peer(row), "DISABLED");
                        return disabled == null || disabled.score() == null || disabled == row || row.score() == null
                                ? timeAndError(row)
                                : timeAndError(row) + " (" + ratio(row.score() / disabled.score()) + ")";
                    }))
                    .append("\nBytes allocated per decode:\n\n")
                    .append(pivot.markdown("decoder", Tables::allocated));
        });
        return text.toString();
    }

    private static String peers(String title, List<Row> rows) {
        Pivot pivot = new Pivot(rows, row -> peer(row) + ", " + row.param("memory"), Tables::scenario);
        return heading(title + ": MiB/s, or us per body where the body is small")
                + pivot.markdown(
                        "parser", row -> row.bytes() < SMALL_BODY ? figure(row, row.cost(), " us") : throughput(row))
                + heading(title + ": time of Sluice's push decoder on the same memory / time of the parser")
                + pivot.markdown("parser", row -> {
                    Row sluice = pivot.at(PeerKind.SLUICE_PUSH.title() + ", " + row.param("memory"), scenario(row));
                    return sluice == null || sluice.score() == null || row.score() == null
                            ? "-"
                            : ratio(sluice.score() / row.score()) + (row.wrong() ? " (wrong)" : "");
                })
                + heading(title + ": bytes allocated per body")
                + pivot.markdown("parser", Tables::allocated);
    }

    private static String endToEnd(List<Row> rows) {
        Map<String, String> titles = new LinkedHashMap<>();
        titles.put("throughput", "MiB/s of multipart bodies");
        titles.put("requests", "requests per second");
        titles.put("timeToDiscard", "time beside that of dropping the body, least and greatest round");
        titles.put("cpu", "milliseconds of CPU per MiB, all threads of the server");
        titles.put("cpuToDiscard", "CPU beside that of dropping the body, least and greatest round");
        titles.put("peak", "greatest resident set, MiB");
        titles.put("direct", "direct memory in the pool, MiB");
        StringBuilder text = new StringBuilder();
        titles.forEach((metric, title) -> {
            List<Row> same = new ArrayList<>(rows);
            same.removeIf(row -> !row.way().equals(metric));
            text.append(heading("The server: " + title))
                    .append(new Pivot(same, Tables::server, Tables::load)
                            .markdown(
                                    "server",
                                    row -> metric.endsWith("ToDiscard")
                                            ? ratio(row.score()) + " (" + row.note() + ")"
                                            : number(row.score()) + noise(row)));
        });
        return text.toString();
    }

    private static String copies(List<Row> rows) {
        Map<String, String> copies = new LinkedHashMap<>();
        for (Row row : rows) {
            PeerKind kind = PeerKind.of(row.param("peer"));
            copies.put(kind.title(), kind.copies() + " | " + (kind.readsNames() ? "yes" : "no"));
        }
        StringBuilder text = new StringBuilder(heading("What each parser, or the way it is fed, copies"));
        text.append("| parser | copies | reads name and file name |\n|---|---|---|\n");
        copies.forEach((title, copied) -> text.append("| %s | %s |\n".formatted(title, copied)));
        return text.toString();
    }

    static String heading(String title) {
        return "\n### " + title + "\n\n";
    }

    // ---- what a row is about

    static String peer(Row row) {
        return PeerKind.of(row.param("peer")).title();
    }

    static String server(Row row) {
        return Variant.of(row.param("server")).title();
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

    // ---- its figures

    /** With the error however small it is: what levels cost is judged by a few per cent. */
    private static String timeAndError(Row row) {
        return row.score() == null
                ? note(row)
                : number(row.score())
                        + String.format(Locale.ROOT, " ± %.0f %%", 100 * row.relativeError())
                        + wrong(row);
    }

    private static String throughput(Row row) {
        return figure(row, row.mebibytesPerSecond(), "");
    }

    /** The figure, with its error where it is above 10 %, and a mark where the parser's result is wrong. */
    private static String figure(Row row, double figure, String unit) {
        return row.score() == null ? note(row) : number(figure) + unit + noise(row) + wrong(row);
    }

    private static String allocated(Row row) {
        return row.allocated() == null ? "-" : number(row.allocated());
    }

    private static String note(Row row) {
        return row.note() == null ? "" : row.note();
    }

    private static String wrong(Row row) {
        return row.wrong() ? " (wrong: " + row.note() + ")" : "";
    }

    private static String noise(Row row) {
        return row.relativeError() > NOISY ? String.format(Locale.ROOT, " ± %.0f %%", 100 * row.relativeError()) : "";
    }

    static String number(double figure) {
        String format = figure >= 100 ? "%,.0f" : figure >= 10 ? "%.1f" : figure >= 1 ? "%.2f" : "%.3f";
        return String.format(Locale.ROOT, format, figure);
    }

    static String ratio(double ratio) {
        return String.format(
                Locale.ROOT, ratio >= 10 ? "%.1f" : ratio >= 0.1 ? "%.2f" : ratio >= 0.001 ? "%.3f" : "%.1e", ratio);
    }
}
