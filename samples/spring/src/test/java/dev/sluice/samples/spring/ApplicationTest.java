package dev.sluice.samples.spring;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Content;
import dev.sluice.MultipartBody;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.TestForm;
import java.io.IOException;
import java.net.ConnectException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Tests the running application over HTTP. */
@Timeout(300)
class ApplicationTest {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    @TempDir
    static Path directory;

    private static ConfigurableApplicationContext context;
    private static URI root;

    private final HttpClient client = HttpClient.newHttpClient();

    @BeforeAll
    static void start() {
        context = SpringApplication.run(
                Application.class,
                "--server.port=0",
                "--spring.main.banner-mode=off",
                "--logging.level.root=ERROR",
                "--uploads.directory=" + directory.resolve("stored"));
        root = URI.create("http://127.0.0.1:" + context.getEnvironment().getProperty("local.server.port"));
    }

    @AfterAll
    static void stop() throws Exception {
        context.close();
        try (Stream<Path> left = Files.list(directory.resolve("stored/.incoming"))) {
            assertEquals(List.of(), left.toList(), "files left in the spool");
        }
    }

    @AfterEach
    void assertNothingIsLeft() {
        SpoolDirectory spool = context.getBean(SpoolDirectory.class);
        MemoryBudget memory = context.getBean(MemoryBudget.class);
        // The client receives the response shortly before the request ends.
        Eventually.passes(() -> {
            assertEquals(0, spool.files());
            assertEquals(0, memory.used());
        });
    }

    private static MultipartBody.Builder withFile(String name, String filename, byte[] content) {
        return MultipartBody.builder().file(name, filename, "image/png", Content.of(content));
    }

    private HttpResponse<String> send(String method, String path, MultipartBody body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(root.resolve(path))
                .header("Content-Type", body.contentType())
                .method(method, body.publisher())
                .build();
        return client.send(request, HttpResponse.BodyHandlers.ofString());
    }

    private JsonNode sendOk(String method, String path, MultipartBody.Builder body) throws Exception {
        HttpResponse<String> response = send(method, path, body.build());
        assertEquals(200, response.statusCode(), response.body());
        return JSON.readTree(response.body());
    }

    private static void assertReceived(String name, String filename, byte[] content, JsonNode received) {
        assertEquals(name, received.get("name").asString());
        assertEquals(filename, received.get("filename").asString());
        assertEquals("image/png", received.get("contentType").asString());
        assertEquals(content.length, received.get("size").asInt());
        assertEquals(TestForm.sha256(content), received.get("sha256").asString());
    }

    @Test
    void fileAndField_areBoundToAnObject() throws Exception {
        byte[] content = TestForm.noise(300_000, 1);
        JsonNode answer = sendOk(
                "POST",
                "/titled",
                withFile("file", "gr\u00f6\u00dfe.png", content).field("title", "na\u00efve \u2603"));

        assertEquals("na\u00efve \u2603", answer.get("title").asString());
        assertReceived("file", "gr\u00f6\u00dfe.png", content, answer.get("file"));
    }

    @Test
    void files_ofOneNameSentWithPut_arriveInOrder() throws Exception {
        byte[] large = TestForm.noise(200_000, 1);
        JsonNode answer = sendOk(
                "PUT",
                "/album",
                withFile("photos", "1.png", TestForm.noise(10, 1))
                        .field("photos", "not a file")
                        .file("photos", "2.png", "image/png", Content.of(large))
                        .file("photos", "3.png", "image/png", Content.of(new byte[0])));

        assertEquals(3, answer.size());
        assertReceived("photos", "1.png", TestForm.noise(10, 1), answer.get(0));
        assertReceived("photos", "2.png", large, answer.get(1));
        assertReceived("photos", "3.png", new byte[0], answer.get(2));
    }

    @Test
    void jsonPart_becomesARecord() throws Exception {
        JsonNode answer = sendOk(
                "POST",
                "/described",
                withFile("file", "x.png", TestForm.noise(5, 1))
                        .field(
                                "description",
                                "application/json",
                                Content.of("{\"title\":\"\u2603\",\"tags\":[\"a\",\"b\"]}"
                                        .getBytes(StandardCharsets.UTF_8))));

        assertEquals("\u2603", answer.at("/description/title").asString());
        assertEquals("b", answer.at("/description/tags/1").asString());
        assertReceived("file", "x.png", TestForm.noise(5, 1), answer.get("file"));
    }

    @Test
    void transferTo_storesSmallAndLargeFiles() throws Exception {
        for (int size : new int[] {0, 100, 500_000}) {
            JsonNode answer = sendOk("POST", "/stored", withFile("file", "x.png", TestForm.noise(size, 1)));
            Path stored = directory.resolve("stored").resolve(answer.get("as").asString());
            assertArrayEquals(TestForm.noise(size, 1), Files.readAllBytes(stored));
            assertEquals(size, answer.get("size").asInt());
        }
    }

    @Test
    void missingBoundary_isAnsweredAsInTheGuide() throws Exception {
        HttpRequest request = HttpRequest.newBuilder(root.resolve("/any/path"))
                .header("Content-Type", "multipart/form-data")
                .POST(HttpRequest.BodyPublishers.ofString("x"))
                .build();
        HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
        assertEquals(400, answer.statusCode());
        String expected = "\"reason\":\"missing_boundary\"";
        assertTrue(answer.body().contains(expected), answer.body());
        Path guide = Path.of(System.getProperty("sluice.rootDir", "../.."), "parser/docs/getting-started.md");
        assertTrue(Files.readString(guide).contains(expected));
    }

    @Test
    void upload_fromAnotherOrigin_isRejected() throws Exception {
        MultipartBody body = withFile("file", "x.png", TestForm.noise(5, 1)).build();
        assertEquals(200, statusOfUpload(root.toString(), body));
        List<String> before = storedFiles();
        assertEquals(403, statusOfUpload("http://elsewhere.example", body));
        assertEquals(403, statusOfUpload("null", body));
        assertEquals(before, storedFiles());
    }

    private int statusOfUpload(String origin, MultipartBody body) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(root.resolve("/stored"))
                .header("Content-Type", body.contentType())
                .header("Origin", origin)
                .POST(body.publisher())
                .build();
        return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode();
    }

    private static List<String> storedFiles() throws IOException {
        try (Stream<Path> files = Files.list(directory.resolve("stored"))) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void connectionToAnotherAddress_isRefused() throws Exception {
        for (NetworkInterface network : Collections.list(NetworkInterface.getNetworkInterfaces())) {
            for (InetAddress address : Collections.list(network.getInetAddresses())) {
                if (address instanceof Inet4Address && !address.isLoopbackAddress()) {
                    assertThrows(ConnectException.class, () -> new Socket(address, root.getPort()).close());
                }
            }
        }
    }

    @Test
    void pageAndMeters_areServed() throws Exception {
        assertTrue(get("/").contains("<progress"));
        sendOk(
                "POST",
                "/titled",
                withFile("file", "x.png", TestForm.noise(5, 1)).field("title", "t"));
        assertTrue(JSON.readTree(get("/actuator/metrics/sluice.forms"))
                        .at("/measurements/0/value")
                        .asDouble()
                > 0);
    }

    private String get(String path) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(root.resolve(path)).build();
        return client.send(request, HttpResponse.BodyHandlers.ofString()).body();
    }

    @Test
    void invalidFields_areNamed() throws Exception {
        String[][] forms = {{" ", "title "}, {"t".repeat(81), "title "}, {"t", "file "}, {"", "file ", ", title "}};
        for (String[] form : forms) {
            MultipartBody.Builder body = MultipartBody.builder().field("title", form[0]);
            if (form[1].equals("title ")) {
                body.file("file", "x.png", "image/png", Content.of(TestForm.noise(100_000, 1)));
            }
            HttpResponse<String> response = send("POST", "/titled", body.build());
            assertEquals(400, response.statusCode(), response.body());
            String detail = JSON.readTree(response.body()).get("detail").asString();
            assertTrue(detail.startsWith(form[1]), detail);
            assertEquals(form.length == 3, detail.contains(", title "), detail);
        }
    }
}
