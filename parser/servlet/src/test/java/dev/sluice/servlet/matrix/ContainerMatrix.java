package dev.sluice.servlet.matrix;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Runs the same checks in each {@link Distribution}. If all containers were tested and no check failed unexpectedly, it
 * writes the results to {@code parser/docs/containers.md}. {@code .ci/containers} runs this class.
 */
class ContainerMatrix {
    private static final int ABORTS = Integer.getInteger("sluice.containers.aborts", 50);
    private static final int RACES = Integer.getInteger("sluice.containers.races", 50);
    private static final int PAUSED = 43;

    static final String REJECTED = "`receive`: 413 and 400, with the error page of the application";
    static final String REJECTED_H2 = "h2c: `receive`, and 400 with the error page of the application";
    static final String PLAIN_ERROR = "without Sluice: `sendError` in an asynchronous servlet shows the error page";
    static final String PLAIN_ELSEWHERE = "without Sluice: the same, called on a thread of the application";
    static final String CANCELLED =
            "`receive`: " + RACES + " forms cancelled while they arrive: 500, and nothing is left behind";
    static final String PAUSES = "`receive`: " + PAUSED + " forms of 2 MiB, written to sinks that pause";
    static final String PLAIN_PAUSES = "without Sluice: a `ReadListener` that pauses in the same way";

    private static final Path ROOT = Path.of(System.getProperty("sluice.rootDir", "../.."));
    private static final Path PAGE = ROOT.resolve("parser/docs/containers.md");
    private static final Path DOWNLOADS =
            Path.of(System.getProperty("sluice.containers.downloads", "target/containers"));

    private static final byte[] CONTENT = TestForm.noise(300_000, 5);
    private static final TestForm FORM = new TestForm().field("a", "1").file("f", "f.bin", CONTENT);
    private static final String FORM_TEXT = text("a", new byte[] {'1'}) + text("f", CONTENT);

    /** The result of each check in each container: empty if it passed, otherwise the error. */
    private static final Map<Distribution, Map<String, String>> RESULTS = new EnumMap<>(Distribution.class);

    @TempDir
    private Path directory;

    private RunningDistribution container;

    private static String text(String name, byte[] content) {
        CRC32 sum = new CRC32();
        sum.update(content);
        return MatrixApp.describe(name, content.length, sum);
    }

    private interface Check {
        void run() throws Exception;
    }

    private Map<String, Check> checks() {
        Map<String, Check> checks = new LinkedHashMap<>();
        checks.put("`getParts`: fields and small files", () -> small("/parts"));
        checks.put("`getParts`: files in the spool", () -> spooled("/parts"));
        checks.put("`getParts`: 413 and 400", () -> rejected("/parts"));
        checks.put("`sendError` after `getParts`: the error page can read the fields", () -> errorPage("error", 409));
        checks.put("an exception after `getParts`: the error page can read the fields", () -> errorPage("throw", 500));
        checks.put("`receive`: fields and small files", () -> small("/receive"));
        checks.put("`receive`: files in the spool", () -> spooled("/receive"));
        checks.put(REJECTED, () -> rejected("/receive"));
        checks.put(PLAIN_ERROR, () -> plainError("here"));
        checks.put(PLAIN_ELSEWHERE, () -> plainError("elsewhere"));
        checks.put("`getParts`: " + ABORTS + " interrupted uploads leave nothing behind", () -> aborted("/parts"));
        checks.put("`receive`: " + ABORTS + " interrupted uploads leave nothing behind", () -> aborted("/receive"));
        checks.put(CANCELLED, this::cancelled);
        checks.put("`receive`: requests that time out leave nothing behind", this::timedOut);
        checks.put("h2c: `getParts`", () -> http2("/parts"));
        checks.put(REJECTED_H2, () -> http2("/receive"));
        checks.put("h2c: interrupted uploads leave nothing behind", this::abortedHttp2);
        checks.put(PAUSES, this::paused);
        checks.put(PLAIN_PAUSES, this::pausedWithout);
        return checks;
    }

    @ParameterizedTest
    @EnumSource
    void container_passesAllChecks(Distribution kind) throws Exception {
        String only = System.getProperty("sluice.containers", "");
        assumeTrue(only.isEmpty() || List.of(only.split(",")).contains(kind.name()));
        Map<String, String> results = new LinkedHashMap<>();
        try (RunningDistribution running = RunningDistribution.start(kind, DOWNLOADS, directory)) {
            container = running;
            checks().forEach((name, check) -> results.put(name, trouble(() -> {
                check.run();
                assertNothingLeft();
            })));
            results.put("no buffer leaks, and no task of the container fails", trouble(this::cleanLog));
            Files.writeString(DOWNLOADS.resolve(kind + ".log"), running.log());
        }
        RESULTS.put(kind, results);
    }

    private static String trouble(Check check) {
        try {
            check.run();
            return "";
        } catch (Exception | AssertionError e) {
            return e.toString();
        }
    }

    // ---- the checks

    private String answer(String path, byte[] body) throws IOException {
        try (RawHttp connection = container.connect()) {
            return answer(connection.send(post(path, body)));
        }
    }

    private static byte[] post(String path, byte[] body) {
        return TestForm.request("POST", Distribution.PATH + path, TestForm.CONTENT_TYPE, body);
    }

    private static String answer(RawHttp connection) throws IOException {
        RawHttp.Response response = connection.response();
        return response.status() + " " + response.body();
    }

    private void small(String path) throws IOException {
        byte[] content = TestForm.noise(1000, 1);
        TestForm form = new TestForm().field("a", "1").file("f", "f.bin", content);
        assertEquals("200 " + text("a", new byte[] {'1'}) + text("f", content), answer(path, form.body()));
        try (RawHttp connection = container.connect()) {
            for (int i = 0; i < 2; i++) {
                connection.send(TestForm.chunked(Distribution.PATH + path, form.body(), 100));
                assertTrue(
                        answer(connection).startsWith("200 "), "a chunked form on a used connection was not accepted");
            }
        }
    }

    private void spooled(String path) throws IOException {
        assertEquals("200 " + FORM_TEXT, answer(path, FORM.body()));
    }

    private void rejected(String path) throws IOException {
        byte[] large = new TestForm()
                .field("a", "1")
                .file("f", "f", new byte[MatrixApp.MOST + 1])
                .body();
        assertEquals("413 page null", answer(path, large));
        assertEquals("400 page null", answer(path, TestForm.malformed().body()));
    }

    private void errorPage(String how, int status) throws IOException {
        assertEquals(status + " page 1", answer("/parts?" + how, FORM.body()));
    }

    private void plainError(String where) throws IOException {
        byte[] request = TestForm.request(
                "POST", Distribution.PATH + "/plain?" + where, "application/octet-stream", new byte[1000]);
        try (RawHttp connection = container.connect()) {
            assertEquals("409 page null", answer(connection.send(request)));
        }
    }

    private void paused() throws Exception {
        byte[] content = TestForm.noise(2 << 20, 9);
        byte[] body = new TestForm().file("f", "f.bin", content).body();
        inParallel(PAUSED, i -> () -> {
            assertEquals("200 " + text("f", content), answer("/paused", body));
            return null;
        });
    }

    private void pausedWithout() throws Exception {
        byte[] body = new byte[2 << 20];
        byte[] request = TestForm.request("POST", Distribution.PATH + "/plain", "application/octet-stream", body);
        inParallel(PAUSED, i -> () -> {
            try (RawHttp connection = container.connect()) {
                assertEquals("200 " + body.length, answer(connection.send(request)));
            }
            return null;
        });
    }

    private interface Indexed {
        Callable<Void> at(int index);
    }

    private static void inParallel(int count, Indexed task) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(8);
        try {
            List<Future<Void>> all = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                all.add(threads.submit(task.at(i)));
            }
            for (Future<Void> each : all) {
                each.get(60, TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** Interrupts uploads at different places: half of the clients close the connection, half reset it. */
    private void aborted(String path) throws Exception {
        byte[] request = post(path, FORM.body());
        inParallel(ABORTS, i -> () -> {
            try (RawHttp connection = container.connect()) {
                connection.send(request, 0, (int) ((i + 1L) * (request.length - 1) / ABORTS));
                TimeUnit.MILLISECONDS.sleep(i % 7 * 5);
                if (i % 2 == 0) {
                    connection.reset();
                }
            }
            return null;
        });
    }

    private void cancelled() throws Exception {
        inParallel(RACES, i -> () -> {
            String response = answer("/cancelled?" + i * 10_000 / RACES, FORM.body());
            assertTrue(response.equals("200 " + FORM_TEXT) || response.startsWith("500"), response);
            return null;
        });
    }

    private void timedOut() throws Exception {
        byte[] request = post("/timeout", FORM.body());
        inParallel(8, i -> () -> {
            try (RawHttp connection = container.connect()) {
                connection.send(request, 0, request.length - 1000);
                assertTrue(connection.response().status() >= 500, "the response after the timeout is not an error");
            }
            return null;
        });
    }

    private HttpClient http2() throws Exception {
        HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build();
        client.send(
                HttpRequest.newBuilder(uri("/state")).build(),
                BodyHandlers.ofString()); // the upgrade works only without a body
        return client;
    }

    private URI uri(String path) {
        return URI.create("http://127.0.0.1:" + container.port() + Distribution.PATH + path);
    }

    private HttpRequest http2Post(String path, byte[] body) {
        return HttpRequest.newBuilder(uri(path))
                .timeout(Duration.ofSeconds(30))
                .header("Content-Type", TestForm.CONTENT_TYPE)
                .POST(BodyPublishers.ofByteArray(body))
                .build();
    }

    private void http2(String path) throws Exception {
        HttpResponse<String> response = http2().send(http2Post(path, FORM.body()), BodyHandlers.ofString());
        assertEquals(HttpClient.Version.HTTP_2, response.version());
        assertEquals("200 " + FORM_TEXT, response.statusCode() + " " + response.body());
        HttpResponse<String> rejected =
                http2().send(http2Post(path, TestForm.malformed().body()), BodyHandlers.ofString());
        assertEquals("400 page null", rejected.statusCode() + " " + rejected.body());
    }

    private void abortedHttp2() throws Exception {
        HttpClient client = http2();
        byte[] body = new TestForm().file("f", "f.bin", new byte[6 << 20]).body();
        for (int i = 0; i < ABORTS; i++) {
            CompletableFuture<?> response =
                    client.sendAsync(http2Post(i % 2 == 0 ? "/parts" : "/receive", body), BodyHandlers.ofString());
            TimeUnit.MILLISECONDS.sleep(i % 10);
            response.cancel(true);
        }
        assertEquals(
                HttpClient.Version.HTTP_2,
                client.send(HttpRequest.newBuilder(uri("/state")).build(), BodyHandlers.ofString())
                        .version());
    }

    private void assertNothingLeft() {
        Eventually.isTrue(() -> state().equals("200 0 files, 0 bytes, 0"), () -> "left: " + state());
    }

    private String state() {
        try (RawHttp connection = container.connect()) {
            return answer(connection.send(
                    "GET " + Distribution.PATH + "/state HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"));
        } catch (IOException e) {
            return e.toString();
        }
    }

    private void cleanLog() throws IOException {
        for (String trouble : List.of("LEAK: ", "Job failed", "lifecycle recycled")) {
            assertTrue(!container.log().contains(trouble), trouble);
        }
    }

    // ---- the page

    @AfterAll
    static void write() throws IOException {
        List<String> troubles = new ArrayList<>();
        RESULTS.forEach((kind, results) -> results.forEach((check, trouble) -> {
            if (!trouble.isEmpty() && !kind.known().containsKey(check)) {
                troubles.add(kind.label() + ": " + check + ": " + trouble);
            }
        }));
        assertEquals(List.of(), troubles);
        if (RESULTS.size() == Distribution.values().length) {
            Files.writeString(PAGE, page());
        }
    }

    private static String page() {
        StringBuilder page = new StringBuilder("""
                # Servlet containers

                This page shows what works in each servlet container. `.ci/containers` writes it: do not edit it. The script starts each
                container as its vendor ships it, with one application, and runs the checks below. It uses JDK %s, HTTP/1.1, and HTTP/2 without TLS (h2c).
                Every build runs similar checks in embedded Jetty, Tomcat and Undertow ([results](servlet-containers.md)).

                `getParts` is the blocking call of the servlet API. `receive` is `MultipartRequests.receive`, which uses no thread while it waits for the client.

                | container | version |
                |---|---|
                """.formatted(Runtime.version().feature()));
        RESULTS.keySet().forEach(kind -> page.append("| " + kind.label() + " | " + kind.version() + " |\n"));
        List<String> notes = new ArrayList<>();
        page.append("\n| |");
        RESULTS.keySet().forEach(kind -> page.append(" " + kind.label() + " |"));
        page.append("\n|---|").append("---|".repeat(RESULTS.size())).append("\n");
        for (String check : RESULTS.values().iterator().next().keySet()) {
            page.append("| " + check + " |");
            for (Map.Entry<Distribution, Map<String, String>> each : RESULTS.entrySet()) {
                if (each.getValue().get(check).isEmpty()) {
                    page.append(" yes |");
                } else {
                    String note =
                            each.getKey().label() + ": " + each.getKey().known().get(check);
                    if (!notes.contains(note)) {
                        notes.add(note);
                    }
                    page.append(" no (" + (notes.indexOf(note) + 1) + ") |");
                }
            }
            page.append("\n");
        }
        page.append(notes.isEmpty() ? "" : "\n");
        notes.forEach(note -> page.append(notes.indexOf(note) + 1 + ". " + note + "\n"));
        return page.toString();
    }
}
