package dev.sluice.bench.endtoend;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.bench.body.Scenario;
import dev.sluice.bench.endtoend.FormServer.Container;
import dev.sluice.bench.endtoend.FormServer.Intake;
import dev.sluice.bench.report.Row;
import dev.sluice.bench.report.Run;
import dev.sluice.bench.report.Tables;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Timeout(120)
class ContainersTest {
    /** In each build one, as the others are measured in the same way. */
    static Stream<Container> containers() {
        return Stream.of(Container.values()).limit(Boolean.getBoolean("sluice.full") ? Long.MAX_VALUE : 1);
    }

    @ParameterizedTest
    @MethodSource("containers")
    @Tag("sized")
    void eachContainerIsMeasuredAndFindsWhatIsInTheBody(Container container) throws Exception {
        assumeTrue(
                LoadTool.isInstalled() || "1".equals(System.getenv("SLUICE_REQUIRE_CLIENTS")),
                "client not present: wrk");
        assertTrue(LoadTool.isInstalled(), "wrk is to be on the PATH");
        List<String> told = new ArrayList<>();
        List<Row> rows;
        try (ServerProcess server = new ServerProcess(List.of(), FormServer.class, container.id(), "0")) {
            rows = new Containers(1, told::add).measure(server, container, 0, Scenario.FORM);
        }
        assertEquals(1, told.size());
        assertEquals(Intake.values().length * 2 - 1, rows.size());
        for (Row row : rows) {
            assertTrue(row.score() != null && row.score() > 0, row.toString());
        }
        String tables = Tables.of(Run.now("containers", Map.of(), List.of(), rows));
        assertTrue(tables.contains(container.id() + ", threshold 0: requests per second"), tables);
        assertTrue(tables.contains("Time of the filter / time of native, threshold 0"), tables);
    }
}
