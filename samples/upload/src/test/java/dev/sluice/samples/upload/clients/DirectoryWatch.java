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

/** Waits for what a server stores in a directory, or is about to. */
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

    /** Returns once the names of the files are as wanted, and fails when nothing happens any more before they are. */
    public void await(String what, Predicate<Set<String>> wanted) throws IOException, InterruptedException {
        while (!wanted.test(Received.names(directory))) {
            WatchKey key = service.poll(MAX_SECONDS, TimeUnit.SECONDS);
            assertNotNull(key, () -> what + ": waited in vain");
            key.pollEvents();
            key.reset();
        }
    }

    @Override
    public void close() throws IOException {
        service.close();
    }
}
