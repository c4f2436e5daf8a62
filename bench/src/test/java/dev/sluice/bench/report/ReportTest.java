package dev.sluice.bench.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.imageio.ImageIO;
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
        return new Run(
                "java -jar sluice-bench.jar peers",
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
            assertTrue(
                    text.contains("| peers-quick-jdk17 | main, random-16m, chunks of 8192, heap | Jetty 12.1 | 1.50 ±"),
                    text);
            assertTrue(text.contains("| peers-quick-jdk17 | random-16m, heap / jetty | 1.50 ±"), text);
            assertTrue(!text.contains("old"), text);
        }
    }

    @Test
    void aRateThatFallsIsSlower() {
        Row before = rate(2000);
        assertEquals(List.of(Comparison.Verdict.SLOWER), verdicts(Comparison.byTime(run(before), run(rate(1000)), 1)));
        assertEquals(List.of(Comparison.Verdict.FASTER), verdicts(Comparison.byTime(run(before), run(rate(4000)), 1)));
    }

    private static Row rate(double score) {
        Map<String, String> params =
                Map.of("server", "sluice", "scenario", "random-1g", "connections", "1", "sender", "own");
        return new Row(
                "endtoend", "EndToEnd.throughput", params, "MiB/s", score, 1.0, score, null, 8, null, 1 << 30, 1, null);
    }

    private static List<Comparison.Verdict> verdicts(List<Comparison> comparisons) {
        List<Comparison.Verdict> verdicts = new ArrayList<>();
        comparisons.forEach(comparison -> verdicts.add(comparison.verdict()));
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
}
