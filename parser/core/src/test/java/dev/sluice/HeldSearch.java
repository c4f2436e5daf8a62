package dev.sluice;

import dev.sluice.buffer.Delimiter;
import dev.sluice.buffer.DelimiterSearch;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The search of a decoder, held where it otherwise gets to after many bytes: grams after 16 KiB, passes over spans after 4 KiB. It is
 * what chooses between searches, and nothing else, that is changed; held before each event, it depends on nothing that came before.
 */
public final class HeldSearch {
    private static final VarHandle SEARCH = field(MultipartDecoder.class, "search", DelimiterSearch.class);
    private static final VarHandle GRAMS_FROM = field(DelimiterSearch.class, "gramsResumeAt", long.class);
    private static final VarHandle SPANS_FROM = field(DelimiterSearch.class, "passesResumeAt", long.class);
    private static final VarHandle GRAMS = field(Delimiter.class, "grams", long[].class);

    private static final long NEVER = 1L << 62;

    private final DelimiterSearch search;

    private HeldSearch(DelimiterSearch search) {
        this.search = search;
    }

    private static VarHandle field(Class<?> owner, String name, Class<?> type) {
        try {
            return MethodHandles.privateLookupIn(owner, MethodHandles.lookup()).findVarHandle(owner, name, type);
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** {@return the search of a decoder, not held yet} */
    static HeldSearch of(MultipartDecoder decoder) {
        return new HeldSearch((DelimiterSearch) SEARCH.get(decoder));
    }

    /** Has passes over spans from the next byte on, and grams before them, where they are worth it, or never. */
    void hold(boolean grams) {
        GRAMS_FROM.set(search, grams ? 0 : NEVER);
        SPANS_FROM.set(search, 0L);
    }

    /** {@return whether a pass over a span, since the search was held, has met something} */
    boolean hasPassMetACandidate() {
        return (long) SPANS_FROM.get(search) != 0;
    }

    /** {@return whether a search for this boundary has used grams} */
    public static boolean hasUsedGrams(Boundary boundary) {
        return GRAMS.getVolatile(boundary.delimiter()) != null;
    }
}
