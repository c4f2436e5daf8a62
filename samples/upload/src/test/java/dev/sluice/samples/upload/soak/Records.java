package dev.sluice.samples.upload.soak;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;

/** A JSON file with the figures of the last run of each kind. */
final class Records {
    private static final JsonMapper JSON = JsonMapper.builder().build();

    private Records() {}

    /** {@return a new record with only the current date and environment} */
    static ObjectNode today() {
        return JSON.createObjectNode()
                .put("date", LocalDate.now(ZoneOffset.UTC).toString())
                .put("java", Runtime.version().toString())
                .put("processors", Runtime.getRuntime().availableProcessors());
    }

    static JsonNode tree(Object value) {
        return JSON.valueToTree(value);
    }

    static Vitals vitals(String json) throws IOException {
        return JSON.readValue(json, Vitals.class);
    }

    static void put(Path json, String kind, ObjectNode figures) throws IOException {
        ObjectNode all = Files.exists(json) ? (ObjectNode) JSON.readTree(json.toFile()) : JSON.createObjectNode();
        all.set(kind, figures);
        Files.writeString(json, JSON.writerWithDefaultPrettyPrinter().writeValueAsString(all) + "\n");
    }
}
