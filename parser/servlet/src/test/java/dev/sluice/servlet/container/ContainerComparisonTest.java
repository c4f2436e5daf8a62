package dev.sluice.servlet.container;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The same questions to the multipart support of each container and to the filter in it. */
class ContainerComparisonTest {
    private static final Map<ServletContainer, Map<String, Map<String, String>>> ANSWERS =
            new EnumMap<>(ServletContainer.class);

    /** After each question behind the filter this looks for files, memory and descriptors that are left. */
    @BeforeAll
    static void ask(@TempDir Path directory) throws Exception {
        for (ServletContainer kind : ServletContainer.values()) {
            Map<String, Map<String, String>> answers = new LinkedHashMap<>();
            ANSWERS.put(kind, answers);
            try (ComparedApp app = ComparedApp.start(kind, Files.createDirectory(directory.resolve(kind.name())))) {
                for (Question question : Comparison.questions()) {
                    Map<String, String> byMount = new LinkedHashMap<>();
                    answers.put(question.title(), byMount);
                    byMount.put(ComparedApp.OWN, app.answer(question, ComparedApp.OWN));
                    for (String mount : ComparedApp.filtered(question)) {
                        byMount.put(mount, app.answer(question, mount));
                    }
                }
            }
        }
    }

    private static Comparison comparison() {
        Comparison comparison = new Comparison();
        ANSWERS.forEach((kind, answers) -> {
            Map<String, String> own = new LinkedHashMap<>();
            answers.forEach((title, byMount) -> own.put(title, byMount.get(ComparedApp.OWN)));
            comparison.add(kind, own);
        });
        return comparison;
    }

    @ParameterizedTest
    @EnumSource
    void theFilterAnswersTheSameInEachContainerHoweverItIsMapped(ServletContainer kind) {
        assertAll(Comparison.questions().stream().flatMap(question -> {
            Map<String, String> answers = ANSWERS.get(kind).get(question.title());
            return ComparedApp.filtered(question).stream()
                    .<Executable>map(mount -> () ->
                            assertEquals(question.expected(), answers.get(mount), question.title() + " at " + mount));
        }));
    }

    @Test
    void questionsHaveDifferentTitles() {
        Set<String> titles = new HashSet<>();
        List<String> twice = Comparison.questions().stream()
                .map(Question::title)
                .filter(title -> !titles.add(title))
                .toList();
        assertEquals(List.of(), twice);
    }

    @Test
    void eachDifferenceHasAReasonAndNothingElseHasOne() {
        Comparison comparison = comparison();
        Stream<String> undecided = Comparison.questions().stream()
                .filter(question -> comparison.differs(question) != (question.decision() != null))
                .map(Question::title);
        assertEquals(List.of(), undecided.toList());
    }

    @Test
    void thePageOfDifferencesIsUpToDate() throws Exception {
        String page = comparison().page();
        Path written = Files.writeString(Path.of("target").toAbsolutePath().resolve("servlet-containers.md"), page);
        assertEquals(page, Files.readString(Comparison.PAGE), "put " + written + " in its place, after reading it");
    }
}
