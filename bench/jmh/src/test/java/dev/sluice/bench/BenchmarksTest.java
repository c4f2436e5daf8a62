package dev.sluice.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.bench.jmh.FastThreads;
import dev.sluice.bench.peer.NettyIsland;
import dev.sluice.bench.peer.PeerKind;
import dev.sluice.bench.peer.Scenario;
import io.netty.util.concurrent.FastThreadLocalThread;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ThreadFactory;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.runner.BenchmarkList;
import org.openjdk.jmh.runner.BenchmarkListEntry;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.format.OutputFormatFactory;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

class BenchmarksTest {
    /** JMH normally waits for other benchmarks on the machine. Nothing is measured here, so that is unnecessary. */
    @BeforeAll
    static void ignoreLock() {
        System.setProperty("jmh.ignoreLock", "true");
    }

    static Set<String> methods() {
        return all().stream()
                .filter(trial -> !trial.ofCrate())
                .map(Trial::benchmark)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static List<Trial> all() {
        return suites(false).stream().flatMap(List::stream).toList();
    }

    private static List<List<Trial>> suites(boolean quick) {
        return Stream.of("levels", "peers", "crates", "buffers", "writers")
                .map(command -> Suite.of(command, quick))
                .toList();
    }

    @ParameterizedTest
    @MethodSource("methods")
    void benchmark_runsOnce(String method) throws RunnerException {
        Trial trial = all().stream()
                .filter(each -> each.benchmark().equals(method))
                .findFirst()
                .orElseThrow();
        Map<String, String> params = new LinkedHashMap<>(trial.params());
        params.computeIfPresent("scenario", (name, scenario) -> Scenario.FORM.id());
        ChainedOptionsBuilder options = new OptionsBuilder()
                .include(Pattern.quote("." + method) + "$")
                .verbosity(VerboseMode.SILENT)
                .mode(Mode.SingleShotTime)
                .forks(0)
                .warmupIterations(0)
                .measurementIterations(1)
                .measurementTime(TimeValue.milliseconds(1))
                .shouldFailOnError(true);
        params.forEach((name, value) -> options.param(name, value));
        assertEquals(1, new Runner(options.build()).run().size());
    }

    @Test
    void benchmarks_belongToASuite() {
        Set<String> listed = new TreeSet<>();
        for (BenchmarkListEntry entry : BenchmarkList.defaultList()
                .getAll(OutputFormatFactory.createFormatInstance(System.out, VerboseMode.SILENT), List.of())) {
            String name = entry.getUsername();
            // JMH reads these annotations from the class and its superclasses, but not from an enclosing class.
            assertEquals(Mode.AverageTime, entry.getMode(), name);
            assertTrue(entry.getTimeUnit().hasValue(), name);
            listed.add(name.substring(name.lastIndexOf('.', name.lastIndexOf('.') - 1) + 1));
        }
        assertEquals(listed, methods());
    }

    @Test
    void trials_sameFigure_areMeasuredAlike() {
        for (List<Trial> suite : suites(false)) {
            Map<String, Trial> byLabel = new HashMap<>();
            Set<String> groups = new TreeSet<>();
            for (Trial trial : suite) {
                assertTrue(groups.add(trial.group() + trial.label()), trial.label());
                Trial other = byLabel.putIfAbsent(trial.label(), trial);
                if (other != null) {
                    assertEquals(
                            List.of(other.benchmark(), other.params(), other.jvmArgs(), other.effort()),
                            List.of(trial.benchmark(), trial.params(), trial.jvmArgs(), trial.effort()));
                }
            }
        }
    }

    @Test
    void plan_staysWithinTimeLimits() {
        for (List<Trial> suite : suites(true)) {
            assertTrue(!suite.isEmpty() && Trial.seconds(suite) < 5 * 60);
        }
        assertTrue(new EndToEnd(true, line -> {}).plan().seconds() < 5 * 60);
        double whole = new EndToEnd(false, line -> {}).plan().seconds() + Trial.seconds(all());
        assertTrue(whole < 95 * 60, "seconds: " + whole);
    }

    @Test
    void forks_ofGroup_alternate() {
        Trial four = trial("a", "x", Effort.MAIN);
        Trial one = trial("a", "y", Effort.FRINGE);
        Trial after = trial("b", "z", Effort.WIDE);
        List<String> order = TrialRunner.inTurn(List.of(four, one, after)).stream()
                .map(step -> step.trial().table() + step.fork())
                .toList();
        assertEquals(List.of("x0", "y0", "x1", "x2", "x3", "z0", "z1"), order);
    }

    private static Trial trial(String group, String table, Effort effort) {
        return new Trial(table, group, "FloorBenchmark.copy", Map.of(), List.of(), effort);
    }

    @Test
    void halfRange_ofForks_isComputed() {
        assertEquals(1.5, TrialRunner.halfRange(List.of(11.0, 10.0, 13.0)));
        assertEquals(0, TrialRunner.halfRange(List.of(11.0)));
    }

    @Test
    void trial_fails_othersAreMeasured() {
        Map<String, String> nonsense = Map.of("nonsense", "1");
        Trial bad = new Trial("t", "g", "ScanBenchmark.readByte", nonsense, List.of("-Xnonsense"), Effort.SLOW);
        Trial good = new Trial("t", "g", "ScanBenchmark.readByte", Map.of(), List.of(), Effort.SLOW);
        List<Row> rows = new TrialRunner(line -> {}).run(List.of(bad, good));
        assertEquals(List.of(true, false), rows.stream().map(Row::failed).toList());
        assertEquals(null, rows.get(0).score());
        assertTrue(rows.get(1).score() > 0);
    }

    @Test
    void file_partialRun_doesNotReplaceRecord() {
        assertTrue(Run.file("peers", true).getParent().endsWith("bench/results"));
        assertTrue(Run.file("peers", false).getParent().endsWith("bench/jmh/target"));
    }

    @Test
    void pattern_selectsWholeGroups() {
        List<Trial> floors =
                Suite.groupsWith(Suite.of("peers", false), Pattern.compile("^floors readWords csv-16m heap"));
        assertEquals(List.of("floors csv-16m heap"), groups(floors));
        assertEquals(5, floors.size());
        List<Trial> hostile = Suite.groupsWith(Suite.of("peers", false), Pattern.compile("jetty all-lf"));
        assertTrue(groups(hostile).contains("adversarial skip-table"), hostile::toString);
    }

    private static List<String> groups(List<Trial> trials) {
        return trials.stream().map(Trial::group).distinct().toList();
    }

    @Test
    void groupMeasuredAgain_replacesItsFigures() {
        Row one = Row.counted("t", "A.a", Map.of("peer", "a"), 1, 0, 0, null);
        Row other = Row.counted("t", "A.a", Map.of("peer", "b"), 1, 0, 0, null);
        Row again = Row.counted("t", "A.a", Map.of("peer", "b"), 2, 0, 0, null);
        Run now = Run.now("peers", Map.of(), List.of(), List.of(again));
        Run replaced =
                Run.now("peers", Map.of(), List.of(), List.of(one, other)).with(Set.of("g"), now);
        assertEquals(List.of(one, again), replaced.rows());
        assertEquals(Map.of("g", now.provenance().date()), replaced.again());
        assertTrue(replaced.provenance().seconds() > now.provenance().seconds());
    }

    @Test
    void threads_belongToTheMeasuredNetty() throws Exception {
        ThreadFactory threads = new FastThreads(1, "test").getThreadFactory();
        assertTrue(threads.newThread(() -> {}) instanceof FastThreadLocalThread);
        System.setProperty(NettyIsland.THREADS_OF_41, "true");
        try {
            Class<?> ofIsland = NettyIsland.netty41().loadClass(FastThreadLocalThread.class.getName());
            assertTrue(ofIsland.isInstance(threads.newThread(() -> {})));
        } finally {
            System.clearProperty(NettyIsland.THREADS_OF_41);
        }
    }

    @Test
    void guardAndClaims_stayWithinTimeLimits() {
        int bodies = Suite.groups("guard").size();
        assertTrue(Trial.seconds(Suite.of("guard", false)) * (bodies + 4) / bodies < 3 * 60);
        assertTrue(Trial.seconds(Suite.of("claims", false)) < 12 * 60);
        assertTrue(Suite.of("claims", false).stream().allMatch(trial -> trial.effort() == Effort.MAIN));
    }

    @Test
    void claims_coverFiguresOfReadme() throws IOException {
        Set<String> measured = Suite.of("claims", false).stream()
                .map(trial -> Row.without(trial.table(), trial.benchmark(), trial.params(), 0, 0, null)
                        .key())
                .collect(Collectors.toSet());
        Path project = Path.of(System.getProperty("sluice.rootDir"));
        String readme = Files.readString(project.resolve("README.md"));
        int shown = 0;
        for (Row row :
                Run.read(project.resolve("bench/results/peers-jdk17.json")).rows()) {
            String body = row.param("scenario");
            boolean heap = row.table().equals("main") && row.param("memory").equals("heap");
            boolean inTable = heap
                    && readme.contains("| " + Scenario.of(body).title + " |")
                    && readme.contains("| " + PeerKind.of(row.param("peer")).title + " |");
            if (inTable) {
                assertTrue(measured.contains(row.key()), row.key());
                shown++;
            }
        }
        assertTrue(shown > 15, "figures: " + shown);
    }

    @Test
    void leakRecords_sluice_atMostOnePerChunk() throws Exception {
        Map<String, Row> byPeer = new HashMap<>();
        for (Row row : LeakRecords.count(List.of(Scenario.NETTY_HIGH))) {
            byPeer.put(row.param("peer"), row);
        }
        double control = byPeer.get("chunks-only").score();
        int chunks = Scenario.NETTY_HIGH.body().cut(Suite.OWN_CUT).size();
        assertTrue(byPeer.get("sluice-push").score() - control <= chunks, byPeer.toString());
        assertTrue(byPeer.get("netty42-kept").score() - control > 10 * chunks, byPeer.toString());
    }
}
