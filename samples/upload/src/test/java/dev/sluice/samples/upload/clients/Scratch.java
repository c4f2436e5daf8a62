package dev.sluice.samples.upload.clients;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A directory for files that a client is to send, or that a program needs; gone when it is closed. */
public final class Scratch implements AutoCloseable {
    private final Path directory;
    private int count;

    private Scratch(Path directory) {
        this.directory = directory;
    }

    public static Scratch create() throws IOException {
        return new Scratch(Files.createTempDirectory("sluice-sent"));
    }

    public Path directory() {
        return directory;
    }

    /** {@return a new file that holds the bytes} */
    public Path file(byte[] content) throws IOException {
        return Files.write(directory.resolve("part" + count++), content);
    }

    @Override
    public void close() throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        }
    }
}
