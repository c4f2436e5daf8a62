package dev.sluice.samples.gateway;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.testkit.ProofSize;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** The program, in a process of its own. */
class MainTest {
    private static final int MIB = 1 << 20;

    private static Process start(ProcessBuilder.Redirect errors, String... arguments) throws IOException {
        return start(errors, List.of(), arguments);
    }

    private static Process start(ProcessBuilder.Redirect errors, List<String> properties, String... arguments)
            throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:MaxDirectMemorySize=64m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                "-cp",
                System.getProperty("java.class.path")));
        command.addAll(properties);
        command.addAll(List.of(Main.class.getName(), "--port=0"));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectError(errors).start();
    }

    @Test
    @Tag("sized")
    void largeForm_passesWithLittleMemory() throws Exception {
        int mebibytes = ProofSize.of("sluice.gateway.mebibytes", 160, 1024);
        Process program = start(ProcessBuilder.Redirect.INHERIT, "--max-file=2G", "--max-body=2G");
        try (BufferedReader output = program.inputReader()) {
            URI uri = URI.create(output.readLine().replace("Listening on ", ""));
            byte[] form = ForwardingContract.form(MIB).open();
            byte[] start = Arrays.copyOf(form, form.length - 2);
            byte[] end = ("\r\n--" + TestForm.BOUNDARY + "--\r\n").getBytes(US_ASCII);
            byte[] more = new byte[MIB];
            try (RawHttp client = new RawHttp(uri.getPort())) {
                client.send(TestForm.head("/upload", start.length + (mebibytes - 1L) * MIB + end.length));
                client.send(start);
                for (int i = 1; i < mebibytes; i++) {
                    client.send(more);
                }
                RawHttp.Response response = client.send(end).response();
                assertEquals(200, response.status());
                assertEquals(
                        "The upstream received:\ntitle: 3 bytes\nphoto: a.png, image/png, " + (long) mebibytes * MIB
                                + " bytes\n",
                        response.body());
            }
            try (RawHttp client = new RawHttp(uri.getPort())) {
                assertEquals(
                        200,
                        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
                                .response()
                                .status());
            }
        } finally {
            program.destroyForcibly();
        }
    }

    /** The name of the upstream is looked up in a pipe that nothing is written to. */
    @Test
    @Timeout(120)
    @DisabledOnOs(OS.WINDOWS) // it has no mkfifo
    void nameLookup_blocked_doesNotStopOtherConnections(@TempDir Path directory) throws Exception {
        Path hosts = directory.resolve("hosts");
        assertEquals(0, new ProcessBuilder("mkfifo", hosts.toString()).start().waitFor());
        Process program = start(
                ProcessBuilder.Redirect.INHERIT,
                List.of("-Djdk.net.hosts.file=" + hosts),
                "--upstream=http://upstream.test/");
        try (BufferedReader output = program.inputReader()) {
            int port =
                    URI.create(output.readLine().replace("Listening on ", "")).getPort();
            try (RawHttp blocked = new RawHttp(port)) {
                blocked.send(TestForm.request(
                        "/upload", ForwardingContract.form(1000).body()));
                for (int i = 0; i < 8 * Runtime.getRuntime().availableProcessors(); i++) { // more than event loops
                    try (RawHttp client = new RawHttp(port)) {
                        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
                        assertEquals(200, client.response().status());
                    }
                }
            }
        } finally {
            program.destroyForcibly();
        }
    }

    @Test
    void upstream_withPassword_isRejected(@TempDir Path directory) throws Exception {
        Path log = directory.resolve("log");
        Process program =
                start(ProcessBuilder.Redirect.to(log.toFile()), "--upstream=http://user:secret@localhost/upload");
        try {
            assertTrue(program.waitFor(1, TimeUnit.MINUTES));
            assertEquals(2, program.exitValue());
            String written = Files.readString(log);
            assertTrue(
                    written.contains("the address of the upstream must not have a user name or a password"), written);
            assertFalse(written.contains("secret"), written);
        } finally {
            program.destroyForcibly();
        }
    }
}
