package dev.sluice.samples.upload.clients;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Writes what the clients of this machine send as cases of the corpus: the body, byte for byte, and what was given to the
 * client to send. Takes the directory to write to. Boundaries are random, so that each run writes other bytes; it is run to
 * add clients or new versions of them, not by the build.
 */
final class CaptureClients {
    private static final int MAX_TEXT = 200;

    /** Small forms: a case of the corpus is cut at all pairs of bytes. */
    private static final Map<String, List<FormPart>> FORMS = new TreeMap<>(Map.of(
            "fields", Form.FIELDS.parts(),
            "names", names("quo\"te; 1.txt", "gr\u00f6\u00dfe \u65e5\u672c \ud83d\ude80.txt", "back\\slash %22.txt"),
            "empty-file", Form.EMPTY_FILE.parts(),
            "files",
                    List.of(
                            FormPart.file(
                                    "f", "a.txt", "text/plain", "plain text\n".getBytes(StandardCharsets.US_ASCII)),
                            FormPart.file("f", "b.bin", "application/octet-stream", FormPart.bytes(100)))));

    private static List<FormPart> names(String... filenames) {
        return Stream.concat(
                        Stream.of(FormPart.field("a\"b;c", "1")),
                        Stream.of(filenames).map(name -> FormPart.file("f", name, "text/plain", new byte[] {'x'})))
                .toList();
    }

    /** Makes the page post a form, by the script's own request or by leaving the page. */
    private static final String POST = """
            const [how, parts] = arguments;
            const form = document.createElement('form');
            form.method = 'post';
            form.enctype = 'multipart/form-data';
            form.action = '/';
            for (const part of parts) {
              const input = document.createElement('input');
              input.name = part.name;
              if (part.filename === null) {
                input.type = 'hidden';
                input.value = part.text;
              } else {
                input.type = 'file';
                const bytes = Uint8Array.from(atob(part.base64), c => c.charCodeAt(0));
                const data = new DataTransfer();
                data.items.add(new File([bytes], part.filename, {type: part.type}));
                input.files = data.files;
              }
              form.append(input);
            }
            document.body.append(form);
            if (how === 'submit') form.submit(); else fetch('/', {method: 'POST', body: new FormData(form)});
            """;

    private final Path directory;
    private final CaptureServer server;

    private CaptureClients(Path directory, CaptureServer server) {
        this.directory = directory;
        this.server = server;
    }

    /** Captures all clients that are present. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        Path directory = Files.createDirectories(Path.of(arguments[0]));
        try (CaptureServer server = CaptureServer.start()) {
            CaptureClients capture = new CaptureClients(directory, server);
            capture.libraries();
            capture.browser();
        }
    }

    private void libraries() throws IOException, InterruptedException {
        for (UploadClient client : ClientsTest.clients()) {
            if (!client.isPresent()) {
                System.out.println("client not present: " + client.label());
                continue;
            }
            for (Map.Entry<String, List<FormPart>> form : FORMS.entrySet()) {
                if (form.getKey().equals("fields") && !client.canSend(Form.FIELDS)) {
                    continue;
                }
                client.post(server.uri(), form.getValue());
                write(client, client.label() + "-" + form.getKey(), client.version(), form.getValue());
            }
            if (client instanceof NodeClient) {
                client.post(server.uri(), List.of());
                write(client, client.label() + "-empty-form", client.version(), List.of());
            }
        }
    }

    private void browser() throws IOException, InterruptedException {
        if (!Browser.isPresent()) {
            System.out.println("client not present: chromium with chromedriver");
            return;
        }
        UploadClient names = new NodeClient();
        Map<String, List<FormPart>> forms = new TreeMap<>(FORMS);
        forms.put("empty-form", List.of());
        forms.put(
                "file-input-left-empty",
                List.of(FormPart.field("a", "1"), FormPart.file("f", "", "application/octet-stream", new byte[0])));
        try (Browser browser = Browser.open()) {
            for (String how : List.of("submit", "fetch")) {
                for (Map.Entry<String, List<FormPart>> form : forms.entrySet()) {
                    if (how.equals("fetch") && !form.getKey().equals("empty-form")) {
                        continue; // the same bytes as those of a submitted form
                    }
                    browser.driver().get(server.uri().toString());
                    browser.run(
                            POST,
                            how,
                            form.getValue().stream().map(CaptureClients::script).toList());
                    write(
                            names,
                            "chromium-" + how + "-" + form.getKey(),
                            Browser.version() + ", " + how,
                            form.getValue());
                }
            }
        }
    }

    private static Map<String, @Nullable Object> script(FormPart part) {
        Map<String, @Nullable Object> map = new TreeMap<>();
        map.put("name", part.name());
        map.put("filename", part.filename());
        map.put("type", part.type());
        map.put("text", part.isFile() ? null : part.text());
        map.put("base64", Base64.getEncoder().encodeToString(part.content()));
        return map;
    }

    private void write(UploadClient client, String id, String version, List<FormPart> form)
            throws IOException, InterruptedException {
        CaptureServer.Captured captured = server.take();
        byte[] body = captured.body();
        ObjectNode json = Answer.JSON.createObjectNode();
        json.put("id", "sluice/" + id);
        json.put("source", "captured from " + version);
        json.put("license", "Apache-2.0");
        json.put("contentType", captured.contentType());
        ArrayNode parts = json.putObject("expect").putArray("parts");
        form.forEach(part -> expect(parts.addObject(), client, part));
        json.put("asserted", "client");
        json.put("bodySize", body.length);
        json.put("bodySha256", FormPart.sha256(body));
        json.put("notes", "the expectation is what the client was given to send, in its own way of writing names");
        Files.write(directory.resolve(id + ".body"), body);
        String text = Answer.JSON.writerWithDefaultPrettyPrinter().writeValueAsString(json);
        Files.writeString(directory.resolve(id + ".json"), text + "\n");
    }

    private static void expect(ObjectNode node, UploadClient client, FormPart part) {
        String filename = part.filename();
        node.put("name", client.onWire(part.name()));
        node.put("filename", filename == null ? null : client.filenameOnWire(filename));
        node.put("contentType", client.typeOnWire(part));
        node.put("size", part.size());
        node.put("sha256", part.sha256());
        if (!part.isFile() && part.size() <= MAX_TEXT) {
            node.put("text", part.text());
        }
    }
}
