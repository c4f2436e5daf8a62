package dev.sluice.samples.upload.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.DynamicContainer.dynamicContainer;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.sluice.MultipartException.Reason;
import dev.sluice.samples.upload.ServerConfig;
import dev.sluice.samples.upload.UploadServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hc.client5.http.entity.mime.HttpMultipartMode;
import org.junit.jupiter.api.DynamicNode;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * Each client sends each form that it can send to {@code /inspect}, and {@link Form#FILES} to {@code /upload}. With
 * {@code -Pfull}, all forms go to {@code /upload}, which reads them in STANDARD, and to {@code /inspect} in the other presets.
 */
@Tag("sized")
final class ClientsTest {
    private static final boolean FULL = Boolean.getBoolean("sluice.full");
    private static final List<String> PRESETS = FULL ? List.of("strict", "compatible") : List.of("strict");

    @TempDir
    Path directory;

    static List<UploadClient> clients() {
        List<UploadClient> clients = new ArrayList<>();
        clients.add(new CurlClient());
        clients.addAll(PythonClient.all());
        clients.add(ScriptClient.node());
        clients.add(new GoClient());
        clients.add(new JavaHttpClient());
        clients.add(new OkHttp());
        clients.add(new ApacheHttpClient(HttpMultipartMode.LEGACY));
        clients.add(new ApacheHttpClient(HttpMultipartMode.EXTENDED));
        return clients;
    }

    @Test
    void latin1FieldName_isReported_andRejectedByStrict() throws Exception {
        UploadClient apache = new ApacheHttpClient(HttpMultipartMode.EXTENDED);
        List<FormPart> form = List.of(FormPart.field("gr\u00f6\u00dfe", "1"));
        try (UploadServer server = UploadServer.start(ServerConfig.of(directory))) {
            ServerResponse standard = apache.post(server.uri().resolve("/inspect"), form);
            assertEquals(200, standard.status(), standard.text());
            assertEquals(
                    "gr\ufffd\ufffde",
                    Received.text(standard.json().path("parts").get(0), "name"));
            assertEquals(
                    List.of("REQUEST_CHARSET", "UNDECODABLE_HEADER"),
                    standard.json().path("deviations").findValuesAsText("kind"),
                    standard.text());

            ServerResponse strict = apache.post(server.uri().resolve("/inspect?preset=strict"), form);
            strict.assertRejected(415, "UNKNOWN_CHARSET");
        }
    }

    @TestFactory
    Stream<DynamicNode> part_arrivesAsClientSentIt() throws Exception {
        List<DynamicNode> nodes = new ArrayList<>();
        UploadServer server = UploadServer.start(ServerConfig.of(directory));
        for (UploadClient client : clients()) {
            nodes.addAll(Presence.of(client.label(), client.isPresent(), () -> Stream.of(testsOf(client, server)))
                    .toList());
        }
        // JUnit closes the stream after the last test.
        return nodes.stream().onClose(server::close);
    }

    private DynamicNode testsOf(UploadClient client, UploadServer server) {
        return dynamicContainer(
                client.label(),
                Stream.of(Form.values())
                        .filter(client::canSend)
                        .flatMap(form -> Stream.concat(
                                PRESETS.stream().map(preset -> inspected(client, server, form, preset)),
                                form == Form.FILES || FULL ? Stream.of(uploaded(client, form)) : Stream.of())));
    }

    private DynamicTest inspected(UploadClient client, UploadServer server, Form form, String preset) {
        return dynamicTest(client.label() + " " + form + " inspect " + preset, () -> {
            ServerResponse response = client.post(server.uri().resolve("/inspect?preset=" + preset), form.parts());
            String rejection = preset.equals("strict") ? client.rejectedWhenStrict(form) : null;
            if (rejection == null) {
                Received.assertParts(client, form.parts(), preset, response);
            } else {
                response.assertRejected(Reason.valueOf(rejection).httpStatus(), rejection);
            }
        });
    }

    private DynamicTest uploaded(UploadClient client, Form form) {
        return dynamicTest(client.label() + " " + form + " upload", () -> {
            Path own = Files.createDirectory(directory.resolve(client.label() + "-" + form));
            try (UploadServer server = UploadServer.start(ServerConfig.of(own))) {
                ServerResponse response = client.post(server.uri().resolve("/upload"), form.parts());
                Received.assertParts(client, form.parts(), response);
                Received.assertStored(form.parts(), response, own);
            }
        });
    }
}
