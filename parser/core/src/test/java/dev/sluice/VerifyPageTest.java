package dev.sluice;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpoolDirectory;
import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The tests, commands, properties, profiles and pages that are named in VERIFY and related pages exist. */
class VerifyPageTest {
    private static final Path ROOT = Path.of(System.getProperty("sluice.rootDir", "../.."));
    private static final String VERIFY = ".github/VERIFY.md";
    private static final String SECURITY = ".github/SECURITY.md";
    private static final int DECODER = 2;
    private static final int FORMS = 3;
    private static final int FILTER = 4;

    private static Stream<String> found(String pattern, String text) {
        return Pattern.compile(pattern).matcher(text).results().map(result -> result.group(1));
    }

    private static void assertNone(Stream<String> wrong) {
        assertEquals(List.of(), wrong.toList());
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
        assertNone(named.stream().filter(name -> !names.contains(name)));
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
        assertNone(properties.stream().filter(p -> tests.indexOf('"' + p + '"') < 0));
        String pom = page("pom.xml");
        assertNone(found(" -P(\\w+)", page(VERIFY)).filter(profile -> !pom.contains("<id>" + profile + "</id>")));
    }

    @ParameterizedTest
    @ValueSource(strings = {VERIFY, SECURITY, ".github/CONTRIBUTING.md"})
    void everyLinkLeadsSomewhere(String page) throws IOException {
        Path directory = ROOT.resolve(page).getParent();
        List<String> links = Pattern.compile("\\]\\(([^)#]+)[)#]")
                .matcher(page(page))
                .results()
                .map((MatchResult result) -> result.group(1))
                .filter(link -> !link.contains("://"))
                .toList();
        assertFalse(links.isEmpty());
        assertNone(links.stream().filter(link -> !Files.exists(directory.resolve(link))));
    }

    /** The table of limits agrees with the defaults of the library. */
    @Test
    void theDefaultsThatAreToldAreTheDefaults(@TempDir Path directory) throws IOException {
        MultipartOptions decoder = MultipartOptions.defaults();
        assertEquals(told(decoder), asked(DECODER));
        assertEquals("unlimited", told("maxPartBytes", DECODER));
        assertEquals(Long.MAX_VALUE, decoder.maxPartBytes());

        FormOptions forms = FormOptions.inMemory(MemoryBudget.unlimited()).build();
        MultipartOptions ofForms = forms.multipart();
        assertEquals(told(ofForms), asked(FORMS));
        assertEquals("as the body", told("maxPartBytes", FORMS));
        assertTrue(ofForms.maxPartBytes() >= ofForms.maxBodyBytes(), "a part may be the whole body");
        assertEquals(size(forms.spillThreshold()), told("spillThreshold", FORMS));
        assertEquals(size(forms.maxInMemoryBytes()), told("maxInMemoryBytes", FORMS));
        assertEquals(count(forms.maxFilesOnDisk()), told("maxFilesOnDisk", FORMS));
        try (SpoolDirectory spool = SpoolDirectory.open(directory.resolve("spool"))) {
            String[] told = told("spool directory", FORMS).split(" / ");
            assertEquals(size(spool.maxSpoolBytes()), told[0]);
            assertEquals(spool.maxSpoolFiles(), Long.parseLong(told[1].replace(",", "")));
        }
    }

    /** The README has the most important rows of that table, in the same words. */
    @Test
    void theReadmeTellsTheSameLimits() throws IOException {
        List<String> rows = page("README.md")
                .lines()
                .filter(line -> line.startsWith("| `max") || line.startsWith("| spool directory"))
                .toList();
        assertTrue(rows.size() >= 5, rows.toString());
        for (String row : rows) {
            String[] cells = row.split("\\|");
            String limit = cells[1].strip().replace("`", "");
            assertEquals(told(limit, FORMS), cells[2].strip(), row);
            assertEquals(told(limit, FILTER + 1), cells[3].strip(), row);
        }
    }

    /** {@code FilterParametersTest} tests the same for the filter. */
    @Test
    void theFilterIsToldToLimitWhatFormsDo() throws IOException {
        assertEquals(asked(FORMS), asked(FILTER));
        for (String limit : List.of("maxPartBytes", "spillThreshold", "maxInMemoryBytes")) {
            assertEquals(told(limit, FORMS), told(limit, FILTER), limit);
        }
        assertEquals("same", told("spool directory", FILTER));
        assertEquals("a quarter of the heap", told("memory of all forms", FILTER));
        assertEquals("240 B/s / 5 s", told("minimum rate", FILTER));
    }

    private static Map<String, String> told(MultipartOptions limits) {
        assertEquals(limits.maxPreambleBytes(), limits.maxEpilogueBytes());
        Map<String, String> told = new LinkedHashMap<>();
        told.put("maxBodyBytes", size(limits.maxBodyBytes()));
        told.put("maxParts", count(limits.maxParts()));
        told.put("maxFiles", count(limits.maxFiles()));
        told.put("maxFieldBytes", size(limits.maxFieldBytes()));
        told.put("maxHeaderBytesPerPart", size(limits.maxHeaderBytesPerPart()));
        told.put("maxHeadersPerPart", count(limits.maxHeadersPerPart()));
        told.put("maxHeaderBytes", size(limits.maxHeaderBytes()));
        told.put("maxPreambleBytes", size(limits.maxPreambleBytes()));
        return told;
    }

    /** The same limits on the page. */
    private static Map<String, String> asked(int column) throws IOException {
        Map<String, String> asked = new LinkedHashMap<>();
        for (String limit : told(MultipartOptions.defaults()).keySet()) {
            asked.put(limit, told(limit, column));
        }
        return asked;
    }

    private static String count(long limit) {
        return limit == Long.MAX_VALUE ? "unlimited" : String.valueOf(limit);
    }

    private static String size(long bytes) {
        if (bytes == Long.MAX_VALUE) {
            return "unlimited";
        }
        int unit = Long.numberOfTrailingZeros(bytes) / 10;
        return (bytes >> 10 * unit) + List.of(" bytes", " KiB", " MiB", " GiB").get(unit);
    }

    private static String told(String limit, int column) throws IOException {
        String row = Arrays.stream(page(SECURITY).split("\n"))
                .filter(line -> line.startsWith("| `" + limit + "`") || line.startsWith("| " + limit))
                .findFirst()
                .orElseThrow();
        return row.split("\\|")[column].strip();
    }
}
