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

/** A measured server in a JVM of its own. It is asked by lines on its standard input and ends when that is closed. */
final class ServerProcess implements AutoCloseable {
    /** What the JVM of every server is started with. */
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
     * CPU time since its start, direct memory now, used or pooled, and the bytes that came, of complete bodies or not.
     *
     * @param threads CPU time of each thread where the system tells it, those of the JVM included, because what Java tells
     *     comes in steps of 10 ms; empty elsewhere
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
     * @param options of the JVM, beside its own
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

    /** Waits until it listens. */
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
            // Not on this system, or a thread ended meanwhile: the process as a whole will do.
            return Map.of();
        }
    }

    /** Forgets the peak of the resident set, where the system can. */
    void resetPeak() {
        try {
            Files.writeString(proc("clear_refs"), RESET_PEAK);
        } catch (IOException e) {
            // Not on this system: the peak is then that since the start.
        }
    }

    /** {@return the peak of the resident set in bytes; 0 where the system does not tell} */
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
            throw new IOException("the measured server said: " + line);
        }
        return line.substring(expected.length() + 1);
    }

    @Override
    public void close() {
        try {
            in.close();
            if (!process.waitFor(SECONDS_TO_END, TimeUnit.SECONDS)) {
                throw new IllegalStateException("a measured server does not end");
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
