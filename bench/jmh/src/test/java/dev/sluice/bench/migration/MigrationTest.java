package dev.sluice.bench.migration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.SpoolDirectory;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the upload endpoints that the migration page shows: one upload application, written with three libraries. */
class MigrationTest {
    /** An endpoint that accepts a field {@code title} and stores files under names chosen by the server. */
    interface UploadEndpoint {
        /** The response of the endpoint. */
        record Receipt(String title, int files, long bytes) {}

        /** Receives the body of a request and moves its files to {@code store}. */
        Receipt receive(InputStream body, String contentType, Path store) throws IOException;
    }

    private static final String SOURCES = "bench/jmh/src/test/java/dev/sluice/bench/migration/";

    @TempDir
    Path root;

    private static byte[] body() {
        String large = "0123456789".repeat(20_000);
        return ("--x\r\n"
                        + "Content-Disposition: form-data; name=\"title\"\r\n\r\n"
                        + "A title: \u20AC\r\n"
                        + "--x\r\n"
                        + "Content-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n"
                        + "Content-Type: text/plain\r\n\r\n"
                        + "small\r\n"
                        + "--x\r\n"
                        + "Content-Disposition: form-data; name=\"file\"; filename=\"b.txt\"\r\n"
                        + "Content-Type: text/plain\r\n\r\n"
                        + large
                        + "\r\n--x\r\n"
                        + "Content-Disposition: form-data; name=\"other\"; filename=\"\"\r\n"
                        + "Content-Type: application/octet-stream\r\n\r\n"
                        + "\r\n--x--\r\n")
                .getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void endpoints_giveSameResult() throws IOException {
        Path spool = Files.createDirectory(root.resolve("spool"));
        try (SpoolDirectory sluice =
                SpoolDirectory.builder(spool.resolve("sluice")).keepFreeBytes(0).open()) {
            Map<String, UploadEndpoint> endpoints = new LinkedHashMap<>();
            endpoints.put("Commons FileUpload", new FileUploadEndpoint(spool));
            endpoints.put("netty", new NettyEndpoint(spool));
            endpoints.put("Sluice", new SluiceEndpoint(sluice));
            for (Map.Entry<String, UploadEndpoint> endpoint : endpoints.entrySet()) {
                Path store = Files.createDirectory(root.resolve(endpoint.getKey()));
                UploadEndpoint.Receipt receipt = endpoint.getValue()
                        .receive(new ByteArrayInputStream(body()), "multipart/form-data; boundary=x", store);
                assertEquals(new UploadEndpoint.Receipt("A title: \u20AC", 2, 200_005), receipt, endpoint.getKey());
                try (Stream<Path> stored = Files.list(store)) {
                    assertEquals(2, stored.count(), endpoint.getKey());
                }
                try (Stream<Path> stored = Files.list(store)) {
                    assertEquals(
                            200_005,
                            stored.mapToLong(file -> file.toFile().length()).sum(),
                            endpoint.getKey());
                }
            }
        }
        try (Stream<Path> left = Files.walk(spool)) {
            assertEquals(0, left.filter(Files::isRegularFile).count());
        }
    }

    @Test
    void migrationPage_showsTheseSources() throws IOException {
        Path project = Path.of(System.getProperty("sluice.rootDir"));
        String page =
                Files.readString(project.resolve("parser/docs/migration.md")).replace("\r\n", "\n");
        for (String name : new String[] {"FileUploadEndpoint", "NettyEndpoint", "SluiceEndpoint"}) {
            String source =
                    Files.readString(project.resolve(SOURCES + name + ".java")).replace("\r\n", "\n");
            int begin = source.indexOf("    // tag::endpoint[]\n") + "    // tag::endpoint[]\n".length();
            String shown = source.substring(begin, source.indexOf("\n    // end::endpoint[]\n"))
                    .stripIndent();
            assertTrue(
                    page.contains("```java\n" + shown + "\n```\n"),
                    name + " differs from the code on the migration page:\n" + shown);
        }
    }
}
