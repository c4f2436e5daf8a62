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

/** The files of uploads below a directory, while a server works there: {@link Files#walk} fails where a file goes on the way. */
public final class SpooledFiles {
    private SpooledFiles() {}

    /** {@return those that are there; not the directories and locks of the spool itself} */
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
                return goOn(failure);
            }

            @Override
            public FileVisitResult postVisitDirectory(Path directory, IOException failure) throws IOException {
                return goOn(failure);
            }

            private FileVisitResult goOn(IOException failure) throws IOException {
                if (failure == null || failure instanceof NoSuchFileException) { // it went while we looked
                    return FileVisitResult.CONTINUE;
                }
                throw failure;
            }
        });
        return found;
    }
}
