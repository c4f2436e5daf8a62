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
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {
    private static final Path PROJECT = Path.of(System.getProperty("sluice.rootDir"));
    private static final String RANDOM = " scenario=random-16m chunk=8192 memory=heap";
    private static final String HOSTILE = " scenario=all-cr chunk=8192 memory=heap";

    @TempDir
    Path directory;

    /** A row as {@link Run#pick} would find it, on a body of 100 bytes in one part unless it says otherwise. */
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

    /** In the table of all parsers. */
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

    // ---- the recorded runs and what is made of them

    @Test
    void theGeneratedFilesAreWhatTheRecordedRunsGive() throws IOException {
        Map<Path, String> made = Report.of(PROJECT);
        for (Map.Entry<Path, String> file : made.entrySet()) {
            String found = Files.readString(file.getKey()).replace("\r\n", "\n");
            assertEquals(file.getValue(), found, () -> file.getKey() + " is out of date: run the command report");
        }
        Set<Path> charts = new TreeSet<>();
        try (Stream<Path> files = Files.list(PROJECT.resolve("bench/results/charts"))) {
            files.forEach(charts::add);
        }
        made.keySet().removeIf(file -> !file.toString().endsWith(".svg"));
        assertEquals(made.keySet(), charts, "charts that nothing draws any more");
    }

    @Test
    void thePictureOfTheReadmeIsOfTheRecordedRuns() throws Exception {
        byte[] drawing = Files.readAllBytes(PROJECT.resolve("bench/results/charts/readme.svg"));
        String digest =
                HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(drawing));
        String picture = Files.readString(PROJECT.resolve("bench/results/readme.png"), StandardCharsets.ISO_8859_1);
        assertTrue(picture.contains("tEXtSource\0" + digest), "out of date: run .ci/picture");
    }

    @Test
    void everyFigureInTheTextsIsOneOfTheResults() throws IOException {
        String results = Files.readString(PROJECT.resolve("bench/RESULTS.md"));
        Pattern figure = Pattern.compile("([0-9][0-9,.]*[0-9]) (?:us|ns|MiB/s|ms/MiB|records)\\b");
        String learned = Files.readString(PROJECT.resolve("bench/LEARNED.md"));
        List<String> found =
                figure.matcher(learned).results().map(each -> each.group(1)).toList();
        assertTrue(found.size() > 30, found::toString);
        for (String each : found) {
            assertTrue(
                    Pattern.compile("[| ]" + Pattern.quote(each) + "[ |]")
                            .matcher(results)
                            .find(),
                    each);
        }
    }

    @Test
    void aRunIsReadAsItWasWritten() {
        Run run = run(main("sluice-push", 1000, 10), main("jetty", 2000, 10));
        Path file = directory.resolve("run.json");
        run.write(file);
        assertEquals(run, Run.read(file));
        assertEquals("peers", run.commandName());
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
    void aChangeWithinTheErrorsIsNone() {
        assertEquals(SAME, times(main("jetty", 1000, 50), main("jetty", 1080, 50)));
        assertEquals(SLOWER, times(main("jetty", 2000, 10), main("jetty", 2100, 10)));
        assertEquals(FASTER, times(main("jetty", 1000, 50), main("jetty", 800, 50)));
        // A figure without an error may move by a fifth; what is counted has an error, which is 0.
        Row single = row("endtoend way=peak server=sluice", 100.0, null, null);
        assertEquals(SAME, times(single, row("endtoend way=peak server=sluice", 135.0, null, null)));
        assertEquals(SLOWER, times(single, row("endtoend way=peak server=sluice", 145.0, null, null)));
        assertEquals(SLOWER, times(row("records way=count", 192, 0), row("records way=count", 193, 0)));
        // A rate that falls.
        String rate = "endtoend way=throughput server=sluice";
        assertEquals(SLOWER, times(row(rate, 2000, 1), row(rate, 1000, 1)));
        assertEquals(FASTER, times(row(rate, 2000, 1), row(rate, 4000, 1)));
    }

    @Test
    void aRowThatIsThereNoLongerFailsAndSoDoesOneOfSluiceWithoutAFigure() {
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
    void whatIsAllocatedIsComparedBeyondATenthAnd64Bytes() {
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
    void theGuardFailsOnWhatIsSlowerBesideEveryPeerAndStaysSoWhenMeasuredAgain() throws Exception {
        assertEquals(0, guard(RECORDED, () -> times(5000, 10_000, 20_000)).exitCode()); // a slow machine
        assertEquals(0, guard(RECORDED, () -> times(1100, 1000, 4000)).exitCode()); // a lucky peer
        Guard slow = guard(RECORDED, () -> times(1800, 2000, 4000));
        assertEquals(1, slow.exitCode());
        assertTrue(slow.summary().contains("became slower: a body"), slow.summary());
        List<List<Row>> onceSlow = new ArrayList<>(List.of(times(1800, 2000, 4000), RECORDED));
        assertEquals(0, guard(RECORDED, () -> onceSlow.remove(0)).exitCode());
        assertEquals(List.of(), onceSlow);
    }

    @Test
    void theGuardFailsOnABodyThatTheRecordLacksOrThatCouldNotBeMeasured() throws Exception {
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
        List<String> told = new ArrayList<>();
        Guard guard = new Guard(recorded, true, told::add);
        guard.judge("a body", () -> now);
        assertEquals(told.stream().allMatch(line -> line.startsWith("holds ")) ? 0 : 1, guard.exitCode());
        told.add(guard.summary());
        return told;
    }

    private static Row level(String peer, String level, double score) {
        return row("levels scenario=netty-high peer=" + peer + " level=" + level, score, 0);
    }

    @Test
    void aClaimThatIsFalseHereIsToldAsFalseAndTheOthersHold() throws Exception {
        String push = "a body: Sluice, push / ";
        assertEquals(
                List.of(
                        "FALSE  " + push + "Jetty 12.1: 0.500 -> 0.650 (x 1.30)",
                        "holds  " + push + "Netty 4.2, content dropped: 0.250 -> 0.260 (x 1.04)",
                        "1 do not hold here: " + push + "Jetty 12.1"),
                claims(RECORDED, times(1300, 2000, 5000)));
        assertEquals(
                "each of 2 claims holds here",
                claims(RECORDED, times(5000, 10_000, 20_000)).get(2));
        // Within the error; and behind, though it was ahead.
        List<Row> close = List.of(main("sluice-push", 900, 1), main("jetty", 1000, 1));
        assertEquals(
                "holds  " + push + "Jetty 12.1: 0.900 -> 1.200 (x 1.33)",
                claims(close, List.of(main("sluice-push", 1200, 240), main("jetty", 1000, 1)))
                        .get(0));
        assertEquals(
                "FALSE  " + push + "Jetty 12.1: 0.900 -> 1.080 (x 1.20)",
                claims(close, List.of(main("sluice-push", 1080, 10), main("jetty", 1000, 1)))
                        .get(0));
    }

    @Test
    void whatAnotherParserPaysForParanoidIsClaimedTooAndSoIsAnotherWayToUseSluice() throws Exception {
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

    // ---- who is ahead

    @Test
    void everyWayToUseSluiceIsHeldAgainstEveryOtherParserThatReadsTheBodyRightly() {
        String text = Losses.peers(Map.of(
                "peers",
                run(
                        main("sluice-push", 3000, 30),
                        main("sluice-pull", 2050, 10),
                        main("jetty", 2000, 20),
                        main("okhttp", 2900, 0),
                        main("chunks-only", 1, 0),
                        row("adversarial peer=sluice-push" + HOSTILE, 10, 0),
                        row("adversarial peer=jetty" + HOSTILE, 5.0, 0.0, "finds 0 parts of 1")),
                "server",
                run(
                        row("endtoend way=throughput connections=1 scenario=form server=sluice", 1000, 300),
                        row("endtoend way=throughput connections=1 scenario=form server=netty42-loop", 1100, 1),
                        row("endtoend way=throughput connections=1 scenario=form server=discard", 9000, 1))));
        assertTrue(
                text.contains("Pairs of rows in the runs peers, server: 5. The other is ahead by more than 5 % in 2."));
        String push =
                "| peers | main, random-16m, chunks of 8192, heap | Sluice, push | Jetty 12.1 | 1.50 ± 2 % | yes |";
        assertTrue(text.contains(push), text);
        assertTrue(text.contains(
                "content to a worker | Netty 4.2, content dropped on the event loop | 1.10 ± 30 % | open"));
    }

    // ---- goals and tables

    private static void assertGoal(String line, Run run) {
        String text = Tables.of(run);
        assertTrue(text.contains("| " + line + " |"), text);
    }

    @Test
    void aGoalIsOpenWhereItsLimitLiesWithinTheError() {
        String title = "random-16m, heap / jetty | ";
        assertGoal(title + "0.50 ± 6 % | 0.50 | 0.68 | yes", goal(1000, 40, 2000, 40));
        assertGoal(title + "0.65 ± 7 % | 0.65 | 0.68 | open", goal(1300, 65, 2000, 40));
        assertGoal(title + "0.70 ± 7 % | 0.70 | 0.68 | open", goal(1400, 70, 2000, 40));
        assertGoal(title + "0.75 ± 6 % | 0.75 | 0.68 | **no**", goal(1500, 60, 2000, 40));
        assertGoal(title + "0.68 | 0.68 | 0.68 | yes", goal(1360, 0, 2000, 0));
        assertGoal(title + "0.68 | 0.68 | 0.68 | **no**", goal(1362, 0, 2000, 0));
    }

    private static Run goal(double sluice, double error, double other, double otherError) {
        return run(main("sluice-push", sluice, error), main("jetty", other, otherError));
    }

    @Test
    void aRowWithAnErrorAboveThirtyPercentIsLeftOutOfTablesAndChartsAndThatIsSaid() {
        Run run = run(main("sluice-push", 1000, 310), main("jetty", 2000, 600));
        String text = Tables.of(run);
        assertTrue(text.contains("\nRows left out of the tables for an error above 30 %: 1.\n"), text);
        assertFalse(text.contains("| Sluice, push, heap |"), text);
        assertTrue(text.contains("| Jetty 12.1, heap | 8,000 ± 30 % |"), text);
        String svg = Chart.of("peers", run).get("peers-random-16m.svg");
        assertTrue(svg.contains("Left out where the error is above 30 %: Sluice, push"), svg);
        assertTrue(svg.contains("; the thin line is the error</text>"), svg);
        assertFalse(Tables.of(run(main("jetty", 2000, 600))).contains("left out"));
    }

    @Test
    void theLongestNameOfAChartIsInThePicture() {
        Chart.Bar longest = new Chart.Bar("", "", "x".repeat(60), 1, 0, true);
        String svg = new Chart("a", "b", List.of(), List.of(longest)).svg();
        assertTrue(svg.contains("<rect class=\"own\" x=\"444\""), svg);
        assertFalse(svg.contains("thin line"), svg);
    }

    @Test
    void onlyAFullRunTellsWhatItDidNotMeasure() {
        String line = "fields-100, heap / netty-contrib | - | - | 0.30 | not measured";
        assertGoal(line, run("peers"));
        assertFalse(Tables.of(run("peers --quick")).contains("not measured"));
        assertFalse(Tables.of(run("peers --only 'random'")).contains("not measured"));
        assertFalse(Tables.of(run("buffers")).contains("Goals"));
    }

    @Test
    void aParserWhoseResultIsWrongIsNoYardstick() {
        String tiny = " scenario=random-64k chunk=1 memory=heap";
        Run chunks = run(
                row("chunks peer=sluice-push" + tiny, 10, 0),
                row("chunks peer=netty42-dropped" + tiny, 1000.0, 0.0, "finds 65537 bytes of 65536"),
                row("chunks peer=undertow" + tiny, 20, 0));
        String title = "64 KiB in chunks of one byte, heap / ";
        assertGoal(title + "netty42-dropped | - | - | 0.030 | not judged: the other's result is wrong", chunks);
        assertGoal(title + "undertow | 0.50 | 0.50 | 0.60 | yes", chunks);
        assertGoal(
                "all-cr, heap / fastest of the others, Jetty 12.1 | 0.50 | 0.50 | 1.00 | yes",
                run(
                        row("adversarial peer=sluice-push" + HOSTILE, 50, 0),
                        row("adversarial peer=sluice-pull" + HOSTILE, 10, 0),
                        row("adversarial peer=undertow" + HOSTILE, 20.0, 0.0, "finds 0 parts of 1"),
                        row("adversarial peer=jetty" + HOSTILE, 100, 0),
                        row("adversarial peer=okhttp" + HOSTILE, 200, 0)));
    }

    // ---- charts

    @Test
    void aChartHasABarForEachRowAndNoneForAWrongResult() {
        Row wrong = row("adversarial peer=netty42-dropped" + HOSTILE, 1e-6, 0.0, "finds 0 parts of 1");
        Row right = row("adversarial peer=jetty" + HOSTILE, 10, 1);
        Row sluice = row("adversarial peer=sluice-push" + HOSTILE, 5, 1);
        String svg = Chart.of("peers", run(wrong, right, sluice)).get("peers-adversarial.svg");
        assertTrue(svg.contains("(JDK 17, ") && svg.contains("higher is better"), svg);
        assertTrue(svg.contains("Left out where the result is wrong: Netty 4.2, content dropped"), svg);
        assertEquals(1, count("<rect class=\"own\"", svg));
        assertEquals(1, count("<rect class=\"other\"", svg));
        assertEquals(2, count("<path class=\"error\"", svg));
        assertEquals(Map.of(), Chart.of("peers", run(wrong)));
    }

    @Test
    void barsAreAsLongAsTheirFiguresAndTheBestIsTheFirst() {
        List<Chart.Bar> bars = List.of(
                new Chart.Bar("a", "a", "slow", 40, 0, false),
                new Chart.Bar("a", "a", "Sluice & others", 10, 0, true),
                new Chart.Bar("b", "b", "alone", 1000, 0, false));
        String lower = new Chart("title", "us: lower is better", List.of(), bars).svg();
        assertEquals(List.of(142.5, 570.0, 570.0), widths(lower));
        assertTrue(lower.contains("class=\"own\">Sluice &amp; others"), lower);
        assertTrue(lower.contains("not drawn to one scale"), lower);
        String higher = new Chart("title", "MiB/s: higher is better", List.of(), bars.subList(0, 2)).svg();
        assertEquals(List.of(570.0, 142.5), widths(higher));
        assertFalse(higher.contains("not drawn to one scale"), higher);
    }

    private static List<Double> widths(String svg) {
        return Pattern.compile("height=\"15\"")
                .matcher(svg)
                .results()
                .map(found -> svg.substring(svg.lastIndexOf("width=\"", found.start()) + 7, found.start() - 2))
                .map(Double::valueOf)
                .toList();
    }

    private static long count(String pattern, String text) {
        return Pattern.compile(pattern).matcher(text).results().count();
    }
}
