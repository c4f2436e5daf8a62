package dev.sluice.threats;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * The compiled classes of the core and the buffer module, and the sources of all deployed modules.
 */
final class Sources {
    static final List<String> DEPLOYED =
            List.of("buffer", "parser/core", "parser/servlet", "parser/netty", "parser/micrometer", "parser/tika");

    static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            .withImportOption(location -> !location.contains("testkit"))
            .importPackages("dev.sluice");

    private Sources() {}

    /** {@return the lines of code that contain one of the texts, without comments} */
    static List<String> linesWith(String... texts) {
        List<String> found = new ArrayList<>();
        for (String module : DEPLOYED) {
            found.addAll(linesWith(Path.of("../..", module, "src/main/java"), texts));
        }
        return found;
    }

    private static List<String> linesWith(Path directory, String... texts) {
        List<String> found = new ArrayList<>();
        try (Stream<Path> sources = Files.walk(directory)) {
            for (Path source :
                    sources.filter(path -> path.toString().endsWith(".java")).toList()) {
                for (String line : Files.readAllLines(source)) {
                    boolean comment =
                            line.strip().startsWith("*") || line.strip().startsWith("/");
                    if (!comment && Stream.of(texts).anyMatch(line::contains)) {
                        found.add(source + ": " + line.strip());
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return found;
    }
}
