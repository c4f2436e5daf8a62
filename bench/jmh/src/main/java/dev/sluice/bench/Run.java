package dev.sluice.bench;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import dev.sluice.bench.peer.Provenance;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The results of one command.
 *
 * @param jvmArgs the JVM arguments common to all forks
 * @param again the names of groups that were measured again later, with the time; usually empty
 */
record Run(
        @JsonUnwrapped Provenance provenance,
        List<String> jvmArgs,
        List<Row> rows,
        @Nullable Map<String, String> again) {
    /** The key of the load tool in {@link Provenance#machine}. */
    static final String LOAD = "load";

    /** The directory {@code bench}, found from the jar of this program in {@code bench/jmh/target}. */
    static final Path BENCH = bench();

    private static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    /** Files written by older versions have no {@code again}. */
    Run {
        again = again == null ? Map.of() : again;
    }

    /**
     * Creates a run that ends now and started with this JVM.
     *
     * @param more additional properties of the machine
     */
    static Run now(String command, Map<String, String> more, List<String> jvmArgs, List<Row> rows) {
        return new Run(Provenance.now("java -jar sluice-bench.jar " + command, more), jvmArgs, rows, Map.of());
    }

    /** Returns a copy in which the figures of some groups are replaced. */
    Run with(Set<String> groups, Run now) {
        Map<String, Row> figures = byKey();
        figures.putAll(now.byKey());
        Map<String, String> dates = new TreeMap<>(again);
        groups.forEach(group -> dates.put(group, now.provenance.date()));
        return new Run(provenance.plusSeconds(now.provenance.seconds()), jvmArgs, List.copyOf(figures.values()), dates);
    }

    /**
     * Returns the file for the results of a command.
     *
     * @param whole whether everything was measured with full effort. Only such a run replaces the recorded one.
     */
    static Path file(String command, boolean whole) {
        String name = command + "-jdk" + Runtime.version().feature() + ".json";
        return BENCH.resolve(whole ? "results" : "jmh/target").resolve(name);
    }

    private static Path bench() {
        try {
            URI program = Run.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI();
            return Path.of(program).resolve("../../..").normalize();
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    static Run read(Path file) {
        try {
            return JSON.readValue(file.toFile(), Run.class);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    void write(Path file) {
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            Files.writeString(file, JSON.writeValueAsString(this) + "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Map<String, Row> byKey() {
        Map<String, Row> byKey = new LinkedHashMap<>();
        rows.forEach(row -> byKey.put(row.key(), row));
        return byKey;
    }

    /** Returns a line with the CPU, JVM, command, date and duration of the run. */
    String heading() {
        String load = provenance.machine().get(LOAD);
        String repeated = "; groups of rows measured again: %d, the last %s";
        return "%s; `%s`; %s; %d minutes%s%s"
                .formatted(
                        provenance.where(),
                        provenance.command(),
                        provenance.date(),
                        Math.round(provenance.seconds() / 60),
                        load == null ? "" : "; loaded by " + load,
                        again.isEmpty() ? "" : repeated.formatted(again.size(), Collections.max(again.values())));
    }
}
