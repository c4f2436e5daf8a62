package dev.sluice.testkit;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The files that this process has open, on Linux. */
public final class OpenFiles {
    private static final Path DESCRIPTORS = Path.of("/proc/self/fd");

    /** The descriptors of jars on the class path, which stay open. Resolving them each time would be slow. */
    private static final Set<String> JARS = descriptors()
            .filter(each -> target(each).endsWith(".jar"))
            .filter(each -> !target(each).startsWith(System.getProperty("java.io.tmpdir")))
            .collect(Collectors.toSet());

    private OpenFiles() {}

    private static Stream<String> descriptors() {
        return Stream.of(new File(DESCRIPTORS.toString()).list());
    }

    /** {@return the open files below {@code directory}, including deleted ones} */
    public static List<String> below(Path directory) {
        return descriptors()
                .filter(each -> !JARS.contains(each))
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
