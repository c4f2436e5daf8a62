package dev.sluice.samples.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.samples.upload.clients.ServerResponse;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchService;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The delivered program: {@code java -jar sluice-servlet.jar}. */
@Timeout(300)
class RunnableJarTest {
    @TempDir
    Path directory;

    private Process start(String... more) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-jar",
                System.getProperty("sluice.jar")));
        command.addAll(List.of(more));
        return new ProcessBuilder(command)
                .redirectError(directory.resolve("err").toFile())
                .start();
    }

    private Process serve(String... more) throws IOException {
        List<String> all = new ArrayList<>(List.of("--port=0", "--dir=" + spool()));
        all.addAll(List.of(more));
        return start(all.toArray(String[]::new));
    }

    private Path spool() {
        return directory.resolve("spool");
    }

    private static int port(BufferedReader output) throws IOException {
        String line = output.readLine();
        assertNotNull(line);
        return URI.create(line.substring(line.indexOf("http:"))).getPort();
    }

    private List<Path> spooled() throws IOException {
        try (Stream<Path> files = Files.walk(spool())) {
            return files.filter(file -> !file.equals(spool())).toList();
        }
    }

    /** {@return a connection with an upload in progress, whose file is being written} */
    private RawHttp uploading(BufferedReader output) throws Exception {
        RawHttp connection = new RawHttp(port(output));
        Path home = spooled().stream().filter(Files::isDirectory).findFirst().orElseThrow();
        try (WatchService watch = directory.getFileSystem().newWatchService()) {
            home.register(watch, StandardWatchEventKinds.ENTRY_CREATE);
            connection
                    .send(TestForm.head("/parts", 10_000_000))
                    .send(new TestForm().file("f", "a.bin", new byte[500_000]).open());
            assertNotNull(watch.poll(2, TimeUnit.MINUTES), "no file is being written");
        }
        return connection;
    }

    private static void end(Process process) throws InterruptedException {
        process.destroy();
        assertTrue(process.waitFor(2, TimeUnit.MINUTES));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/parts", "/async"})
    void program_answersForm_andStopsCleanly(String endpoint) throws Exception {
        Process process = serve();
        try (BufferedReader output = process.inputReader();
                RawHttp connection = new RawHttp(port(output))) {
            byte[] file = TestForm.noise(1_000_000, 7);
            byte[] body =
                    new TestForm().field("a", "1").file("f", "x.bin", file).body();
            ServerResponse response = ServerResponse.on(connection.send(TestForm.request(endpoint, body)));
            assertEquals(200, response.status());
            assertEquals(TestForm.sha256(file), response.at("/parts/1/sha256"));
            assertEquals("1", response.at("/parameters/a/0"));
            end(process);
        } finally {
            process.destroyForcibly();
        }
        assertEquals(List.of(), spooled());
        assertEquals("", Files.readString(directory.resolve("err")));
    }

    @Test
    void program_stoppedDuringUpload_leavesNothing() throws Exception {
        Process process = serve();
        try (BufferedReader output = process.inputReader();
                RawHttp coming = uploading(output)) {
            coming.send("x");
            end(process);
        } finally {
            process.destroyForcibly();
        }
        assertEquals(List.of(), spooled());
    }

    @Test
    void killedProcess_leftoversAreRemovedByNext() throws Exception {
        Process process = serve();
        try (BufferedReader output = process.inputReader();
                RawHttp coming = uploading(output)) {
            coming.send("x");
            process.destroyForcibly()
                    .waitFor(); // before the client disconnects, because the server would then clean up
        } finally {
            process.destroyForcibly();
        }
        assertEquals(3, spooled().size(), () -> "expected a lock, a directory and a file");

        Process next = serve();
        try (BufferedReader output = next.inputReader()) {
            port(output);
            assertEquals(2, spooled().size());
            end(next);
        } finally {
            next.destroyForcibly();
        }
        assertEquals(List.of(), spooled());
    }

    @Test
    void commandLine_limitAndPreset_areApplied() throws Exception {
        Process process = serve("--max-body=1K", "--preset=strict");
        try (BufferedReader output = process.inputReader();
                RawHttp connection = new RawHttp(port(output))) {
            byte[] folded = new TestForm()
                    .part("Content-Disposition: form-data;\r\n name=\"a\"", new byte[1])
                    .body();
            byte[] large = new TestForm().field("a", "x".repeat(1024)).body();
            byte[] first = TestForm.request("/parts", folded);
            assertEquals(400, connection.send(first).response().status());
            byte[] second = TestForm.request("/async", large);
            assertEquals(413, connection.send(second).response().status());
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void help_listsOptions_andUsageErrorExitsWith2() throws Exception {
        Process help = start("--help");
        String text = new String(help.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, help.waitFor());
        for (String word :
                List.of("--port", "8080", "--dir", "--preset", "strict", "--max-body", "64M", "--min-rate")) {
            assertTrue(text.contains(word), text);
        }
        for (String wrong : List.of("--port=65536", "--preset=other", "--max-body=1X", "--min-rate=-1", "--nothing")) {
            PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
            assertEquals(2, Main.commandLine(nowhere, nowhere).execute(wrong, "--dir=" + spool()), wrong);
        }
    }
}
