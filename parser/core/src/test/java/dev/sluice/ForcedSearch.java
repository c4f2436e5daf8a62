package dev.sluice;

import dev.sluice.buffer.Delimiter;
import dev.sluice.buffer.DelimiterSearch;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The search of a decoder, forced into a mode that it otherwise reaches after many bytes: grams after 16 KiB, passes over spans after 4
 * KiB. Only the fields that choose the mode are changed. Tests set the mode before each event, so the mode does not depend on previous
 * input. {@link dev.sluice.buffer.DelimiterSearch} explains grams and spans.
 */
public final class ForcedSearch {
    private static final VarHandle SEARCH = field(MultipartDecoder.class, "search");
    private static final VarHandle GRAMS_FROM = field(DelimiterSearch.class, "gramsResumeAt");
    private static final VarHandle SPANS_FROM = field(DelimiterSearch.class, "passesResumeAt");
    private static final VarHandle GRAMS = field(Delimiter.class, "grams");

    private static final long NEVER = 1L << 62;

    private final DelimiterSearch search;

    private ForcedSearch(DelimiterSearch search) {
        this.search = search;
    }

    private static VarHandle field(Class<?> owner, String name) {
        try {
            return MethodHandles.privateLookupIn(owner, MethodHandles.lookup())
                    .unreflectVarHandle(owner.getDeclaredField(name));
        } catch (ReflectiveOperationException e) {
            throw new AssertionError(e);
        }
    }

    /** {@return the search of a decoder, in its normal mode} */
    static ForcedSearch of(MultipartDecoder decoder) {
        return new ForcedSearch((DelimiterSearch) SEARCH.get(decoder));
    }

    /**
     * Allows passes over spans from the next byte on. If {@code grams} is true, also allows grams for boundaries with which they are
     * faster. Otherwise forbids grams.
     */
    void force(boolean grams) {
        GRAMS_FROM.set(search, grams ? 0 : NEVER);
        SPANS_FROM.set(search, 0L);
    }

    /** {@return whether a pass over a span has found a candidate since {@link #force}} */
    boolean hasPassFoundCandidate() {
        return (long) SPANS_FROM.get(search) != 0;
    }

    /** {@return whether a search for this boundary has used grams} */
    public static boolean hasUsedGrams(Boundary boundary) {
        return GRAMS.getVolatile(boundary.delimiter()) != null;
    }
}
