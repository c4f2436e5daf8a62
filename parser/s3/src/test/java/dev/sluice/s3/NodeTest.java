package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.s3.Uploads.File;
import dev.sluice.testkit.FaultProxy.Fault;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.SequenceInputStream;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Uploads during which nodes are killed. */
@ExtendWith(Weed.IsThere.class)
@Execution(ExecutionMode.CONCURRENT) // most of the time, processes start
class NodeTest {
    private static final int MIB = 1 << 20;

    /** A node to be killed: it uploads 19 MiB of a file whose end never arrives, or two files. */
    static final class Node {
        private Node() {}

        public static void main(String[] arguments) throws Exception {
            MemoryBudget budget = MemoryBudget.of(128 << 20);
            S3ObjectStore store = Bench.store(URI.create(arguments[0]));
            S3Sinks sinks = S3Sinks.builder(store, budget).prefix(arguments[1]).build();
            try (Forms forms = Forms.of(FormOptions.inMemory(budget).build());
                    PipedOutputStream never = new PipedOutputStream()) {
                byte[] most = Uploads.body(List.of(new File("a", 20 * MIB))).readNBytes(19 * MIB);
                InputStream body = arguments.length > 2
                        ? Uploads.body(TWO)
                        : new SequenceInputStream(new ByteArrayInputStream(most), new PipedInputStream(never));
                S3Form form = sinks.newForm();
                forms.read(body, Uploads.CONTENT_TYPE, form::options);
                System.in.read(); // until this process is killed
            }
        }
    }

    private static final List<File> TWO = List.of(new File("a", 9 * MIB), new File("b", 10));

    private static Process node(Bench bench, String... more) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                System.getProperty("java.class.path"),
                Node.class.getName(),
                bench.proxy.address().toString(),
                bench.prefix));
        command.addAll(List.of(more));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    @Test
    void killedNode_duringAnUpload_leavesNothingAfterASweep() throws Exception {
        try (Bench bench = new Bench()) {
            Process node = node(bench);
            Weed.await(() -> assertTrue(bench.count(".*partNumber.*") >= 2));
            node.destroyForcibly().waitFor();
            assertEquals(1, bench.uploads().size());
            bench.assertNothingLeftBut();
        }
    }

    @ParameterizedTest(name = "{0}, {1}")
    @CsvSource({
        "POST .*uploadId=.*, HANG",
        "PUT .*/[0-9a-f]{32}/2, HANG",
        "PUT .*/form.json, HANG",
        "PUT .*/form.json, LATE_RESPONSE",
        "POST .*.delete, HANG"
    })
    void killedNode_duringItsCommit_leavesAWholeFormOrNone(String request, Fault fault) throws Exception {
        try (Bench bench = new Bench()) {
            int number = request.startsWith("POST .*.delete") ? 2 : 1; // the probe makes the first one
            bench.proxy.on(sent -> sent.matches(request), number, number, fault);
            Process node = node(bench, "to the end");
            Weed.await(() -> assertTrue(bench.proxy.faults() > 0));
            boolean isCommitted = fault == Fault.LATE_RESPONSE || request.startsWith("POST .*.delete");
            List<String> records = new ArrayList<>();
            if (isCommitted) {
                // The store may still be handling the request whose response is late.
                Weed.await(() -> {
                    records.addAll(bench.keys().stream()
                            .filter(key -> key.endsWith("form.json"))
                            .toList());
                    assertEquals(1, records.size());
                });
            }
            node.destroyForcibly().waitFor();
            try (Bench.Sweeper sweeper = bench.sweeper()) {
                Weed.await(() -> {
                    sweeper.sweep().join();
                    assertEquals(isCommitted ? TWO.size() + 1 : 0, bench.keys().size());
                });
                for (String record : records) {
                    String id = record.replaceAll(".*/([0-9a-f]{32})/.*", "$1");
                    assertTrue(sweeper.sinks().find(id).get().isPresent());
                }
            }
        }
    }
}
