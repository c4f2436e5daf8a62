package dev.sluice.servlet.container;

import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Writes {@code parser/docs/servlet-containers.md} from the questions and what the containers answered. */
final class Comparison {
    private static final List<Question> QUESTIONS = Stream.of(
                    ParameterQuestions.all(), PartQuestions.all(), RequestQuestions.all(), LimitQuestions.all())
            .flatMap(List::stream)
            .toList();

    static final Path PAGE =
            Path.of(System.getProperty("sluice.rootDir", "../..")).resolve("parser/docs/servlet-containers.md");

    private final Map<ServletContainer, Map<String, String>> answers = new EnumMap<>(ServletContainer.class);

    static List<Question> questions() {
        return QUESTIONS;
    }

    /** Adds what the container itself answered, by the titles of questions. */
    Comparison add(ServletContainer container, Map<String, String> own) {
        answers.put(container, own);
        return this;
    }

    /** {@return whether a container answers otherwise than the filter} */
    boolean differs(Question question) {
        return answers.values().stream().anyMatch(own -> !question.expected().equals(own.get(question.title())));
    }

    String page() {
        String versions = answers.keySet().stream().map(Object::toString).collect(Collectors.joining(", "));
        StringBuilder page = new StringBuilder("# What the container gives, what the filter gives\n\n");
        page.append("Written by `ContainerComparisonTest` from the answers of ").append(versions);
        page.append(
                "; do not edit. The test fails when this page is out of date, and when a difference has no reason ");
        page.append("or a reason no difference.\n\n");
        page.append(
                "Each line is a conversation over a socket, held with a servlet that has a `@MultipartConfig` and ");
        page.append(
                "with the same servlet without one behind `MultipartFilter`. Both allow 512 KiB for a part, 1 MiB ");
        page.append("for the body, and keep 1 KiB of a part in memory; all else is as it comes. The filter gives ");
        page.append("the same answer in all containers, with the dispatches it is mapped to, and in front of ");
        page.append("a servlet with a `@MultipartConfig`. ");
        long differences = QUESTIONS.stream().filter(this::differs).count();
        page.append(QUESTIONS.size()).append(" questions were asked; to ").append(differences);
        page.append(" of them at least one container answers otherwise.\n\n");
        page.append(
                "Undertow has a limit before all filters: it breaks off connections with bodies of more than 2 MiB ");
        page.append("of any kind, unless `UndertowOptions.MAX_ENTITY_SIZE` is set (`ContainerLifeTest`).\n\n");
        page.append("## Differences\n\n| question | filter |");
        answers.keySet().forEach(each -> page.append(' ').append(name(each)).append(" |"));
        page.append(" why |\n|---|---|---|---|---|---|\n");
        lines(this::differs, page);
        page.append("\n## The same everywhere\n\n| question | answer |\n|---|---|\n");
        for (Question each : QUESTIONS) {
            if (!differs(each)) {
                page.append("| ")
                        .append(each.title())
                        .append(" | ")
                        .append(code(each.expected()))
                        .append(" |\n");
            }
        }
        return page.toString();
    }

    private void lines(Predicate<Question> wanted, StringBuilder page) {
        for (Question each : QUESTIONS) {
            if (!wanted.test(each)) {
                continue;
            }
            page.append("| ")
                    .append(each.title())
                    .append(" | ")
                    .append(code(each.expected()))
                    .append(" |");
            for (Map<String, String> own : answers.values()) {
                String answer = own.getOrDefault(each.title(), "");
                page.append(' ')
                        .append(answer.equals(each.expected()) ? "same" : code(answer))
                        .append(" |");
            }
            page.append(' ').append(each.decision()).append(" |\n");
        }
    }

    private static String name(ServletContainer container) {
        return container.toString().substring(0, container.toString().indexOf(' '));
    }

    private static String code(String answer) {
        if (answer.isEmpty()) {
            return "nothing";
        }
        StringBuilder text = new StringBuilder("`");
        answer.codePoints().forEach(each -> {
            if (Character.isISOControl(each)) {
                text.append(String.format("\\u%04x", each));
            } else {
                text.append(each == '|' ? "\\|" : Character.toString(each));
            }
        });
        return text.append('`').toString();
    }
}
