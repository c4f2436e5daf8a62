package dev.sluice.samples.upload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.samples.report.PresetName;
import dev.sluice.samples.upload.UploadServer.Transport;
import dev.sluice.samples.upload.clients.JavaHttpClient;
import dev.sluice.testkit.Corpus;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Every body of the corpus, sent over HTTP/1.1, HTTP/1.1 in TLS, and HTTP/2. The server's response must equal the result
 * of the inspector, which reads a file. The protocols and presets take turns, so that every second body is sent once; with
 * {@code -Pfull} each body is sent over each protocol, and in each preset. Uses NIO, or epoll with {@code -Pepoll}.
 */
@Tag("sized")
class CorpusTest {
    private static final boolean FULL = Boolean.getBoolean("sluice.full");
    private static final int PROTOCOLS = 3;
    private static final JsonMapper JSON = JsonMapper.builder().build();

    /** @param expected the result of the inspector */
    private record Case(String id, String path, Corpus.Case body, ObjectNode expected) {}

    @TempDir
    Path directory;

    @ParameterizedTest
    @CsvSource({"0, HTTP_1_1, false", "1, HTTP_1_1, true", "2, HTTP_2, true"})
    void response_equalsInspectorResult(int turn, HttpClient.Version version, boolean tls) throws Exception {
        Transport transport = Boolean.getBoolean("sluice.epoll")
                ? new Transport(EpollIoHandler.newFactory(), EpollServerSocketChannel.class)
                : Transport.NIO;
        HttpClient client = TlsTest.client(version);
        List<Case> cases = cases(turn);
        ServerConfig config = ServerConfig.of(directory.resolve("uploads")).withTls(tls);
        try (UploadServer server = UploadServer.start(config, transport)) {
            for (Case each : cases) {
                URI target = server.uri().resolve(each.path);
                String type = each.body.contentType().strip();
                HttpResponse<String> response = client.send(
                        JavaHttpClient.request(target, type, BodyPublishers.ofByteArray(each.body.body()))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
                assertEquals(version, response.version());
                assertAnswer(each, response);
            }
        }
    }

    private static void assertAnswer(Case sent, HttpResponse<String> response) throws IOException {
        ObjectNode actual = (ObjectNode) JSON.readTree(response.body());
        ObjectNode expected = sent.expected.deepCopy();
        boolean rejected = !actual.path("error").isNull();
        assertEquals(rejected, response.statusCode() != 200, () -> sent.id + ": " + response.body());
        if (expected.toString().contains("_charset_") && !expected.equals(actual)) { // only a form reads that field
            assertTrue(actual.toString().contains("CHARSET"), sent::id);
            return;
        }
        if (rejected) {
            expected.putArray("deviations"); // the server lists deviations only for a valid body
        }
        assertEquals(expected, actual, sent::id);
    }

    private List<Case> cases(int turn) throws IOException {
        List<PresetName> all = List.of(PresetName.values());
        List<Case> cases = new ArrayList<>();
        int number = 0;
        for (Corpus.Case each : Corpus.cases()) {
            String type = each.contentType().strip(); // HTTP strips the whitespace around a field value
            if (!each.isFormData()
                    || type.chars().anyMatch(c -> c < ' ' || c > '~')) { // java.net.http rejects such a type
                continue;
            }
            int index = number++;
            if (!FULL && index % (2 * PROTOCOLS) != turn) {
                continue;
            }
            Path file = Files.write(directory.resolve("body" + index), each.body());
            PresetName preset = all.get((index / PROTOCOLS + turn) % all.size()); // another one for each protocol
            StringWriter out = new StringWriter();
            Main.commandLine(new PrintWriter(out), new PrintWriter(new StringWriter()))
                    .execute("inspect", "--json", "--preset=" + preset, "--content-type", type, file.toString());
            String path = "/inspect?preset=" + preset;
            cases.add(new Case(each.id() + ", " + preset, path, each, (ObjectNode) JSON.readTree(out.toString())));
        }
        assertTrue(number > 0.8 * Corpus.cases().size(), "too many bodies were skipped");
        return cases;
    }
}
