package dev.sluice.bench;

import static dev.sluice.bench.Comparison.Verdict.ALLOCATES_LESS;
import static dev.sluice.bench.Comparison.Verdict.ALLOCATES_MORE;
import static dev.sluice.bench.Comparison.Verdict.FASTER;
import static dev.sluice.bench.Comparison.Verdict.MISSING;
import static dev.sluice.bench.Comparison.Verdict.SAME;
import static dev.sluice.bench.Comparison.Verdict.SLOWER;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.bench.Comparison.Verdict;
import dev.sluice.bench.peer.Provenance;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunTest {
    private static final String RANDOM = " scenario=random-16m chunk=8192 memory=heap";
    private static final String HOSTILE = " scenario=all-cr chunk=8192 memory=heap";

    @TempDir
    Path directory;

    /** Creates a row that matches the query. The body has one part, and 100 bytes unless the query specifies {@code bytes}. */
    private static Row row(String query, @Nullable Double score, @Nullable Double error, @Nullable String note) {
        Map<String, String> params = new HashMap<>();
        Arrays.stream(query.split(" "))
                .skip(1)
                .map(pair -> pair.split("="))
                .forEach(pair -> params.put(pair[0], pair[1]));
        Function<String, @Nullable Double> number =
                name -> params.containsKey(name) ? Double.valueOf(params.remove(name)) : null;
        String way = Objects.requireNonNullElse(params.remove("way"), "decode");
        String benchmark = (way.equals("decode") ? "PeerBenchmark." : "Other.") + way;
        String unit = way.equals("throughput") ? "MiB/s" : "us/op";
        Double allocated = number.apply("allocated");
        long bytes = Objects.requireNonNullElse(number.apply("bytes"), 100.0).longValue();
        return new Row(
                query.split(" ")[0],
                benchmark,
                params,
                unit,
                score,
                error,
                score,
                score,
                10,
                allocated,
                bytes,
                1,
                note);
    }

    private static Row row(String query, double score, double error) {
        return row(query, score, error, null);
    }

    /** Creates a row of the table of all parsers. */
    private static Row main(String peer, double score, double error) {
        return row("main peer=" + peer + " bytes=16777216" + RANDOM, score, error);
    }

    private static Row failed(String peer) {
        return row("main peer=" + peer + RANDOM, null, null, "failed: x");
    }

    private static Run run(String command, Row... rows) {
        Map<String, String> machine = Map.of("cpu", "a processor", "cores", "2", "load", "wrk 4");
        Map<String, String> jvm = Map.of("name", "a JVM", "version", "17.0.1+1");
        Map<String, String> again = Map.of("all-cr", "2026-11-21T00:00:00Z");
        String typed = "java -jar sluice-bench.jar " + command;
        Provenance made = new Provenance(typed, "2026-11-20", machine, jvm, Map.of(), 150);
        return new Run(made, List.of(), List.of(rows), again);
    }

    private static Run run(Row... rows) {
        return run("peers", rows);
    }

    // ---- recorded runs

    @Test
    void run_isReadAsWritten() {
        Run run = run(main("sluice-push", 1000, 10), main("jetty", 2000, 10));
        Path file = directory.resolve("run.json");
        run.write(file);
        assertEquals(run, Run.read(file));
        assertEquals(
                "a processor, 2 cores; a JVM 17.0.1+1; `java -jar sluice-bench.jar peers`; 2026-11-20; 3 minutes; loaded"
                        + " by wrk 4; groups of rows measured again: 1, the last 2026-11-21T00:00:00Z",
                run.heading());
    }

    // ---- compare

    private static List<Verdict> verdicts(Run before, Run after) {
        return Comparison.of(before, after).stream().map(Comparison::verdict).toList();
    }

    private static Verdict times(Row before, Row after) {
        return verdicts(run(before), run(after)).get(0);
    }

    @Test
    void compare_changeWithinError_isIgnored() {
        assertEquals(SAME, times(main("jetty", 1000, 50), main("jetty", 1080, 50)));
        assertEquals(SLOWER, times(main("jetty", 2000, 10), main("jetty", 2100, 10)));
        assertEquals(FASTER, times(main("jetty", 1000, 50), main("jetty", 800, 50)));
        // A figure without an error may change by 20 % per run. A count has the error 0.
        Row single = row("endtoend way=peak server=sluice", 100.0, null, null);
        assertEquals(SAME, times(single, row("endtoend way=peak server=sluice", 135.0, null, null)));
        assertEquals(SLOWER, times(single, row("endtoend way=peak server=sluice", 145.0, null, null)));
        assertEquals(SLOWER, times(row("records way=count", 192, 0), row("records way=count", 193, 0)));
        // Rates are better if they are higher.
        String rate = "endtoend way=throughput server=sluice";
        assertEquals(SLOWER, times(row(rate, 2000, 1), row(rate, 1000, 1)));
        assertEquals(FASTER, times(row(rate, 2000, 1), row(rate, 4000, 1)));
    }

    @Test
    void compare_missingFigure_fails() {
        Run before = run(main("sluice-push", 1000, 10), main("jetty", 2000, 10));
        Run less = run(main("sluice-push", 1000, 10));
        assertEquals(List.of(SAME, MISSING), verdicts(before, less));
        Run failing = run(main("sluice-push", 1000, 10), failed("sluice-pull"), failed("jetty"));
        assertEquals(List.of(SAME, MISSING), verdicts(less, failing));
        assertEquals(
                Set.of(SLOWER, ALLOCATES_MORE, MISSING),
                Set.of(Arrays.stream(Verdict.values())
                        .filter(Verdict::isFailure)
                        .toArray()));
    }

    @Test
    void compare_allocation_toleratesTenPercentAnd64Bytes() {
        assertEquals(ALLOCATES_MORE, allocation(1000, 1101));
        assertEquals(SAME, allocation(1000, 1100));
        assertEquals(SAME, allocation(100, 164));
        assertEquals(ALLOCATES_MORE, allocation(100, 165));
        assertEquals(ALLOCATES_LESS, allocation(1000, 800));
    }

    private static Verdict allocation(int before, int after) {
        Run old = run(row("main peer=sluice-push allocated=" + before + HOSTILE, 10, 0));
        Run now = run(row("main peer=sluice-push allocated=" + after + HOSTILE, 10, 0));
        return verdicts(old, now).get(1);
    }

    // ---- guard

    private static List<Row> times(double sluice, double jetty, double netty) {
        return List.of(main("sluice-push", sluice, 1), main("jetty", jetty, 1), main("netty42-dropped", netty, 1));
    }

    private static final List<Row> RECORDED = times(1000, 2000, 4000);

    private static Guard guard(List<Row> recorded, Callable<List<Row>> measured) throws Exception {
        Guard guard = new Guard(recorded, false, line -> {});
        guard.judge("a body", measured);
        return guard;
    }

    @Test
    void guard_slowerThanEveryPeerRepeatedly_fails() throws Exception {
        assertEquals(0, guard(RECORDED, () -> times(5000, 10_000, 20_000)).exitCode()); // the machine is slower
        assertEquals(0, guard(RECORDED, () -> times(1100, 1000, 4000)).exitCode()); // one fast peer
        Guard slow = guard(RECORDED, () -> times(1800, 2000, 4000));
        assertEquals(1, slow.exitCode());
        assertTrue(slow.summary().contains("became slower: a body"), slow.summary());
        List<List<Row>> onceSlow = new ArrayList<>(List.of(times(1800, 2000, 4000), RECORDED));
        assertEquals(0, guard(RECORDED, () -> onceSlow.remove(0)).exitCode());
        assertEquals(List.of(), onceSlow);
    }

    @Test
    void guard_missingFigures_fails() throws Exception {
        Guard unknown = guard(List.of(), () -> RECORDED);
        assertEquals(2, unknown.exitCode());
        assertTrue(unknown.summary().contains("a body. Record them"), unknown.summary());
        Guard failing = guard(RECORDED, () -> List.of(failed("sluice-push"), RECORDED.get(1)));
        assertEquals(2, failing.exitCode());
        assertTrue(failing.summary().contains("not measured: a body"), failing.summary());
        failing.judge("an old body", () -> RECORDED);
        assertEquals(1, failing.exitCode());
    }

    // ---- claims

    private static List<String> claims(List<Row> recorded, List<Row> now) throws Exception {
        List<String> messages = new ArrayList<>();
        Guard guard = new Guard(recorded, true, messages::add);
        guard.judge("a body", () -> now);
        boolean isFalse = messages.stream().anyMatch(line -> line.startsWith("FALSE "));
        boolean isUnsure = messages.stream().anyMatch(line -> line.startsWith("UNSURE "));
        assertEquals(isFalse ? 1 : isUnsure ? 2 : 0, guard.exitCode());
        messages.add(guard.summary());
        return messages;
    }

    private static Row level(String peer, String level, double score) {
        return row("levels scenario=netty-high peer=" + peer + " level=" + level, score, 0);
    }

    @Test
    void claims_falseClaim_isReported() throws Exception {
        String push = "a body: Sluice, push / ";
        assertEquals(
                List.of(
                        "FALSE  " + push + "Jetty 12.1: 0.500 -> 0.650 (x 1.30)",
                        "holds  " + push + "Netty 4.2, content dropped: 0.250 -> 0.260 (x 1.04)",
                        "1 do not hold here: " + push + "Jetty 12.1"),
                claims(RECORDED, times(1300, 2000, 5000)));
        assertEquals(
                "all 2 claims hold here",
                claims(RECORDED, times(5000, 10_000, 20_000)).get(2));
        // A change within the error is undecided. A claim to be faster is false if the parser is now slower, however
        // little.
        List<Row> close = List.of(main("sluice-push", 900, 1), main("jetty", 1000, 1));
        assertEquals(
                List.of(
                        "UNSURE " + push + "Jetty 12.1: 0.900 -> 1.200 (x 1.33)",
                        "1 are undecided, because the errors are too large: " + push + "Jetty 12.1"),
                claims(close, List.of(main("sluice-push", 1200, 240), main("jetty", 1000, 1))));
        assertEquals(
                "FALSE  " + push + "Jetty 12.1: 0.900 -> 1.080 (x 1.20)",
                claims(close, List.of(main("sluice-push", 1080, 10), main("jetty", 1000, 1)))
                        .get(0));
    }

    @Test
    void claims_includeLeakLevelsAndOtherApis() throws Exception {
        List<Row> recorded = List.of(
                level("sluice-push", "DISABLED", 10),
                level("sluice-push", "PARANOID", 20),
                level("netty42-kept", "DISABLED", 10),
                level("netty42-kept", "PARANOID", 200),
                main("sluice-push", 10, 0),
                main("sluice-form", 20, 0));
        List<Row> now = new ArrayList<>(recorded);
        now.set(3, level("netty42-kept", "PARANOID", 100));
        now.set(5, main("sluice-form", 30, 0));
        assertEquals(
                List.of(
                        "holds  a body: Sluice, push PARANOID / Sluice, push DISABLED: 2.000 -> 2.000 (x 1.00)",
                        "holds  a body: Sluice, push DISABLED / Netty 4.2, kept in memory DISABLED: 1.000 -> 1.000 (x 1.00)",
                        "FALSE  a body: Sluice, push PARANOID / Netty 4.2, kept in memory PARANOID: 0.100 -> 0.200 (x 2.00)",
                        "FALSE  a body: Netty 4.2, kept in memory DISABLED / Netty 4.2, kept in memory PARANOID: 0.050 -> 0.100 (x 2.00)",
                        "FALSE  a body: Sluice, form, kept in memory / Sluice, push: 2.000 -> 3.000 (x 1.50)"),
                claims(recorded, now).subList(0, 5));
    }

    // ---- history

    @Test
    void history_run_isAddedOnce() {
        History history = new History(List.of("2026-11-19,0.1.0,17,main,random-16m,1234.00,0.60,Jetty 12.1"));
        Run run = run(
                main("sluice-push", 1000, 10),
                main("sluice-pull", 900, 10),
                main("jetty", 2000, 10),
                main("okhttp", 4000, 10));
        history.add(run);
        history.add(run);
        assertEquals(
                List.of(
                        "2026-11-19,0.1.0,17,main,random-16m,1234.00,0.60,Jetty 12.1",
                        "2026-11-20,?,17,main,random-16m,1000.00,0.50,Jetty 12.1"),
                history.lines());
        String page = history.page();
        assertTrue(page.contains("\n## JDK 17, next to parsers in Java\n"), page);
        assertTrue(
                page.contains("\n| 2026-11-19 | 0.1.0 | 1234.00 µs, 0.60 of Jetty 12.1 |\n| 2026-11-20 | ? |"), page);
    }

    // ---- tables

    @Test
    void tables_omitRowsWithLargeErrors() {
        Run run = run(main("sluice-push", 1000, 310), main("jetty", 2000, 600));
        String text = Tables.of(run);
        assertTrue(text.contains("\nRows omitted because their error is above 30 %: 1.\n"), text);
        assertFalse(text.contains("| Sluice, push, heap |"), text);
        assertTrue(text.contains("| Jetty 12.1, heap | 8,000 ± 30 % |"), text);
        assertFalse(Tables.of(run(main("jetty", 2000, 600))).contains("omitted"));
    }
}
