package dev.sluice.samples.upload.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.sluice.samples.upload.ServerConfig;
import dev.sluice.samples.upload.UploadServer;
import dev.sluice.testkit.Eventually;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.function.ThrowingConsumer;
import org.junit.jupiter.api.io.TempDir;

/** Tests that need curl's control over the request: chunks, expectations, slow and aborted uploads, invalid bodies. */
final class CurlTest {
    @TempDir
    Path directory;

    private final CurlClient curl = new CurlClient();

    @TestFactory
    Stream<DynamicNode> formsFromCurl_getTheExpectedResponse() {
        return Presence.of(
                "curl",
                curl.isPresent(),
                () -> Stream.of(
                        withServer("chunkedRequest_arrives", this::chunked),
                        withServer("largeBody_waitsFor100Continue", this::continued),
                        withServer("rejectedRequest_getsNo100Continue", this::notContinued),
                        withServer("backslashEscapedQuotes_arriveAsQuotes", this::formEscape),
                        withServer("abortedUpload_leavesNothing", this::aborted),
                        withServer("guideCommands_haveDocumentedStatus", this::guide)));
    }

    private DynamicTest withServer(String name, ThrowingConsumer<UploadServer> test) {
        return dynamicTest("curl: " + name, () -> {
            ServerConfig config = ServerConfig.of(directory.resolve(name.replace(' ', '-')))
                    .withMaxBodyBytes(64 << 20)
                    .withRateGrace(Duration.ofSeconds(2));
            try (UploadServer server = UploadServer.start(config)) {
                test.accept(server);
            }
        });
    }

    private void chunked(UploadServer server) throws Exception {
        List<FormPart> form = Form.FILES.parts();
        CurlClient.Traced sent = curl.post(
                upload(server), form, List.of("verbose", CurlClient.option("header", "Transfer-Encoding: chunked")));
        assertTrue(sent.trace().contains("> Transfer-Encoding: chunked"), sent.trace());
        Received.assertParts(curl, form, sent.response());
        Received.assertStored(form, sent.response(), server.directory());
    }

    private void continued(UploadServer server) throws Exception {
        List<FormPart> form = Form.LARGE_FILE.parts();
        CurlClient.Traced sent = curl.post(
                upload(server),
                form,
                List.of("verbose", "expect100-timeout = 60", CurlClient.option("header", "Expect: 100-continue")));
        assertTrue(sent.trace().contains("< HTTP/1.1 100 Continue"), sent.trace());
        Received.assertParts(curl, form, sent.response());
        Received.assertStored(form, sent.response(), server.directory());
    }

    private void notContinued(UploadServer server) throws Exception {
        CurlClient.Traced sent = curl.postBytes(
                upload(server),
                FormPart.bytes(3 << 20),
                List.of(
                        "verbose",
                        "expect100-timeout = 60",
                        CurlClient.option("header", "Content-Type: text/plain"),
                        CurlClient.option("header", "Expect: 100-continue")));
        assertFalse(sent.trace().contains("100 Continue"), sent.trace());
        sent.response().assertRejected(415, "UNSUPPORTED_MEDIA_TYPE");
    }

    private void formEscape(UploadServer server) throws Exception {
        List<FormPart> form = List.of(FormPart.file("f", "quo\"te.txt", "text/plain", ascii("x")));
        ServerResponse response =
                curl.post(inspect(server), form, List.of("form-escape")).response();
        assertEquals("quo\"te.txt", Received.text(response.json().path("parts").get(0), "filename"), response.text());
    }

    private void aborted(UploadServer server) throws Exception {
        List<FormPart> form = List.of(
                FormPart.file("f", "whole.bin", "application/octet-stream", FormPart.bytes(100_000)),
                FormPart.file("f", "cut.bin", "application/octet-stream", FormPart.bytes(4 << 20)));
        try (Scratch scratch = Scratch.create()) {
            List<String> options = new ArrayList<>(List.of("limit-rate = 150k"));
            for (FormPart part : form) {
                options.add(CurlClient.option(part, scratch));
            }
            Path configuration = CurlClient.configuration(upload(server), scratch.file(new byte[0]), options, scratch);
            Process process = curl.program().start(scratch.directory(), CurlClient.command(configuration), Map.of());
            Eventually.passes(
                    () -> assertEquals(2, Received.names(server.directory()).size(), "files in the spool"));
            assertTrue(process.isAlive(), "curl has ended");
            process.destroyForcibly().waitFor();
            Eventually.passes(() -> assertEquals(Set.of(), Received.names(server.directory())));
        }
        List<FormPart> next = Form.FILES.parts();
        ServerResponse response = curl.post(upload(server), next);
        Received.assertParts(curl, next, response);
        Received.assertStored(next, response, server.directory());
    }

    private void guide(UploadServer server) throws Exception {
        Path guide = Path.of(System.getProperty("sluice.rootDir", "../..")).resolve("parser/docs/testing.md");
        String commands = Files.readString(guide).replaceAll("(?s).*?```sh\n(.*?)```.*", "$1");
        try (Scratch scratch = Scratch.create()) {
            Path home = scratch.directory();
            Files.write(home.resolve("photo.jpg"), FormPart.bytes(10));
            Files.writeString(home.resolve(".curlrc"), "silent\noutput = /dev/null\nwrite-out = \"%{http_code}\\n\"\n");
            ProcessBuilder shell = new ProcessBuilder(
                            "bash",
                            "-c",
                            commands.replace(
                                    "http://localhost:8080/upload",
                                    upload(server).toString()))
                    .directory(home.toFile())
                    .redirectError(ProcessBuilder.Redirect.DISCARD);
            shell.environment().put("CURL_HOME", home.toString());
            Process process = shell.start();
            List<String> answers = new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII)
                    .lines()
                    .map(response -> response.matches("000|100") ? "no answer" : response)
                    .toList();
            List<String> documented = Pattern.compile("# .*: (\\d{3}|no answer)$", Pattern.MULTILINE)
                    .matcher(commands)
                    .results()
                    .map(found -> found.group(1))
                    .toList();
            assertEquals(List.of("200", "413", "400", "no answer", "408"), documented);
            assertEquals(documented, answers);
        }
        assertEquals(Set.of("photo.jpg"), Received.names(server.directory()));
    }

    private static URI upload(UploadServer server) {
        return server.uri().resolve("/upload");
    }

    private static URI inspect(UploadServer server) {
        return server.uri().resolve("/inspect");
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
