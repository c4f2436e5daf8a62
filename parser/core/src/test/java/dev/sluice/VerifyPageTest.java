package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The pages that say what is proved name tests, commands, properties, profiles and pages that exist. */
class VerifyPageTest {
    private static final Path ROOT = Path.of(System.getProperty("sluice.rootDir", "../.."));
    private static final String VERIFY = ".github/VERIFY.md";

    private static Stream<String> found(String pattern, String text) {
        return Pattern.compile(pattern).matcher(text).results().map(result -> result.group(1));
    }

    private static String page(String page) throws IOException {
        return Files.readString(ROOT.resolve(page));
    }

    /** Sources of tests, with the names of their packages and without. */
    private static List<Path> testSources() throws IOException {
        List<Path> sources = new ArrayList<>();
        Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                String name = directory.getFileName() == null
                        ? ""
                        : directory.getFileName().toString();
                return name.equals("target") || name.equals(".git")
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                if (file.toString().replace('\\', '/').contains("/src/test/java/")
                        && file.toString().endsWith(".java")) {
                    sources.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return sources;
    }

    @Test
    void everyTestThatIsNamedExists() throws IOException {
        Set<String> names = new TreeSet<>();
        for (Path source : testSources()) {
            String path = source.toString().replace('\\', '/');
            String name = path.substring(path.lastIndexOf("/java/") + 6, path.length() - 5)
                    .replace('/', '.');
            names.add(name);
            names.add(name.substring(name.lastIndexOf('.') + 1));
        }
        List<String> named = found("`([\\w.]*\\w+Test)\\b", page(VERIFY)).toList();
        assertTrue(named.size() > 40, "tests named: " + named.size());
        assertEquals(
                List.of(), named.stream().filter(name -> !names.contains(name)).toList());
    }

    @Test
    void everyCommandThatIsNamedExistsAndCanBeRun() throws IOException {
        List<String> scripts = found("[`( ](\\.ci/[\\w-]+)(?![\\w.-])", page(VERIFY))
                .distinct()
                .toList();
        assertTrue(
                scripts.containsAll(List.of(".ci/run", ".ci/fuzz", ".ci/reproducible", ".ci/dependencies")),
                scripts.toString());
        for (String script : scripts) {
            assertTrue(Files.isExecutable(ROOT.resolve(script)), script);
            assertTrue(page(script).startsWith("#!/usr/bin/env bash\n"), script);
        }
    }

    @Test
    void everyPropertyAndProfileThatIsNamedIsRead() throws IOException {
        StringBuilder tests = new StringBuilder();
        for (Path source : testSources()) {
            tests.append(Files.readString(source));
        }
        List<String> properties =
                found("-D(sluice\\.[\\w.]+\\w)", page(VERIFY)).distinct().toList();
        assertFalse(properties.isEmpty());
        assertEquals(
                List.of(),
                properties.stream()
                        .filter(p -> tests.indexOf('"' + p + '"') < 0)
                        .toList());
        String pom = page("pom.xml");
        assertEquals(
                List.of(),
                found(" -P(\\w+)", page(VERIFY))
                        .filter(profile -> !pom.contains("<id>" + profile + "</id>"))
                        .toList());
    }

    @ParameterizedTest
    @ValueSource(strings = {VERIFY, ".github/SECURITY.md", ".github/CONTRIBUTING.md"})
    void everyLinkLeadsSomewhere(String page) throws IOException {
        Path directory = ROOT.resolve(page).getParent();
        List<String> links = Pattern.compile("\\]\\(([^)#]+)[)#]")
                .matcher(page(page))
                .results()
                .map((MatchResult result) -> result.group(1))
                .filter(link -> !link.contains("://"))
                .toList();
        assertFalse(links.isEmpty());
        assertEquals(
                List.of(),
                links.stream()
                        .filter(link -> !Files.exists(directory.resolve(link)))
                        .toList());
    }

    /** The table of the policy's limits, against what the library does when nothing is set. */
    @Test
    void theDefaultsThatAreToldAreTheDefaults() throws IOException {
        Limits limits = Limits.defaults();
        String page = page(".github/SECURITY.md");
        assertEquals("unlimited", told(page, "maxBodyBytes"));
        assertEquals(Long.MAX_VALUE, limits.maxBodyBytes());
        assertEquals(String.valueOf(limits.maxParts()), told(page, "maxParts"));
        assertEquals(limits.maxHeadersPerPart(), Integer.parseInt(told(page, "maxHeadersPerPart")));
        assertEquals((limits.maxHeaderBytesPerPart() >> 10) + " KiB", told(page, "maxHeaderBytesPerPart"));
        assertEquals((limits.maxHeaderBytes() >> 10) + " KiB", told(page, "maxHeaderBytes"));
        assertEquals((limits.maxFieldBytes() >> 10) + " KiB", told(page, "maxFieldBytes"));
        assertEquals((limits.maxPreambleBytes() >> 10) + " KiB", told(page, "maxPreambleBytes"));
        assertEquals(limits.maxPreambleBytes(), limits.maxEpilogueBytes());
    }

    private static String told(String page, String limit) {
        String row = Arrays.stream(page.split("\n"))
                .filter(line -> line.startsWith("| `" + limit + "`"))
                .findFirst()
                .orElseThrow();
        return row.split("\\|")[2].strip();
    }
}
