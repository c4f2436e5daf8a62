package dev.sluice.threats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The rows of {@code parser/docs/threats.md} name all tests of threats, and no others. */
class ThreatsDocumentTest {
    private static final Path CORE = root().resolve("parser/core/src/test/java/dev/sluice/threats");
    private static final Path SERVLET =
            root().resolve("parser/servlet/src/test/java/dev/sluice/servlet/container/ContainerThreatsTest.java");
    private static final Pattern TEST = Pattern.compile("@(?:Parameterized)?Test\\s[^{;]*?void (\\w+)\\(");
    /** Tests that are not in the document. */
    private static final Set<String> OTHERS = Set.of("DefencesTest", "HistoryTest", "ThreatsDocumentTest");

    static Path root() {
        return Path.of(System.getProperty("sluice.rootDir", "../.."));
    }

    /** {@return the names of all tests of threats, with package and class} */
    static Set<String> tests() throws IOException {
        Set<String> tests = new TreeSet<>();
        try (Stream<Path> sources = Stream.concat(Files.list(CORE), Stream.of(SERVLET))) {
            for (Path source : sources.filter(file -> file.toString().endsWith("Test.java"))
                    .toList()) {
                String type = source.getFileName().toString().replace(".java", "");
                if (!OTHERS.contains(type)) {
                    String prefix =
                            "dev.sluice." + (source == SERVLET ? "servlet.container." : "threats.") + type + '#';
                    TEST.matcher(Files.readString(source))
                            .results()
                            .forEach(found -> tests.add(prefix + found.group(1)));
                }
            }
        }
        return tests;
    }

    /** The cells of each row: ids, product, what happened, tests. */
    private static List<List<String>> rows() throws IOException {
        List<List<String>> rows = new ArrayList<>();
        for (String line : Files.readAllLines(root().resolve("parser/docs/threats.md"))) {
            if (line.startsWith("| ") && !line.startsWith("| Id |")) {
                rows.add(Arrays.stream(line.substring(1).split("\\|"))
                        .map(String::strip)
                        .toList());
            }
        }
        return rows;
    }

    @Test
    void everyThreatHasATestOrAReasonAndEveryTestAThreat() throws IOException {
        Set<String> ids = new HashSet<>();
        Set<String> named = new TreeSet<>();
        for (List<String> row : rows()) {
            assertEquals(4, row.size(), row.toString());
            assertTrue(ids.add(row.get(0)), row.get(0) + " occurs twice");
            List<String> tests = Pattern.compile("`(\\w+#\\w+)`")
                    .matcher(row.get(3))
                    .results()
                    .map((MatchResult found) -> found.group(1))
                    .toList();
            assertTrue(!tests.isEmpty() || row.get(3).startsWith("none: "), row.toString());
            named.addAll(tests);
        }
        assertEquals(97, ids.size());
        assertEquals(
                tests().stream()
                        .map(test -> test.substring(test.lastIndexOf('.') + 1))
                        .collect(Collectors.toCollection(TreeSet::new)),
                named);
        assertTrue(named.size() > 80, "tests: " + named.size());
    }
}
