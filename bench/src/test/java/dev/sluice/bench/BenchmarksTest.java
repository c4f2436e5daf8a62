package dev.sluice.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.bench.body.Scenario;
import dev.sluice.bench.endtoend.EndToEnd;
import dev.sluice.bench.report.Row;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
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

    /** Nothing is measured here, so another build may well run benchmarks meanwhile. */
    @BeforeAll
    static void doNotWaitForOtherBenchmarks() {
        System.setProperty("jmh.ignoreLock", "true");
    }

    /** The first trial of each benchmark method, on the smallest body. */
    static Set<String> methods() {
        Set<String> methods = new TreeSet<>();
        for (Trial trial : all()) {
            methods.add(trial.benchmark());
        }
        return methods;
    }

    private static List<Trial> all() {
        List<Trial> trials = new ArrayList<>(Suite.levels(false));
        trials.addAll(Suite.peers(false));
        trials.addAll(Suite.buffers(false));
        return trials;
    }

    @ParameterizedTest
    @MethodSource("methods")
    void everyBenchmarkMethodRunsOnce(String method) throws RunnerException {
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
    void everyBenchmarkMethodBelongsToASuite() {
        Set<String> listed = new TreeSet<>();
        for (BenchmarkListEntry entry : BenchmarkList.defaultList()
                .getAll(OutputFormatFactory.createFormatInstance(System.out, VerboseMode.SILENT), List.of())) {
            String name = entry.getUsername();
            listed.add(name.substring(name.lastIndexOf('.', name.lastIndexOf('.') - 1) + 1));
        }
        assertEquals(listed, methods());
    }

    @Test
    void noTwoTrialsOfASuiteMeasureTheSame() {
        for (List<Trial> suite : List.of(
                Suite.levels(false),
                Suite.peers(false),
                Suite.buffers(false),
                Suite.levels(true),
                Suite.peers(true),
                Suite.buffers(true))) {
            Set<String> labels = new TreeSet<>();
            for (Trial trial : suite) {
                assertTrue(labels.add(trial.benchmark() + trial.label()), trial.label());
            }
        }
    }

    @Test
    void everyQuickCommandTakesUnderFiveMinutesAndTheWholeUnderAnHour() {
        assertTrue(Plan.seconds(Suite.levels(true)) < 5 * 60);
        assertTrue(Plan.seconds(Suite.peers(true)) < 5 * 60);
        assertTrue(Plan.seconds(Suite.buffers(true)) < 5 * 60);
        EndToEnd quick = new EndToEnd(true, line -> {});
        assertTrue(quick.expected() < 5 * 60);
        double whole = new EndToEnd(false, line -> {}).expected();
        for (List<Trial> suite : List.of(Suite.levels(false), Suite.peers(false), Suite.buffers(false))) {
            whole += Plan.seconds(suite);
        }
        assertTrue(whole < 60 * 60, "seconds: " + whole);
    }

    @Test
    void theGuardTakesUnderThreeMinutesEvenWhenTwoBodiesAreMeasuredThreeTimes() {
        double seconds = 0;
        for (List<Trial> body : Suite.guard()) {
            seconds += Plan.seconds(body);
        }
        assertTrue(seconds * (Suite.guard().size() + 4) / Suite.guard().size() < 3 * 60);
    }

    @Test
    void thePlanCountsFiguresAndMinutesPerTable() {
        String plan = Plan.of(Suite.levels(false));
        assertTrue(plan.contains("leak-settings"), plan);
        assertTrue(plan.lines().toList().get(plan.lines().toList().size() - 1).startsWith("all"), plan);
    }

    @Test
    void sluiceLeavesAtMostOneLeakRecordPerChunkAndNettyManyPerPart() throws Exception {
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
