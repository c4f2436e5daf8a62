package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.s3.Uploads.File;
import dev.sluice.testkit.FaultProxy;
import dev.sluice.testkit.ProofSize;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.SequenceInputStream;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Processes that are killed while an upload runs: those of the store, and our own. */
@ExtendWith(Weed.IsThere.class)
@Isolated("kills the store of all")
class NodeTest {
    private static final int MIB = 1 << 20;

    /** A node that is going to be killed: uploads 20 MiB of a file that never ends, or these files. */
    static final class Node {
        private Node() {}

        public static void main(String[] arguments) throws Exception {
            MemoryBudget budget = MemoryBudget.of(128 << 20);
            S3ObjectStore store = store(URI.create(arguments[0]));
            S3Sinks sinks = S3Sinks.builder(store, budget).prefix(arguments[1]).build();
            try (Forms forms = Forms.of(FormOptions.inMemory(budget).build());
                    PipedOutputStream never = new PipedOutputStream()) {
                byte[] most = Uploads.body(List.of(new File("a", 20 * MIB))).readNBytes(19 * MIB);
                InputStream body = arguments.length > 2
                        ? Uploads.body(TWO)
                        : new SequenceInputStream(new ByteArrayInputStream(most), new PipedInputStream(never));
                forms.read(body, Uploads.CONTENT_TYPE, options -> options.decider(sinks.newForm()));
            }
        }
    }

    private static final List<File> TWO = List.of(new File("a", 9 * MIB), new File("b", 10));

    private static Process node(Bench bench, String... more) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
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

    static S3ObjectStore store(URI address) {
        return S3ObjectStore.builder(Weed.BUCKET)
                .endpoint(address)
                .region("us-east-1")
                .pathStyle(true)
                .credentials(Weed.CREDENTIALS)
                .build();
    }

    @Test
    void whatAKilledNodeLeavesIsSwept() throws Exception {
        try (Bench bench = new Bench()) {
            Process node = node(bench);
            Weed.await(() -> assertTrue(bench.distinct(".*partNumber.*") >= 2));
            node.destroyForcibly().waitFor();
            assertEquals(1, bench.uploads().size());
            bench.impatient().sweep().get();
            bench.assertNothingLeft();
            assertEquals(List.of(), bench.keys());
        }
    }

    @ParameterizedTest(name = "{0}, {1} visible")
    @CsvSource({
        "POST .*/\\.sluice/.*uploadId=.*, 0",
        "POST [^.]*uploadId=.*, 0",
        "PUT [^?.]*, 1",
        "DELETE .*/\\.sluice/.*, 2"
    })
    void aFormWhoseNodeIsKilledWhileItBecomesVisibleIsSwept(String request, int visible) throws Exception {
        try (Bench bench = new Bench()) {
            bench.proxy.on(sent -> sent.matches(request), 1, 1, FaultProxy.HANG);
            Process node = node(bench, "to the end");
            Weed.await(() -> assertTrue(bench.proxy.faults() > 0));
            node.destroyForcibly().waitFor();
            assertEquals(
                    visible,
                    bench.keys().stream().filter(key -> !key.contains("/.")).count());
            S3Sinks.Swept swept = bench.impatient().sweep().get();
            assertEquals(request.startsWith("POST .*") ? 0 : 2, swept.objects().size());
            bench.assertNothingLeft();
            assertEquals(List.of(), bench.keys());
        }
    }

    @Tag("sized")
    @TestFactory
    Stream<DynamicTest> aFormOutlivesAProcessOfTheStore() {
        return Stream.of("volume1", "filer", "s3", "volume2", "volume3")
                .limit(ProofSize.of("sluice.store.kills", 3, 5))
                .map(name -> DynamicTest.dynamicTest(name, () -> {
                    Weed weed = Weed.running();
                    try (Bench bench = new Bench(
                            MemoryBudget.of(128 << 20),
                            store -> store.attempts(12).pauseMillis(100).attemptTimeout(Duration.ofSeconds(20)),
                            sinks -> sinks)) {
                        List<File> files = List.of(new File("a", 24 * MIB), new File("b", 10));
                        S3Form objects = bench.sinks.newForm();
                        Uploads.Sending sending = bench.send(objects, files);
                        Weed.await(() -> assertTrue(bench.distinct(".*partNumber.*") >= 2));
                        weed.kill(name);
                        weed.start(name);
                        sending.form().get().close();
                        bench.assertStored(objects, files);
                        bench.assertNothingLeft();
                    }
                }));
    }
}
