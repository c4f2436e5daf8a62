package dev.sluice.threats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The changes of {@link DefencesProof} fit the sources, and cover all tests of threats. */
class DefencesTest {
    static List<Sabotage> sabotages() throws IOException {
        return Sabotage.all(ThreatsDocumentTest.root().resolve("parser/core/src/test/defences"));
    }

    @Test
    void eachSabotageFitsTheSourcesAndNamesATestThatExists() throws Exception {
        Path root = ThreatsDocumentTest.root();
        Set<String> ids = new HashSet<>();
        List<String> wrong = new ArrayList<>();
        for (Sabotage sabotage : sabotages()) {
            assertTrue(ids.add(sabotage.id), sabotage.id + " occurs twice");
            assertFalse(sabotage.story().isEmpty() || sabotage.tests.isEmpty(), sabotage.id);
            try {
                Map<String, String> changed = sabotage.apply(root);
                assertFalse(changed.isEmpty(), sabotage.id);
            } catch (IllegalArgumentException e) {
                wrong.add(e.getMessage());
            }
            for (String test : sabotage.tests) {
                if (!exists(root, test)) {
                    wrong.add(sabotage.id + " names " + test);
                }
            }
        }
        assertEquals(List.of(), wrong);
        assertTrue(ids.size() >= 90, "sabotages: " + ids.size());
    }

    private static boolean exists(Path root, String test) throws IOException {
        int hash = test.indexOf('#');
        String type = hash < 0 ? test : test.substring(0, hash);
        for (String module : List.of("parser/core", "buffer", "parser/servlet")) {
            Path source = root.resolve(module + "/src/test/java/" + type.replace('.', '/') + ".java");
            if (Files.exists(source)) {
                return hash < 0 || Files.readString(source).contains(" " + test.substring(hash + 1) + "(");
            }
        }
        return false;
    }

    @Test
    void eachTestOfAThreatIsSeenToFailWithoutItsDefence() throws IOException {
        Set<String> named = new HashSet<>();
        sabotages().forEach(sabotage -> named.addAll(sabotage.tests));
        Set<String> missing = ThreatsDocumentTest.tests();
        missing.removeAll(named);
        assertEquals(Set.of(), missing);
    }
}
