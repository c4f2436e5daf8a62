package dev.sluice.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.bench.report.Row;
import dev.sluice.bench.report.Run;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DisturbedTest {

    private static final List<Trial> TRIALS = Suite.peers(false);

    /** Every figure of the peers at 100 us, some of them with another error than 2. */
    private static Run recorded(Predicate<Trial> disturbed, @Nullable Double error) {
        List<Row> rows = new ArrayList<>();
        for (Trial trial : TRIALS) {
            rows.add(row(trial, 100, disturbed.test(trial) ? error : (Double) 2.0));
        }
        return run("2026-01-01", rows);
    }

    private static Run run(String date, List<Row> rows) {
        return new Run("peers", date, Map.of(), Map.of(), Map.of(), List.of(), rows, 60, Map.of());
    }

    private static Row row(Trial trial, double score, @Nullable Double error) {
        return new Row(
                trial.table(),
                trial.benchmark(),
                trial.params(),
                "us/op",
                score,
                error,
                score,
                null,
                16,
                null,
                1,
                1,
                null);
    }

    private static boolean isFloorOfCsv(Trial trial) {
        return trial.group().equals("floors csv-16m heap") && trial.benchmark().endsWith("readWords");
    }

    @Test
    void aQuietRunHasNothingToBeMeasuredAgain() {
        assertEquals(List.of(), Disturbed.in(recorded(trial -> false, 2.0), TRIALS, null, 60));
    }

    @Test
    void oneDisturbedRowHasItsWholeGroupMeasuredAgain() {
        List<Disturbed> groups = Disturbed.in(recorded(DisturbedTest::isFloorOfCsv, 12.0), TRIALS, null, 60);
        assertEquals(1, groups.size());
        assertEquals("floors csv-16m heap", groups.get(0).name());
        assertEquals(5, groups.get(0).trials().size());
    }

    @Test
    void groupsThatAreNamedAreMeasuredAgainWholeThoughNothingDisturbedThem() {
        Pattern csv = Pattern.compile("^floors readWords csv-16m heap");
        List<Disturbed> groups = Disturbed.in(recorded(trial -> trial.table().equals("main"), 12.0), TRIALS, csv, 60);
        assertEquals(
                List.of("floors csv-16m heap"),
                groups.stream().map(Disturbed::name).toList());
        assertEquals(5, groups.get(0).trials().size());
    }

    @Test
    void anUnknownErrorIsNotTakenForNone() {
        assertEquals(
                1,
                Disturbed.in(recorded(DisturbedTest::isFloorOfCsv, null), TRIALS, null, 60)
                        .size());
    }

    @Test
    void groupsThatShareAFigureAreOne() {
        List<Disturbed> groups = Disturbed.in(
                recorded(
                        trial -> trial.group().equals("adversarial all-lf")
                                && trial.params().get("scenario").equals("all-lf"),
                        50.0),
                TRIALS,
                null,
                60);
        assertEquals(1, groups.size());
        assertTrue(
                groups.get(0).trials().stream().anyMatch(trial -> trial.group().equals("adversarial skip-table")));
    }

    @Test
    void theMostDisturbedGroupsThatFitTheMinutesAreTaken() {
        Run recorded = recorded(
                trial -> trial.table().equals("floors") || trial.table().equals("main"), 30.0);
        List<Disturbed> groups = Disturbed.in(recorded, TRIALS, null, 3);
        assertTrue(Plan.seconds(Disturbed.trials(groups)) <= 180);
        assertTrue(groups.size() > 1, groups.toString());
    }

    @Test
    void allFiguresOfAGroupGiveWayToTheNewOnesEvenWhereThoseAreLessExact() {
        Run recorded = recorded(DisturbedTest::isFloorOfCsv, 12.0);
        List<Disturbed> groups = Disturbed.in(recorded, TRIALS, null, 60);
        List<Row> now = groups.get(0).trials().stream()
                .map(trial -> row(trial, 200, 90.0))
                .toList();
        Run replaced = Disturbed.replaced(recorded, groups, run("2026-01-02", now));
        assertEquals(Map.of("floors csv-16m heap", "2026-01-02"), replaced.again());
        assertEquals(120, replaced.seconds());
        assertEquals("2026-01-01", replaced.date());
        assertEquals(
                5, replaced.rows().stream().filter(row -> row.score() == 200).count());
        assertEquals(
                recorded.rows().stream().map(Row::key).distinct().count(),
                replaced.rows().size());
    }
}
