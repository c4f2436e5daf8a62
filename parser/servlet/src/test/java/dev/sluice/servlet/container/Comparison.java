package dev.sluice.servlet.container;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** All questions, and the answers and reasons that {@code parser/docs/servlet-containers.md} lists. */
final class Comparison {
    private static final int FILTER = 1;
    private static final int WHY = 5;
    private static final List<Question> QUESTIONS = Stream.of(
                    ParameterQuestions.all(), PartQuestions.all(), RequestQuestions.all(), LimitQuestions.all())
            .flatMap(List::stream)
            .toList();

    /** The cells of each row of the page, by the title of the question: six if the containers differ, otherwise two. */
    private final Map<String, List<String>> rows = new LinkedHashMap<>();

    static List<Question> questions() {
        return QUESTIONS;
    }

    static Comparison read() throws IOException {
        Comparison comparison = new Comparison();
        Path page = Path.of(System.getProperty("sluice.rootDir", "../..")).resolve("parser/docs/servlet-containers.md");
        for (String line : Files.readAllLines(page)) {
            if (line.startsWith("| ") && !line.startsWith("| question |")) {
                // A vertical bar in a cell is escaped by a backslash.
                List<String> cells = Arrays.stream(line.substring(2).split("(?<!\\\\)\\|"))
                        .map(String::strip)
                        .toList();
                if (comparison.rows.put(cells.get(0), cells) != null) {
                    throw new IllegalStateException(cells.get(0) + " occurs twice");
                }
            }
        }
        return comparison;
    }

    Map<String, List<String>> rows() {
        return rows;
    }

    String filter(Question question) {
        return rows.get(question.title()).get(FILTER);
    }

    String own(Question question, ServletContainer container) {
        List<String> cells = rows.get(question.title());
        String own = cells.size() > WHY ? cells.get(FILTER + 1 + container.ordinal()) : "same";
        return own.equals("same") ? cells.get(FILTER) : own;
    }

    /** {@return whether a row has no differences (two cells), or has a reason and responses that differ} */
    static boolean isExplained(List<String> cells) {
        return cells.size() == 2
                || cells.size() == WHY + 1
                        && !cells.get(WHY).isEmpty()
                        && cells.subList(FILTER + 1, WHY).stream().anyMatch(own -> !own.equals("same"));
    }

    /** {@return a response in the format of a cell} */
    static String code(String response) {
        if (response.isEmpty()) {
            return "nothing";
        }
        StringBuilder text = new StringBuilder("`");
        response.codePoints().forEach(each -> {
            if (Character.isISOControl(each)) {
                text.append(String.format("\\u%04x", each));
            } else {
                text.append(each == '|' ? "\\|" : Character.toString(each));
            }
        });
        return text.append('`').toString();
    }
}
