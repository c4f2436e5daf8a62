package dev.sluice.testkit;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;

/**
 * The uploaded files in a directory that a server is using. Unlike {@link Files#walk}, does not fail if a file
 * disappears during the walk.
 */
public final class SpooledFiles {
    private SpooledFiles() {}

    /** {@return the files that exist now, without the spool's directories and locks} */
    public static List<Path> below(Path directory) throws IOException {
        List<Path> found = new ArrayList<>();
        Files.walkFileTree(directory, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (!file.toString().endsWith(".lock")) {
                    found.add(file);
                }
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException failure) throws IOException {
                return ignoreDeleted(failure);
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, IOException failure) throws IOException {
                return ignoreDeleted(failure);
            }

            private FileVisitResult ignoreDeleted(IOException failure) throws IOException {
                if (failure == null || failure instanceof NoSuchFileException) { // deleted during the walk
                    return FileVisitResult.CONTINUE;
                }
                throw failure;
            }
        });
        return found;
    }
}
