package dev.sluice.samples.upload;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.samples.upload.clients.JavaHttpClient;
import dev.sluice.samples.upload.clients.ServerResponse;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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

/** The responses of the upload server, and the files that it stores. */
@Timeout(300)
class UploadServerTest {
    private static final long MAX_BODY_BYTES = 64L << 20;

    @TempDir
    Path root;

    private Path directory;
    private UploadServer server;

    @BeforeEach
    void start() throws IOException {
        directory = root.resolve("uploads");
        server = UploadServer.start(ServerConfig.of(directory).withMaxBodyBytes(MAX_BODY_BYTES));
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void unusableDirectory_isReportedInOneLine() throws IOException {
        Path file = Files.createFile(root.resolve("file"));
        assertUnusable(file, "Not a directory");
        assertUnusable(file.resolve("below"), "Not a directory");
        assertUnusable(Path.of("/proc/uploads"), "it cannot be created");
    }

    @Test
    void unusableEndpoint_leavesNoSpool() throws IOException {
        Path other = root.resolve("other");
        ServerConfig config = ServerConfig.of(other).withBucket(new ServerConfig.Bucket(URI.create("nowhere"), "b"));
        assertThrows(RuntimeException.class, () -> UploadServer.start(config));
        try (Stream<Path> left = Files.list(other.resolve(".incoming"))) {
            assertEquals(List.of(), left.toList());
        }
    }

    private static void assertUnusable(Path directory, String reason) {
        StringWriter err = new StringWriter();
        int code = Main.commandLine(new PrintWriter(err), new PrintWriter(err))
                .execute("serve", "--port=0", "--dir=" + directory);
        assertEquals(2, code);
        assertEquals("cannot use the directory " + directory + ": " + reason + "\n", err.toString());
    }

    private ServerResponse post(String path, String contentType, byte[] body) throws Exception {
        return JavaHttpClient.post(server.uri().resolve(path), contentType, body);
    }

    private ServerResponse post(String path, TestForm form) throws Exception {
        return post(path, TestForm.CONTENT_TYPE, form.body());
    }

    private ServerResponse upload(TestForm form) throws Exception {
        return post("/upload", form);
    }

    private ServerResponse get(String path) throws Exception {
        return JavaHttpClient.get(server.uri().resolve(path));
    }

    /** {@return the response to a client that sends {@code request} and then waits} */
    private static ServerResponse send(UploadServer to, byte[] request) throws IOException {
        try (RawHttp connection = new RawHttp(to.port())) {
            return ServerResponse.on(connection.send(request));
        }
    }

    private Map<String, byte[]> stored() throws IOException {
        Map<String, byte[]> files = new TreeMap<>();
        try (Stream<Path> list = Files.list(directory)) {
            for (Path file : list.filter(Files::isRegularFile).toList()) {
                files.put(file.getFileName().toString(), Files.readAllBytes(file));
            }
        }
        return files;
    }

    private void assertNothingIsStored() throws IOException {
        assertEquals(List.of(), List.copyOf(stored().keySet()));
    }

    @Test
    void upload_storesFilesAndReportsParts() throws Exception {
        byte[] large = TestForm.noise(3_000_000, 1);
        byte[] small = TestForm.noise(10, 2);
        ServerResponse response = upload(new TestForm()
                .field("comment", "Grüße")
                .file("f", "große Datei.bin", large)
                .file("g", "same.bin", small)
                .file("g", "same.bin", small)
                .file("h", "empty.txt", new byte[0])
                .file("none", "", new byte[0]));

        assertEquals(200, response.status());
        JsonNode parts = response.json().get("parts");
        assertEquals(6, parts.size());
        assertEquals("Grüße", parts.get(0).get("value").asText());
        assertTrue(parts.get(0).get("filename").isNull());
        assertEquals("große Datei.bin", parts.get(1).get("filename").asText());
        assertEquals("application/octet-stream", parts.get(1).get("contentType").asText());
        assertEquals(3_000_000, parts.get(1).get("size").asLong());
        assertEquals(TestForm.sha256(large), parts.get(1).get("sha256").asText());
        assertTrue(parts.get(1).get("mebibytesPerSecond").asDouble() > 0);
        assertEquals("same-1.bin", parts.get(3).get("storedAs").asText());
        assertEquals("", parts.get(5).get("filename").asText());
        assertTrue(parts.get(5).get("storedAs").isNull());

        Map<String, byte[]> files = stored();
        String largeName = parts.get(1).get("storedAs").asText();
        assertEquals(
                Stream.of("empty.txt", largeName, "same-1.bin", "same.bin")
                        .sorted()
                        .toList(),
                List.copyOf(files.keySet()));
        assertArrayEquals(large, files.get(largeName));
        assertArrayEquals(small, files.get("same-1.bin"));
        assertEquals(0, files.get("empty.txt").length);
    }

    @Test
    void hostileFilenames_areStoredInDirectory() throws Exception {
        List<String> filenames = List.of(
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
                "dir/");
        Set<String> digests = new HashSet<>();
        for (String filename : filenames) {
            byte[] content = TestForm.noise(100, digests.size());
            digests.add(TestForm.sha256(content));
            assertEquals(
                    200, upload(new TestForm().file("f", filename, content)).status(), filename);
            Set<String> stored = new HashSet<>();
            stored().values().forEach(file -> stored.add(TestForm.sha256(file)));
            assertEquals(digests, stored, filename);
        }
        assertEquals(filenames.size(), stored().size());
        try (Stream<Path> all = Files.list(root)) {
            assertEquals(List.of(directory), all.toList());
        }
    }

    @Test
    void upload_doesNotReplaceFiles() throws Exception {
        for (int i = 0; i < 3; i++) {
            assertEquals(
                    200,
                    upload(new TestForm().file("f", "a.tar.gz", new byte[1])).status());
        }
        assertEquals(List.of("a.tar-1.gz", "a.tar-2.gz", "a.tar.gz"), List.copyOf(stored().keySet()));
    }

    @Test
    void filename_usedThousandTimes_isStored() throws Exception {
        for (int i = 0; i < 1000; i++) {
            Files.createFile(directory.resolve("image" + (i == 0 ? "" : "-" + i) + ".jpg"));
        }
        for (int i = 1; i <= 2; i++) {
            assertEquals(
                    200,
                    upload(new TestForm().file("f", "image.jpg", new byte[1])).status());
            assertEquals(1000 + i, stored().size());
        }
    }

    @Test
    void longFilename_usedThousandTimes_isStored() throws Exception {
        TestForm form = new TestForm().file("f", "\u6f22".repeat(60) + "." + "\u6f22".repeat(15), new byte[1]);
        assertEquals(200, upload(form).status());
        String first = stored().keySet().iterator().next();
        int dot = first.lastIndexOf('.');
        for (int i = 1; i < 1000; i++) {
            Files.createFile(directory.resolve(first.substring(0, dot) + "-" + i + first.substring(dot)));
        }
        assertEquals(200, upload(form).status());
        assertEquals(1001, stored().size());
    }

    @Test
    void invalidBody_isAnsweredWithReason_andLeavesNothing() throws Exception {
        JsonNode error = upload(new TestForm()
                        .file("f", "a.txt", TestForm.noise(100_000, 7))
                        .part("Content-Disposition: form-data", new byte[10]))
                .assertRejected(400, "MISSING_NAME");

        assertEquals("MALFORMED", error.get("kind").asText());
        assertEquals(1, error.get("part").asInt());
        assertTrue(error.get("offset").asLong() > 100_000);
        assertNothingIsStored();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET /%zz HTTP/1.1\r\nHost: x\r\n",
                "GET /?a=%zz HTTP/1.1\r\nHost: x\r\n",
                "POST /upload?preset=%zz HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n",
                "POST /inspect?preset=%4 HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n",
                "GET /metrics HTTP/1.1\r\n",
                "GET /metrics HTTP/1.1\r\nHost: a\r\nHost: a\r\n"
            })
    void invalidHttp_isBadRequest(String head) throws Exception {
        ServerResponse response = send(server, (head + "\r\n").getBytes(StandardCharsets.US_ASCII));
        assertEquals(
                "HTTP", response.assertRejected(400, "BAD_REQUEST").get("kind").asText());
    }

    @ParameterizedTest
    @ValueSource(strings = {"HTTP/1.1\r\nHost:", "HTTP/1.0"})
    void host_emptyOrMissingInHttp10_isAccepted(String head) throws Exception {
        byte[] request = ("GET /metrics " + head + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII);
        assertEquals(200, send(server, request).status());
    }

    @Test
    void expect_inHttp10_isIgnored() throws Exception {
        byte[] body = new TestForm().file("f", "a.txt", new byte[100]).body();
        String head = "POST /upload HTTP/1.0\r\nContent-Type: " + TestForm.CONTENT_TYPE + "\r\nContent-Length: "
                + body.length + "\r\nExpect: 100-continue\r\n\r\n";
        assertEquals(
                200,
                send(server, TestForm.join(head.getBytes(StandardCharsets.US_ASCII), body))
                        .status());
    }

    @Test
    void close_duringUploads_leavesNothing() throws Exception {
        byte[] request = TestForm.request(
                "/upload",
                new TestForm().file("f", "a.bin", TestForm.noise(2_000_000, 1)).body());
        List<RawHttp> connections = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            RawHttp connection = new RawHttp(server.port());
            connections.add(connection);
            connection.send(request, 0, request.length - 1 - i * request.length / 20);
        }
        server.close();
        try (Stream<Path> files = Files.list(directory)) {
            assertEquals(List.of(), files.toList());
        }
        for (RawHttp connection : connections) {
            connection.close();
        }
    }

    @Test
    void otherOrigin_isRejected() throws Exception {
        byte[] body = new TestForm().file("f", "a", new byte[1]).body();
        byte[] head = TestForm.head("/upload", "Content-Length: " + body.length, "Origin: http://elsewhere.example");
        ServerResponse response = send(server, TestForm.join(head, body));

        assertEquals(403, response.status());
        assertNothingIsStored();
    }

    @Test
    void diskFailure_isAnswered_andServerContinues() throws Exception {
        TestForm form = new TestForm().file("f", "a.txt", TestForm.noise(500_000, 9));
        Files.move(directory, root.resolve("elsewhere"));
        Files.createFile(directory);
        upload(form).assertRejected(500, "STORAGE_FAILED");

        Files.delete(directory);
        assertEquals(200, upload(form).status());
        assertEquals(List.of("a.txt"), List.copyOf(stored().keySet()));
    }

    @Test
    void fileLargerThanFreeSpace_isRejected() throws Exception {
        ServerConfig config = ServerConfig.of(root.resolve("full")).withKeepFreeBytes(Long.MAX_VALUE - 1);
        byte[] body = new TestForm().file("f", "a.txt", new byte[500]).body();
        try (UploadServer full = UploadServer.start(config)) {
            send(full, TestForm.chunked("/upload", body)).assertRejected(507, "DISK_FULL");
        }
        try (Stream<Path> files = Files.list(root.resolve("full"))) {
            assertEquals(List.of(), files.toList());
        }
    }

    @Test
    void inspect_hasItsOwnLimit() throws Exception {
        byte[] body = new TestForm().file("f", "a.txt", new byte[500]).body();
        ServerConfig config = ServerConfig.of(root.resolve("small")).withMaxBodyBytes(10);
        try (UploadServer small = UploadServer.start(config);
                RawHttp connection = new RawHttp(small.port())) {
            assertEquals(
                    200,
                    connection
                            .send(TestForm.request("/inspect", body))
                            .response()
                            .status());
            connection.send(TestForm.head("/inspect", ServerConfig.MAX_INSPECTED_BYTES + 1));
            assertEquals(413, connection.response().status());
        }
    }

    @Test
    void inspect_reportsPartsAndStoresNothing() throws Exception {
        ServerResponse response =
                post("/inspect?preset=strict", new TestForm().field("a", "1").file("f", "x.bin", new byte[1000]));

        assertEquals(200, response.status());
        assertEquals(
                List.of("parts", "deviations", "bodySize", "error"),
                response.json().properties().stream().map(Map.Entry::getKey).toList());
        JsonNode part = response.json().at("/parts/1");
        assertEquals(
                List.of("index", "name", "filename", "contentType", "headers", "offset", "size", "sha256"),
                part.properties().stream().map(Map.Entry::getKey).toList());
        assertEquals("Content-Type", part.at("/headers/1/0").asText());
        assertEquals(TestForm.sha256(new byte[1000]), part.get("sha256").asText());
        assertTrue(response.json().get("error").isNull());
        assertNothingIsStored();
    }

    @Test
    void inspect_reportsErrorAndPartsBeforeIt() throws Exception {
        byte[] body = new TestForm().field("a", "1").field("b", "2").open();
        ServerResponse response = post("/inspect", TestForm.CONTENT_TYPE, body);

        response.assertRejected(400, "TRUNCATED");
        assertEquals(1, response.json().get("parts").size());
        assertEquals(body.length, response.json().get("bodySize").asLong());
    }

    @ParameterizedTest
    @CsvSource({"standard,200,FOLDED_HEADER", "strict,400,''", "compatible,200,''", "other,400,''"})
    void inspect_appliesPreset(String preset, int status, String deviation) throws Exception {
        ServerResponse response = post(
                "/inspect?preset=" + preset,
                new TestForm().part("Content-Disposition: form-data;\r\n name=\"a\"", new byte[1]));

        assertEquals(status, response.status());
        assertEquals(deviation, response.at("/deviations/0/kind"));
    }

    @Test
    void unknownPathAndMethod_areAnsweredInJson() throws Exception {
        get("/other").assertRejected(404, "NOT_FOUND");
        ServerResponse got = get("/upload");
        got.assertRejected(405, "METHOD_NOT_ALLOWED");
        assertEquals("POST", got.headers().get("allow"));
        assertEquals(405, post("/", new TestForm()).status());
    }

    @Test
    void metrics_countRequests() throws Exception {
        TestForm good = new TestForm().field("a", "1").file("f", "x.bin", new byte[1000]);
        upload(good);
        post("/upload", TestForm.CONTENT_TYPE, new byte[0]);
        List<String> metrics = get("/metrics").text().lines().toList();

        for (String line : List.of(
                "sluice_uploads_total{outcome=\"done\",route=\"upload\"} 1.0",
                "sluice_uploads_total{outcome=\"refused\",route=\"upload\"} 1.0",
                "sluice_parts_total{type=\"file\"} 1.0",
                "sluice_parts_total{type=\"field\"} 1.0",
                "sluice_bytes_total " + (double) good.body().length,
                "sluice_refusals_total{reason=\"TRUNCATED\"} 1.0",
                "sluice_bytes_in_flight 0.0")) {
            assertTrue(metrics.contains(line), line);
        }
        assertTrue(metrics.stream().anyMatch(line -> line.startsWith("netty_allocator_memory_used{")));
    }

    @Test
    void page_isSelfContained_andAllowsOnlyItsScript() throws Exception {
        ServerResponse page = get("/");

        assertEquals(200, page.status());
        assertEquals("nosniff", page.headers().get("x-content-type-options"));
        String policy = page.headers().getOrDefault("content-security-policy", "");
        assertTrue(policy.startsWith("default-src 'none'; connect-src 'self';"), policy);
        assertFalse(policy.contains("unsafe"), policy);
        assertFalse(page.text().contains("src=\""));
        assertFalse(page.text().contains("@import"));
        assertTrue(page.text().contains("id=\"drop\""));
    }

    @Test
    void pageAddress_namesLocalhost() {
        assertEquals(URI.create("http://localhost:" + server.port() + "/"), server.uri());
        assertEquals(directory.toAbsolutePath(), server.directory());
    }
}
