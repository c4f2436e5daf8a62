package dev.sluice.samples.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.samples.upload.clients.ServerResponse;
import dev.sluice.testkit.Eventually;
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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

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

    private static void end(Process process) throws InterruptedException {
        process.destroy();
        assertTrue(process.waitFor(2, TimeUnit.MINUTES));
    }

    @Test
    void program_answersForms_andStopsCleanly() throws Exception {
        Process process = serve();
        try (BufferedReader output = process.inputReader();
                RawHttp connection = new RawHttp(port(output))) {
            byte[] file = TestForm.noise(1_000_000, 7);
            byte[] body =
                    new TestForm().field("a", "1").file("f", "x.bin", file).body();
            for (String endpoint : List.of("/parts", "/async")) {
                ServerResponse response = ServerResponse.on(connection.send(TestForm.request(endpoint, body)));
                assertEquals(200, response.status(), endpoint);
                assertEquals(TestForm.sha256(file), response.at("/parts/1/sha256"), endpoint);
                assertEquals("1", response.at("/parameters/a/0"), endpoint);
            }
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
                RawHttp connection = new RawHttp(port(output))) {
            int before = spooled().size();
            connection
                    .send(TestForm.head("/parts", 10_000_000))
                    .send(new TestForm().file("f", "a.bin", new byte[500_000]).open());
            Eventually.passes(() -> assertEquals(before + 1, spooled().size(), "a file is being written"));
            end(process);
        } finally {
            process.destroyForcibly();
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
