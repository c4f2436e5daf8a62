package dev.sluice.samples.upload.soak;

import dev.sluice.samples.upload.clients.Received;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A {@link SoakHost} with a small heap of fixed size, and what can be seen of it from outside. All of its heap is
 * resident from the start, what the virtual machine needs for itself is bounded, and the C library keeps few pools of
 * memory, so that resident memory which still grows has been allocated and not been freed.
 */
final class HostProcess implements AutoCloseable {
    static final int HEAP_MEBIBYTES = 128;
    static final int DIRECT_MEBIBYTES = 64;
    private static final int CODE_MEBIBYTES = 64;
    private static final int METASPACE_MEBIBYTES = 64;

    private static final long PATIENCE_SECONDS = 60;

    private final Path directory;
    private final Process process;
    private final BufferedReader answers;
    private final BufferedWriter questions;
    private final int port;

    HostProcess(Path directory, long maxBodyBytes, long keepFreeBytes) throws IOException {
        this.directory = directory;
        ProcessBuilder builder = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xms" + HEAP_MEBIBYTES + "m",
                        "-Xmx" + HEAP_MEBIBYTES + "m",
                        "-XX:+AlwaysPreTouch",
                        "-XX:MaxDirectMemorySize=" + DIRECT_MEBIBYTES + "m",
                        "-XX:ReservedCodeCacheSize=" + CODE_MEBIBYTES + "m",
                        "-XX:MaxMetaspaceSize=" + METASPACE_MEBIBYTES + "m",
                        "-XX:+UseSerialGC",
                        "-XX:+ExitOnOutOfMemoryError",
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
                        "-cp",
                        System.getProperty("java.class.path"),
                        SoakHost.class.getName(),
                        directory.toString(),
                        Long.toString(maxBodyBytes),
                        Long.toString(keepFreeBytes))
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().put("MALLOC_ARENA_MAX", "2");
        this.process = builder.start();
        this.answers = process.inputReader();
        this.questions = process.outputWriter();
        this.port = Integer.parseInt(line());
    }

    private String line() throws IOException {
        String line = answers.readLine();
        if (line == null) {
            throw new IOException("the server has ended");
        }
        return line;
    }

    int port() {
        return port;
    }

    /** {@return what it has in use after a collection of garbage, once it receives nothing any more} */
    Vitals settled(Client client) throws IOException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        String metrics = client.metrics();
        while (!metrics.contains("\nsluice_uploads_active 0.0\n")
                || !metrics.contains("\nsluice_bytes_in_flight 0.0\n")
                || !Received.waiting(directory).isEmpty()) {
            if (System.nanoTime() - end > 0) {
                throw new IOException("uploads do not end: " + Received.waiting(directory) + metrics);
            }
            metrics = client.metrics();
        }
        questions.write("collect");
        questions.newLine();
        questions.flush();
        return Vitals.ofLine(line());
    }

    /** {@return its memory as the system counts it, in bytes} */
    long residentBytes() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc", Long.toString(process.pid()), "status"))) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(
                                line.replace("VmRSS:", "").replace("kB", "").strip())
                        << 10;
            }
        }
        throw new IOException("no VmRSS");
    }

    /** {@return what is in its directory} */
    List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.toList();
        }
    }

    /** {@return what was stored and not fetched} */
    List<Path> stored() throws IOException {
        return files().stream().filter(file -> !Files.isDirectory(file)).toList();
    }

    /** Ends the process as its input ends, and sees to it that it left nothing but what it has stored. */
    void end() throws IOException, InterruptedException {
        questions.close();
        if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
            throw new IOException("the server did not end well");
        }
        if (!files().equals(stored())) {
            throw new IOException("the server left " + files());
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
