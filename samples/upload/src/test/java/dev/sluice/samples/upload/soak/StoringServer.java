package dev.sluice.samples.upload.soak;

import dev.sluice.samples.upload.ServerConfig;
import dev.sluice.samples.upload.UploadServer;
import dev.sluice.samples.upload.clients.Received;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * The sample server in a process with a small heap of fixed size. The whole heap is resident from the start and the
 * JVM's own memory is bounded, so growth of resident memory indicates a leak.
 */
final class StoringServer implements AutoCloseable {
    private static final List<String> OPTIONS = List.of(
            "-Xms128m",
            "-Xmx128m",
            "-XX:+AlwaysPreTouch",
            "-XX:MaxDirectMemorySize=64m",
            "-XX:ReservedCodeCacheSize=64m",
            "-XX:MaxMetaspaceSize=64m",
            "-XX:+UseSerialGC",
            "-XX:+ExitOnOutOfMemoryError",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=off");
    private static final long PATIENCE_SECONDS = 180;

    private final Path directory;
    private final Path errors = Files.createTempFile("sluice-soak", ".err");
    private final ServerProcess process;

    StoringServer(Path directory, long maxBodyBytes, String... options) throws IOException {
        this.directory = directory;
        List<String> all = new ArrayList<>(OPTIONS);
        all.addAll(List.of(options));
        this.process = new ServerProcess(errors, StoringServer.class, all, directory, maxBodyBytes);
    }

    /** Runs in the server process; the arguments are a directory and the size of the largest body, in bytes. */
    public static void main(String[] arguments) throws IOException {
        ServerConfig config = ServerConfig.of(Path.of(arguments[0]))
                .withMaxBodyBytes(Long.parseLong(arguments[1]))
                .withKeepFreeBytes(0);
        try (UploadServer server = UploadServer.start(config)) {
            ServerProcess.answer(server.port(), () -> Vitals.now(0, 0));
        }
    }

    int port() {
        return process.port();
    }

    long residentBytes() throws IOException {
        return process.residentBytes();
    }

    /** {@return the resources in use after a garbage collection, once no upload is active} */
    Vitals settled(Client client) throws IOException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        String metrics = client.metrics();
        while (!metrics.contains("\nsluice_uploads_active 0.0\n")
                || !metrics.contains("\nsluice_bytes_in_flight 0.0\n")
                || !Received.waiting(directory).isEmpty()) {
            if (System.nanoTime() - end > 0) {
                throw new IOException("uploads are still active: " + Received.waiting(directory) + metrics);
            }
            metrics = client.metrics();
        }
        return process.collect();
    }

    List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.toList();
        }
    }

    /** {@return the stored files that were not deleted} */
    List<Path> stored() throws IOException {
        return files().stream().filter(file -> !Files.isDirectory(file)).toList();
    }

    /** Ends the process and requires that only stored files are left. */
    void end() throws IOException, InterruptedException {
        process.end();
        if (!files().equals(stored())) {
            throw new IOException("the server left " + files());
        }
    }

    @Override
    public void close() throws IOException {
        process.close();
        Files.deleteIfExists(errors);
    }
}
