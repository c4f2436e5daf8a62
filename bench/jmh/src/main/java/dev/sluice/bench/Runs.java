package dev.sluice.bench;

import dev.sluice.bench.peer.Environment;
import dev.sluice.bench.report.Row;
import dev.sluice.bench.report.Run;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** How a run is recorded, and where. */
final class Runs {
    private Runs() {}

    /** A run that ends now and began with this JVM. */
    static Run now(String command, Map<String, String> machine, List<String> jvmArgs, List<Row> rows) {
        return new Run(
                "java -jar sluice-bench.jar " + command,
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
                machine,
                Environment.jvm(),
                Environment.versions(),
                jvmArgs,
                rows,
                ManagementFactory.getRuntimeMXBean().getUptime() / 1000.0,
                Map.of());
    }

    /** The recorded run with the new figures in the place of the old ones, those of whole groups. */
    static Run replaced(Run recorded, Set<String> groups, Run now) {
        Map<String, Row> figures = new LinkedHashMap<>();
        recorded.rows().forEach(row -> figures.put(row.key(), row));
        now.rows().forEach(row -> figures.put(row.key(), row));
        Map<String, String> again = new TreeMap<>(recorded.again());
        groups.forEach(group -> again.put(group, now.date()));
        return new Run(
                recorded.command(),
                recorded.date(),
                recorded.machine(),
                recorded.jvm(),
                recorded.versions(),
                recorded.jvmArgs(),
                List.copyOf(figures.values()),
                recorded.seconds() + now.seconds(),
                again);
    }

    /**
     * Where the results of a command go unless the user says something else.
     *
     * @param whole whether all was measured, in full: only then it goes over what is recorded
     */
    static Path file(@Nullable Path chosen, String command, boolean whole) {
        String name = command + "-jdk" + Runtime.version().feature() + ".json";
        return chosen != null ? chosen : Path.of("bench", whole ? "results" : "jmh/target", name);
    }
}
