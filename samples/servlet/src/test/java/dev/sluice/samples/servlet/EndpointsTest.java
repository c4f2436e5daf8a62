package dev.sluice.samples.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.sluice.samples.report.PresetName;
import dev.sluice.samples.upload.RawConnection;
import dev.sluice.samples.upload.TestForm;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the endpoints answer, and what is left when the server is closed. */
@Timeout(60)
class EndpointsTest {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    @TempDir
    Path directory;

    private ServletServer server;

    @AfterEach
    void nothingIsLeft() throws IOException {
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

    private HttpResponse<String> send(String method, String path, String contentType, byte[] body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(server.uri().resolve(path))
                .header("Content-Type", contentType)
                .method(method, HttpRequest.BodyPublishers.ofByteArray(body))
                .build();
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> post(String path, TestForm form) throws Exception {
        return send("POST", path, TestForm.CONTENT_TYPE, form.body());
    }

    private static JsonNode json(HttpResponse<String> response) throws IOException {
        return JSON.readTree(response.body());
    }

    private static void assertRefused(int status, String reason, HttpResponse<String> response) throws IOException {
        assertEquals(status, response.statusCode(), response.body());
        JsonNode error = json(response).get("error");
        assertEquals(reason, error.get("reason").asText(), response.body());
        assertEquals(
                "application/json",
                response.headers().firstValue("Content-Type").orElse(""));
        assertFalse(error.get("message").asText().isEmpty());
    }

    @ParameterizedTest
    @ValueSource(strings = {"/parts", "/async"})
    void theAnswerHasTheShapeOfTheInspectorsWithTheParameters(String endpoint) throws Exception {
        start(config());
        byte[] file = TestForm.noise(200_000, 1);
        HttpResponse<String> response = post(
                endpoint + "?a=query&preset=strict",
                new TestForm()
                        .field("a", "body 1")
                        .file("f", "x.bin", file)
                        .field("b", "na\u00efve \u2603")
                        .field("a", "body 2"));

        assertEquals(200, response.statusCode(), response.body());
        JsonNode answer = json(response);
        assertEquals(
                "{\"a\":[\"query\",\"body 1\",\"body 2\"],\"preset\":[\"strict\"],\"b\":[\"na\u00efve \u2603\"]}",
                answer.get("parameters").toString());
        assertTrue(
                response.body().startsWith("{\"parts\":[{\"index\":0,\"name\":\"a\",\"filename\":null"),
                response.body());
        assertEquals("f", answer.at("/parts/1/name").asText());
        assertEquals("x.bin", answer.at("/parts/1/filename").asText());
        assertEquals(TestForm.sha256(file), answer.at("/parts/1/sha256").asText());
        assertEquals(file.length, answer.at("/parts/1/size").asInt());
        assertEquals("b", answer.at("/parts/2/name").asText());
        assertEquals(4, answer.get("parts").size());
        assertTrue(answer.get("error").isNull());
    }

    @ParameterizedTest
    @CsvSource({"/parts,strict,400", "/parts,compatible,200", "/async,strict,400", "/async,compatible,200"})
    void thePresetOfTheCommandLineHoldsWhereTheQueryNamesNone(String endpoint, PresetName preset, int status)
            throws Exception {
        start(config().withPreset(preset));
        TestForm folded = new TestForm().part("Content-Disposition: form-data;\r\n name=\"a\"", new byte[1]);

        assertEquals(status, post(endpoint, folded).statusCode());
        HttpResponse<String> standard = post(endpoint + "?preset=standard", folded);
        assertEquals("FOLDED_HEADER", json(standard).at("/deviations/0/kind").asText(), standard.body());
        assertRefused(400, "UNKNOWN_PRESET", post(endpoint + "?preset=other", folded));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/parts", "/async"})
    void aFieldOfTheBodyThatIsCalledPresetChangesNothing(String endpoint) throws Exception {
        start(config());
        HttpResponse<String> response = post(endpoint, new TestForm().field("preset", "strict"));

        assertEquals(200, response.statusCode(), response.body());
        assertEquals("strict", json(response).at("/parameters/preset/0").asText());
    }

    @ParameterizedTest
    @ValueSource(strings = {"/parts", "/async"})
    void whatIsNoGoodFormIsRefused(String endpoint) throws Exception {
        start(config());
        byte[] body = new TestForm()
                .field("a", "1")
                .file("f", "x.bin", new byte[100_000])
                .body();

        HttpResponse<String> cut = send("POST", endpoint, TestForm.CONTENT_TYPE, Arrays.copyOf(body, body.length - 10));
        assertRefused(400, "TRUNCATED", cut);
        assertEquals(body.length - 10, json(cut).at("/error/offset").asInt());
        assertEquals(1, json(cut).at("/error/part").asInt());
        assertRefused(400, "MISSING_BOUNDARY", send("POST", endpoint, "multipart/form-data", body));
        assertRefused(415, "UNSUPPORTED_MEDIA_TYPE", send("POST", endpoint, "multipart/mixed; boundary=a", body));
        assertRefused(415, "UNSUPPORTED_MEDIA_TYPE", send("POST", endpoint, "application/json", body));
        assertRefused(405, "METHOD_NOT_ALLOWED", send("PUT", endpoint, TestForm.CONTENT_TYPE, body));
        assertEquals(200, send("POST", endpoint, TestForm.CONTENT_TYPE, body).statusCode());
    }

    @ParameterizedTest
    @ValueSource(strings = {"/parts", "/async"})
    void aBodyBeyondTheLimitIsTooLargeToTheByte(String endpoint) throws Exception {
        byte[] body = new TestForm().file("f", "x.bin", new byte[100_000]).body();
        start(config().withMaxBodyBytes(body.length));
        assertEquals(200, send("POST", endpoint, TestForm.CONTENT_TYPE, body).statusCode());
        server.close();

        start(config().withMaxBodyBytes(body.length - 1));
        HttpResponse<String> announced = send("POST", endpoint, TestForm.CONTENT_TYPE, body);
        assertRefused(413, "BODY_TOO_LARGE", announced);
        assertTrue(json(announced)
                .at("/error/message")
                .asText()
                .contains("exceeds the limit of " + (body.length - 1) + " bytes (maxBodyBytes"));
        try (RawConnection connection = new RawConnection(server.port())) {
            RawConnection.Answer chunked = connection
                    .send("POST " + endpoint + " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Type: "
                            + TestForm.CONTENT_TYPE + "\r\n\r\n" + Integer.toHexString(body.length) + "\r\n")
                    .send(body)
                    .send("\r\n0\r\n\r\n")
                    .answer();
            assertEquals(413, chunked.status());
            assertEquals("BODY_TOO_LARGE", chunked.json().at("/error/reason").asText());
            assertEquals(body.length - 1, chunked.json().at("/error/offset").asInt());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"/parts", "/async"})
    void withoutMemoryForAnotherFormTheServerIsBusy(String endpoint) throws Exception {
        start(config().withMemoryBytes(1000));
        assertRefused(503, "MEMORY_FULL", post(endpoint, new TestForm().field("a", "1")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/parts", "/async"})
    void aClientThatSendsHardlyAnythingIsTooSlow(String endpoint) throws Exception {
        start(config().withRateGrace(Duration.ofMillis(300)));
        ScheduledExecutorService drip = Executors.newSingleThreadScheduledExecutor();
        try (RawConnection connection = new RawConnection(server.port())) {
            connection
                    .send(head(endpoint, 1_000_000))
                    .send(new TestForm().field("a", "1").open());
            drip.scheduleAtFixedRate(
                    () -> {
                        try {
                            connection.send("x");
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    },
                    50,
                    50,
                    TimeUnit.MILLISECONDS);
            RawConnection.Answer answer = connection.answer();
            assertEquals(408, answer.status());
            assertEquals("CLIENT_TOO_SLOW", answer.json().at("/error/reason").asText());
            assertTrue(answer.json().at("/error/message").asText().contains("minBytesPerSecond"));
        } finally {
            drip.shutdownNow();
        }
    }

    private static String head(String endpoint, int length) {
        return "POST " + endpoint + " HTTP/1.1\r\nHost: x\r\nContent-Type: " + TestForm.CONTENT_TYPE
                + "\r\nContent-Length: " + length + "\r\n\r\n";
    }

    @ParameterizedTest
    @ValueSource(strings = {"/parts", "/async"})
    void aClosedServerLeavesNothingOfAnUploadThatIsComingIn(String endpoint) throws Exception {
        start(config());
        try (RawConnection connection = new RawConnection(server.port())) {
            byte[] form = new TestForm()
                    .file("f", "x.bin", new byte[500_000])
                    .field("large", "x".repeat(100_000))
                    .open();
            connection
                    .send(head(endpoint, 10_000_000).replace("Host: x", "Host: x\r\nExpect: 100-continue"))
                    .send(form);
            assertEquals(100, connection.answer().status());
            server.close();
        }
    }

    @Test
    void onlyThePageOfThisServerMaySendForms() throws Exception {
        start(config());
        byte[] body = new TestForm().field("a", "1").body();
        for (String origin : List.of("http://127.0.0.1:" + server.port(), "http://evil.example")) {
            HttpRequest request = HttpRequest.newBuilder(server.uri().resolve("/parts"))
                    .header("Content-Type", TestForm.CONTENT_TYPE)
                    .header("Origin", origin)
                    .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                    .build();
            HttpResponse<String> response =
                    HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
            // The address of the page has the name localhost.
            assertRefused(403, "CROSS_ORIGIN", response);
        }
        HttpRequest own = HttpRequest.newBuilder(server.uri().resolve("/parts"))
                .header("Content-Type", TestForm.CONTENT_TYPE)
                .header("Origin", "http://localhost:" + server.port())
                .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                .build();
        assertEquals(
                200,
                HttpClient.newHttpClient()
                        .send(own, HttpResponse.BodyHandlers.ofString())
                        .statusCode());
    }

    @Test
    void thePageMayRunItsOwnScriptOnly() throws Exception {
        start(config());
        HttpResponse<String> page = HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(server.uri()).build(), HttpResponse.BodyHandlers.ofString());

        assertEquals(200, page.statusCode());
        assertTrue(page.body().contains("<title>Sluice in a servlet container</title>"));
        String policy = page.headers().firstValue("Content-Security-Policy").orElse("");
        assertTrue(policy.contains("script-src 'sha256-"), policy);
        HttpResponse<String> other = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(server.uri().resolve("/other")).build(),
                        HttpResponse.BodyHandlers.ofString());
        assertRefused(404, "NOT_FOUND", other);
    }
}
