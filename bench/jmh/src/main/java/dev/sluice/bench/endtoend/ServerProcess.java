package dev.sluice.bench.endtoend;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
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

    private static final String MAIN = MeasuredServer.class.getName();
    private static final long SECONDS_TO_END = 20;
    private static final String RESET_PEAK = "5";

    private final Process process;
    private final BufferedReader out;
    private final Writer in;
    private final int port;

    /** CPU time since its start, direct memory now, used or pooled, and the bytes that came, of complete bodies or not. */
    record Usage(CpuMark cpu, long directBytes, long bytes) {}

    private ServerProcess(Process process) throws IOException {
        this.process = process;
        this.out = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
        this.in = process.outputWriter(StandardCharsets.UTF_8);
        this.port = Integer.parseInt(line("port"));
    }

    /** Starts a server and waits until it listens. */
    static ServerProcess start(Variant variant) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(JVM_ARGS);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), MAIN, variant.id()));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try {
            return new ServerProcess(process);
        } catch (IOException | RuntimeException e) {
            process.destroyForcibly();
            throw e;
        }
    }

    int port() {
        return port;
    }

    Usage usage() throws IOException {
        ask("usage");
        String[] figures = line("usage").split(" ");
        return new Usage(
                CpuMark.of(process.pid(), Long.parseLong(figures[0])),
                Long.parseLong(figures[1]),
                Long.parseLong(figures[2]));
    }

    /** Has the following bodies checked against their sums, which takes time of its own, or not. */
    void checksums(boolean on) throws IOException {
        ask("checksums " + on);
        line("checksums");
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

    private void ask(String command) throws IOException {
        in.write(command + "\n");
        in.flush();
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

    /**
     * CPU time of a process up to a moment: of each thread in nanoseconds where the system tells it, those of the JVM included,
     * because what Java tells comes in steps of 10 ms.
     */
    record CpuMark(Map<String, Long> threads, long processNanos) {
        static CpuMark of(long pid, long processNanos) {
            Map<String, Long> threads = new HashMap<>();
            try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc", Long.toString(pid), "task"))) {
                for (Path task : tasks) {
                    String counts = Files.readString(task.resolve("schedstat"));
                    threads.put(
                            task.getFileName().toString(), Long.parseLong(counts.substring(0, counts.indexOf(' '))));
                }
            } catch (IOException e) {
                // Not on this system, or a thread ended meanwhile: the process as a whole will do.
                return new CpuMark(Map.of(), processNanos);
            }
            return new CpuMark(threads, processNanos);
        }

        double secondsSince(CpuMark before) {
            if (threads.isEmpty() || before.threads().isEmpty()) {
                return (processNanos - before.processNanos()) / 1e9;
            }
            long nanos = 0;
            for (Map.Entry<String, Long> thread : threads.entrySet()) {
                nanos += thread.getValue() - before.threads().getOrDefault(thread.getKey(), 0L);
            }
            return nanos / 1e9;
        }
    }
}
