package dev.sluice.bench.report;

import dev.sluice.bench.body.Scenario;
import dev.sluice.bench.endtoend.Variant;
import dev.sluice.bench.peer.PeerKind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;

/** The tables of a run in Markdown. */
public final class Tables {

    /** A greater relative error is told beside the figure. */
    public static final double NOISY = 0.10;

    private static final int SMALL_BODY = 64 * 1024;

    private Tables() {}

    /** All tables of the run, each with a heading of the fourth level. */
    public static String of(Run run) {
        Map<String, List<Row>> tables = new LinkedHashMap<>();
        for (Row row : run.rows()) {
            tables.computeIfAbsent(row.table().replaceFirst(":.*", ""), name -> new ArrayList<>())
                    .add(row);
        }
        StringBuilder text = new StringBuilder();
        tables.forEach((name, rows) -> text.append(table(name, rows)));
        text.append(Goals.table(run));
        return text.toString();
    }

    private static String table(String name, List<Row> rows) {
        return switch (name) {
            case "records" ->
                heading("Leak records of one decode at PARANOID, counted")
                        + new Pivot(rows, Tables::peer, row -> row.param("scenario"))
                                .markdown("decoder", row -> "%s (%s)".formatted(number(score(row)), note(row)));
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
                        + new Pivot(
                                        rows,
                                        row -> peer(row) + ", " + row.param("memory"),
                                        row -> row.param("scenario") + " " + chunk(row))
                                .markdown("parser", Tables::perByte);
            case "sizes" ->
                heading("Body size: ns per byte")
                        + new Pivot(rows, Tables::peer, row -> row.param("scenario"))
                                .markdown("parser", Tables::perByte);
            case "floors" ->
                heading("The floor: MiB/s")
                        + new Pivot(rows, Tables::floor, row -> row.param("scenario") + ", " + row.param("memory"))
                                .markdown("what is done with each byte", Tables::throughput);
            case "text" -> ways("Text out of a buffer: ns", rows);
            case "scans" -> ways("Visiting every line end: ns", rows);
            case "access" -> ways("Access to 8 KiB, byte by byte or word by word: ns", rows);
            case "allocation" -> ways("Taking and releasing a buffer: ns", rows);
            case "short-lived threads" -> ways("A thread that lives for one buffer of 8 KiB: ns", rows);
            case "endtoend" -> endToEnd(rows);
            case "pool-size" ->
                heading("Bytes the allocator holds after 2,000 threads that lived for 64 buffers of 8 KiB")
                        + new Pivot(
                                        rows,
                                        row -> row.param("allocator"),
                                        row -> row.param("memory") + ", " + row.param("threads"))
                                .markdown("allocator", row -> number(score(row)));
            default -> ways(name, rows);
        };
    }

    /** Beside the floors stands what the decoder does in all, measured next to them. */
    private static String floor(Row row) {
        return row.param("peer").isEmpty() ? way(row) : peer(row);
    }

    private static String levels(List<Row> rows) {
        StringBuilder text = new StringBuilder();
        Set<String> inputs = new LinkedHashSet<>();
        rows.forEach(row -> inputs.add(row.param("scenario") + ", " + row.param("memory")));
        for (String input : inputs) {
            List<Row> same = new ArrayList<>(rows);
            same.removeIf(row -> !input.equals(row.param("scenario") + ", " + row.param("memory")));
            Pivot pivot = new Pivot(same, Tables::peer, row -> row.param("level"));
            text.append(heading("Levels: " + input + ", us per decode, in brackets the ratio to DISABLED"))
                    .append(pivot.markdown("decoder", row -> {
                        Row disabled = pivot.at(peer(row), "DISABLED");
                        return disabled == null || disabled.score() == null || disabled == row || row.score() == null
                                ? timeAndError(row)
                                : timeAndError(row) + " (" + ratio(score(row) / score(disabled)) + ")";
                    }))
                    .append("\nBytes allocated per decode:\n\n")
                    .append(pivot.markdown("decoder", Tables::allocated));
        }
        return text.toString();
    }

    private static String peers(String title, List<Row> rows) {
        Function<Row, String> line = row -> peer(row) + ", " + row.param("memory");
        Pivot pivot = new Pivot(rows, line, row -> row.param("scenario"));
        return heading(title + ": MiB/s, or us per body where the body is small")
                + pivot.markdown("parser", row -> row.bytes() < SMALL_BODY ? time(row, " us") : throughput(row))
                + heading(title + ": time of Sluice's push decoder on the same memory / time of the parser")
                + pivot.markdown("parser", row -> {
                    Row sluice =
                            pivot.at(PeerKind.SLUICE_PUSH.title() + ", " + row.param("memory"), row.param("scenario"));
                    return sluice == null || sluice.score() == null || row.score() == null
                            ? "-"
                            : ratio(score(sluice) / score(row)) + (row.wrong() ? " (wrong)" : "");
                })
                + heading(title + ": bytes allocated per body")
                + pivot.markdown("parser", Tables::allocated);
    }

    private static String endToEnd(List<Row> rows) {
        Map<String, String> titles = new LinkedHashMap<>();
        titles.put("throughput", "The sample server, digest and disk off: MiB/s of multipart bodies");
        titles.put("requests", "The sample server: requests per second");
        titles.put(
                "timeToDiscard", "The sample server: time beside that of dropping the body, least and greatest round");
        titles.put("cpu", "The sample server: milliseconds of CPU per MiB, all threads of the server");
        titles.put("cpuToDiscard", "The sample server: CPU beside that of dropping the body, least and greatest round");
        titles.put("peak", "The sample server: greatest resident set, MiB");
        titles.put("direct", "The sample server: direct memory in the pool, MiB");
        StringBuilder text = new StringBuilder();
        titles.forEach((metric, title) -> {
            List<Row> same = new ArrayList<>(rows);
            same.removeIf(row -> !way(row).equals(metric));
            boolean ratio = metric.endsWith("ToDiscard");
            text.append(heading(title))
                    .append(new Pivot(same, Tables::server, Tables::load)
                            .markdown(
                                    "server",
                                    row -> ratio
                                            ? ratio(score(row)) + " (" + note(row) + ")"
                                            : number(score(row)) + noise(row)));
        });
        return text.toString();
    }

    static String server(Row row) {
        return Variant.of(row.param("server")).title();
    }

    static String load(Row row) {
        String connections = row.param("connections");
        return row.param("scenario") + ", " + connections + (connections.equals("1") ? " connection" : " connections");
    }

    private static String copies(List<Row> rows) {
        Map<String, String> copies = new LinkedHashMap<>();
        for (Row row : rows) {
            PeerKind kind = PeerKind.of(row.param("peer"));
            copies.put(kind.title(), "%s | %s".formatted(kind.copies(), kind.readsNames() ? "yes" : "no"));
        }
        StringBuilder text = new StringBuilder(heading("What each parser, or the way it is fed, copies"));
        text.append("| parser | copies | reads name and file name |\n|---|---|---|\n");
        copies.forEach((title, copied) -> text.append("| %s | %s |\n".formatted(title, copied)));
        return text.toString();
    }

    private static String ways(String title, List<Row> rows) {
        return heading(title)
                + new Pivot(rows, row -> String.join(", ", new TreeMap<>(row.params()).values()), Tables::way)
                        .markdown("input", Tables::time);
    }

    static String heading(String title) {
        return "\n#### " + title + "\n\n";
    }

    static String peer(Row row) {
        return PeerKind.of(row.param("peer")).title();
    }

    static String scenario(Row row) {
        return Scenario.of(row.param("scenario")).title();
    }

    static String way(Row row) {
        return row.benchmark().substring(row.benchmark().indexOf('.') + 1);
    }

    static double score(Row row) {
        Double score = row.score();
        return score == null ? Double.NaN : score;
    }

    /** The ratio of the least CPU times, or where they were not taken of the fastest iterations. */
    static double leastDisturbed(Row row, Row other) {
        Double cpu = row.cpu();
        Double otherCpu = other.cpu();
        return cpu == null || otherCpu == null ? best(row) / best(other) : cpu / otherCpu;
    }

    static double allocation(Row row) {
        Double bytes = row.allocated();
        return bytes == null ? Double.NaN : bytes;
    }

    static double best(Row row) {
        Double best = row.best();
        return best == null ? Double.NaN : best;
    }

    private static String note(Row row) {
        return row.note() == null ? "" : row.note();
    }

    static String chunk(Row row) {
        return row.param("chunk").equals(Integer.toString(Integer.MAX_VALUE)) ? "whole" : row.param("chunk");
    }

    private static String time(Row row) {
        return time(row, "");
    }

    private static String time(Row row, String unit) {
        return row.score() == null ? note(row) : number(score(row)) + unit + noise(row) + wrong(row);
    }

    /** With the error however small it is: what levels cost is judged by a few per cent. */
    private static String timeAndError(Row row) {
        return row.score() == null
                ? note(row)
                : String.format(
                        Locale.ROOT, "%s ± %.0f %%%s", number(score(row)), 100 * row.relativeError(), wrong(row));
    }

    private static String throughput(Row row) {
        return row.score() == null ? note(row) : marked(row, row.mebibytesPerSecond());
    }

    private static String perByte(Row row) {
        return row.score() == null ? note(row) : marked(row, row.secondsPerByte() * 1e9);
    }

    private static String allocated(Row row) {
        Double bytes = row.allocated();
        return bytes == null ? "-" : number(bytes);
    }

    /** The figure, with its error where it is above 10 %, and a mark where the parser's result is wrong. */
    private static String marked(Row row, double figure) {
        return number(figure) + noise(row) + wrong(row);
    }

    private static String wrong(Row row) {
        return row.wrong() ? " (wrong: " + row.note() + ")" : "";
    }

    /** {@return whether the error is so large that it is told beside the figure} */
    public static boolean isNoisy(Row row) {
        return row.relativeError() > NOISY;
    }

    private static String noise(Row row) {
        return isNoisy(row) ? " ± %.0f %%".formatted(100 * row.relativeError()) : "";
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
