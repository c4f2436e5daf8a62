package dev.sluice.samples.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.samples.upload.clients.Answer;
import dev.sluice.samples.upload.clients.CurlClient;
import dev.sluice.samples.upload.clients.FormPart;
import dev.sluice.samples.upload.clients.Presence;
import dev.sluice.samples.upload.clients.Received;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** Requests of curl to both endpoints. */
final class CurlTest {
    private static final List<FormPart> FORM = List.of(
            FormPart.field("title", "na\u00efve \u2603"),
            FormPart.file("f", "a.txt", "text/plain", "plain".getBytes(StandardCharsets.US_ASCII)),
            FormPart.file("f", "gr\u00f6\u00dfe.bin", "application/octet-stream", FormPart.bytes(3_000_000)),
            FormPart.field("title", "again"));

    /** The rest of the body is discarded, so that curl receives the answer reliably. */
    private static final List<FormPart> LARGE =
            List.of(FormPart.file("f", "a.bin", "application/octet-stream", FormPart.bytes(900_000)));

    @TempDir
    Path directory;

    private final CurlClient curl = new CurlClient();

    private interface Visit {
        void with(URI endpoint) throws Exception;
    }

    @TestFactory
    Stream<DynamicNode> curl() {
        return Presence.of(
                "curl",
                curl.isPresent(),
                () -> Stream.of("parts", "async")
                        .flatMap(endpoint -> Stream.of(
                                visit(endpoint, "form_arrives", 64 << 20, this::arrives),
                                visit(endpoint, "chunkedForm_arrives", 64 << 20, this::chunked),
                                visit(endpoint, "formTooLarge_isRejected", 100_000, this::tooLarge))));
    }

    private DynamicTest visit(String endpoint, String name, long maxBodyBytes, Visit visit) {
        return dynamicTest("curl: /" + endpoint + ": " + name, () -> {
            try (ServletServer server = ServletServer.start(
                    SampleConfig.of(directory.resolve("spool")).with(options -> options.maxBodyBytes(maxBodyBytes)))) {
                visit.with(server.uri().resolve("/" + endpoint));
            }
        });
    }

    private void arrives(URI endpoint) throws Exception {
        assertArrived(curl.post(URI.create(endpoint + "?title=query"), FORM));
    }

    private void chunked(URI endpoint) throws Exception {
        CurlClient.Traced sent = curl.post(
                URI.create(endpoint + "?title=query"),
                FORM,
                List.of("verbose", CurlClient.option("header", "Transfer-Encoding: chunked")));
        assertTrue(sent.trace().contains("> Transfer-Encoding: chunked"), sent.trace());
        assertArrived(sent.answer());
    }

    private void assertArrived(Answer answer) throws Exception {
        Received.assertParts(curl, FORM, answer);
        assertEquals(
                "{\"title\":[\"query\",\"na\u00efve \u2603\",\"again\"]}",
                answer.json().get("parameters").toString());
    }

    private void tooLarge(URI endpoint) throws Exception {
        for (List<String> options :
                List.of(List.<String>of(), List.of(CurlClient.option("header", "Transfer-Encoding: chunked")))) {
            Answer answer = curl.post(endpoint, LARGE, options).answer();
            JsonNode error = answer.assertRefused(413, "BODY_TOO_LARGE");
            assertTrue(error.get("message").asText().contains("exceeds the limit of 100000 bytes"), answer.text());
        }
    }
}
