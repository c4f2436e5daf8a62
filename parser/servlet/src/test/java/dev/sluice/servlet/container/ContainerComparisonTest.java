package dev.sluice.servlet.container;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Asks each container and the filter the same questions. {@code servlet-containers.md} lists the expected answers. */
class ContainerComparisonTest {
    /** After each question to the filter, {@link ComparedApp} checks that no files, memory or descriptors are left. */
    @ParameterizedTest
    @EnumSource
    void responses_matchTheComparisonPage(ServletContainer kind, @TempDir Path directory) throws Exception {
        Comparison page = Comparison.read();
        List<Executable> checks = new ArrayList<>();
        try (ComparedApp app = ComparedApp.start(kind, directory)) {
            for (Question question : Comparison.questions()) {
                String own = Comparison.code(app.answer(question, ComparedApp.OWN));
                checks.add(() -> assertEquals(page.own(question, kind), own, kind + " itself: " + question));
                for (String mount : ComparedApp.filtered(question)) {
                    String response = Comparison.code(app.answer(question, mount));
                    checks.add(() -> assertEquals(page.filter(question), response, kind + mount + ": " + question));
                }
            }
        }
        assertAll(checks);
    }

    @Test
    void page_hasEachQuestionAndReason() throws Exception {
        Comparison page = Comparison.read();
        Set<String> titles =
                Comparison.questions().stream().map(Question::title).collect(Collectors.toSet());
        assertEquals(titles.size(), Comparison.questions().size(), "two questions have the same title");
        assertEquals(titles, page.rows().keySet());
        page.rows().values().forEach(cells -> assertTrue(Comparison.isExplained(cells), cells::toString));
    }
}
