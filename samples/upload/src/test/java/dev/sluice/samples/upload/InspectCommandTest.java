package dev.sluice.samples.upload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.sluice.testkit.TestForm;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InspectCommandTest {
    private static final String BODY = "--xyz\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n"
            + "--xyz \r\nContent-Disposition: form-data; name=\"f\"; filename=\"\u00fc.bin\"\r\nX: 1\r\n 2\r\n\r\n"
            + "\u0001\u0002\r\n--xyz--\r\nepilogue";

    @TempDir
    Path directory;

    private Path file;

    private record Run(int code, String out, String err) {
        JsonNode json() throws IOException {
            return JsonMapper.builder().build().readTree(out);
        }
    }

    @BeforeEach
    void write() throws IOException {
        file = directory.resolve("body");
        Files.writeString(file, BODY);
    }

    private static Run run(String... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int code = Main.commandLine(new PrintWriter(out), new PrintWriter(err)).execute(arguments);
        return new Run(code, out.toString(), err.toString());
    }

    private Run inspect(String... more) {
        List<String> arguments =
                new ArrayList<>(List.of("inspect", "--content-type", "multipart/form-data; boundary=xyz"));
        arguments.addAll(List.of(more));
        arguments.add(file.toString());
        return run(arguments.toArray(String[]::new));
    }

    private void body(String text) throws IOException {
        Files.writeString(file, text);
    }

    @Test
    void json_validBody_hasDocumentedShape() throws Exception {
        body("--xyz\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--xyz--\r\n");
        Run run = inspect("--json");

        assertEquals(0, run.code());
        assertEquals(
                "{\"parts\":[{\"index\":0,\"name\":\"a\",\"filename\":null,\"contentType\":null,\"headers\":[[\"Content-Disposition\",\"form-data;"
                        + " name=\\\"a\\\"\"]],\"offset\":51,\"size\":1,\"sha256\":\""
                        + TestForm.sha256(new byte[] {'1'})
                        + "\"}],\"deviations\":[],\"bodySize\":63,"
                        + "\"error\":null}",
                run.out().strip());
        assertEquals("", run.err());
    }

    @Test
    void guideExample_isActualOutput() throws Exception {
        body(
                "--xyz\r\nContent-Disposition: form-data; name=\"photo\"; filename=\"../a.txt\"\r\n\r\nsee\r\n--xyz--\r\n");
        String readme = Files.readString(
                Path.of(System.getProperty("sluice.rootDir", "../..")).resolve("README.md"));
        String shown = readme.substring(readme.indexOf("```text\n") + 8);
        Run run = run("inspect", file.toString());
        assertEquals(shown.substring(0, shown.indexOf("```")), run.out().replace("\r\n", "\n"));
    }

    @Test
    void deviations_areListedWithPartAndOffset() throws Exception {
        JsonNode deviations = inspect("--json").json().get("deviations");

        assertEquals(3, deviations.size());
        assertEquals("TRANSPORT_PADDING", deviations.get(0).get("kind").asText());
        assertEquals(BODY.indexOf(" \r\n"), deviations.get(0).get("offset").asInt());
        assertEquals("FOLDED_HEADER", deviations.get(1).get("kind").asText());
        assertEquals(1, deviations.get(1).get("part").asInt());
        assertEquals(BODY.indexOf("\n 2") + 2, deviations.get(1).get("offset").asInt());
        assertEquals("EPILOGUE", deviations.get(2).get("kind").asText());
    }

    @Test
    void invalidBody_exitsWith1_andReportsPartsBeforeError() throws Exception {
        body(BODY.substring(0, BODY.length() - 20));
        Run run = inspect("--json");

        assertEquals(1, run.code());
        assertEquals(1, run.json().get("parts").size());
        JsonNode error = run.json().get("error");
        assertEquals("TRUNCATED", error.get("reason").asText());
        assertEquals("TRUNCATED", error.get("kind").asText());
        assertEquals(Files.size(file), error.get("offset").asLong());
        assertEquals(1, error.get("part").asInt());
        assertEquals(Files.size(file), run.json().get("bodySize").asLong());
    }

    @Test
    void invalidContentType_exitsWith1_withoutOffset() throws Exception {
        Run run = run("inspect", "--content-type", "text/plain", "--json", file.toString());

        assertEquals(1, run.code());
        assertEquals("UNSUPPORTED_MEDIA_TYPE", run.json().at("/error/reason").asText());
        assertEquals(-1, run.json().at("/error/offset").asLong());
        assertEquals(-1, run.json().at("/error/part").asLong());
        assertEquals(0, run.json().get("parts").size());
    }

    @ParameterizedTest
    @ValueSource(strings = {"--json", "--color=always", "--preset=strict"})
    void chunkSize_doesNotChangeResult(String option) {
        String whole = inspect(option).out();
        for (String chunk : List.of("1", "2", "3", "7", "64", "1000000")) {
            assertEquals(whole, inspect(option, "--chunk", chunk).out(), chunk);
        }
    }

    @Test
    void text_showsOffsets() {
        Run run = inspect("--color", "never");

        assertEquals(0, run.code());
        List<String> lines = run.out().lines().map(String::strip).toList();
        for (String line : List.of(
                "0  --xyz",
                "7  Content-Disposition: form-data; name=\"a\"",
                "51  1 byte  (part 0: field)",
                "54  --xyz",
                "62  Content-Disposition: form-data; name=\"f\"; filename=\"ü.bin\"",
                "0102",
                "sha256 " + TestForm.sha256(new byte[] {1, 2}),
                "good      2 parts, " + BODY.getBytes(StandardCharsets.UTF_8).length + " bytes")) {
            assertTrue(lines.contains(line), run.out());
        }
        assertTrue(run.out().contains("deviation EPILOGUE at offset"), run.out());
        assertFalse(run.out().contains("\u001b"));
    }

    @Test
    void error_isMarkedInHexDump() {
        Run run = inspect("--color", "never", "--preset", "strict");
        List<String> lines = run.out().lines().toList();
        int caretAt = lines.stream().map(String::strip).toList().indexOf("^^");
        int column = lines.get(caretAt).indexOf("^^");

        assertEquals(1, run.code());
        assertEquals("20", lines.get(caretAt - 1).substring(column, column + 2));
        assertTrue(lines.get(caretAt - 1).strip().startsWith("48 "), run.out());
    }

    @Test
    void text_escapesTerminalControls() throws Exception {
        body("--xyz\r\nContent-Disposition: form-data; name=\"\u202e\"\r\n\r\n\u009b31m\r\n--xyz--");
        Run run = inspect("--color", "never");

        assertFalse(run.out().contains("\u202e"));
        assertFalse(run.out().contains("\u009b"));
        assertTrue(run.out().contains("name=\"\\u{202e}\""), run.out());
    }

    @Test
    void json_escapesTerminalControls() throws Exception {
        body("--xyz\r\nContent-Disposition: form-data; name=\"\u009b31m\u202e\u00fc\"\r\n\r\n\r\n--xyz--");
        Run run = inspect("--json");

        assertTrue(run.out().contains("\\u009b31m\\u202e\u00fc"), run.out());
        assertEquals("\u009b31m\u202e\u00fc", run.json().at("/parts/0/name").asText());
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void namedPipe_isReadOnce() throws Exception {
        file = directory.resolve("pipe");
        assertEquals(0, new ProcessBuilder("mkfifo", file.toString()).start().waitFor());
        CompletableFuture<Void> written = CompletableFuture.runAsync(() -> {
            try {
                body("--xyz\r\nA: b\r\n\r\n");
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
        assertEquals(
                1,
                assertTimeoutPreemptively(
                        Duration.ofSeconds(20), () -> inspect().code()));
        written.get();
    }

    @Test
    @DisabledOnOs(OS.WINDOWS)
    void unreadableFile_isNotReportedAsMissing() throws Exception {
        file = directory.resolve("socket");
        try (ServerSocketChannel socket = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            socket.bind(UnixDomainSocketAddress.of(file));
            assertEquals(2, inspect().code());
            assertTrue(
                    inspect().err().startsWith("cannot read " + file + " ("),
                    inspect().err());
        }
    }

    @Test
    void standardInput_isRead() throws Exception {
        InputStream before = System.in;
        try {
            System.setIn(new ByteArrayInputStream(Files.readAllBytes(file)));
            Run run = run("inspect", "--content-type", "multipart/form-data; boundary=xyz", "--json", "-");
            assertEquals(inspect("--json").out(), run.out());
        } finally {
            System.setIn(before);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\r\n"})
    void noContentType_boundaryIsTakenFromFirstLine(String before) throws Exception {
        body(before + BODY);
        assertEquals(
                inspect("--json").out(),
                run("inspect", "--json", file.toString()).out());
    }

    @Test
    void noContentType_noBoundaryInFirstLine_isUsageError() throws Exception {
        String needed = "the body does not begin with a delimiter line '--boundary': pass --content-type=TYPE";
        String head = "the file begins with a request head: pass only the body, which follows the first empty line";
        Map<String, String> messages = Map.of(
                "text\r\n" + BODY,
                needed,
                "{\"a\":1}",
                needed,
                "POST /upload HTTP/1.1\r\nHost: a\r\n\r\n" + BODY,
                head,
                "Content-Type: multipart/form-data; boundary=xyz\r\n\r\n" + BODY,
                head,
                "",
                file + " is empty");
        for (Map.Entry<String, String> each : messages.entrySet()) {
            body(each.getKey());
            Run run = run("inspect", file.toString());
            assertEquals(2, run.code());
            assertEquals(each.getValue() + "\nTry 'sluice inspect --help'.\n", run.err());
        }
        Run run = run("inspect", "--content-type=multipart/form-data", file.toString());
        assertEquals(1, run.code());
        assertEquals("Omit --content-type to use the boundary in the first line of the body.\n", run.err());
    }

    @Test
    void nestedBody_isShownAsOnePartWithHint() throws Exception {
        body("--xyz\r\nContent-Disposition: form-data; name=\"a\"\r\nContent-Type: Multipart/Mixed; boundary=in\r\n\r\n"
                + "--in\r\n\r\n1\r\n--in--\r\n\r\n--xyz--\r\n");
        String hint = "nested body, not decoded: with the preset compatible, a form contains the nested parts instead";
        assertTrue(inspect("--preset=compatible").out().contains(hint));
        assertEquals(
                1, inspect("--preset=compatible", "--json").json().get("parts").size());
        assertTrue(run("inspect", "--help").out().contains("A nested multipart/mixed body is shown as one part"));
        body(BODY);
        assertFalse(inspect().out().contains(hint));
    }

    @Test
    void preset_anyCase_andAcceptingPresetIsSuggested() throws Exception {
        assertEquals(0, inspect("--preset=STANDARD").code());
        Run strict = inspect("--preset=Strict");
        assertEquals(1, strict.code());
        assertEquals("Try --preset=standard, which accepts this body.\n", strict.err());

        body(BODY.replace("\r\n", "\n"));
        assertEquals(
                "Try --preset=compatible, which accepts this body.\n", inspect().err());
        assertEquals("", inspect("--preset=compatible").err());
        body("--xyz\r\nContent-Type: text/plain\r\n\r\na\r\n--xyz--\r\n");
        String hint = inspect().err();
        assertTrue(
                hint.startsWith("Try --content-type='multipart/mixed; boundary=xyz', which accepts this body. "), hint);
        assertEquals(
                0,
                run("inspect", "--content-type=multipart/mixed; boundary=xyz", file.toString())
                        .code());
        body(BODY.substring(0, 20));
        Run truncated = inspect("--color=never");
        assertEquals("", truncated.err());
        assertTrue(truncated.out().contains("error     TRUNCATED at offset 20"), truncated.out());
    }

    @Test
    void unsafeFilename_isShownWithSafeName() throws Exception {
        body(BODY.replace("\u00fc.bin", "../../etc/passwd"));
        assertTrue(
                inspect().out().contains("(part 1: file ../../etc/passwd, safe name passwd)"),
                inspect().out());
        assertFalse(inspect("--json").out().contains("safe name"));
        body(BODY.replace("\u00fc.bin", ""));
        assertTrue(
                inspect().out().contains("(part 1: file without a name)"),
                inspect().out());
        body(BODY.replace("\u00fc.bin", ".."));
        assertTrue(
                inspect().out().contains("(part 1: file .., safe name none)"),
                inspect().out());
    }

    @Test
    void usageErrorAndUnreadableInput_exitWith2() {
        assertEquals(new Run(2, "", "Pass a command: serve, inspect, sweep\nTry 'sluice --help'.\n"), run());
        assertEquals(2, run("nothing").code());
        for (String wrong : List.of("--chunk=0", "--chunk=x", "--preset=other", "--nothing")) {
            assertEquals(2, inspect(wrong).code(), wrong);
        }
        file = directory.resolve("missing");
        assertEquals(2, inspect().code());
        assertEquals("cannot read " + file + ": no such file\n", inspect().err());
        file = directory;
        assertEquals(2, inspect().code());
        assertEquals("cannot read " + file + ": it is a directory\n", inspect().err());
        assertEquals(
                2,
                inspect("--preset=other").err().lines().count(),
                inspect("--preset=other").err());
    }

    @ParameterizedTest
    @ValueSource(strings = {"store.local", "localhost:8333", "http:/store", "ftp://store", "http://store:65536"})
    void storeAddress_withoutSchemeOrHost_isRejected(String address) {
        for (String command : List.of("serve --port=0 --dir=" + directory, "sweep")) {
            Run run = run((command + " --bucket=b --s3=" + address).split(" "));
            assertEquals(2, run.code());
            assertTrue(
                    run.err()
                            .startsWith(
                                    "Invalid value for option '--s3': '" + address + "' is not a URL such as http://"),
                    run.err());
        }
    }

    @Test
    void unknownHost_isNamed() {
        Run run = run("serve", "--port=0", "--host=nosuch.invalid", "--dir=" + directory);
        assertEquals(2, run.code());
        assertEquals("cannot listen on nosuch.invalid: unknown host", run.err().strip());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"--port=65536", "--port=-1", "--port=x", "--max-body=1X", "--max-body=-1", "--max-body=9999999T"
            })
    void serve_invalidOptions_areRejected(String option) {
        Run run = run("serve", option, "--dir", directory.toString());
        assertEquals(2, run.code());
        assertTrue(run.err().contains(option.substring(0, option.indexOf('='))), run.err());
        assertTrue(run.err().endsWith("\nTry 'sluice serve --help'.\n"), run.err());
    }

    @Test
    void usedPort_isNamedWithSuggestion() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Run run = run("serve", "--port=" + taken.getLocalPort(), "--dir=" + directory);
            assertEquals(2, run.code());
            assertTrue(run.err().startsWith("cannot listen on 127.0.0.1:" + taken.getLocalPort() + ": "), run.err());
            assertTrue(run.err().endsWith("\nTry another --host or --port; --port=0 takes any free one.\n"), run.err());
        }
    }
}
