package dev.sluice.samples.upload.readme;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.testkit.TestForm;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Checks of the code, links and versions in the README and the guide. */
final class ReadmeTest {
    private static final Path ROOT = Path.of(System.getProperty("sluice.rootDir", "../.."));
    private static final Pattern FENCE = Pattern.compile("```(\\w+)\\n(.*?)```", Pattern.DOTALL);
    private static final Pattern IMPORT = Pattern.compile("import (?:static )?[\\w.]+\\.(\\w+);\n");
    private static final Pattern REGION = Pattern.compile("// @start .*?\\n(.*?) *// @end", Pattern.DOTALL);

    @Test
    void javaSamples_areCompiledFilesOrRegionsWithTheirImports() throws IOException {
        List<String> compiled = new ArrayList<>();
        try (Stream<Path> sources = Files.walk(ROOT.resolve("samples"))) {
            for (Path source :
                    sources.filter(file -> file.toString().endsWith(".java")).toList()) {
                String text = Files.readString(source);
                compiled.add(text.replaceFirst("package .*\n\n", "").replaceAll(" *// @(start|end).*\n", ""));
                Matcher region = REGION.matcher(text);
                while (region.find()) {
                    String code = region.group(1).stripTrailing().stripIndent() + "\n";
                    compiled.add(code.startsWith("import ") ? code : imports(text, code) + code);
                }
            }
        }
        int shown = 0;
        for (Path page : pages()) {
            List<String> code = fenced(page, "java");
            assertTrue(compiled.containsAll(code), () -> page + ": " + code);
            shown += code.size();
        }
        assertTrue(shown > 5);
    }

    /** {@return the imports of {@code source} that {@code code} uses, and an empty line} */
    private static String imports(String source, String code) {
        String names = code.replaceAll("\"[^\"]*\"", "");
        return IMPORT.matcher(source)
                .results()
                .filter(line -> Pattern.compile("\\b" + line.group(1) + "\\b")
                        .matcher(names)
                        .find())
                .map(MatchResult::group)
                .collect(Collectors.joining("", "", "\n"));
    }

    @Test
    void versions_areTheBuildVersion() throws IOException {
        Matcher version = Pattern.compile("<artifactId>sluice-parent</artifactId>\\s*<version>(.*)</version>")
                .matcher(Files.readString(ROOT.resolve("pom.xml")));
        assertTrue(version.find());
        for (String page : List.of("README.md", "parser/docs/getting-started.md")) {
            Matcher written = Pattern.compile("(?:<version>|dev\\.sluice:[a-z-]+:)([\\w.-]+)")
                    .matcher(Files.readString(ROOT.resolve(page)));
            List<String> versions =
                    written.results().map(found -> found.group(1)).distinct().toList();
            assertEquals(List.of(version.group(1)), versions, page);
        }
    }

    @Test
    void links_haveTargets() throws IOException {
        int links = 0;
        for (Path page : pages()) {
            String text = Files.readString(page);
            Matcher link =
                    Pattern.compile("\\]\\((?!http)([^)#]*)(?:#([^)]*))?\\)").matcher(text);
            for (; link.find(); links++) {
                Path target = link.group(1).isEmpty() ? page : page.resolveSibling(link.group(1));
                assertTrue(Files.exists(target), page + ": " + link.group());
                if (link.group(2) != null) {
                    assertTrue(anchors(target).contains(link.group(2)), page + ": " + link.group());
                }
            }
        }
        assertTrue(links > 60, "links: " + links);
    }

    private static List<String> anchors(Path page) throws IOException {
        return Files.readString(page)
                .lines()
                .filter(line -> line.startsWith("#"))
                .map(line -> line.replaceFirst("#+ ", "")
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\w\\- ]", "")
                        .replace(' ', '-'))
                .toList();
    }

    /** {@return the README, the guide and all other pages} */
    private static List<Path> pages() throws IOException {
        List<Path> pages = new ArrayList<>(List.of(ROOT.resolve("README.md")));
        for (String directory : List.of(".github", "parser/docs", "parser/docs/decisions", "bench")) {
            try (Stream<Path> files = Files.list(ROOT.resolve(directory))) {
                files.filter(file -> file.toString().endsWith(".md")).forEach(pages::add);
            }
        }
        return pages;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 7, 1000})
    void pushLoop_returnsParts(int chunkSize, @TempDir Path directory) throws IOException {
        byte[] body = new TestForm()
                .file("a", "a.txt", "one\r\ntwo".getBytes(StandardCharsets.US_ASCII))
                .field("b", "")
                .body();
        try (PushLoop loop = new PushLoop(TestForm.CONTENT_TYPE)) {
            for (int at = 0; at < body.length; at += chunkSize) {
                loop.chunk(Unpooled.copiedBuffer(body, at, Math.min(chunkSize, body.length - at)));
            }
            loop.end();
            assertEquals(List.of("a/a.txt: one\r\ntwo", "b/null: "), loop.files());
        }
        Path file = Files.write(directory.resolve("body"), body);
        try (PushLoop read = PushLoop.read(file, TestForm.CONTENT_TYPE)) {
            assertEquals(List.of("a/a.txt: one\r\ntwo", "b/null: "), read.files());
        }
        assertThrows(MultipartException.class, () -> PushLoop.read(file, "multipart/mixed; boundary=x"));
    }

    private static List<String> fenced(Path page, String language) throws IOException {
        Matcher fence = FENCE.matcher(Files.readString(page));
        List<String> found = new ArrayList<>();
        while (fence.find()) {
            if (fence.group(1).equals(language)) {
                found.add(fence.group(2));
            }
        }
        return found;
    }
}
