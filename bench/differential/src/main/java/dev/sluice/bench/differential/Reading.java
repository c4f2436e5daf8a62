package dev.sluice.bench.differential;

import dev.sluice.bench.peer.Tally;
import dev.sluice.testkit.Soup;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The result of a parser for a body.
 *
 * @param parts the complete parts, in the order in which they ended
 * @param refusal why the parser rejects the body, or null if it accepts it
 */
record Reading(List<Tally.Part> parts, @Nullable String refusal) {
    private static final int SHOWN = 160;

    boolean accepts() {
        return refusal == null;
    }

    /** Returns whether both accept the same parts or both reject the body. */
    boolean sameOutcome(Reading other) {
        return accepts() == other.accepts() && (!accepts() || sameParts(other));
    }

    boolean sameParts(Reading other) {
        return parts.size() == other.parts.size()
                && IntStream.range(0, parts.size()).allMatch(i -> parts.get(i).same(other.parts.get(i)));
    }

    /** Returns a description in one line, with long content truncated. */
    String describe() {
        return accepts() ? parts.stream().map(Reading::describe).collect(Collectors.joining(", ", "[", "]")) : refusal;
    }

    private static String describe(Tally.Part part) {
        String content = Soup.escape(part.content());
        String shown = content.length() <= SHOWN
                ? '"' + content + '"'
                : '"' + content.substring(0, SHOWN) + "\"... (" + part.content().length + " bytes)";
        return "(" + text(part.name()) + ", " + text(part.filename()) + ", " + shown + ")";
    }

    private static String text(@Nullable String text) {
        return text == null ? "absent" : '"' + Soup.escape(text.getBytes(StandardCharsets.UTF_8)) + '"';
    }
}
