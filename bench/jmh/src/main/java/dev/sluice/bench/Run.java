package dev.sluice.bench;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import dev.sluice.bench.peer.Provenance;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What one command measured.
 *
 * @param jvmArgs of the forks, as far as they are common to all
 * @param again when groups of figures were measured again, by their names; mostly empty
 */
record Run(
        @JsonUnwrapped Provenance provenance,
        List<String> jvmArgs,
        List<Row> rows,
        @Nullable Map<String, String> again) {
    /** What the {@linkplain Provenance#machine machine} has the program that loads a server. */
    static final String LOAD = "load";

    private static final ObjectMapper JSON = new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

    /** A file written before there was such a thing has nothing there. */
    Run {
        again = again == null ? Map.of() : again;
    }

    /**
     * A run that ends now and began with this JVM.
     *
     * @param more of the machine
     */
    static Run now(String command, Map<String, String> more, List<String> jvmArgs, List<Row> rows) {
        return new Run(Provenance.now("java -jar sluice-bench.jar " + command, more), jvmArgs, rows, Map.of());
    }

    /** The same with new figures in the place of old ones, those of whole groups. */
    Run with(Set<String> groups, Run now) {
        Map<String, Row> figures = byKey();
        figures.putAll(now.byKey());
        Map<String, String> dates = new TreeMap<>(again);
        groups.forEach(group -> dates.put(group, now.provenance.date()));
        return new Run(provenance.lasting(now.provenance.seconds()), jvmArgs, List.copyOf(figures.values()), dates);
    }

    /**
     * Where the results of a command go.
     *
     * @param whole whether all was measured, in full: only then it goes over what is recorded
     */
    static Path file(String command, boolean whole) {
        String name = command + "-jdk" + Runtime.version().feature() + ".json";
        return Path.of("bench", whole ? "results" : "jmh/target", name);
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

    /** What was measured, for example "peers". */
    String commandName() {
        return provenance.command().replaceFirst(".*\\.jar ", "").split("[ ,]", 2)[0];
    }

    /** Whether all rows of the command were asked for. */
    boolean full() {
        return !provenance.command().matches(".* --(quick|only).*");
    }

    Map<String, Row> byKey() {
        Map<String, Row> byKey = new LinkedHashMap<>();
        rows.forEach(row -> byKey.put(row.key(), row));
        return byKey;
    }

    Stream<Row> pick(String query) {
        return rows.stream().filter(row -> row.matches(query));
    }

    /** {@return the first row picked that has a figure, and not of a parser whose result was wrong} */
    Optional<Row> find(String query) {
        return pick(query).filter(row -> row.score() != null && !row.wrong()).findFirst();
    }

    /** CPU, JVM, command, date and length in one line, and what of it is younger than the rest. */
    String heading() {
        String load = provenance.machine().get(LOAD);
        String younger = "; groups of rows measured again: %d, the last %s";
        return "%s; `%s`; %s; %d minutes%s%s"
                .formatted(
                        provenance.where(),
                        provenance.command(),
                        provenance.date(),
                        Math.round(provenance.seconds() / 60),
                        load == null ? "" : "; loaded by " + load,
                        again.isEmpty() ? "" : younger.formatted(again.size(), Collections.max(again.values())));
    }
}
