package dev.sluice.bench.differential;

import dev.sluice.bench.peer.Tally;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The kinds of differences between the parts found by another parser and by Sluice. */
enum Difference {
    PARTS_MISSING("fewer parts"),
    PARTS_ADDED("more parts"),
    NAME_ABSENT("no name"),
    NAME("another name"),
    FILENAME_ABSENT("no file name"),
    FILENAME_ADDED("a file name where there is none"),
    FILENAME("another file name"),
    CONTENT_CUT("only the beginning of the content"),
    CONTENT_ADDED("extra bytes after the content"),
    CONTENT("other content");

    final String title;

    Difference(String title) {
        this.title = title;
    }

    /**
     * Returns the first difference.
     *
     * @param names whether the other parser reads names
     */
    static Optional<Difference> between(Reading sluice, Reading other, boolean names) {
        int count = Math.min(sluice.parts().size(), other.parts().size());
        if (sluice.parts().size() != other.parts().size()) {
            return Optional.of(other.parts().size() == count ? PARTS_MISSING : PARTS_ADDED);
        }
        for (int i = 0; i < count; i++) {
            Difference found = between(sluice.parts().get(i), other.parts().get(i), names);
            if (found != null) {
                return Optional.of(found);
            }
        }
        return Optional.empty();
    }

    private static @Nullable Difference between(Tally.Part sluice, Tally.Part other, boolean names) {
        if (names && !Objects.equals(sluice.name(), other.name())) {
            return other.name() == null ? NAME_ABSENT : NAME;
        }
        if (names && !Objects.equals(sluice.filename(), other.filename())) {
            return other.filename() == null ? FILENAME_ABSENT : sluice.filename() == null ? FILENAME_ADDED : FILENAME;
        }
        int same = Arrays.mismatch(sluice.content(), other.content());
        if (same < 0) {
            return null;
        }
        return same == other.content().length ? CONTENT_CUT : same == sluice.content().length ? CONTENT_ADDED : CONTENT;
    }
}
