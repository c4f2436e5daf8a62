package dev.sluice.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.geom.Rectangle2D;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.imageio.ImageIO;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {

    @TempDir
    Path directory;

    private static Row row(String peer, double score, double error) {
        Map<String, String> params = Map.of("peer", peer, "scenario", "random-16m", "chunk", "8192", "memory", "heap");
        return new Row(
                "main",
                "PeerBenchmark.decode",
                params,
                "us/op",
                score,
                error,
                score,
                score,
                10,
                64.0,
                16 << 20,
                1,
                null);
    }

    private static Run run(Row... rows) {
        return run("peers", rows);
    }

    private static Run run(String command, Row... rows) {
        return new Run(
                "java -jar sluice-bench.jar " + command,
                "2026-11-20T00:00:00Z",
                Map.of("cpu", "a processor", "cores", "2"),
                Map.of("name", "a JVM", "version", "17.0.1+1"),
                Map.of("jetty", "12"),
                List.of(),
                List.of(rows));
    }

    @Test
    void aRunIsReadAsItWasWritten() {
        Run run = run(row("sluice-push", 1000, 10), row("jetty", 2000, 10));
        Path file = directory.resolve("run.json");
        run.write(file);
        assertEquals(run, Run.read(file));
    }

    @Test
    void aChangeWithinTheErrorsIsNoneAndOneBeyondThemIsTold() {
        Run before = run(row("sluice-push", 1000, 50), row("jetty", 2000, 10));
        assertEquals(
                List.of(Comparison.Verdict.SAME, Comparison.Verdict.SLOWER),
                verdicts(Comparison.byTime(before, run(row("sluice-push", 1080, 50), row("jetty", 2100, 10)), 1)));
        assertEquals(
                List.of(Comparison.Verdict.FASTER, Comparison.Verdict.SAME),
                verdicts(Comparison.byTime(before, run(row("sluice-push", 800, 50), row("jetty", 2000, 10)), 1)));
    }

    @Test
    void aFigureWithoutAnErrorMayMoveByAFifth() {
        Run before = run(single(100));
        assertEquals(List.of(Comparison.Verdict.SAME), verdicts(Comparison.byTime(before, run(single(135)), 1)));
        assertEquals(List.of(Comparison.Verdict.SLOWER), verdicts(Comparison.byTime(before, run(single(145)), 1)));
        // What is counted has an error, which is 0.
        assertEquals(
                List.of(Comparison.Verdict.SLOWER),
                verdicts(Comparison.byTime(run(records("sluice-push", 192)), run(records("sluice-push", 193)), 1)));
    }

    private static Row single(double score) {
        Map<String, String> params = Map.of("server", "sluice", "scenario", "random-1g", "connections", "1");
        return new Row("endtoend", "EndToEnd.peak", params, "MiB", score, null, score, null, 1, null, 1 << 30, 1, null);
    }

    @Test
    void aRowThatIsThereNoLongerFails() {
        Run before = run(row("sluice-push", 1000, 10), row("jetty", 2000, 10));
        List<Comparison> byTime = Comparison.byTime(before, run(row("sluice-push", 1000, 10)), 1);
        assertEquals(List.of(Comparison.Verdict.SAME, Comparison.Verdict.MISSING), verdicts(byTime));
        assertTrue(Comparison.Verdict.MISSING.isFailure());
        assertTrue(byTime.get(byTime.size() - 1).toString().startsWith("MISSING"), byTime.toString());
        assertEquals(
                List.of(Comparison.Verdict.MISSING),
                verdicts(Comparison.byRatio(before, run(row("sluice-push", 1000, 10)), "jetty", 1)));
        assertEquals(
                List.of(Comparison.Verdict.MISSING),
                verdicts(Comparison.byRatio(before, run(row("jetty", 2000, 10)), "jetty", 1)));
    }

    @Test
    void aRowOfSluiceWithoutAFigureFailsEvenIfItIsNew() {
        Run before = run(row("sluice-push", 1000, 10));
        Run after = run(row("sluice-push", 1000, 10), failed("sluice-pull"), failed("jetty"));
        assertEquals(
                List.of(Comparison.Verdict.SAME, Comparison.Verdict.MISSING),
                verdicts(Comparison.byTime(before, after, 1)));
        assertEquals(List.of(Comparison.Verdict.MISSING), verdicts(Comparison.byRatio(before, after, "jetty", 1)));
    }

    private static Row failed(String peer) {
        Map<String, String> params = Map.of("peer", peer, "scenario", "random-16m", "chunk", "8192", "memory", "heap");
        return new Row(
                "main", "PeerBenchmark.decode", params, "us/op", null, null, null, null, 0, null, 100, 1, "failed: x");
    }

    @Test
    void whatIsAllocatedIsComparedBeyondATenthAnd64Bytes() {
        assertEquals(Comparison.Verdict.ALLOCATES_MORE, allocation(1000, 1101));
        assertEquals(Comparison.Verdict.SAME, allocation(1000, 1100));
        assertEquals(Comparison.Verdict.SAME, allocation(100, 164));
        assertEquals(Comparison.Verdict.ALLOCATES_MORE, allocation(100, 165));
        assertEquals(Comparison.Verdict.ALLOCATES_LESS, allocation(1000, 800));
        assertTrue(Comparison.Verdict.ALLOCATES_MORE.isFailure());
        assertTrue(!Comparison.Verdict.ALLOCATES_LESS.isFailure());
    }

    private static Comparison.Verdict allocation(double before, double after) {
        Run old = run(
                decode("main", hostile("sluice-push"), 10, before, null),
                decode("main", hostile("jetty"), 20, 1, null));
        Run now = run(
                decode("main", hostile("sluice-push"), 10, after, null), decode("main", hostile("jetty"), 20, 1, null));
        List<Comparison> comparisons = new ArrayList<>(Comparison.byTime(old, now, 1));
        comparisons.removeIf(comparison -> comparison.metric() == Comparison.Metric.TIME);
        List<Comparison> byRatio = new ArrayList<>(Comparison.byRatio(old, now, "jetty", 1));
        byRatio.removeIf(comparison -> comparison.metric() == Comparison.Metric.TIME);
        assertEquals(byRatio.get(0), comparisons.get(0));
        return comparisons.get(0).verdict();
    }

    @Test
    void aRatioToAPeerDoesNotDependOnTheMachine() {
        Run before = run(row("sluice-push", 1000, 10), row("jetty", 2000, 10));
        Run slowMachine = run(row("sluice-push", 3000, 30), row("jetty", 6000, 30));
        Run slowSluice = run(row("sluice-push", 1700, 10), row("jetty", 2000, 10));
        assertEquals(List.of(Comparison.Verdict.SAME), verdicts(Comparison.byRatio(before, slowMachine, "jetty", 1)));
        assertEquals(
                List.of(Comparison.Verdict.SLOWER), verdicts(Comparison.byRatio(before, slowSluice, "jetty", 1.5)));
    }

    @Test
    void aRegressionIsOneBesideEveryPeerAndNotBesideOneAlone() {
        List<Row> before = List.of(row("sluice-push", 1000, 1), row("jetty", 2000, 1), row("netty42-dropped", 4000, 1));
        List<Row> slowMachine =
                List.of(row("sluice-push", 5000, 1), row("jetty", 10_000, 1), row("netty42-dropped", 20_000, 1));
        List<Row> luckyPeer =
                List.of(row("sluice-push", 1100, 1), row("jetty", 1000, 1), row("netty42-dropped", 4000, 1));
        List<Row> slowSluice =
                List.of(row("sluice-push", 1800, 1), row("jetty", 2000, 1), row("netty42-dropped", 4000, 1));
        assertEquals(List.of(false), regressions(before, slowMachine));
        assertEquals(List.of(false), regressions(before, luckyPeer));
        assertEquals(List.of(true), regressions(before, slowSluice));
        assertEquals(List.of(), regressions(before, List.of(row("sluice-push", 1800, 1))));
    }

    private static List<Boolean> regressions(List<Row> before, List<Row> now) {
        return Regression.between(before, now, 1.6).stream()
                .map(Regression::isThere)
                .toList();
    }

    @Test
    void theGuardFailsOnWhatStaysSlowWhenMeasuredAgain() throws Exception {
        List<Row> recorded = List.of(row("sluice-push", 1000, 1), row("jetty", 2000, 1));
        List<Row> slow = List.of(row("sluice-push", 2000, 1), row("jetty", 2000, 1));
        Guard once = new Guard(recorded, 1.6, 3, line -> {});
        List<List<Row>> measured = new ArrayList<>(List.of(slow, recorded));
        once.judge("a body", () -> measured.remove(0));
        assertEquals(List.of(), measured);
        assertEquals(0, once.exitCode());
        Guard always = new Guard(recorded, 1.6, 3, line -> {});
        always.judge("a body", () -> slow);
        assertEquals(1, always.exitCode());
        assertTrue(always.summary().contains("became slower: a body"), always.summary());
    }

    @Test
    void theGuardFailsOnABodyThatTheRecordLacks() throws Exception {
        List<Row> recorded = List.of(row("sluice-push", 1000, 1), row("jetty", 2000, 1));
        Guard guard = new Guard(recorded, 1.6, 3, line -> {});
        assertEquals(2, guard.exitCode());
        guard.judge(
                "a new body",
                () -> List.of(
                        decode("main", hostile("sluice-push"), 10, 0, null),
                        decode("main", hostile("jetty"), 10, 0, null)));
        assertEquals(2, guard.exitCode());
        assertTrue(guard.summary().contains("a new body. Record them"), guard.summary());
        assertTrue(guard.summary().contains("guard --record"), guard.summary());
        guard.judge("an old body", () -> recorded);
        assertEquals(1, guard.exitCode());
    }

    @Test
    void theGuardFailsOnABodyThatCouldNotBeMeasured() throws Exception {
        List<Row> recorded =
                List.of(row("sluice-push", 1000, 1), row("jetty", 2000, 1), row("netty42-dropped", 3000, 1));
        List<String> said = new ArrayList<>();
        Guard guard = new Guard(recorded, 1.6, 3, said::add);
        guard.judge("an old body", () -> recorded);
        guard.judge("a failing body", () -> List.of(failed("sluice-push"), recorded.get(1), recorded.get(2)));
        assertEquals(1, guard.exitCode());
        assertTrue(guard.summary().contains("not measured: a failing body"), guard.summary());
        assertTrue(said.get(said.size() - 1).contains("failed: x"), said.toString());
    }

    @Test
    void theFiguresOfATextAreFilledInAndFilledInAgain() throws IOException {
        Path file = directory.resolve("LEARNED.md");
        String row = "scenario=random-16m memory=heap";
        Files.writeString(
                file,
                "a <!--= ratio peers-jdk17 main peer=sluice-push/jetty " + row + " --><!--/-->\n"
                        + "b <!--= us peers-jdk17 main peer=jetty " + row + " -->old<!--/-->\n"
                        + "c <!--= us peers-jdk25 main peer=jetty " + row + " --><!--/-->\n"
                        + "d <!--= losses -->\nold\n<!--/-->\n"
                        + "e <!--= missed --><!--/-->\n");
        Run quick = run(row("sluice-push", 3000, 10), row("jetty", 2000, 10));
        for (int i = 0; i < 2; i++) {
            Learned.update(file, Map.of("peers-quick-jdk17", quick));
            String text = Files.readString(file);
            assertTrue(text.contains("peer=sluice-push/jetty " + row + " -->1.50<!--/-->"), text);
            assertTrue(text.contains("peer=jetty " + row + " -->2,000 us<!--/-->\nc"), text);
            assertTrue(text.contains("-->(not recorded)<!--/-->\nd"), text);
            assertTrue(text.contains("| peers-quick-jdk17 | random-16m, heap / jetty | 1.50 ±"), text);
            assertTrue(!text.contains("old"), text);
        }
    }

    private String filled(String query, Map<String, Run> runs) throws IOException {
        Path file = directory.resolve("text.md");
        Files.writeString(file, "<!--= " + query + " -->old<!--/-->");
        Learned.update(file, runs);
        String text = Files.readString(file);
        String start = "<!--= " + query + " -->";
        assertTrue(text.startsWith(start) && text.endsWith("<!--/-->"), text);
        return text.substring(start.length(), text.length() - "<!--/-->".length());
    }

    @Test
    void aFigureMayBeOfTwoTablesTwoPeersTwoRunsOrOneByte() throws IOException {
        Row floor = new Row(
                "floors",
                "FloorBenchmark.copy",
                Map.of("scenario", "random-16m", "memory", "heap"),
                "us/op",
                500.0,
                1.0,
                500.0,
                null,
                8,
                null,
                16 << 20,
                0,
                null);
        Run old = new Run(
                "x",
                "x",
                Map.of("load", "wrk 4"),
                Map.of(),
                Map.of(),
                List.of(),
                List.of(row("sluice-push", 2000, 1), floor),
                150,
                Map.of("all-cr", "2026-11-21T00:00:00Z"));
        Map<String, Run> runs = Map.of(
                "peers-jdk17",
                old,
                "peers-jdk25",
                run(
                        row("sluice-push", 1000, 1),
                        row("jetty", 3000, 1),
                        decode("adversarial", hostile("sluice-push"), 2, 0, null),
                        decode("adversarial", hostile("jetty"), 2, 0, "finds 0 parts of 1")));
        String where = "scenario=random-16m memory=heap";
        assertEquals("0.33", filled("ratio peers-jdk25 main peer=sluice-push/jetty " + where, runs));
        assertEquals("2.00", filled("ratio peers-jdk17/peers-jdk25 main peer=sluice-push " + where, runs));
        assertEquals("4.00", filled("ratio peers-jdk17 main/floors peer=sluice-push/ way=decode/copy " + where, runs));
        assertEquals("0.060 ns", filled("ns peers-jdk25 main peer=sluice-push " + where, runs));
        assertEquals(
                "335.5",
                filled("per-byte peers-jdk25 adversarial/main peer=sluice-push scenario=all-cr/random-16m", runs));
        assertEquals(
                "2.00 us (with a wrong result)", filled("us peers-jdk25 adversarial peer=jetty scenario=all-cr", runs));
        assertEquals("3 minutes", filled("minutes peers-jdk17", runs));
        assertEquals("(not recorded)", filled("minutes peers-jdk25", runs));
        assertTrue(old.provenance()
                .endsWith("; loaded by wrk 4; groups of rows measured again: 1, the last 2026-11-21T00:00:00Z"));
        assertEquals("(not recorded)", filled("ratio peers-jdk25 main peer=sluice-push/okhttp " + where, runs));
    }

    @Test
    void everyWayToUseSluiceIsHeldAgainstEveryOtherParser() throws IOException {
        Run run = run(
                row("sluice-push", 3000, 30),
                row("sluice-pull", 2050, 10),
                row("jetty", 2000, 20),
                row("okhttp", 2900, 0),
                row("chunks-only", 1, 0),
                decode("adversarial", hostile("sluice-push"), 10, 0, null),
                decode("adversarial", hostile("jetty"), 5, 0, "finds 0 parts of 1"));
        String text = filled("losses", Map.of("peers-jdk17", run));
        assertTrue(
                text.contains("Pairs of rows in the runs peers-jdk17: 4. The other is ahead by more than 5 % in 1."),
                text);
        assertTrue(
                text.contains(
                        "| peers-jdk17 | main, random-16m, chunks of 8192, heap | Sluice, push | Jetty 12.1 | 1.50 ± 2 %"
                                + " | yes |"),
                text);
        Run slow = run(row("sluice-pull", 2200, 220), row("jetty", 2000, 20));
        assertTrue(
                filled("losses", Map.of("peers-jdk17", slow))
                        .contains("| Sluice, pull | Jetty 12.1 | 1.10 ± 11 % | open |"),
                text);
    }

    @Test
    void theServerIsHeldAgainstTheOneWithNettysDecoder() throws IOException {
        Run run = run("endtoend", rate("sluice", 1000), rate("netty42-loop", 1500), rate("discard", 9000));
        String text = filled("losses", Map.of("endtoend-jdk17", run));
        assertTrue(text.contains("Pairs of rows in the runs endtoend-jdk17: 1."), text);
        assertTrue(
                text.contains("| endtoend-jdk17 | random-1g, 1 connection, throughput | Sluice, content to a worker |"
                        + " Netty 4.2, content dropped on the event loop | 1.50 ±"),
                text);
    }

    @Test
    void neitherGuardsNorQuickRunsBesideFullOnesAreJudged() throws IOException {
        Run slow = run(row("sluice-push", 3000, 1), row("jetty", 2000, 1));
        Run fast = run(row("sluice-push", 500, 1), row("jetty", 2000, 1));
        Map<String, Run> runs =
                Map.of("guard-jdk17", slow, "peers-quick-jdk17", slow, "peers-jdk17", fast, "peers-quick-jdk25", slow);
        for (String table : List.of("losses", "missed")) {
            String text = filled(table, runs);
            assertTrue(!text.contains("| guard-jdk17") && !text.contains("| peers-quick-jdk17"), text);
            assertTrue(text.contains("| peers-quick-jdk25 |"), text);
        }
    }

    @Test
    void nettysWaysThatAreFasterAreListed() throws IOException {
        Map<String, String> text = Map.of("charset", "UTF-8", "memory", "heap", "size", "64");
        Run run = run(
                "buffers",
                way("text", "TextBenchmark.sluice", text, 20),
                way("text", "TextBenchmark.nettyToString", text, 10),
                way("text", "TextBenchmark.charBuffer", text, 30),
                way("allocation", "AllocationBenchmark.sameThread", taken("pooled"), 40),
                way("allocation", "AllocationBenchmark.sameThread", taken("adaptive"), 20),
                way("allocation", "AllocationBenchmark.acrossThreads", taken("unpooled"), 1),
                way("text", "TextBenchmark.sluice", Map.of("charset", "UTF-8", "memory", "heap", "size", "8"), 30),
                way(
                        "text",
                        "TextBenchmark.nettyToString",
                        Map.of("charset", "UTF-8", "memory", "heap", "size", "8"),
                        10),
                way("access", "AccessBenchmark.oncePerChunk", Map.of("kind", "heap", "checks", "on"), 10),
                way("access", "AccessBenchmark.getLongs", Map.of("kind", "heap", "checks", "on"), 1),
                way("access", "AccessBenchmark.getBytes", Map.of("kind", "heap", "checks", "off"), 5),
                way("scans", "ScanBenchmark.chunkMemory", Map.of("content", "data", "memory", "heap"), 90),
                way("scans", "ScanBenchmark.bytesBefore", Map.of("content", "data", "memory", "heap"), 30));
        Map<String, Run> runs = Map.of("buffers-jdk17", run, "peers-jdk17", run(row("sluice-push", 1, 0)));
        String found = filled("older-ways", runs);
        assertTrue(
                found.contains("Pairs of rows in the runs buffers-jdk17: 5. The other is ahead by more than 5 % in 4."),
                found);
        assertTrue(found.contains("| buffers-jdk17 | text | sluice | nettyToString | 2 | 2.00 to 3.00 |"), found);
        assertTrue(
                found.contains("| allocation | pooled, sameThread | adaptive, sameThread | 1 | 2.00 to 2.00 |"), found);
        assertTrue(found.contains("| scans | chunkMemory | bytesBefore | 1 | 3.00 to 3.00 |"), found);
    }

    private static Map<String, String> taken(String allocator) {
        return Map.of("allocator", allocator, "memory", "heap", "size", "64");
    }

    private static Row way(String table, String benchmark, Map<String, String> params, double score) {
        return new Row(table, benchmark, params, "ns/op", score, 1.0, score, score, 8, 0.0, 0, 0, null);
    }

    @Test
    void aRateThatFallsIsSlower() {
        Run before = run(rate("sluice", 2000));
        assertEquals(
                List.of(Comparison.Verdict.SLOWER), verdicts(Comparison.byTime(before, run(rate("sluice", 1000)), 1)));
        assertEquals(
                List.of(Comparison.Verdict.FASTER), verdicts(Comparison.byTime(before, run(rate("sluice", 4000)), 1)));
    }

    private static Row rate(String server, double score) {
        Map<String, String> params =
                Map.of("server", server, "scenario", "random-1g", "connections", "1", "sender", "own");
        return new Row(
                "endtoend", "EndToEnd.throughput", params, "MiB/s", score, 1.0, score, null, 8, null, 1 << 30, 1, null);
    }

    private static List<Comparison.Verdict> verdicts(List<Comparison> comparisons) {
        List<Comparison.Verdict> verdicts = new ArrayList<>();
        for (Comparison comparison : comparisons) {
            if (comparison.metric() == Comparison.Metric.TIME) {
                verdicts.add(comparison.verdict());
            }
        }
        return verdicts;
    }

    @Test
    void theTablesGiveThroughputRatioAndGoals() {
        String tables = Tables.of(run(row("sluice-push", 1000, 10), row("jetty", 2000, 400)));
        assertTrue(tables.contains("| Sluice, push, heap | 16,000 |"), tables);
        assertTrue(tables.contains("| Jetty 12.1, heap | 8,000 ± 20 % |"), tables);
        assertTrue(tables.contains("| Jetty 12.1, heap | 0.50 |"), tables);
        assertTrue(tables.contains("| random-16m, heap / jetty | 0.50 ± 21 % | 0.50 | 0.68 | yes |"), tables);
    }

    @Test
    void aGoalIsOpenWhereItsLimitLiesWithinTheError() {
        // The limit is 0.68; the errors of the two rows add up.
        assertEquals(Goal.Outcome.YES, outcome(1000, 40, 2000, 40));
        assertEquals(Goal.Outcome.OPEN, outcome(1300, 65, 2000, 40));
        assertEquals(Goal.Outcome.OPEN, outcome(1400, 70, 2000, 40));
        assertEquals(Goal.Outcome.NO, outcome(1500, 60, 2000, 40));
        assertEquals(Goal.Outcome.YES, outcome(1360, 0, 2000, 0));
        assertEquals(Goal.Outcome.NO, outcome(1362, 0, 2000, 0));
    }

    private static Goal.Outcome outcome(double sluice, double error, double other, double otherError) {
        Goal.Time goal = new Goal.Time(
                "x", Pick.main("sluice-push", "random-16m", "heap"), Pick.main("jetty", "random-16m", "heap"), 0.68);
        return goal.in(run(row("sluice-push", sluice, error), row("jetty", other, otherError)))
                .orElseThrow()
                .outcome();
    }

    @Test
    void openGoalsAreListedApartFromMissedOnes() throws IOException {
        Map<String, Run> runs = Map.of(
                "peers-jdk17",
                run(row("sluice-push", 1300, 65), row("jetty", 2000, 40), row("netty42-dropped", 1000, 10)));
        String jetty = "| peers-jdk17 | random-16m, heap / jetty | 0.65 ± 7 % | 0.65 | 0.68 | open |";
        String netty = "| peers-jdk17 | random-16m, heap / netty42-dropped | 1.30 ± 6 % | 1.30 | 0.33 | **no** |";
        String open = filled("open", runs);
        String missed = filled("missed", runs);
        assertTrue(open.contains(jetty) && !open.contains(netty), open);
        assertTrue(missed.contains(netty) && !missed.contains(jetty), missed);
        String unmeasured = filled("unmeasured", runs);
        assertTrue(unmeasured.contains("| csv-16m, heap / jetty | - | - | 0.55 | not measured |"), unmeasured);
        assertTrue(!unmeasured.contains("random-16m, heap / jetty"), unmeasured);
    }

    @Test
    void onlyAFullRunTellsWhatItDidNotMeasure() {
        String contrib = "| fields-100, heap / netty-contrib | - | - | 0.30 | not measured |";
        assertTrue(Tables.of(run("peers")).contains(contrib));
        assertTrue(Tables.of(run("peers, 12 rows --again")).contains(contrib));
        assertTrue(!Tables.of(run("peers --quick")).contains("not measured"));
        assertTrue(!Tables.of(run("peers --only 'random'")).contains("not measured"));
        assertTrue(!Tables.of(run("buffers")).contains("Goals"));
    }

    @Test
    void everythingThatIsToBeReachedHasItsGoal() {
        String peers = Tables.of(run("peers"));
        for (String goal : List.of(
                "random-16m, heap / netty42-dropped | - | - | 0.33",
                "random-16m, heap / fileupload1 | - | - | 0.050",
                "random-16m, heap / searchDelimiter alone | - | - | 1.10",
                "random-16m, heap / readWords alone | - | - | 1.30",
                "random-16m, direct / netty42-dropped | - | - | 0.50",
                "csv-16m, heap / netty42-dropped | - | - | 0.16",
                "csv-16m, heap / searchDelimiter alone | - | - | 1.10",
                "fields-100, heap / netty42-dropped | - | - | 0.12",
                "fields-100, heap / jetty | - | - | 0.25",
                "fields-100, heap / okhttp | - | - | 0.60",
                "fields-100, direct / netty-contrib | - | - | 0.30",
                "form, heap / jetty | - | - | 0.50",
                "parts-1000, heap / fastest of the others | - | - | 0.50",
                "photos-20, direct / fastest of the others | - | - | 0.50",
                "skip-table, heap / own time per byte on random data | - | - | 2.00",
                "two-byte-probe, heap / fastest of the others | - | - | 1.00",
                "64 KiB in chunks of one byte, heap / undertow | - | - | 0.60",
                "64 KiB in chunks of one byte, direct / netty42-dropped | - | - | 0.030",
                "1 GiB / own time per byte on 1 MiB | - | - | 1.10",
                "csv-16m, direct / own time on heap | - | - | 1.70",
                "100 fields and a 16 MiB file in one chunk, heap / netty42-dropped | - | - | 0.030",
                "bytes allocated per direct chunk of a file | - | - | 32.0",
                "bytes allocated per field, with name and content | - | - | 120.0",
                "bytes allocated per file part of 1 KiB | - | - | 250.0",
                "form, sluice-servlet / push | - | - | 1.30",
                "random-16m, sluice-pull / push | - | - | 1.30")) {
            assertTrue(peers.contains("| " + goal + " | not measured |"), goal);
        }
        String levels = Tables.of(run("levels"));
        for (String goal : List.of(
                "netty-big wrapped, DISABLED / netty42-kept | - | - | 0.80",
                "netty-big wrapped, DISABLED / netty42-dropped | - | - | 0.80",
                "netty-high wrapped, PARANOID / netty42-kept | - | - | 0.025",
                "netty-high wrapped, PARANOID / netty42-dropped | - | - | 0.025",
                "netty-high wrapped, PARANOID / own DISABLED | - | - | 1.05",
                "netty-high pooled, without taking the chunks, PARANOID / own DISABLED | - | - | 1.20",
                "fields-100, leak records per part beyond one for each chunk | - | - | 0")) {
            assertTrue(levels.contains("| " + goal + " | not measured |"), goal);
        }
        String server = Tables.of(run("endtoend"));
        assertTrue(server.contains("(0.95 of its throughput) | - | - | 1.05 | not measured |"), server);
        assertTrue(server.contains("CPU / that of dropping the body | - | - | 1.10 | not measured |"), server);
    }

    @Test
    void floorsAndRandomDataAreComparedWithinTheirTable() {
        Map<String, String> random =
                Map.of("peer", "sluice-push", "scenario", "random-16m", "chunk", "8192", "memory", "heap");
        Row floor = new Row(
                "floors",
                "FloorBenchmark.readWords",
                Map.of("scenario", "random-16m", "memory", "heap"),
                "us/op",
                20.0,
                0.0,
                20.0,
                20.0,
                8,
                null,
                100,
                0,
                null);
        String tables = Tables.of(run(
                row("sluice-push", 1000, 0),
                decode("floors", random, 24, 0, null),
                floor,
                decode("adversarial", random, 40, 0, null),
                decode("adversarial", hostile("sluice-push"), 60, 0, null)));
        assertTrue(tables.contains("| random-16m, heap / readWords alone | 1.20 | 1.20 | 1.30 | yes |"), tables);
        assertTrue(
                tables.contains("| all-cr, heap / own time per byte on random data | 1.50 | 1.50 | 2.00 | yes |"),
                tables);
        assertTrue(tables.contains("| Sluice, push | 3.97 |"), tables);
    }

    @Test
    void aParserWhoseResultIsWrongIsNoYardstick() {
        String tables = Tables.of(run(
                decode("chunks", tiny("sluice-push"), 10, 0, null),
                decode("chunks", tiny("netty42-dropped"), 1000, 0, "finds 65537 bytes of 65536"),
                decode("chunks", tiny("undertow"), 20, 0, null)));
        assertTrue(
                tables.contains(
                        "| 64 KiB in chunks of one byte, heap / netty42-dropped | - | - | 0.030 | not judged: the"
                                + " other's result is wrong |"),
                tables);
        assertTrue(
                tables.contains("| 64 KiB in chunks of one byte, heap / undertow | 0.50 | 0.50 | 0.60 | yes |"),
                tables);
    }

    private static Map<String, String> tiny(String peer) {
        return Map.of("peer", peer, "scenario", "random-64k", "chunk", "1", "memory", "heap");
    }

    @Test
    void aGoalMayBeWhatIsLeftWithoutAControl() {
        String tables = Tables.of(run(
                "levels",
                level("sluice-push", "DISABLED", 110, 0),
                level("chunks-only", "DISABLED", 10, 0),
                level("sluice-push", "PARANOID", 450, 0),
                level("chunks-only", "PARANOID", 300, 0)));
        // The CPU times are two thirds, but those of the control at DISABLED a tenth: (300 - 200) / (73.3 - 1).
        assertTrue(
                tables.contains("| netty-big pooled, without taking the chunks, PARANOID / own DISABLED | 1.50 | 1.38 |"
                        + " 1.20 | **no** |"),
                tables);
    }

    @Test
    void aDifferenceThatIsNotLargerThanItsErrorLeavesTheGoalOpen() {
        String tables = Tables.of(run(
                "levels",
                level("sluice-push", "DISABLED", 110, 1),
                level("chunks-only", "DISABLED", 10, 1),
                level("sluice-push", "PARANOID", 950, 300),
                level("chunks-only", "PARANOID", 400, 260)));
        assertTrue(
                tables.contains(
                        "| netty-big pooled, without taking the chunks, PARANOID / own DISABLED | 5.50, less than its"
                                + " error | 5.07 | 1.20 | open |"),
                tables);
    }

    @Test
    void everyFigureAboutLevelsHasItsError() {
        String tables = Tables.of(
                run("levels", level("sluice-push", "DISABLED", 100, 1), level("sluice-push", "PARANOID", 105, 2)));
        assertTrue(tables.contains("| Sluice, push | 100 ± 1 % | 105 ± 2 % (1.05) |"), tables);
    }

    @Test
    void theRatioToAParserWhoseResultIsWrongIsMarked() {
        Map<String, String> push = Map.of("peer", "sluice-push", "scenario", "form", "chunk", "8192", "memory", "heap");
        Map<String, String> jetty = Map.of("peer", "jetty", "scenario", "form", "chunk", "8192", "memory", "heap");
        String tables =
                Tables.of(run(decode("main", push, 10, 0, null), decode("main", jetty, 20, 0, "finds 1 part of 7")));
        assertTrue(tables.contains("| Jetty 12.1, heap | 0.50 (wrong) |"), tables);
        assertTrue(tables.contains("(wrong: finds 1 part of 7) |"), tables);
    }

    private static Row level(String peer, String level, double score, double error) {
        Map<String, String> params =
                Map.of("peer", peer, "scenario", "netty-big", "memory", "pooled-each", "level", level);
        double cpu = peer.equals("chunks-only") && level.equals("DISABLED") ? score / 10 : score * 2 / 3;
        return new Row(
                "levels", "PeerBenchmark.decode", params, "us/op", score, error, score, cpu, 10, 0.0, 100, 1, null);
    }

    private static Row decode(
            String table, Map<String, String> params, double score, double allocated, @Nullable String note) {
        return new Row(
                table, "PeerBenchmark.decode", params, "us/op", score, 0.0, score, score, 10, allocated, 100, 1, note);
    }

    @Test
    void aGoalMayBeRecordsPerChunkOrPerPart() {
        // 100 bytes are one chunk.
        String one = Tables.of(run("levels", records("sluice-push", 129), records("chunks-only", 128)));
        assertTrue(
                one.contains(
                        "| netty-high, leak records per chunk beyond those of taking it | 1.00 | - | 1.00 | yes |"),
                one);
        assertTrue(
                one.contains("| netty-high, leak records per part beyond one for each chunk | 0 | - | 0 | yes |"), one);
        String more = Tables.of(run("levels", records("sluice-push", 132), records("chunks-only", 128)));
        assertTrue(
                more.contains(
                        "| netty-high, leak records per chunk beyond those of taking it | 4.00 | - | 1.00 | **no** |"),
                more);
        assertTrue(
                more.contains(
                        "| netty-high, leak records per part beyond one for each chunk | 1.50 | - | 0 | **no** |"),
                more);
    }

    @Test
    void aGoalMayBeBytesPerChunk() {
        // 24,577 bytes are four chunks of 8 KiB, one of which the whole body makes as well.
        String tables =
                Tables.of(run(chunked("8192", 3 * 40 + 700), chunked(Integer.toString(Integer.MAX_VALUE), 700)));
        assertTrue(
                tables.contains(
                        "| bytes allocated per heap chunk of a file (1 instead of 0: noise of the profiler) | 40.0 |"
                                + " - | 1.00 | **no** |"),
                tables);
        String none = Tables.of(run(chunked("8192", 702), chunked(Integer.toString(Integer.MAX_VALUE), 700)));
        assertTrue(none.contains("(1 instead of 0: noise of the profiler) | 0.67 | - | 1.00 | yes |"), none);
    }

    @Test
    void aGoalMayBeBytesPerPart() {
        Map<String, String> params =
                Map.of("peer", "sluice-push", "scenario", "fields-100", "chunk", "8192", "memory", "heap");
        Row fields = new Row(
                "main", "PeerBenchmark.decode", params, "us/op", 9.0, 0.0, 9.0, 9.0, 8, 12_845.0, 11_143, 100, null);
        String tables = Tables.of(run(fields));
        assertTrue(
                tables.contains("| bytes allocated per field, with name and content | 128.5 | - | 120.0 | **no** |"),
                tables);
    }

    private static Row chunked(String chunk, double allocated) {
        Map<String, String> params =
                Map.of("peer", "sluice-push", "scenario", "random-16m", "chunk", chunk, "memory", "heap");
        return new Row(
                "chunks", "PeerBenchmark.decode", params, "us/op", 1.0, 0.0, 1.0, 1.0, 8, allocated, 24_577, 1, null);
    }

    private static Row records(String peer, double score) {
        return new Row(
                "records",
                "LeakRecords.count",
                Map.of("peer", peer, "scenario", "netty-high", "memory", "pooled-each"),
                "records",
                score,
                0.0,
                null,
                null,
                1,
                null,
                100,
                2,
                "");
    }

    @Test
    void theFastestOfTheOthersIsOneThatReadsTheBodyRightly() {
        String tables = Tables.of(run(
                decode("adversarial", hostile("sluice-push"), 50, 0, null),
                decode("adversarial", hostile("sluice-pull"), 10, 0, null),
                decode("adversarial", hostile("undertow"), 20, 0, "finds 0 parts of 1"),
                decode("adversarial", hostile("jetty"), 100, 0, null),
                decode("adversarial", hostile("okhttp"), 200, 0, null)));
        assertTrue(
                tables.contains("| all-cr, heap / fastest of the others, Jetty 12.1 | 0.50 | 0.50 | 1.00 | yes |"),
                tables);
    }

    private static Map<String, String> hostile(String peer) {
        return Map.of("peer", peer, "scenario", "all-cr", "chunk", "8192", "memory", "heap");
    }

    @Test
    void theReadmeKeepsItsTextAroundTheGeneratedPart() throws IOException {
        Path readme = directory.resolve("README.md");
        String begin = "<!-- generated from results/*.json: begin -->";
        String end = "<!-- generated from results/*.json: end -->";
        Files.writeString(readme, "before\n" + begin + "\nold\n" + end + "\nafter\n");
        Run run = run(row("sluice-push", 1000, 10));
        Path charts = directory.resolve("charts");
        List<String> drawn = Charts.draw(run, "peers", charts);
        Readme.update(readme, Map.of("peers", run), Map.of("peers", drawn), charts);
        String text = Files.readString(readme);
        assertTrue(text.startsWith("before\n" + begin) && text.endsWith(end + "\nafter\n"), text);
        assertTrue(!text.contains("old") && text.contains("a processor, 2 cores; a JVM 17.0.1+1"), text);
        assertTrue(text.contains("(charts/peers-random-16m.svg)"), text);
    }

    @Test
    void chartsAreDrawnAsSvgAndPng() throws IOException {
        List<String> drawn =
                Charts.draw(run(row("sluice-push", 1000, 10), row("jetty", 2000, 400)), "peers", directory);
        assertEquals(List.of("peers-random-16m"), drawn);
        assertTrue(Files.readString(directory.resolve("peers-random-16m.svg")).contains("<svg"));
        assertTrue(
                ImageIO.read(directory.resolve("peers-random-16m.png").toFile()).getWidth() > 1000);
    }

    @Test
    void aParserWhoseResultIsWrongHasNoBar() throws IOException {
        Row wrong = decode("adversarial", hostile("jetty"), 5, 0, "finds 0 parts of 1");
        assertEquals(List.of(), Charts.draw(run(wrong), "peers", directory));
        Row right = decode("adversarial", hostile("sluice-push"), 5, 0, null);
        Row fast = decode("adversarial", hostile("netty42-dropped"), 1e-6, 0, "finds 0 parts of 1");
        Charts.draw(run(right), "right", directory);
        Charts.draw(run(right, fast), "both", directory);
        // The axis would reach up to it; the remark takes room instead.
        BufferedImage alone =
                ImageIO.read(directory.resolve("right-adversarial.png").toFile());
        BufferedImage both =
                ImageIO.read(directory.resolve("both-adversarial.png").toFile());
        assertEquals(dark(alone), dark(both), dark(alone) * 0.2);
    }

    private static double dark(BufferedImage image) {
        int count = 0;
        for (int y = 0; y < image.getHeight(); y++) {
            for (int x = 0; x < image.getWidth(); x++) {
                count += grey(image, x, y) == grey(Fill.DARK.ground()) ? 1 : 0;
            }
        }
        return count;
    }

    private static int grey(BufferedImage image, int x, int y) {
        return grey(new Color(image.getRGB(x, y)));
    }

    private static int grey(Color colour) {
        return (colour.getRed() * 299 + colour.getGreen() * 587 + colour.getBlue() * 114) / 1000;
    }

    @Test
    void everyFillIsAnotherInBlackAndWhite() {
        List<BufferedImage> bars = new ArrayList<>();
        for (Fill fill : Fill.values()) {
            BufferedImage bar = new BufferedImage(40, 120, BufferedImage.TYPE_INT_RGB);
            Graphics2D g = bar.createGraphics();
            g.setColor(fill.ground());
            g.fillRect(0, 0, 40, 120);
            fill.drawOver(g, new Rectangle2D.Double(0, 0, 39, 119));
            g.dispose();
            bars.add(bar);
            assertEquals(0, grey(bar, 0, 60), fill + " has no outline");
        }
        assertTrue(bars.size() >= 5);
        for (int i = 0; i < bars.size(); i++) {
            for (int k = 0; k < i; k++) {
                int different = 0;
                for (int y = 0; y < 120; y++) {
                    for (int x = 0; x < 40; x++) {
                        different += Math.abs(grey(bars.get(i), x, y) - grey(bars.get(k), x, y)) >= 40 ? 1 : 0;
                    }
                }
                assertTrue(different > 40 * 120 / 10, Fill.values()[i] + " and " + Fill.values()[k] + ": " + different);
            }
        }
    }

    @Test
    void chunkSizesBodySizesAndBuffersHaveTheirCharts() throws IOException {
        Map<String, String> text = Map.of("charset", "UTF-8", "memory", "heap", "size", "64");
        Map<String, String> whole =
                Map.of("peer", "jetty", "scenario", "random-16m", "chunk", "2147483647", "memory", "heap");
        List<String> drawn = Charts.draw(
                run(
                        decode("chunks", tiny("sluice-push"), 10, 0, null),
                        decode("chunks", tiny("jetty"), 20, 0, null),
                        decode("chunks", whole, 1, 0, null),
                        decode("sizes", sized("random-1m"), 10, 0, null),
                        decode("sizes", sized("random-1g"), 10, 0, null),
                        way("text", "TextBenchmark.sluice", text, 20),
                        way("scans", "ScanBenchmark.bytesBefore", Map.of("content", "data", "memory", "heap"), 30),
                        way("access", "AccessBenchmark.getBytes", Map.of("kind", "heap", "checks", "off"), 5),
                        way("allocation", "AllocationBenchmark.sameThread", taken("pooled"), 40)),
                "all",
                directory);
        assertEquals(
                List.of("all-chunks-heap", "all-sizes", "all-text", "all-scans", "all-access", "all-allocation"),
                drawn);
        for (String name : drawn) {
            assertTrue(Files.size(directory.resolve(name + ".png")) > 1000, name);
        }
    }

    private static Map<String, String> sized(String scenario) {
        return Map.of("peer", "sluice-push", "scenario", scenario, "chunk", "8192", "memory", "heap");
    }

    @Test
    void aLineOfOnePointIsNotDrawn() throws IOException {
        assertEquals(List.of(), Charts.draw(run(decode("sizes", sized("random-1m"), 10, 0, null)), "one", directory));
    }
}
