package dev.sluice.bench;

import dev.sluice.bench.report.Row;
import dev.sluice.bench.report.Run;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** What figures depend on beside the code: machine, virtual machine, versions. No paths, no names of hosts or users. */
final class Environment {

    private Environment() {}

    static Map<String, String> machine() {
        Map<String, String> machine = new LinkedHashMap<>();
        machine.put("cpu", fromProc("/proc/cpuinfo", "model name"));
        machine.put("cores", Integer.toString(Runtime.getRuntime().availableProcessors()));
        machine.put("memory", fromProc("/proc/meminfo", "MemTotal"));
        machine.put("os", System.getProperty("os.name") + " " + System.getProperty("os.arch"));
        return machine;
    }

    static Map<String, String> jvm() {
        Map<String, String> jvm = new LinkedHashMap<>();
        jvm.put("name", System.getProperty("java.vm.name"));
        jvm.put("vendor", System.getProperty("java.vendor"));
        jvm.put("version", System.getProperty("java.runtime.version"));
        return jvm;
    }

    /** Versions of the libraries measured, as the build wrote them down. */
    static Map<String, String> versions() {
        Properties properties = new Properties();
        try (InputStream in = Environment.class.getResourceAsStream("/versions.properties")) {
            properties.load(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Map<String, String> versions = new TreeMap<>();
        properties.forEach((name, version) -> versions.put((String) name, (String) version));
        return versions;
    }

    /** A run that ends now and began with this JVM. */
    static Run run(String command, List<String> jvmArgs, List<Row> rows) {
        return run(command, machine(), jvmArgs, rows);
    }

    /** The same on a machine of which more is told than what {@link #machine} knows. */
    static Run run(String command, Map<String, String> machine, List<String> jvmArgs, List<Row> rows) {
        return new Run(
                "java -jar sluice-bench.jar " + command,
                Instant.now().truncatedTo(ChronoUnit.SECONDS).toString(),
                machine,
                jvm(),
                versions(),
                jvmArgs,
                rows,
                ManagementFactory.getRuntimeMXBean().getUptime() / 1000.0,
                Map.of());
    }

    /**
     * Where the results of a command go unless the user says something else.
     *
     * @param whole whether all was measured, in full: only then it goes over what is recorded
     */
    static Path resultFile(@Nullable Path chosen, String command, boolean whole) {
        return chosen != null
                ? chosen
                : Path.of(
                        "bench",
                        whole ? "results" : "target",
                        command + "-jdk" + Runtime.version().feature() + ".json");
    }

    private static String fromProc(String file, String field) {
        try {
            for (String line : Files.readAllLines(Path.of(file))) {
                if (line.startsWith(field)) {
                    return line.substring(line.indexOf(':') + 1).strip();
                }
            }
        } catch (IOException e) {
            return "unknown";
        }
        return "unknown";
    }
}
