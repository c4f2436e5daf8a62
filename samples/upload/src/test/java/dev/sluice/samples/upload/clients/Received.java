package dev.sluice.samples.upload.clients;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.testkit.SpooledFiles;
import dev.sluice.testkit.TestForm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.function.Executable;

/** Comparisons of the server's report and files with the form that was sent. */
final class Received {
    private Received() {}

    /** Requires that each part was received as it was sent: name, file name, type, size and digest. */
    static void assertParts(UploadClient client, List<FormPart> sent, ServerResponse response) throws IOException {
        assertParts(client, sent, "standard", response);
    }

    static void assertParts(UploadClient client, List<FormPart> sent, String preset, ServerResponse response)
            throws IOException {
        assertEquals(200, response.status(), response.text());
        JsonNode json = response.json();
        assertTrue(json.path("error").isNull(), response.text());
        JsonNode parts = json.path("parts");
        assertEquals(sent.size(), parts.size(), response.text());
        List<Executable> checks = new ArrayList<>();
        for (int i = 0; i < sent.size(); i++) {
            FormPart part = sent.get(i);
            JsonNode got = parts.get(i);
            String which = client.label() + " part " + i + ": ";
            String filename = part.isFile() ? part.filename() : null;
            checks.add(() -> assertEquals(client.onWire(part.name()), text(got, "name"), which + "name"));
            checks.add(() -> assertEquals(
                    filename == null ? null : client.filenameAsRead(filename, preset),
                    text(got, "filename"),
                    which + "filename"));
            checks.add(() -> assertEquals(client.typeOnWire(part), text(got, "contentType"), which + "type"));
            checks.add(
                    () -> assertEquals(part.content().length, got.path("size").asLong(), which + "size"));
            checks.add(() -> assertEquals(part.sha256(), text(got, "sha256"), which + "sha256"));
        }
        assertAll(checks);
    }

    /** Requires that the directory contains exactly the files that were sent, under the reported names. */
    static void assertStored(List<FormPart> sent, ServerResponse response, Path directory) throws IOException {
        JsonNode parts = response.json().path("parts");
        TreeSet<String> reported = new TreeSet<>();
        for (int i = 0; i < sent.size(); i++) {
            String storedAs = text(parts.get(i), "storedAs");
            if (!sent.get(i).isFile()) {
                assertEquals(null, storedAs, "a form field is stored as a file");
                continue;
            }
            Path file = directory.resolve(String.valueOf(storedAs));
            assertEquals(directory, file.getParent());
            assertEquals(sent.get(i).sha256(), TestForm.sha256(Files.readAllBytes(file)), () -> "the file " + storedAs);
            reported.add(String.valueOf(storedAs));
        }
        assertEquals(reported, names(directory));
    }

    /** {@return the files that are stored or in the spool} */
    static TreeSet<String> names(Path directory) throws IOException {
        return SpooledFiles.below(directory).stream()
                .map(file -> file.getFileName().toString())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    static @Nullable String text(JsonNode node, String field) {
        JsonNode value = node.path(field);
        return value.isTextual() ? value.asText() : null;
    }
}
