package dev.sluice.threats;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The attacks that are made through the servlet module. It is built after this one, so they are read from its sources: a
 * test there covers the threat after which it is named.
 */
final class ServletThreats {
    private static final String TYPE = "dev.sluice.servlet.container.ContainerThreatsTest";

    /** A test, and what it is named after; null where that is no threat. */
    record Test(String method, @Nullable Threat threat) {
        String name() {
            return TYPE + '#' + method;
        }

        String shortName() {
            return TYPE.substring(TYPE.lastIndexOf('.') + 1) + '#' + method;
        }
    }

    private ServletThreats() {}

    static List<Test> tests() throws IOException {
        Path source =
                ThreatsDocumentTest.root().resolve("parser/servlet/src/test/java/" + TYPE.replace('.', '/') + ".java");
        List<Test> tests = new ArrayList<>();
        boolean isTest = false;
        for (String line : Files.readAllLines(source)) {
            String text = line.strip();
            isTest |= text.equals("@Test") || text.equals("@ParameterizedTest");
            if (isTest && text.startsWith("void ")) {
                String method = text.substring("void ".length(), text.indexOf('('));
                tests.add(new Test(method, threat(method)));
                isTest = false;
            }
        }
        return tests;
    }

    private static @Nullable Threat threat(String method) {
        for (Threat threat : Threat.values()) {
            String[] words = method.split("_");
            int count = threat.name().startsWith("CVE_") ? 3 : 2;
            if (words.length > count
                    && letters(String.join("", List.of(words).subList(0, count)))
                            .equals(letters(threat.name()))) {
                return threat;
            }
        }
        return null;
    }

    private static String letters(String name) {
        return name.replace("_", "").toLowerCase(Locale.ROOT);
    }
}
