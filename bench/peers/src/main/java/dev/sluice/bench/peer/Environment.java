package dev.sluice.bench.peer;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/** What figures depend on beside the code: machine, virtual machine, versions. No paths, no names of hosts or users. */
public final class Environment {
    private Environment() {}

    public static Map<String, String> machine() {
        Map<String, String> machine = new LinkedHashMap<>();
        machine.put("cpu", fromProc("/proc/cpuinfo", "model name"));
        machine.put("cores", Integer.toString(Runtime.getRuntime().availableProcessors()));
        machine.put("memory", fromProc("/proc/meminfo", "MemTotal"));
        machine.put("os", System.getProperty("os.name") + " " + System.getProperty("os.arch"));
        return machine;
    }

    public static Map<String, String> jvm() {
        Map<String, String> jvm = new LinkedHashMap<>();
        jvm.put("name", System.getProperty("java.vm.name"));
        jvm.put("vendor", System.getProperty("java.vendor"));
        jvm.put("version", System.getProperty("java.runtime.version"));
        return jvm;
    }

    /** Versions of the libraries measured, as the build wrote them down. */
    public static Map<String, String> versions() {
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
