package dev.sluice.samples.upload;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class UploadDirectoryTest {
    @TempDir
    Path path;

    private List<String> names() throws IOException {
        try (Stream<Path> files = Files.list(path)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    @Test
    void publishingGivesTheVeryFileItsNameAndNeverReplacesOne() throws IOException {
        Files.write(path.resolve("a.txt"), new byte[] {1});
        try (UploadDirectory directory = UploadDirectory.open(path, 0)) {
            Path part = directory.newPartFile();
            Files.write(part, new byte[] {2});
            Object key = Files.readAttributes(part, "unix:ino").get("ino");
            Path published = directory.publish(part, "a.txt");

            assertEquals(path.resolve("a-1.txt"), published);
            assertEquals(key, Files.readAttributes(published, "unix:ino").get("ino"));
            assertEquals(1, Files.getAttribute(published, "unix:nlink"));
            assertFalse(Files.exists(part));
        }
        assertArrayEquals(new byte[] {1}, Files.readAllBytes(path.resolve("a.txt")));
        assertEquals(List.of("a-1.txt", "a.txt"), names());
    }

    @Test
    void theFilesOfAnOwnerWhoseLockNobodyHoldsAreSwept() throws IOException {
        for (String name : List.of(".sluice-0a.lock", ".sluice-0a-1.part", ".sluice-0a-2.part", ".sluice-0b-1.part")) {
            Files.createFile(path.resolve(name));
        }
        UploadDirectory.open(path, 0).close();

        assertEquals(List.of(".sluice-0b-1.part"), names());
    }

    @Test
    void theFilesOfAnotherOwnerInThisProcessAreKept() throws IOException {
        try (UploadDirectory directory = UploadDirectory.open(path, 0)) {
            Path part = directory.newPartFile();
            UploadDirectory.open(path, 0).close();
            assertEquals(2, names().size());
            Files.delete(part);
        }
        assertEquals(List.of(), names());
    }
}
