package dev.sluice.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A measured server in its own JVM. It is controlled through its standard input and exits when that is closed. */
final class ServerProcess implements AutoCloseable {
    static final List<String> JVM_ARGS = List.of(
            "-Xms256m",
            "-Xmx256m",
            "-XX:+AlwaysPreTouch",
            "-XX:MaxDirectMemorySize=1g",
            "-Dio.netty.leakDetection.level=disabled");

    private static final long SECONDS_TO_END = 20;
    private static final String RESET_PEAK = "5";

    private final Process process;
    private final BufferedReader out;
    private final Writer in;
    private int port;

    /**
     * The resources used by a server.
     *
     * @param threads the CPU time of each thread, including JVM threads, from {@code /proc}; empty on other systems. Java reports CPU time
     *     in steps of 10 ms only.
     * @param directBytes the direct memory in use or pooled at this time
     * @param bytes the number of body bytes received since the start; with Sluice's handler, the bytes of complete bodies only
     */
    record Usage(Map<String, Long> threads, long processNanos, long directBytes, long bytes) {
        double cpuSecondsSince(Usage before) {
            if (threads.isEmpty() || before.threads.isEmpty()) {
                return (processNanos - before.processNanos) / 1e9;
            }
            return threads.entrySet().stream()
                            .mapToLong(each -> each.getValue() - before.threads.getOrDefault(each.getKey(), 0L))
                            .sum()
                    / 1e9;
        }
    }

    /**
     * Starts a server.
     *
     * @param options additional JVM options
     */
    ServerProcess(List<String> options, Class<?> main, String... args) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(JVM_ARGS);
        command.addAll(options);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(args));
        process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        out = process.inputReader(StandardCharsets.UTF_8);
        in = process.outputWriter(StandardCharsets.UTF_8);
    }

    /** Waits until the server listens and returns its port. */
    int port() throws IOException {
        port = port == 0 ? Integer.parseInt(line("port")) : port;
        return port;
    }

    Usage usage() throws IOException {
        in.write("usage\n");
        in.flush();
        String[] figures = line("usage").split(" ");
        long cpu = process.info().totalCpuDuration().map(Duration::toNanos).orElse(0L);
        return new Usage(threads(), cpu, Long.parseLong(figures[0]), Long.parseLong(figures[1]));
    }

    private Map<String, Long> threads() {
        Map<String, Long> threads = new HashMap<>();
        try (DirectoryStream<Path> tasks = Files.newDirectoryStream(proc("task"))) {
            for (Path task : tasks) {
                String[] counts = Files.readString(task.resolve("schedstat")).split(" ");
                threads.put(task.getFileName().toString(), Long.parseLong(counts[0]));
            }
            return threads;
        } catch (IOException e) {
            // Not Linux, or a thread ended while it was read. The CPU time of the process is used instead.
            return Map.of();
        }
    }

    /** Resets the peak of the resident set, if the system supports it. */
    void resetPeak() {
        try {
            Files.writeString(proc("clear_refs"), RESET_PEAK);
        } catch (IOException e) {
            // Not Linux. The peak since the start is reported.
        }
    }

    /** Returns the peak of the resident set in bytes, or 0 if it is not available. */
    long peakBytes() {
        try (Stream<String> lines = Files.lines(proc("status"))) {
            return lines.filter(line -> line.startsWith("VmHWM:"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) << 10)
                    .sum();
        } catch (IOException e) {
            return 0;
        }
    }

    private Path proc(String file) {
        return Path.of("/proc", Long.toString(process.pid()), file);
    }

    private String line(String expected) throws IOException {
        String line = out.readLine();
        if (line == null || !line.startsWith(expected + " ")) {
            throw new IOException("Unexpected output of the measured server: " + line);
        }
        return line.substring(expected.length() + 1);
    }

    @Override
    public void close() {
        try {
            in.close();
            if (!process.waitFor(SECONDS_TO_END, TimeUnit.SECONDS)) {
                throw new IllegalStateException("The measured server did not exit in time");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            process.destroyForcibly();
        }
    }
}
