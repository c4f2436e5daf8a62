package dev.sluice.bench.differential;

import dev.sluice.bench.peer.Tally;
import dev.sluice.testkit.Soup;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What a parser made of a body.
 *
 * @param parts complete ones, in the order of their ends
 * @param refusal why it refuses the body, null where it accepts it
 */
record Reading(List<Tally.Part> parts, @Nullable String refusal) {
    private static final int SHOWN = 160;

    boolean accepts() {
        return refusal == null;
    }

    /** Whether both accept the same parts, or both refuse. */
    boolean sameOutcome(Reading other) {
        return accepts() == other.accepts() && (!accepts() || sameParts(other));
    }

    boolean sameParts(Reading other) {
        if (parts.size() != other.parts.size()) {
            return false;
        }
        for (int i = 0; i < parts.size(); i++) {
            Tally.Part mine = parts.get(i);
            Tally.Part others = other.parts.get(i);
            if (!Objects.equals(mine.name(), others.name())
                    || !Objects.equals(mine.filename(), others.filename())
                    || !Arrays.equals(mine.content(), others.content())) {
                return false;
            }
        }
        return true;
    }

    /** In a line, long content cut short. */
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
