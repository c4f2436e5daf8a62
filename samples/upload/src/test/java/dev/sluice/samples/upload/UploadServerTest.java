package dev.sluice.samples.upload;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(30)
class UploadServerTest {
    private static final long MAX_BODY_BYTES = 64L << 20;
    private static final String HEAD = "POST /upload HTTP/1.1\r\nHost: localhost\r\n";

    @TempDir
    Path root;

    private Path directory;
    private UploadServer server;
    private HttpClient client;

    @BeforeEach
    void start() throws IOException {
        directory = root.resolve("uploads");
        server = UploadServer.start(
                ServerConfig.of(directory).withMaxBodyBytes(MAX_BODY_BYTES).withRateGrace(Duration.ofMillis(500)));
        client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    }

    @AfterEach
    void stop() {
        server.close();
    }

    private HttpResponse<String> post(String path, String contentType, byte[] body) throws Exception {
        return client.send(
                HttpRequest.newBuilder(server.uri().resolve(path))
                        .header("Content-Type", contentType)
                        .POST(HttpRequest.BodyPublishers.ofByteArray(body))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private HttpResponse<String> get(String path) throws Exception {
        return client.send(
                HttpRequest.newBuilder(server.uri().resolve(path)).build(), HttpResponse.BodyHandlers.ofString());
    }

    private static JsonNode json(HttpResponse<String> response) throws IOException {
        return JsonMapper.builder().build().readTree(response.body());
    }

    private Map<String, byte[]> stored() throws IOException {
        Map<String, byte[]> files = new TreeMap<>();
        try (Stream<Path> list = Files.list(directory)) {
            for (Path file : (Iterable<Path>) list::iterator) {
                if (!Files.isDirectory(file)) {
                    files.put(file.getFileName().toString(), Files.readAllBytes(file));
                }
            }
        }
        return files;
    }

    private void assertNothingIsStored() throws IOException {
        assertEquals(List.of(), List.copyOf(stored().keySet()));
    }

    // ---- good uploads

    @Test
    void storesEveryFileOfAFormAndAnswersWhatArrived() throws Exception {
        byte[] large = TestForm.noise(3_000_000, 1);
        byte[] small = TestForm.noise(10, 2);
        HttpResponse<String> response = post(
                "/upload",
                TestForm.CONTENT_TYPE,
                new TestForm()
                        .field("comment", "Grüße")
                        .file("f", "große Datei.bin", large)
                        .file("g", "same.bin", small)
                        .file("g", "same.bin", small)
                        .file("h", "empty.txt", new byte[0])
                        .file("none", "", new byte[0])
                        .body());

        assertEquals(200, response.statusCode());
        JsonNode parts = json(response).get("parts");
        assertEquals(6, parts.size());
        assertEquals("Grüße", parts.get(0).get("value").asText());
        assertTrue(parts.get(0).get("filename").isNull());
        assertEquals("große Datei.bin", parts.get(1).get("filename").asText());
        assertEquals("application/octet-stream", parts.get(1).get("contentType").asText());
        assertEquals(3_000_000, parts.get(1).get("size").asLong());
        assertEquals(TestForm.sha256(large), parts.get(1).get("sha256").asText());
        assertTrue(parts.get(1).get("megabytesPerSecond").asDouble() > 0);
        assertEquals("same-1.bin", parts.get(3).get("storedAs").asText());
        assertEquals("", parts.get(5).get("filename").asText());
        assertTrue(parts.get(5).get("storedAs").isNull());

        Map<String, byte[]> files = stored();
        String largeName = parts.get(1).get("storedAs").asText();
        assertEquals(
                List.of("empty.txt", largeName, "same-1.bin", "same.bin").stream()
                        .sorted()
                        .toList(),
                List.copyOf(files.keySet()));
        assertArrayEquals(large, files.get(largeName));
        assertArrayEquals(small, files.get("same-1.bin"));
        assertEquals(0, files.get("empty.txt").length);
    }

    @Test
    void storedFilesAreReadableByTheirOwnerOnly() throws Exception {
        post(
                "/upload",
                TestForm.CONTENT_TYPE,
                new TestForm().file("f", "a.txt", new byte[5]).body());

        assertEquals(
                "rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("a.txt"))));
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(directory)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "../../evil",
                "/etc/passwd",
                "C:\\\\dir\\\\evil.txt",
                "..",
                ".",
                "...",
                ".hidden",
                "con",
                "a:stream",
                "../.incoming",
                "~",
                "x\u202Egnp.exe",
                "dir/"
            })
    void whateverTheFilenameTheFileIsStoredDirectlyInTheDirectory(String filename) throws Exception {
        byte[] content = TestForm.noise(100, 3);
        HttpResponse<String> response = post(
                "/upload",
                TestForm.CONTENT_TYPE,
                new TestForm().file("f", filename, content).body());

        assertEquals(200, response.statusCode());
        Map<String, byte[]> files = stored();
        assertEquals(1, files.size());
        assertArrayEquals(content, files.values().iterator().next());
        try (Stream<Path> all = Files.list(root)) {
            assertEquals(List.of(directory), all.toList());
        }
    }

    @Test
    void anUploadNeverReplacesAFile() throws Exception {
        byte[] body = new TestForm().file("f", "a.tar.gz", new byte[] {1}).body();
        for (int i = 0; i < 3; i++) {
            assertEquals(200, post("/upload", TestForm.CONTENT_TYPE, body).statusCode());
        }
        assertEquals(List.of("a.tar-1.gz", "a.tar-2.gz", "a.tar.gz"), List.copyOf(stored().keySet()));
    }

    @Test
    void aLongNameIsShortenedToWhatFileSystemsTake() throws Exception {
        post(
                "/upload",
                TestForm.CONTENT_TYPE,
                new TestForm()
                        .file("f", "ü".repeat(2000) + ".jpeg", new byte[] {1})
                        .body());

        String name = stored().keySet().iterator().next();
        assertTrue(name.startsWith("üüü"), name);
        assertTrue(name.getBytes(StandardCharsets.UTF_8).length <= 255, name);
    }

    @Test
    void aBodyInHttpChunksOfOneByteArrivesIntact() throws Exception {
        // Full of what begins like a delimiter: each byte of it is kept back and given out again.
        byte[] content = ("\r\r\n\n\r\n--\r\n--" + TestForm.BOUNDARY.substring(1) + "\r\n-" + TestForm.BOUNDARY)
                .repeat(40)
                .getBytes(StandardCharsets.US_ASCII);
        byte[] body = new TestForm().field("a", "1").file("f", "f.bin", content).body();
        try (RawConnection connection = new RawConnection(server.port())) {
            connection.send(HEAD + "Content-Type: " + TestForm.CONTENT_TYPE + "\r\nTransfer-Encoding: chunked\r\n\r\n");
            StringBuilder chunks = new StringBuilder();
            for (byte b : body) {
                chunks.append("1\r\n").append((char) (b & 0xFF)).append("\r\n");
            }
            RawConnection.Answer answer = connection.send(chunks + "0\r\n\r\n").answer();

            assertEquals(200, answer.status());
            assertArrayEquals(content, stored().get("f.bin"));
        }
    }

    @Test
    void theConnectionIsKeptAfterAGoodRequestAndRequestsMayBePipelined() throws Exception {
        byte[] body = new TestForm().file("f", "a.txt", TestForm.noise(100, 5)).body();
        String head =
                HEAD + "Content-Type: " + TestForm.CONTENT_TYPE + "\r\nContent-Length: " + body.length + "\r\n\r\n";
        try (RawConnection connection = new RawConnection(server.port())) {
            assertEquals(200, connection.send(head).send(body).answer().status());
            connection
                    .send(head)
                    .send(body)
                    .send("GET /nothing HTTP/1.1\r\nHost: x\r\n\r\n")
                    .send(head)
                    .send(body);
            assertEquals(200, connection.answer().status());
            assertEquals(404, connection.answer().status());
            RawConnection.Answer last = connection.answer();
            assertEquals(200, last.status());
            assertEquals("keep-alive", last.headers().get("connection"));
        }
        assertEquals(3, stored().size());
    }

    @Test
    void aClientThatClosesItsHalfAfterTheRequestGetsTheAnswer() throws Exception {
        byte[] body =
                new TestForm().file("f", "a.txt", TestForm.noise(100_000, 6)).body();
        try (RawConnection connection = new RawConnection(server.port())) {
            connection
                    .send(HEAD + "Content-Type: " + TestForm.CONTENT_TYPE + "\r\nContent-Length: " + body.length
                            + "\r\n\r\n")
                    .send(body)
                    .sendEnd();
            assertEquals(200, connection.answer().status());
            assertTrue(connection.isAtEnd());
        }
    }

    // ---- refused uploads

    @Test
    void aBadBodyIsAnsweredWithTheReasonOfTheDecoderAndNothingOfItIsKept() throws Exception {
        byte[] body = new TestForm()
                .file("f", "a.txt", TestForm.noise(100_000, 7))
                .part("Content-Disposition: form-data", new byte[10])
                .body();
        HttpResponse<String> response = post("/upload", TestForm.CONTENT_TYPE, body);

        assertEquals(400, response.statusCode());
        JsonNode error = json(response).get("error");
        assertEquals("MISSING_NAME", error.get("reason").asText());
        assertEquals("MALFORMED", error.get("kind").asText());
        assertEquals(1, error.get("part").asInt());
        assertTrue(error.get("offset").asLong() > 100_000);
        assertFalse(error.get("message").asText().isEmpty());
        assertNothingIsStored();
    }

    @Test
    void aTruncatedBodyIsRefusedAtItsEnd() throws Exception {
        byte[] body = new TestForm().file("f", "a.txt", TestForm.noise(1000, 8)).open();
        HttpResponse<String> response = post("/upload", TestForm.CONTENT_TYPE, body);

        assertEquals(400, response.statusCode());
        assertEquals("TRUNCATED", json(response).at("/error/reason").asText());
        assertEquals(body.length, json(response).at("/error/offset").asLong());
        assertNothingIsStored();
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "text/plain|415|UNSUPPORTED_MEDIA_TYPE",
                "multipart/mixed; boundary=x|415|UNSUPPORTED_MEDIA_TYPE",
                "multipart/form-data|400|MISSING_BOUNDARY",
                "multipart/form-data; boundary=a; boundary=a|400|DUPLICATE_BOUNDARY"
            })
    void aContentTypeThatWillNotDoIsRefused(String contentType, int status, String reason) throws Exception {
        HttpResponse<String> response = post("/upload", contentType, new byte[100]);

        assertEquals(status, response.statusCode());
        assertEquals(reason, json(response).at("/error/reason").asText());
        assertEquals(-1, json(response).at("/error/offset").asLong());
    }

    @Test
    void aBodyThatAnnouncesTooMuchIsRefusedBeforeItIsSent() throws Exception {
        try (RawConnection connection = new RawConnection(server.port())) {
            connection.send(HEAD + "Content-Type: " + TestForm.CONTENT_TYPE + "\r\nContent-Length: "
                    + (MAX_BODY_BYTES + 1) + "\r\nExpect: 100-continue\r\n\r\n");
            RawConnection.Answer answer = connection.answer();

            assertEquals(413, answer.status());
            assertEquals("BODY_TOO_LARGE", answer.json().at("/error/reason").asText());
            assertEquals("close", answer.headers().get("connection"));
        }
    }

    @Test
    void aClientThatExpectsToContinueIsToldTo() throws Exception {
        byte[] body = new TestForm().file("f", "a.txt", new byte[100]).body();
        try (RawConnection connection = new RawConnection(server.port())) {
            connection.send(HEAD + "Content-Type: " + TestForm.CONTENT_TYPE + "\r\nContent-Length: " + body.length
                    + "\r\nExpect: 100-continue\r\n\r\n");
            assertEquals(100, connection.answer().status());
            assertEquals(200, connection.send(body).answer().status());
        }
    }

    @Test
    void theLimitOfTheBodyIsExactWithoutAContentLength() throws Exception {
        byte[] good = new TestForm().file("f", "a.txt", new byte[500]).body();
        try (UploadServer small =
                UploadServer.start(ServerConfig.of(root.resolve("small")).withMaxBodyBytes(good.length))) {
            assertEquals(200, chunked(small, good).status());
            RawConnection.Answer answer = chunked(small, Arrays.copyOf(good, good.length + 1));
            assertEquals(413, answer.status());
            assertEquals("BODY_TOO_LARGE", answer.json().at("/error/reason").asText());
            assertEquals(good.length, answer.json().at("/error/offset").asLong());
        }
    }

    private static RawConnection.Answer chunked(UploadServer to, byte[] body) throws IOException {
        try (RawConnection connection = new RawConnection(to.port())) {
            return connection
                    .send(HEAD + "Content-Type: " + TestForm.CONTENT_TYPE + "\r\nTransfer-Encoding: chunked\r\n\r\n"
                            + Integer.toHexString(body.length) + "\r\n")
                    .send(body)
                    .send("\r\n0\r\n\r\n")
                    .answer();
        }
    }

    @Test
    void theAnswerToABadBodyIsReadAfterMegabytesThatFollowTheFault() throws Exception {
        try (RawConnection connection = new RawConnection(server.port())) {
            byte[] start = new TestForm().part("No-Disposition: x", new byte[0]).open();
            byte[] rest = new byte[20 << 20];
            connection.send(HEAD + "Content-Type: " + TestForm.CONTENT_TYPE + "\r\nContent-Length: "
                    + (start.length + rest.length) + "\r\n\r\n");
            connection.send(start).send(rest);
            RawConnection.Answer answer = connection.answer();

            assertEquals(400, answer.status());
            assertEquals(
                    "MISSING_CONTENT_DISPOSITION",
                    answer.json().at("/error/reason").asText());
            assertTrue(connection.isAtEnd());
        }
    }

    @Test
    void aClientThatSendsTooSlowlyIsRefused() throws Exception {
        try (RawConnection connection = new RawConnection(server.port())) {
            connection
                    .send(HEAD + "Content-Type: " + TestForm.CONTENT_TYPE + "\r\nContent-Length: 1000\r\n\r\n")
                    .send(new TestForm().file("f", "a", new byte[1]).open(), 20);
            RawConnection.Answer answer = connection.answer();

            assertEquals(408, answer.status());
            assertEquals("CLIENT_TOO_SLOW", answer.json().at("/error/reason").asText());
        }
        assertNothingIsStored();
    }

    @Test
    void aClientThatClosesItsHalfWithinTheBodyIsToldSo() throws Exception {
        try (RawConnection connection = new RawConnection(server.port())) {
            byte[] open = new TestForm().file("f", "a", new byte[1000]).open();
            connection
                    .send(HEAD + "Content-Type: " + TestForm.CONTENT_TYPE + "\r\nContent-Length: 10000\r\n\r\n")
                    .send(open)
                    .sendEnd();
            RawConnection.Answer answer = connection.answer();

            assertEquals(400, answer.status());
            assertEquals("TRUNCATED", answer.json().at("/error/reason").asText());
            assertEquals(open.length, answer.json().at("/error/offset").asLong());
            assertTrue(connection.isAtEnd());
        }
        assertNothingIsStored();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Content-Length: -1",
                "Content-Length: +5",
                "Content-Length: 1e3",
                "Content-Length: 99999999999999999999",
                "Content-Length: 5\r\nContent-Length: 6",
                "Transfer-Encoding: chunked\r\nContent-Type: text/plain"
            })
    void ambiguousOrImpossibleRequestHeadsAreRefused(String header) throws Exception {
        try (RawConnection connection = new RawConnection(server.port())) {
            RawConnection.Answer answer = connection
                    .send(HEAD + "Content-Type: " + TestForm.CONTENT_TYPE + "\r\n" + header + "\r\n\r\n")
                    .answer();
            assertEquals(400, answer.status());
            assertEquals("HTTP", answer.json().at("/error/kind").asText());
        }
    }

    @Test
    void brokenHttpChunksAreRefused() throws Exception {
        try (RawConnection connection = new RawConnection(server.port())) {
            RawConnection.Answer answer = connection
                    .send(HEAD + "Content-Type: " + TestForm.CONTENT_TYPE
                            + "\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nhello")
                    .answer();
            assertEquals(400, answer.status());
            assertEquals("BAD_REQUEST", answer.json().at("/error/reason").asText());
        }
    }

    @Test
    void aPageOfAnotherOriginMayNotUpload() throws Exception {
        try (RawConnection connection = new RawConnection(server.port())) {
            byte[] body = new TestForm().file("f", "a", new byte[1]).body();
            RawConnection.Answer answer = connection
                    .send(HEAD + "Origin: http://elsewhere.example\r\nContent-Type: " + TestForm.CONTENT_TYPE
                            + "\r\nContent-Length: " + body.length + "\r\n\r\n")
                    .send(body)
                    .answer();
            assertEquals(403, answer.status());
        }
        assertNothingIsStored();
    }

    @Test
    void troubleWithTheDiskIsAnAnswerAndTheServerGoesOn() throws Exception {
        byte[] body =
                new TestForm().file("f", "a.txt", TestForm.noise(500_000, 9)).body();
        try (Stream<Path> all = Files.walk(directory)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
        Files.createFile(directory);
        HttpResponse<String> failed = post("/upload", TestForm.CONTENT_TYPE, body);
        assertEquals(500, failed.statusCode());
        assertEquals("STORAGE_FAILED", json(failed).at("/error/reason").asText());

        Files.delete(directory);
        assertEquals(200, post("/upload", TestForm.CONTENT_TYPE, body).statusCode());
        assertEquals(List.of("a.txt"), List.copyOf(stored().keySet()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET /%zz", "GET /?a=%zz", "POST /upload?preset=%zz", "POST /inspect?preset=%4"})
    void aMalformedPercentEncodingIsABadRequest(String start) throws Exception {
        try (RawConnection connection = new RawConnection(server.port())) {
            RawConnection.Answer answer = connection
                    .send(start + " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
                    .answer();
            assertEquals(400, answer.status());
            assertEquals("BAD_REQUEST", answer.json().at("/error/reason").asText());
        }
    }

    @ParameterizedTest
    @CsvSource({"1.1,'',400", "1.1,Host: a;Host: a;,400", "1.1,Host:;,200", "1.0,'',200"})
    void anHttp11RequestHasExactlyOneHost(String version, String host, int status) throws Exception {
        try (RawConnection connection = new RawConnection(server.port())) {
            RawConnection.Answer answer = connection
                    .send("GET /metrics HTTP/" + version + "\r\n" + host.replace(";", "\r\n") + "\r\n")
                    .answer();
            assertEquals(status, answer.status());
        }
    }

    @Test
    void anExpectationInAnHttp10RequestIsIgnored() throws Exception {
        byte[] body = new TestForm().file("f", "a.txt", new byte[100]).body();
        try (RawConnection connection = new RawConnection(server.port())) {
            RawConnection.Answer answer = connection
                    .send("POST /upload HTTP/1.0\r\nContent-Type: " + TestForm.CONTENT_TYPE + "\r\nContent-Length: "
                            + body.length + "\r\nExpect: 100-continue\r\n\r\n")
                    .send(body)
                    .answer();
            assertEquals(200, answer.status());
        }
    }

    @Test
    void theEndFollowsTheAnswerToAMalformedHeadAtOnce() throws Exception {
        try (RawConnection connection = new RawConnection(server.port())) {
            assertEquals(
                    400,
                    connection.send(HEAD + "Content-Length: x\r\n\r\n").answer().status());
            long answered = System.nanoTime();
            assertTrue(connection.isAtEnd());
            // Well below the two seconds for which the rest of a request is waited for.
            assertTrue(System.nanoTime() - answered < 1_500_000_000L);
        }
    }

    @Test
    void aFileForWhichThereIsTooLittleFreeSpaceIsRefused() throws Exception {
        ServerConfig config = ServerConfig.of(root.resolve("full")).withKeepFreeBytes(Long.MAX_VALUE - 1);
        byte[] body = new TestForm().file("f", "a.txt", new byte[500]).body();
        try (UploadServer full = UploadServer.start(config)) {
            RawConnection.Answer answer = chunked(full, body);
            assertEquals(507, answer.status());
            assertEquals("DISK_FULL", answer.json().at("/error/reason").asText());
        }
        try (Stream<Path> files = Files.list(root.resolve("full"))) {
            assertEquals(List.of(), files.toList());
        }
    }

    @Test
    void theLimitOfInspectIsItsOwn() throws Exception {
        byte[] body = new TestForm().file("f", "a.txt", new byte[500]).body();
        ServerConfig config = ServerConfig.of(root.resolve("small")).withMaxBodyBytes(10);
        try (UploadServer small = UploadServer.start(config);
                RawConnection connection = new RawConnection(small.port())) {
            String head = "POST /inspect HTTP/1.1\r\nHost: x\r\nContent-Type: " + TestForm.CONTENT_TYPE
                    + "\r\nContent-Length: ";
            assertEquals(
                    200,
                    connection
                            .send(head + body.length + "\r\n\r\n")
                            .send(body)
                            .answer()
                            .status());
            assertEquals(
                    413,
                    connection
                            .send(head + (ServerConfig.MAX_INSPECTED_BYTES + 1) + "\r\n\r\n")
                            .answer()
                            .status());
        }
    }

    // ---- the rest

    @Test
    void inspectAnswersWhatIsInTheBodyAndStoresNothing() throws Exception {
        HttpResponse<String> response = post(
                "/inspect?preset=strict",
                TestForm.CONTENT_TYPE,
                new TestForm()
                        .field("a", "1")
                        .file("f", "x.bin", new byte[1000])
                        .body());

        assertEquals(200, response.statusCode());
        JsonNode report = json(response);
        assertEquals(
                List.of("parts", "deviations", "bodySize", "error"),
                report.properties().stream().map(Map.Entry::getKey).toList());
        JsonNode part = report.at("/parts/1");
        assertEquals(
                List.of("index", "name", "filename", "contentType", "headers", "offset", "size", "sha256"),
                part.properties().stream().map(Map.Entry::getKey).toList());
        assertEquals("Content-Type", part.at("/headers/1/0").asText());
        assertEquals(TestForm.sha256(new byte[1000]), part.get("sha256").asText());
        assertTrue(report.get("error").isNull());
        assertNothingIsStored();
    }

    @Test
    void inspectAnswersTheErrorBesideThePartsBeforeIt() throws Exception {
        byte[] body = new TestForm().field("a", "1").field("b", "2").open();
        HttpResponse<String> response = post("/inspect", TestForm.CONTENT_TYPE, body);

        assertEquals(400, response.statusCode());
        assertEquals(1, json(response).get("parts").size());
        assertEquals("TRUNCATED", json(response).at("/error/reason").asText());
        assertEquals(body.length, json(response).get("bodySize").asLong());
    }

    @ParameterizedTest
    @CsvSource({"standard,200,FOLDED_HEADER", "strict,400,''", "compatible,200,''", "other,400,''"})
    void inspectGoesByThePreset(String preset, int status, String deviation) throws Exception {
        HttpResponse<String> response = post(
                "/inspect?preset=" + preset,
                TestForm.CONTENT_TYPE,
                new TestForm()
                        .part("Content-Disposition: form-data;\r\n name=\"a\"", new byte[1])
                        .body());

        assertEquals(status, response.statusCode());
        assertEquals(deviation, json(response).at("/deviations/0/kind").asText());
    }

    @Test
    void otherRoutesAndMethodsAreAnsweredInJson() throws Exception {
        assertEquals("NOT_FOUND", json(get("/other")).at("/error/reason").asText());
        HttpResponse<String> got = get("/upload");
        assertEquals(405, got.statusCode());
        assertEquals("POST", got.headers().firstValue("allow").orElseThrow());
        assertEquals("METHOD_NOT_ALLOWED", json(got).at("/error/reason").asText());
        assertEquals(405, post("/", TestForm.CONTENT_TYPE, new byte[10]).statusCode());
    }

    @Test
    void theMetricsCountWhatHappened() throws Exception {
        byte[] good = new TestForm()
                .field("a", "1")
                .file("f", "x.bin", new byte[1000])
                .body();
        post("/upload", TestForm.CONTENT_TYPE, good);
        post("/upload", TestForm.CONTENT_TYPE, new byte[0]);
        List<String> metrics = get("/metrics").body().lines().toList();

        assertTrue(metrics.contains("sluice_uploads_total{outcome=\"done\",route=\"upload\"} 1.0"));
        assertTrue(metrics.contains("sluice_uploads_total{outcome=\"refused\",route=\"upload\"} 1.0"));
        assertTrue(metrics.contains("sluice_parts_total{type=\"file\"} 1.0"));
        assertTrue(metrics.contains("sluice_parts_total{type=\"field\"} 1.0"));
        assertTrue(metrics.contains("sluice_bytes_total " + (double) good.length));
        assertTrue(metrics.contains("sluice_refusals_total{reason=\"TRUNCATED\"} 1.0"));
        assertTrue(metrics.contains("sluice_bytes_in_flight 0.0"));
        assertTrue(metrics.stream().anyMatch(line -> line.startsWith("netty_allocator_memory_used{")));
    }

    @Test
    void thePageFetchesNothingFromElsewhereAndMayRunOnlyItsOwnScript() throws Exception {
        HttpResponse<String> page = get("/");

        assertEquals(200, page.statusCode());
        assertEquals(
                "nosniff", page.headers().firstValue("x-content-type-options").orElseThrow());
        String policy = page.headers().firstValue("content-security-policy").orElseThrow();
        assertTrue(policy.startsWith("default-src 'none'; connect-src 'self';"), policy);
        assertFalse(policy.contains("unsafe"), policy);
        assertFalse(page.body().contains("src=\""));
        assertFalse(page.body().contains("@import"));
        assertTrue(page.body().contains("id=\"drop\""));
    }

    @Test
    void anAddressThatIsTakenIsAnIOException() {
        ServerConfig taken = ServerConfig.of(directory).withAddress("127.0.0.1", server.port());
        IOException e = assertThrows(IOException.class, () -> UploadServer.start(taken));
        assertNotNull(e.getMessage());
        assertTrue(e.getMessage().contains(String.valueOf(server.port())));
    }

    @Test
    void theAddressOfThePageCanBeOpened() {
        assertEquals(URI.create("http://localhost:" + server.port() + "/"), server.uri());
        assertEquals(directory.toAbsolutePath(), server.directory());
    }
}
