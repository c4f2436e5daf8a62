package dev.sluice.bench.peer;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/**
 * The environment of a measurement: command, machine, JVM and versions. It contains no paths and no names of hosts or users.
 *
 * @param date the time of the end in ISO 8601 format
 * @param machine processor, cores, memory and operating system; for servers also the load tool
 * @param versions the version of every parser, recorded by the build
 */
public record Provenance(
        String command,
        String date,
        Map<String, String> machine,
        Map<String, String> jvm,
        Map<String, String> versions,
        double seconds) {
    /**
     * Returns the environment of a measurement that ends now and started with this JVM.
     *
     * @param more additional properties of the machine
     */
    public static Provenance now(String command, Map<String, String> more) {
        Map<String, String> machine = new LinkedHashMap<>();
        machine.put("cpu", fromProc("/proc/cpuinfo", "model name"));
        machine.put("cores", Integer.toString(Runtime.getRuntime().availableProcessors()));
        machine.put("memory", fromProc("/proc/meminfo", "MemTotal"));
        machine.put("os", System.getProperty("os.name") + " " + System.getProperty("os.arch"));
        machine.putAll(more);
        Map<String, String> jvm = new LinkedHashMap<>();
        jvm.put("name", System.getProperty("java.vm.name"));
        jvm.put("vendor", System.getProperty("java.vendor"));
        jvm.put("version", System.getProperty("java.runtime.version"));
        Properties versions = new Properties();
        try (InputStream in = Provenance.class.getResourceAsStream("/versions.properties")) {
            versions.load(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Map<String, String> sorted = new TreeMap<>();
        versions.forEach((name, version) -> sorted.put((String) name, (String) version));
        String now = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
        return new Provenance(command, now, machine, jvm, sorted, uptime());
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

    public static double uptime() {
        return ManagementFactory.getRuntimeMXBean().getUptime() / 1000.0;
    }

    public Provenance plusSeconds(double more) {
        return new Provenance(command, date, machine, jvm, versions, seconds + more);
    }

    public String jdk() {
        return jvm.getOrDefault("version", "?").split("\\.")[0];
    }

    /** Returns the processor, the number of cores and the JVM. */
    public String where() {
        return "%s, %s cores; %s %s"
                .formatted(machine.get("cpu"), machine.get("cores"), jvm.get("name"), jvm.get("version"));
    }
}
