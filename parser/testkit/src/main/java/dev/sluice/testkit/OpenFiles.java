package dev.sluice.testkit;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The files that this process has open, on Linux. */
public final class OpenFiles {
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

    private OpenFiles() {}

    /** {@return the open files below {@code directory}, including deleted ones} */
    public static List<String> below(Path directory) {
        return Stream.of(new File(DESCRIPTORS.toString()).list())
                .map(OpenFiles::target)
                .filter(target -> target.startsWith(directory + "/"))
                .toList();
    }

    private static String target(String descriptor) {
        try {
            return Files.readSymbolicLink(DESCRIPTORS.resolve(descriptor)).toString();
        } catch (IOException e) {
            return ""; // closed in the meantime
        }
    }
}
