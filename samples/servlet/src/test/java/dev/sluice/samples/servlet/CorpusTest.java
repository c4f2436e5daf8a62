package dev.sluice.samples.servlet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.samples.report.PresetName;
import dev.sluice.samples.upload.ServerConfig;
import dev.sluice.samples.upload.UploadServer;
import dev.sluice.samples.upload.clients.JavaHttpClient;
import dev.sluice.samples.upload.clients.ServerResponse;
import dev.sluice.testkit.Corpus;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Sends every body of the corpus to both endpoints and to the inspector of the upload server. All three must send the
 * same response. The presets take turns with every second body; with {@code -Pfull} each body is sent in each preset.
 */
@Tag("sized")
class CorpusTest {
    private static final boolean FULL = Boolean.getBoolean("sluice.full");

    @TempDir
    static Path directory;

    private static UploadServer inspector;
    private static ServletServer server;

    @BeforeAll
    static void start() throws IOException {
        inspector = UploadServer.start(ServerConfig.of(directory.resolve("inspector")));
        server = ServletServer.start(SampleConfig.of(directory.resolve("spool")));
    }

    @AfterAll
    static void stop() {
        server.close();
        inspector.close();
    }

    private static ServerResponse post(URI root, String path, Corpus.Case body)
            throws IOException, InterruptedException {
        return JavaHttpClient.post(root.resolve(path), body.contentType(), body.body());
    }

    @ParameterizedTest
    @EnumSource(PresetName.class)
    void endpoints_agreeWithInspector(PresetName preset) throws Exception {
        int good = 0;
        int bad = 0;
        int left = 0;
        int turn = 0;
        for (Corpus.Case each : Corpus.cases()) {
            if (!fitsHttp(each.contentType())) {
                left++;
                continue;
            }
            if (!FULL && turn++ % (2 * PresetName.values().length) != preset.ordinal()) {
                continue;
            }
            ServerResponse inspected = post(inspector.uri(), "/inspect?preset=" + preset, each);
            for (String endpoint : new String[] {"/parts", "/async"}) {
                String which = endpoint + ", " + preset + ": " + each.id();
                ServerResponse response = post(server.uri(), endpoint + "?preset=" + preset, each);
                if (inspected.status() == 200) {
                    assertEquals(200, response.status(), () -> which + ": " + response.text());
                    ObjectNode report = (ObjectNode) response.json();
                    assertEquals(
                            preset.name(),
                            report.remove("parameters").at("/preset/0").asText(),
                            which);
                    assertEquals(inspected.json(), report, which);
                    good++;
                } else {
                    assertEquals(inspected.status(), response.status(), () -> which + ": " + response.text());
                    assertSameError(
                            inspected.json().get("error"), response.json().get("error"), which);
                    bad++;
                }
            }
        }
        int seenGood = good;
        int seenBad = bad;
        assertTrue(good > 20 && bad > 20, () -> seenGood + " valid, " + seenBad + " invalid");
        assertTrue(left < 5, left + " skipped");
    }

    /**
     * {@return whether a header field can have this value: no control character except the tab (RFC 9110 section 5.5)}
     */
    private static boolean fitsHttp(String value) {
        return value.chars().allMatch(c -> c >= ' ' && c != 0x7F || c == '\t');
    }

    private static void assertSameError(JsonNode expected, JsonNode actual, String which) {
        for (String field : new String[] {"reason", "kind", "offset", "part", "message"}) {
            assertEquals(expected.get(field), actual.get(field), () -> which + ": " + field + " of " + actual);
        }
    }
}
