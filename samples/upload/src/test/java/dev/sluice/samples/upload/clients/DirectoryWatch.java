package dev.sluice.samples.upload.clients;

import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.io.IOException;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** A watcher for the files that a server stores in a directory or has in its spool. */
public final class DirectoryWatch implements AutoCloseable {
    private static final long MAX_SECONDS = 120;

    private final Path directory;
    private final WatchService service;

    private DirectoryWatch(Path directory, WatchService service) {
        this.directory = directory;
        this.service = service;
    }

    public static DirectoryWatch of(Path directory) throws IOException {
        WatchService service = directory.getFileSystem().newWatchService();
        for (Path spool : Received.spools(directory)) {
            spool.register(service, StandardWatchEventKinds.ENTRY_CREATE, StandardWatchEventKinds.ENTRY_DELETE);
        }
        directory.register(service, StandardWatchEventKinds.ENTRY_CREATE, StandardWatchEventKinds.ENTRY_DELETE);
        return new DirectoryWatch(directory, service);
    }

    /** Waits until the names of the files match. Fails if they do not match, and no file has changed for a long time. */
    public void await(String what, Predicate<Set<String>> wanted) throws IOException, InterruptedException {
        while (!wanted.test(Received.names(directory))) {
            WatchKey key = service.poll(MAX_SECONDS, TimeUnit.SECONDS);
            assertNotNull(key, () -> what + ": timed out");
            key.pollEvents();
            key.reset();
        }
    }

    @Override
    public void close() throws IOException {
        service.close();
    }
}
