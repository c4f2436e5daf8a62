package dev.sluice.bench;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.bench.FormServer.Container;
import dev.sluice.bench.FormServer.Intake;
import dev.sluice.bench.peer.Body;
import dev.sluice.bench.peer.Scenario;
import dev.sluice.bench.peer.Slice;
import dev.sluice.testkit.Installed;
import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(300)
class EndToEndTest {
    private static final boolean FULL = Boolean.getBoolean("sluice.full");

    /** So many that the server needs more processor time than the operating system counts at once, which is 10 ms. */
    private static final int REQUESTS = 500;

    /** A short build starts two of the servers, because all of them are measured in the same way. */
    @Test
    @Tag("sized")
    void endToEnd_everyVariantIsMeasured() throws IOException, InterruptedException {
        List<String> messages = new ArrayList<>();
        List<Variant> variants = List.of(FULL ? Variant.values() : new Variant[] {Variant.SLUICE, Variant.DISCARD});
        EndToEnd endToEnd =
                new EndToEnd(variants, List.of(EndToEnd.Load.sent(Scenario.FORM, REQUESTS)), 1, messages::add);
        assertTrue(endToEnd.loadedBy().matches("(wrk \\S*\\d\\S* and )?a socket"), endToEnd.loadedBy());
        List<Row> rows = endToEnd.run();
        assertEquals(variants.size(), messages.size());
        for (Variant variant : variants) {
            for (String metric : List.of("throughput", "requests", "cpu", "timeToDiscard", "cpuToDiscard", "direct")) {
                Row row = rows.stream()
                        .filter(each -> each.param("server").equals(variant.id())
                                && each.benchmark().equals("EndToEnd." + metric))
                        .findFirst()
                        .orElseThrow();
                assertTrue(row.score() != null && row.score() > 0, row.toString());
            }
        }
        String tables = Tables.of(Run.now("endtoend", Map.of(), List.of(), rows));
        assertTrue(tables.contains("| " + Variant.SLUICE.title + " |"), tables);
        assertTrue(tables.contains("| server | form, 1 connection |"), tables);
    }

    @Test
    void fairness_measuresFormsAloneAndDuringLargeBody() throws IOException {
        List<String> messages = new ArrayList<>();
        List<Variant> variants = List.of(Variant.HANDLER); // all of them are measured in the same way
        List<Row> rows = new Fairness(variants, Scenario.RANDOM_16M, 0, 1, messages::add).run();
        assertEquals(variants.size(), messages.size());
        assertEquals(3 * variants.size(), rows.size());
        assertTrue(rows.stream().allMatch(row -> row.score() != null && row.score() > 0), rows.toString());
        String tables = Tables.of(Run.now("fairness", Map.of(), List.of(), rows));
        assertTrue(tables.contains("| server | alone | during |"), tables);
        assertTrue(tables.contains("99th percentile during the large body / alone"), tables);
    }

    /** Not in a short build, because wrk uses all processors for three seconds. */
    @ParameterizedTest
    @EnumSource
    @Tag("full")
    void containers_everyIntakeIsMeasured(Container container, @TempDir Path scratch) throws Exception {
        Installed.require("wrk", LoadTool.isInstalled());
        List<String> messages = new ArrayList<>();
        List<Row> rows;
        try (ServerProcess server =
                new ServerProcess(List.of("-Djava.io.tmpdir=" + scratch), FormServer.class, container.id(), "0")) {
            rows = new Containers(0, 1, messages::add).measure(server, container, 0, Scenario.FORM);
        }
        assertArrayEquals(new String[0], scratch.toFile().list());
        assertEquals(1, messages.size());
        assertEquals(Intake.values().length * 2 - 1, rows.size());
        for (Row row : rows) {
            assertTrue(row.score() != null && row.score() > 0, row.toString());
        }
        String tables = Tables.of(Run.now("containers", Map.of(), List.of(), rows));
        assertTrue(tables.contains(container.id() + ", threshold 0: requests per second"), tables);
        assertTrue(tables.contains("Time of the filter / time of native, threshold 0"), tables);
    }

    @Test
    void loadTool_doesNotEnd_isKilled() throws IOException {
        String java = ProcessHandle.current().info().command().orElseThrow();
        assertTrue(LoadTool.output(List.of(java, "-version"), 60).contains("\""));
        assertEquals("", LoadTool.output(List.of("sleep", "3600"), 1));
    }

    @Test
    void loadTool_leavesNoFiles() throws IOException {
        Installed.require("wrk", LoadTool.isInstalled());
        int port;
        try (ServerSocket socket = new ServerSocket(0)) {
            port = socket.getLocalPort();
        }
        // The size distinguishes the files of this test.
        Body body =
                Body.unknown("text/plain", "x", List.of(new Slice(new byte[1_000_000 + port], 0, 1_000_000 + port)));
        assertThrows(IOException.class, () -> LoadTool.run(body, port, "/", 1, 1)); // no server listens
        File directory = new File(System.getProperty("java.io.tmpdir"));
        assertArrayEquals(new File[0], directory.listFiles(file -> file.length() == body.size()));
    }

    @Test
    void server_malformedBody_answersNextRequest() throws IOException {
        try (ServerProcess first = new ServerProcess(List.of(), MeasuredServer.class, Variant.HANDLER.id());
                ServerProcess second = new ServerProcess(List.of(), MeasuredServer.class, Variant.SLUICE_LOOP.id())) {
            for (ServerProcess server : List.of(first, second)) {
                try (Sender lenient = new Sender(server.port(), "/upload", Scenario.NETTY_HIGH_LF.body())) {
                    assertThrows(IOException.class, lenient::send);
                }
                try (Sender sender = new Sender(server.port(), "/upload", Scenario.FIELDS_100.body())) {
                    assertEquals(100, sender.send().parts());
                }
            }
        }
    }
}
