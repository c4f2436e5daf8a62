package dev.sluice.samples.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.samples.report.PresetName;
import dev.sluice.samples.upload.clients.JavaHttpClient;
import dev.sluice.samples.upload.clients.ServerResponse;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The responses of the endpoints, and the clean-up when the server is closed. */
@Timeout(300)
class EndpointsTest {
    @TempDir
    Path directory;

    private ServletServer server;

    @AfterEach
    void directory_isEmptyAfterClose() throws IOException {
        server.close();
        try (Stream<Path> left = Files.walk(directory.resolve("spool"))) {
            assertEquals(List.of(directory.resolve("spool")), left.toList());
        }
    }

    private SampleConfig config() {
        return SampleConfig.of(directory.resolve("spool"));
    }

    private void start(SampleConfig config) throws IOException {
        server = ServletServer.start(config);
    }

    private ServerResponse post(String path, String contentType, byte[] body) throws Exception {
        return JavaHttpClient.post(server.uri().resolve(path), contentType, body);
    }

    private ServerResponse post(String path, byte[] body) throws Exception {
        return post(path, TestForm.CONTENT_TYPE, body);
    }

    private ServerResponse post(String path, TestForm form) throws Exception {
        return post(path, form.body());
    }

    private void assertRejected(int status, String reason, ServerResponse response) throws IOException {
        response.assertRejected(status, reason);
        assertEquals("application/json", response.headers().get("Content-Type"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/parts", "/async"})
    void response_listsPartsAndParameters(String endpoint) throws Exception {
        start(config());
        byte[] file = TestForm.noise(200_000, 1);
        ServerResponse response = post(
                endpoint + "?a=query&preset=strict",
                new TestForm()
                        .field("a", "body 1")
                        .file("f", "x.bin", file)
                        .field("b", "na\u00efve \u2603")
                        .field("a", "body 2"));

        assertEquals(200, response.status(), response.text());
        assertEquals(
                "{\"a\":[\"query\",\"body 1\",\"body 2\"],\"preset\":[\"strict\"],\"b\":[\"na\u00efve \u2603\"]}",
                response.json().get("parameters").toString());
        assertTrue(
                response.text().startsWith("{\"parts\":[{\"index\":0,\"name\":\"a\",\"filename\":null"),
                response.text());
        JsonNode parts = response.json().get("parts");
        assertEquals(4, parts.size());
        assertEquals("f", parts.at("/1/name").asText());
        assertEquals("x.bin", parts.at("/1/filename").asText());
        assertEquals(TestForm.sha256(file), parts.at("/1/sha256").asText());
        assertEquals(file.length, parts.at("/1/size").asInt());
        assertEquals("b", parts.at("/2/name").asText());
        assertTrue(response.json().get("error").isNull());
    }

    @ParameterizedTest
    @CsvSource({"/parts,strict,400", "/parts,compatible,200", "/async,strict,400", "/async,compatible,200"})
    void defaultPreset_appliesIfQueryNamesNone(String endpoint, PresetName preset, int status) throws Exception {
        start(config().withPreset(preset));
        TestForm folded = new TestForm().part("Content-Disposition: form-data;\r\n name=\"a\"", new byte[1]);

        assertEquals(status, post(endpoint, folded).status());
        assertEquals(
                "FOLDED_HEADER", post(endpoint + "?preset=standard", folded).at("/deviations/0/kind"));
        assertRejected(400, "UNKNOWN_PRESET", post(endpoint + "?preset=other", folded));
    }

    @ParameterizedTest
    @ValueSource(strings = {"text/plain", "application/x-www-form-urlencoded"})
    void rejectedRequest_unsentBody_isAnsweredAtOnce(String type) throws Exception {
        start(config());
        long since = System.nanoTime();
        try (RawHttp connection = new RawHttp(server.port())) {
            connection
                    .send(TestForm.headOf("POST", "/parts", "Content-Type: " + type, "Content-Length: 100"))
                    .send("1234567890");
            assertEquals(415, connection.response().status());
            connection.awaitEnd();
        }
        Duration waited = Duration.ofNanos(System.nanoTime() - since);
        assertTrue(waited.toSeconds() < 15, waited.toString()); // Jetty would wait 30 s for the next byte
    }

    @Test
    void rejectedRequest_sentBody_keepsConnection() throws Exception {
        start(config());
        try (RawHttp connection = new RawHttp(server.port())) {
            for (int i = 0; i < 3; i++) {
                connection.send(TestForm.request("POST", "/parts", "text/plain", new byte[100_000]));
                assertEquals(415, connection.response().status());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/parts", "/async"})
    void fieldNamedPreset_isNotTheOption(String endpoint) throws Exception {
        start(config());
        ServerResponse response = post(endpoint, new TestForm().field("preset", "strict"));

        assertEquals(200, response.status(), response.text());
        assertEquals("strict", response.at("/parameters/preset/0"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/parts", "/async"})
    void invalidForm_isRejected(String endpoint) throws Exception {
        start(config());
        byte[] body = new TestForm()
                .field("a", "1")
                .file("f", "x.bin", new byte[100_000])
                .body();

        ServerResponse cut = post(endpoint, Arrays.copyOf(body, body.length - 10));
        assertRejected(400, "TRUNCATED", cut);
        assertEquals(body.length - 10, cut.json().at("/error/offset").asInt());
        assertEquals(1, cut.json().at("/error/part").asInt());
        assertRejected(400, "MISSING_BOUNDARY", post(endpoint, "multipart/form-data", body));
        assertRejected(415, "UNSUPPORTED_MEDIA_TYPE", post(endpoint, "multipart/mixed; boundary=a", body));
        assertRejected(415, "UNSUPPORTED_MEDIA_TYPE", post(endpoint, "application/json", body));
        assertRejected(
                405,
                "METHOD_NOT_ALLOWED",
                JavaHttpClient.send(JavaHttpClient.request(
                                server.uri().resolve(endpoint), TestForm.CONTENT_TYPE, BodyPublishers.noBody())
                        .method("PUT", BodyPublishers.ofByteArray(body))
                        .build()));
        assertEquals(200, post(endpoint, body).status());
    }

    @ParameterizedTest
    @ValueSource(strings = {"/parts", "/async"})
    void fullDisk_isRejectedAndLogged(String endpoint) throws Exception {
        PrintStream before = System.err;
        for (IOException failure : List.of(
                new FileSystemException("f", null, "No space left on device"),
                MultipartException.because(Reason.DISK_FULL).build())) {
            ByteArrayOutputStream logged = new ByteArrayOutputStream();
            System.setErr(new PrintStream(logged, true, StandardCharsets.UTF_8));
            try {
                start(config().with(options -> options.admission(() -> {
                    throw failure;
                })));
                assertRejected(507, "DISK_FULL", post(endpoint, new TestForm().field("a", "1")));
            } finally {
                System.setErr(before);
            }
            String text = logged.toString(StandardCharsets.UTF_8);
            assertTrue(text.contains("a form failed"), text);
            server.close();
        }
    }

    @Test
    void otherOrigin_isRejected() throws Exception {
        start(config());
        // Only localhost is the origin of the server's own page.
        for (String host : List.of("127.0.0.1:" + server.port(), "evil.example", "localhost:" + server.port())) {
            ServerResponse response = JavaHttpClient.send(JavaHttpClient.request(
                            server.uri().resolve("/parts"),
                            TestForm.CONTENT_TYPE,
                            BodyPublishers.ofByteArray(
                                    new TestForm().field("a", "1").body()))
                    .header("Origin", "http://" + host)
                    .build());
            if (host.startsWith("localhost")) {
                assertEquals(200, response.status());
            } else {
                assertRejected(403, "CROSS_ORIGIN", response);
            }
        }
    }

    @Test
    void page_allowsOnlyItsScript() throws Exception {
        start(config());
        ServerResponse page = JavaHttpClient.get(server.uri());

        assertEquals(200, page.status());
        assertTrue(page.text().contains("<title>Sluice in a servlet container</title>"));
        String policy = page.headers().getOrDefault("Content-Security-Policy", "");
        assertTrue(policy.contains("script-src 'sha256-"), policy);
        assertRejected(404, "NOT_FOUND", JavaHttpClient.get(server.uri().resolve("/other")));
    }
}
