package dev.sluice.bench.report;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * What one command measured.
 *
 * @param command as typed
 * @param date of the end, ISO 8601
 * @param machine processor, cores, memory, kernel
 * @param jvm name and version of the virtual machine
 * @param versions of every parser measured
 * @param jvmArgs of the forks, as far as they are common to all
 * @param rows the figures
 */
public record Run(
        String command,
        String date,
        Map<String, String> machine,
        Map<String, String> jvm,
        Map<String, String> versions,
        List<String> jvmArgs,
        List<Row> rows) {

    private static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    public static Run read(Path file) {
        try {
            return JSON.readValue(file.toFile(), Run.class);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public void write(Path file) {
        try {
            if (file.getParent() != null) {
                Files.createDirectories(file.getParent());
            }
            Files.writeString(file, JSON.writeValueAsString(this) + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** CPU, JVM, command and date in one line. */
    public String provenance() {
        return "%s, %s cores; %s %s; `%s`; %s"
                .formatted(
                        machine.get("cpu"), machine.get("cores"), jvm.get("name"), jvm.get("version"), command, date);
    }
}
