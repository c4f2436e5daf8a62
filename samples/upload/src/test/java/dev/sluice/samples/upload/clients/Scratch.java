package dev.sluice.samples.upload.clients;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A temporary directory for the files that a client sends or a program needs. It is deleted on close. */
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

    /** {@return a new file with these bytes} */
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
