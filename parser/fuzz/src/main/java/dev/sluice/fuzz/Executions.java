package dev.sluice.fuzz;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.LocalDate;
import java.time.ZoneOffset;

/** The record of executions: their number and duration for each target, JVM and day. */
final class Executions {
    private static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    private final Path file;

    Executions(Path file) {
        this.file = file;
    }

    /** Adds a run to the row of its target, JVM and day; creates the row if necessary. */
    void add(Target target, long executions, long seconds) throws IOException {
        ArrayNode rows = read();
        String jvm = System.getProperty("java.vm.name") + " " + System.getProperty("java.runtime.version");
        String date = LocalDate.now(ZoneOffset.UTC).toString();
        ObjectNode row = rows.addObject()
                .put("target", target.toString())
                .put("jvm", jvm)
                .put("date", date);
        for (int i = 0; i < rows.size() - 1; i++) {
            ObjectNode other = (ObjectNode) rows.get(i);
            if (other.deepCopy().retain("target", "jvm", "date").equals(row)) {
                row = other;
                rows.remove(rows.size() - 1);
            }
        }
        row.put("executions", row.path("executions").asLong() + executions);
        row.put("seconds", row.path("seconds").asLong() + seconds);
        Path written = Files.createTempFile(file.toAbsolutePath().getParent(), "executions", ".json");
        Files.writeString(written, JSON.writeValueAsString(rows) + "\n");
        Files.move(written, file, StandardCopyOption.REPLACE_EXISTING);
    }

    long total() throws IOException {
        long total = 0;
        for (JsonNode row : read()) {
            total += row.get("executions").asLong();
        }
        return total;
    }

    private ArrayNode read() throws IOException {
        return Files.exists(file) ? (ArrayNode) JSON.readTree(file.toFile()) : JSON.createArrayNode();
    }
}
