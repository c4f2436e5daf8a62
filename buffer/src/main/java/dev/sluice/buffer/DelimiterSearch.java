package dev.sluice.buffer;

/**
 * A resumable search for a {@link Delimiter} through successive chunks. Each decoder has its own instance. Not
 * thread-safe.
 *
 * <h2>State</h2>
 *
 * <p>The delimiter's text is {@code CRLF "--" boundary}. If {@code acceptBareLf} is set, {@code LF "--" boundary} is a delimiter too. The
 * search keeps no bytes between chunks. Matched bytes are equal to the text, so these indices into the text are enough:
 *
 * <ul>
 *   <li>{@link #matchEnd()}: the end of the current match. The last bytes of the input are equal to the text from {@code matchStart()} up
 *       to this index. 0 means that there is no match; the length of the text means that the delimiter is complete.
 *   <li>{@link #matchStart()}: the start of the current match. It is 0 after CRLF, 1 after a bare LF, and 2 after {@link #prime()}, because
 *       the delimiter then needs no line break. {@code matchEnd() - matchStart()} bytes of the input have matched.
 *   <li>{@link #failedStart()} and {@link #failedEnd()}: {@code matchStart()} and {@code matchEnd()} of the last match that failed. The
 *       bytes of that match were data, and the caller delivers them from {@link Delimiter#text(int, int)}.
 * </ul>
 *
 * <p>A <em>lookalike</em> is {@code "--" boundary} after a bare CR, or after a bare LF that does not count as a line break. It is data.
 * After {@link #watch watch(true)}, the search stops at the last byte of a lookalike, so that the caller can report it.
 *
 * <h2>Algorithm</h2>
 *
 * <p>The obvious alternative, looking for line breaks and comparing after each, is slow for text. This search looks for the end of the
 * delimiter first, and for the line break only at the places found. Chunks with accessible memory (see {@link ChunkMemory}) are searched
 * with three filters. A filter may report too many places, but never misses a delimiter:
 *
 * <ol>
 *   <li><em>Grams</em>: looks up groups of four bytes in {@link Grams}, at distances of about the length of the delimiter. For a usual
 *       boundary, this reads one byte in eight to ten. A hit without a delimiter is a false alarm. After too many of them, this filter
 *       pauses for {@link #GRAMS_PAUSE} bytes, so that a body crafted to contain the grams of the delimiter is searched almost as fast as
 *       without grams.
 *   <li><em>Passes over spans</em>: a loop without branches, which the JIT compiles to vector instructions, determines
 *       whether any position in a span has the first dash of the delimiter and, at the right distance, its last byte.
 *   <li><em>Blocks</em>: the same check for 16 positions at a time, combined with a check for line breaks.
 * </ol>
 *
 * <p>The remaining positions, the <em>candidates</em>, are compared with the delimiter, starting at the line break. Other chunks, such as
 * composite buffers, are searched with {@link io.netty.buffer.ByteBuf#bytesBefore(int, int, byte)}.
 *
 * <p>The work is linear in the number of bytes, for every body and every boundary. A candidate is compared forward from its line break, and
 * the boundary contains no line break, so each byte is compared at most once. Each filter reads each byte a limited number of times.
 */
public final class DelimiterSearch {
    /** The number of bytes searched before the gram set is created. Small forms never need it. */
    private static final int WARM_UP = 16 * 1024;

    /** The number of bytes searched without grams after too many false alarms. */
    private static final int GRAMS_PAUSE = 64 * 1024;

    /** The smallest {@link #stride} for which the gram filter is faster than blocks. */
    private static final int MIN_STRIDE = 12;

    /** The smallest stride for which the gram filter is faster than vectorized passes over spans. */
    private static final int MIN_STRIDE_WITH_VECTORS = 28;

    /**
     * The longest stride that is shortened to {@link Grams#FIXED_STRIDE} on JDKs older than 25. Beyond it, looking up fewer grams takes less
     * time.
     */
    private static final int MAX_SHORTENED_STRIDE = 46;

    /** A position that no body reaches. */
    private static final long NEVER = 1L << 62;

    /** The number of false alarms allowed in addition to one for each {@link #BYTES_PER_FALSE_ALARM} bytes. */
    private static final int FREE_FALSE_ALARMS = 4;

    /** The number of positions in a span. Spans are short, because a single candidate makes the pass over the whole span useless. */
    private static final int SPAN = 1024;

    /** The number of bytes searched block by block, without passes, at the start of the body and after a span with a candidate. */
    private static final int PASS_PAUSE = 4 * SPAN;

    /**
     * The kernels are used only up to this index of the chunk and of its memory, because they add strides to an index, and the sum must not
     * overflow.
     */
    static final int MAX_KERNEL_INDEX = Integer.MAX_VALUE - 1024;

    private static final int BYTES_PER_FALSE_ALARM = 512;

    private final Delimiter delimiter;
    private final byte[] text;

    private final boolean acceptBareLf;

    /** The length of the delimiter with a line break of one byte. */
    private final int length;

    /**
     * The distance from the first dash to the last byte. This is a field because the JIT does not vectorize the kernels if the distance is
     * computed at the call.
     */
    private final int dashToLast;

    private final long dashPattern;
    private final long lastPattern;

    /** The distance between the grams that are looked up. */
    private final int stride;

    private final int maxKernelIndex;
    private int matchEnd;
    private int matchStart;
    private boolean watching;
    private int lookalike;

    /** The first index of the range being searched. Bytes before it must not be read. */
    private int rangeStart;

    private int failedStart;
    private int failedEnd;

    /** The number of bytes that {@link #find} has searched so far. The next two fields are compared with it. */
    long searched;

    long gramsResumeAt;
    long passesResumeAt;

    /** @param acceptBareLf whether a bare LF counts as the line break before the dashes */
    public DelimiterSearch(Delimiter delimiter, boolean acceptBareLf) {
        this(delimiter, acceptBareLf, WARM_UP, MAX_KERNEL_INDEX);
    }

    DelimiterSearch(Delimiter delimiter, boolean acceptBareLf, int warmUp, int maxKernelIndex) {
        this.maxKernelIndex = maxKernelIndex;
        this.delimiter = delimiter;
        this.text = delimiter.bytes();
        this.acceptBareLf = acceptBareLf;
        this.length = text.length - Delimiter.LINE_BREAK_LENGTH + 1;
        this.dashToLast = length - 2;
        this.dashPattern = Swar.repeat((byte) '-');
        this.lastPattern = Swar.repeat(text[text.length - 1]);
        this.stride = stride(length - Grams.REACH, Runtime.version().feature());
        this.gramsResumeAt = warmUp;
        this.passesResumeAt = Math.min(warmUp, PASS_PAUSE);
    }

    /** Continues as if CRLF had just been read. Called at the start of the body and of each part's content. */
    public void prime() {
        matchEnd = 2;
        matchStart = 2;
        lookalike = 0;
    }

    /** Discards the current match. */
    public void reset() {
        matchEnd = 0;
        matchStart = 0;
        lookalike = 0;
    }

    /** Discards the current match and continues as if a CR had just been read as data. */
    public void resetAfterCr() {
        reset();
        lookalike = watching ? 1 : 0;
    }

    /**
     * Sets whether the search stops at lookalikes; initially it does not. After the search has stopped at a lookalike, call this method,
     * {@link #reset} or {@link #prime} before it continues.
     */
    public void watch(boolean lookalikes) {
        watching = lookalikes;
        lookalike = 0;
    }

    /** {@return whether the search stops at lookalikes} */
    public boolean isWatching() {
        return watching;
    }

    /**
     * {@return the number of bytes of a lookalike seen so far, including its line break of one byte; 0 if there is none or
     * the search is not watching}
     */
    public int lookalike() {
        return lookalike;
    }

    /** {@return whether the last search stopped at a lookalike} */
    public boolean isAtLookalike() {
        return lookalike == length;
    }

    /** {@return the index in the delimiter's text at which the current match ends; 0 if there is no match} */
    public int matchEnd() {
        return matchEnd;
    }

    /**
     * {@return the index in the delimiter's text at which the current match starts: 0 after CRLF, 1 after a bare LF, 2
     * after {@link #prime}}
     */
    public int matchStart() {
        return matchStart;
    }

    /** {@return whether the whole delimiter is matched} */
    public boolean isComplete() {
        return matchEnd == text.length;
    }

    /**
     * Searches a range of the chunk. All bytes before the returned index are data. The meaning of the index depends on the state
     * afterwards:
     *
     * <ul>
     *   <li>{@link #isComplete()}: the start of the first delimiter
     *   <li>{@link #isAtLookalike()}: the last byte of the first lookalike; call {@link #watch} to continue
     *   <li>{@code matchEnd() > 0}: the start of an incomplete delimiter at the end of the range; call {@link #resume} with the next bytes
     *   <li>{@code matchEnd() == 0}: {@code to}
     * </ul>
     *
     * @param from the index of the first byte in the chunk
     * @param to the index after the last byte to search
     * @throws IllegalStateException if {@link #matchEnd()} is not 0, or {@link #isAtLookalike()}
     * @throws IndexOutOfBoundsException if the range is not within the chunk
     */
    public int find(ChunkMemory chunk, int from, int to) {
        if (matchEnd != 0 || isAtLookalike()) {
            throw new IllegalStateException(
                    "a match or a lookalike has already been found: call resume, reset or watch first");
        }
        chunk.check(from, to);
        rangeStart = from;
        int at = lookalike == 0 ? from : resumeLookalike(chunk, from, to);
        if (lookalike == 0) {
            boolean fast = chunk.isFlatUpTo(to, maxKernelIndex);
            at = fast ? findByKernels(chunk, at, to) : compare(chunk, at, to, to);
        }
        searched += at - from;
        return at;
    }

    /* Continues comparing a lookalike that began in an earlier range. The result means the same as for compareAfterBreak. */
    private int resumeLookalike(ChunkMemory chunk, int from, int to) {
        int most = Math.min(length - lookalike, to - from);
        int same = chunk.matching(from, text, lookalike + 1, most);
        lookalike = same < most ? 0 : lookalike + same;
        return isAtLookalike() ? from + same - 1 : from + same;
    }

    private boolean hasFound() {
        return (matchEnd | lookalike) != 0;
    }

    /*
     * i = from
     * while a whole delimiter fits between i and `to`:
     *     if grams are in use: move i to the first position that they do not exclude, then search the next stride by spans
     *     otherwise: search by spans up to the position where grams resume
     * compare candidates in the tail, where only a prefix of the delimiter fits
     */
    private int findByKernels(ChunkMemory chunk, int from, int to) {
        int limit = to - length + 1;
        int i = from;
        int inUseFrom = from;
        int alarmsLeft = FREE_FALSE_ALARMS;
        boolean grams = stride >= minStride(chunk.minPassLength());
        while (i < limit) {
            int end = limit;
            long pause = grams ? gramsResumeAt - searched - (i - from) : NEVER;
            if (pause > 0) {
                end = (int) Math.min(limit, i + pause);
                inUseFrom = end;
                alarmsLeft = FREE_FALSE_ALARMS;
            } else if (delimiter.grams() == Grams.NONE) {
                gramsResumeAt = NEVER;
            } else {
                i = skipByGrams(chunk, i, to);
                if (i >= limit) {
                    break;
                }
                end = Math.min(limit, i + stride);
                alarmsLeft--;
                if (alarmsLeft + (i - inUseFrom) / BYTES_PER_FALSE_ALARM < 0) {
                    gramsResumeAt = searched + (i - from) + GRAMS_PAUSE;
                }
            }
            i = searchSpans(chunk, i, end, to, searched + (i - from));
            if (hasFound()) {
                return i;
            }
        }
        return compare(chunk, i, to, to);
    }

    /**
     * {@return the distance between the grams to look up}
     *
     * @param grams the number of grams in the delimiter if its line break has one byte
     */
    static int stride(int grams, int javaVersion) {
        boolean shortened = javaVersion < 25 && grams > Grams.FIXED_STRIDE && grams <= MAX_SHORTENED_STRIDE;
        return shortened ? Grams.FIXED_STRIDE : grams;
    }

    /** {@return the smallest stride for which the gram filter is faster than the others, for this kind of memory} */
    static int minStride(int minPassLength) {
        return minPassLength < ViewKernel.NO_PASSES ? MIN_STRIDE_WITH_VECTORS : MIN_STRIDE;
    }

    /*
     * Let q be the first index that is probed and whose gram is in the set. A delimiter that contains this gram has the last byte of its
     * line break between q - stride + 1 and q, or at q + 1 if the gram begins with CRLF. No gram that was probed before q is in the set.
     * Returns the first index at which the grams do not exclude this last byte.
     */
    private int skipByGrams(ChunkMemory chunk, int i, int to) {
        int before = stride - 1;
        return chunk.grams(i + before, to, stride, delimiter.grams()) - before;
    }

    /*
     * for each span of [i, end):
     *     if a pass finds no position with the first dash and the last byte: continue with the next span
     *     otherwise: search the span block by block, and the next PASS_PAUSE bytes without passes
     *
     * The result means the same as for searchBlocks.
     */
    private int searchSpans(ChunkMemory chunk, int i, int end, int to, long position) {
        int at = i;
        int minPass = chunk.minPassLength();
        while (at < end) {
            long pause = Math.max(0, passesResumeAt - position - (at - i));
            int stop = (int) Math.min(end, at + Math.max(pause, Math.max(SPAN, minPass)));
            int whole = (stop - at) / 8 * 8;
            if (pause == 0 && whole >= minPass) {
                if (!chunk.anyPair(at + 1, at + 1 + whole, dashToLast, dashPattern, lastPattern)) {
                    at += whole;
                    continue;
                }
                passesResumeAt = position + (stop - i) + PASS_PAUSE;
            }
            at = searchBlocks(chunk, at, stop, to);
            if (hasFound()) {
                return at;
            }
        }
        return at;
    }

    /*
     * Searches the positions in [i, end) in whole blocks. The result for a match or a lookalike means the same as for compareAfterBreak. If
     * nothing is found, returns an index before which no delimiter starts: `end` or later, or an index so close to `to` that no whole block
     * is left.
     */
    private int searchBlocks(ChunkMemory chunk, int i, int end, int to) {
        int blocks = i + (end - i + Swar.BLOCK - 1) / Swar.BLOCK * Swar.BLOCK;
        int limit = Math.min(blocks, to - length + 1);
        int at = i;
        for (; ; ) {
            int block = chunk.pairs(at + 1, limit + 1, dashToLast, dashPattern, lastPattern) - 1;
            if (block > limit - Swar.BLOCK) {
                return block < blocks ? compare(chunk, block, limit, to) : block;
            }
            at = compare(chunk, block, block + Swar.BLOCK, to);
            if (hasFound()) {
                return at;
            }
        }
    }

    /*
     * for each line break in [from, end):
     *     compare the bytes after it with the rest of the delimiter; if all bytes up to `to` are equal: a match or a lookalike
     *
     * The result means the same as for compareAfterBreak.
     */
    private int compare(ChunkMemory chunk, int from, int end, int to) {
        int i = from;
        while (i < end) {
            int at = chunk.indexOfBreak(i, end);
            i = at == end ? end : compareAfterBreak(chunk, at, to);
            if (hasFound()) {
                return i;
            }
        }
        return i;
    }

    /*
     * Compares the bytes after the line break at `at`. Returns the start of a match. Returns the last byte of a lookalike, or `to` if the
     * range ends within the lookalike. If nothing is found, returns an index after `at`, and all bytes before it are data.
     */
    private int compareAfterBreak(ChunkMemory chunk, int at, int to) {
        boolean cr = chunk.getByte(at) == '\r';
        if (cr && at + 1 == to) {
            matchEnd = 1;
            matchStart = 0;
            return at;
        }
        boolean crLf = cr && chunk.getByte(at + 1) == '\n';
        boolean afterCr = !cr && at > rangeStart && chunk.getByte(at - 1) == '\r';
        boolean delimits = crLf || afterCr || !cr && acceptBareLf;
        int dash = crLf ? at + 2 : at + 1;
        if (!delimits && !watching) {
            return dash;
        }
        int most = Math.min(length - 1, to - dash);
        int same = chunk.matching(dash, text, Delimiter.LINE_BREAK_LENGTH, most);
        if (same < most) {
            return dash + same;
        }
        if (delimits) {
            matchEnd = Delimiter.LINE_BREAK_LENGTH + same;
            matchStart = crLf || afterCr ? 0 : 1;
            return afterCr ? at - 1 : at;
        }
        lookalike = same + 1;
        return isAtLookalike() ? dash + same - 1 : to;
    }

    /**
     * Continues a match with the next bytes. If they differ from the delimiter, {@code matchEnd()} is 0 afterwards. The bytes
     * {@link #failedStart()} to {@link #failedEnd()} of the delimiter's text were then data (possibly none, after {@link #prime}), and the
     * byte at the returned index is not consumed. Otherwise the match is complete or extends to {@code to}.
     *
     * @return the index after the last byte consumed
     * @param from the index of the first byte in the chunk
     * @param to the index after the last byte to compare
     * @throws IllegalStateException if there is no match, or if it is complete
     * @throws IndexOutOfBoundsException if the range is not within the chunk
     */
    public int resume(ChunkMemory chunk, int from, int to) {
        if (matchEnd == 0 || matchEnd == text.length) {
            throw new IllegalStateException("no incomplete match to resume");
        }
        chunk.check(from, to);
        int most = Math.min(text.length - matchEnd, to - from);
        int same = chunk.matching(from, text, matchEnd, most);
        matchEnd += same;
        if (same < most) {
            failedStart = matchStart;
            failedEnd = matchEnd;
            if (matchEnd == 1) {
                resetAfterCr();
            } else {
                reset();
            }
        }
        return from + same;
    }

    /** {@return the index in the delimiter's text at which the last failed match started} */
    public int failedStart() {
        return failedStart;
    }

    /** {@return the index in the delimiter's text at which the last failed match ended} */
    public int failedEnd() {
        return failedEnd;
    }
}
