package dev.sluice.threats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The document {@code parser/docs/threats.md} is made of {@link Threat} and {@link Covers}, and lacks no row. */
class ThreatsDocumentTest {
    static final List<Class<?>> TESTS = List.of(
            BoundarySearchTest.class,
            PartHeadersTest.class,
            HeaderParametersTest.class,
            PartCountTest.class,
            FieldsInMemoryTest.class,
            ArithmeticTest.class,
            TemporaryFilesTest.class,
            PermissionsTest.class,
            BuffersTest.class,
            MalformedInputTest.class,
            ClientNamesTest.class,
            TextInjectionTest.class,
            DifferentialsTest.class);

    private static Map<Threat, Set<String>> testsByThreat() throws IOException {
        Map<Threat, Set<String>> tests = new EnumMap<>(Threat.class);
        for (Class<?> type : TESTS) {
            for (Method method : type.getDeclaredMethods()) {
                Covers covers = method.getAnnotation(Covers.class);
                assertEquals(method.isAnnotationPresent(Test.class), covers != null, method.toString());
                for (Threat threat : covers == null ? new Threat[0] : covers.value()) {
                    tests.computeIfAbsent(threat, key -> new TreeSet<>())
                            .add(type.getSimpleName() + "#" + method.getName());
                }
            }
        }
        for (ServletThreats.Test test : ServletThreats.tests()) {
            assertTrue(test.threat() != null, "named after no threat: " + test);
            tests.computeIfAbsent(test.threat(), key -> new TreeSet<>()).add(test.shortName());
        }
        return tests;
    }

    private static String document() throws IOException {
        StringBuilder text = new StringBuilder("# Threats, and the test of each\n\n")
                .append(
                        "What has been broken in other products that read multipart bodies, and the test that makes the same\n")
                .append("attack on this library. Made from `Threat.java`, next to the tests in\n")
                .append(
                        "[`parser/core/src/test/java/dev/sluice/threats`](../core/src/test/java/dev/sluice/threats), and checked\n")
                .append("against it. `ContainerThreatsTest` makes attacks through Jetty, Tomcat and Undertow, in\n")
                .append(
                        "[`parser/servlet`](../servlet/src/test/java/dev/sluice/servlet/container/ContainerThreatsTest.java).\n")
                .append(
                        "`.ci/prove-defences` takes the defences away, one by one, and requires the tests named here to fail.\n");
        Map<Threat, Set<String>> tests = testsByThreat();
        for (Threat.Table table : Threat.Table.values()) {
            text.append("\n## ").append(table.letter).append(". ").append(table.title);
            text.append("\n\n| Id | Product | What happened | Test |\n|---|---|---|---|\n");
            for (Threat threat : Threat.values()) {
                if (threat.table == table) {
                    String test = threat.whyNoTest != null
                            ? "none: " + threat.whyNoTest
                            : "`" + String.join("`, `", tests.getOrDefault(threat, Set.of())) + "`";
                    text.append("| ").append(threat.ids).append(" | ").append(threat.product);
                    text.append(" | ")
                            .append(threat.story)
                            .append(" | ")
                            .append(test)
                            .append(" |\n");
                }
            }
        }
        return text.toString();
    }

    @Test
    void everyThreatHasATestOrAReason() throws IOException {
        Map<Threat, Set<String>> tests = testsByThreat();
        Set<String> ids = new HashSet<>();
        for (Threat threat : Threat.values()) {
            assertEquals(threat.whyNoTest == null, tests.containsKey(threat), threat.toString());
            assertTrue(ids.add(threat.ids), threat.ids + " occurs twice");
        }
        assertEquals(90, Threat.values().length);
    }

    /** Where this fails because a test was added or renamed: run it with {@code -Dsluice.threats.write=true}, and look at the change. */
    @Test
    void theDocumentSaysWhatIsTested() throws IOException {
        Path written = root().resolve("parser/docs/threats.md");
        if (Boolean.getBoolean("sluice.threats.write")) {
            Files.writeString(written, document(), StandardCharsets.UTF_8);
        }
        assertEquals(document(), Files.readString(written, StandardCharsets.UTF_8));
    }

    static Path root() {
        return Path.of(System.getProperty("sluice.rootDir", "../.."));
    }
}
