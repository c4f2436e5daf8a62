package dev.sluice.bench.report;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What one command measured.
 *
 * @param command as typed
 * @param date of the end, ISO 8601
 * @param machine processor, cores, memory, kernel; where a server was loaded, with what
 * @param jvm name and version of the virtual machine
 * @param versions of every parser measured
 * @param jvmArgs of the forks, as far as they are common to all
 * @param rows the figures
 * @param seconds how long it took; 0 where that was not written down
 * @param again when groups of figures were measured again, by their names; mostly empty
 */
public record Run(
        String command,
        String date,
        Map<String, String> machine,
        Map<String, String> jvm,
        Map<String, String> versions,
        List<String> jvmArgs,
        List<Row> rows,
        double seconds,
        @Nullable Map<String, String> again) {

    /** What {@link #machine} calls the program that loads a server. */
    public static final String LOAD = "load";

    private static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    /** A file written before there was such a thing has nothing there. */
    public Run {
        again = again == null ? Map.of() : again;
    }

    /** A run of which nobody knows how long it took. */
    public Run(
            String command,
            String date,
            Map<String, String> machine,
            Map<String, String> jvm,
            Map<String, String> versions,
            List<String> jvmArgs,
            List<Row> rows) {
        this(command, date, machine, jvm, versions, jvmArgs, rows, 0, Map.of());
    }

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

    /** What was measured, for example "peers". */
    public String commandName() {
        int start = command.indexOf(".jar ");
        return command.substring(start < 0 ? 0 : start + ".jar ".length()).split("[ ,]", 2)[0];
    }

    /** Whether all rows of the command were asked for. */
    public boolean full() {
        return !command.contains(" --quick") && !command.contains(" --only");
    }

    /** CPU, JVM, command and date in one line, and what of it is younger than the rest. */
    public String provenance() {
        String younger = again().isEmpty()
                ? ""
                : "; groups of rows measured again: %d, the last %s"
                        .formatted(again().size(), Collections.max(again().values()));
        String load = machine.containsKey(LOAD) ? "; loaded by " + machine.get(LOAD) : "";
        return "%s, %s cores; %s %s; `%s`; %s%s%s"
                .formatted(
                        machine.get("cpu"),
                        machine.get("cores"),
                        jvm.get("name"),
                        jvm.get("version"),
                        command,
                        date,
                        load,
                        younger);
    }
}
