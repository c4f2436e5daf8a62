package dev.sluice.buffer;

/**
 * Resumable search for a {@link Delimiter} through successive chunks. One per decoder; not thread-safe.
 *
 * <p>What is remembered from chunk to chunk is how much of the delimiter's text ended the last one, a single number:
 * the bytes themselves are known. In LF mode the delimiter is {@code (CRLF | LF) "--" boundary}; a CR directly before
 * the LF belongs to it. Otherwise a bare LF is a byte like any other.
 *
 * <p>A <em>lookalike</em> is {@code "--" boundary} behind a bare CR, or a bare LF that is no delimiter's. It is data, and
 * none of it is held back; a search that {@linkplain #watch watches} stops at its last byte.
 *
 * <p>The work is linear in the bytes searched, whatever they and the boundary are: a candidate is compared forward
 * from its line break, and there is none within the boundary, so that each byte is compared at most once; and a kernel
 * looks at a byte a bounded number of times. Kernels look for the first dash and the last byte, as far from each other
 * as in the text, and for a line break only where both are: lines alone cost nothing.
 *
 * <p>Chunks whose memory is reachable (see {@link ChunkMemory}) are searched word by word; all others with
 * {@link io.netty.buffer.ByteBuf#bytesBefore(int, int, byte)}.
 */
public final class DelimiterSearch {
    /** Bytes seen before the set of grams is made: a small form does without. */
    private static final int WARM_UP = 16 * 1024;

    /**
     * Bytes for which grams are left alone after they pointed too often at nothing: an attacker may have made the body so.
     */
    private static final int PAUSE = 64 * 1024;

    /** Grams of a delimiter below which their stride is too short to gain anything. */
    private static final int MIN_STRIDE = 12;

    /** The same where passes over spans are vectors. */
    private static final int MIN_STRIDE_BESIDE_VECTORS = 28;

    /** More bytes than a stream has. */
    private static final long NEVER = 1L << 62;

    private static final int FREE_ALARMS = 4;

    /** Starts that are looked at without a branch: few enough that one candidate by chance wastes little. */
    private static final int SPAN = 1024;

    /**
     * Bytes that are looked at closely, without a pass over them first: at the start, and once a span had a candidate.
     */
    private static final int SPAN_PAUSE = 4 * SPAN;

    /** The kernels add strides to indexes before they compare them: those in the memory, and those in the chunk. */
    private static final int LAST_INDEX_OF_KERNELS = Integer.MAX_VALUE - 1024;

    private static final int BYTES_PER_ALARM = 512;

    private final Delimiter delimiter;
    private final byte[] text;

    /** Whether a bare LF counts as the line break. */
    private final boolean acceptBareLf;

    /** Bytes from the last one of the line break to the end of the text. */
    private final int length;

    /**
     * Bytes from the first dash to the last byte. A field of its own: as a difference in the kernels, it keeps the JIT
     * from making vectors.
     */
    private final int reach;

    private final long dashPattern;
    private final long lastPattern;
    private final int stride;
    private final int lastIndexOfKernels;
    private int matched;
    private int first;
    private boolean watching;
    private int lookalike;
    private int start;
    private int falseFrom;
    private int falseTo;
    private long searched;
    private long gramsFrom;
    private long spansFrom;
    private long steps;

    /**
     * Makes a search with nothing matched.
     *
     * @param acceptBareLf whether a bare LF counts as the line break before the dashes
     */
    public DelimiterSearch(Delimiter delimiter, boolean acceptBareLf) {
        this(delimiter, acceptBareLf, WARM_UP);
    }

    DelimiterSearch(Delimiter delimiter, boolean acceptBareLf, int warmUp) {
        this(delimiter, acceptBareLf, warmUp, LAST_INDEX_OF_KERNELS);
    }

    DelimiterSearch(Delimiter delimiter, boolean acceptBareLf, int warmUp, int lastIndexOfKernels) {
        this.lastIndexOfKernels = lastIndexOfKernels;
        this.delimiter = delimiter;
        this.text = delimiter.bytes();
        this.acceptBareLf = acceptBareLf;
        this.length = text.length - Delimiter.LINE_BREAK_LENGTH + 1;
        this.reach = length - 2;
        this.dashPattern = Swar.repeat((byte) '-');
        this.lastPattern = Swar.repeat(text[text.length - 1]);
        this.stride = length - Grams.REACH;
        this.gramsFrom = warmUp;
        this.spansFrom = Math.min(warmUp, SPAN_PAUSE);
    }

    /** Goes on as if CRLF had just been seen: at the start of the stream and of a part body. */
    public void prime() {
        matched = 2;
        first = 2;
        lookalike = 0;
    }

    /** Forgets what was matched. */
    public void reset() {
        matched = 0;
        first = 0;
        lookalike = 0;
    }

    /** Forgets what was matched, and goes on as if a CR had just been seen that is data. */
    public void resetAfterCr() {
        reset();
        lookalike = watching ? 1 : 0;
    }

    /** Says whether to stop at lookalikes from here on; not at first. One that was stopped at is left behind. */
    public void watch(boolean lookalikes) {
        watching = lookalikes;
        lookalike = 0;
    }

    /** {@return whether the search stops at lookalikes} */
    public boolean isWatching() {
        return watching;
    }

    /** {@return how many bytes of a line break of one byte and the dash-boundary the bytes before end with; 0 unless watching} */
    public int lookalike() {
        return lookalike;
    }

    /** {@return whether the last search stopped at a lookalike} */
    public boolean isAtLookalike() {
        return lookalike == length;
    }

    /**
     * {@return how many bytes of the text {@code CRLF "--" boundary} are matched, counted from its start; 0 for none}
     */
    public int matched() {
        return matched;
    }

    /** {@return the index in the text of the first byte really seen: 0; 1 for a bare LF; 2 when primed} */
    public int first() {
        return first;
    }

    /** {@return whether the whole delimiter is matched} */
    public boolean isComplete() {
        return matched == text.length;
    }

    /**
     * Searches bytes of a chunk. Afterwards {@link #isComplete()}, and the result is where the first delimiter starts;
     * or {@link #isAtLookalike()}, and the result is where the last byte of the first lookalike is, to be told to go on
     * by {@link #watch}; or {@code 0 < matched() < length}, and the result is where the longest beginning of the
     * delimiter that ends the range starts; or {@code matched() == 0}, and the result is {@code to}. What is before the
     * result is data.
     *
     * @param from absolute index in the chunk
     * @param to the index behind the last byte to search
     * @throws IllegalStateException if {@link #matched()} is not 0, or {@link #isAtLookalike()}
     * @throws IndexOutOfBoundsException if the range is not within the chunk
     */
    public int find(ChunkMemory chunk, int from, int to) {
        if (matched != 0 || isAtLookalike()) {
            throw new IllegalStateException(matched + " bytes of the delimiter are matched, or a lookalike, already");
        }
        chunk.check(from, to);
        start = from;
        int at = lookalike == 0 ? from : resumeLookalike(chunk, from, to);
        if (lookalike == 0) {
            boolean fast = chunk.isFlatUpTo(to, lastIndexOfKernels);
            at = fast ? findByKernels(chunk, at, to) : compare(chunk, at, to, to);
        }
        searched += at - from;
        return at;
    }

    /* Goes on comparing a lookalike. Returns as compareBehind. */
    private int resumeLookalike(ChunkMemory chunk, int from, int to) {
        int most = Math.min(length - lookalike, to - from);
        int same = chunk.matching(from, text, lookalike + 1, most);
        steps += same + 1;
        lookalike = same < most ? 0 : lookalike + same;
        return isAtLookalike() ? from + same - 1 : from + same;
    }

    private boolean hasFound() {
        return (matched | lookalike) != 0;
    }

    /*
     * i = from
     * while a whole delimiter may start at i:
     *     with grams in use: move i to the first start they cannot rule out, look closely at the span of one turn
     *     without: look closely at all up to where they come into use
     * compare candidates in the tail, where only a beginning of the delimiter fits
     *
     * Grams that point at nothing too often are put aside for a while, so that they never cost more than they save.
     */
    private int findByKernels(ChunkMemory chunk, int from, int to) {
        int limit = to - length + 1;
        int i = from;
        int inUseFrom = from;
        int alarms = FREE_ALARMS;
        boolean grams = stride >= minStride(chunk.leastOfPass());
        while (i < limit) {
            int end = limit;
            long pause = grams ? gramsFrom - searched - (i - from) : NEVER;
            if (pause > 0) {
                end = (int) Math.min(limit, i + pause);
                inUseFrom = end;
                alarms = FREE_ALARMS;
            } else {
                i = byGrams(chunk, i, to);
                end = Math.min(limit, i + 4 * stride);
                alarms--;
                if (alarms + (i - inUseFrom) / BYTES_PER_ALARM < 0) {
                    gramsFrom = searched + (i - from) + PAUSE;
                }
            }
            i = bySpans(chunk, i, end, to, searched + (i - from));
            if (hasFound()) {
                return i;
            }
        }
        return compare(chunk, i, to, to);
    }

    /** {@return the shortest stride with which grams are faster than what else there is for a chunk} */
    static int minStride(int leastOfPass) {
        return leastOfPass < ViewKernel.NONE ? MIN_STRIDE_BESIDE_VECTORS : MIN_STRIDE;
    }

    /*
     * A gram at q lies in the delimiters whose line breaks end at q - stride + 1 to q. Returns the first such end that is
     * not ruled out.
     */
    private int byGrams(ChunkMemory chunk, int i, int to) {
        int before = stride - 1;
        int clean = chunk.grams(i + before, to, stride, delimiter.grams()) - before;
        steps += (clean - i) / stride + 4;
        return clean;
    }

    /*
     * for each span of [i, end):
     *     if a pass over it tells that no start has both its ends: next span
     *     else: look closely at it, and at some more before the next pass
     *
     * Returns as byPairs.
     */
    private int bySpans(ChunkMemory chunk, int i, int end, int to, long position) {
        int at = i;
        int least = chunk.leastOfPass();
        while (at < end) {
            long pause = Math.max(0, spansFrom - position - (at - i));
            int stop = (int) Math.min(end, at + Math.max(pause, Math.max(SPAN, least)));
            int whole = (stop - at) / 8 * 8;
            if (pause == 0 && whole >= least) {
                steps += whole / 8;
                if (!chunk.anyPair(at + 1, at + 1 + whole, reach, dashPattern, lastPattern)) {
                    at += whole;
                    continue;
                }
                spansFrom = position + (stop - i) + SPAN_PAUSE;
            }
            at = byPairs(chunk, at, stop, to);
            if (hasFound()) {
                return at;
            }
        }
        return at;
    }

    /*
     * Looks closely at the starts in [i, end), in whole blocks. Returns where the match is; or, with nothing matched,
     * an index before which none starts: at least `end`, or so close to the last possible start that no block is left.
     */
    private int byPairs(ChunkMemory chunk, int i, int end, int to) {
        int blocks = i + (end - i + Swar.BLOCK - 1) / Swar.BLOCK * Swar.BLOCK;
        int limit = Math.min(blocks, to - length + 1);
        int at = i;
        for (; ; ) {
            int block = chunk.pairs(at + 1, limit + 1, reach, dashPattern, lastPattern) - 1;
            steps += (block - at) / 8 + 2;
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
     * for each byte in [from, end) that may end a line break before the dash-boundary:
     *     compare forward to the dash-boundary's end or to `to`; if all bytes are equal: a match, or a lookalike
     *
     * Returns as compareBehind.
     */
    private int compare(ChunkMemory chunk, int from, int end, int to) {
        int i = from;
        while (i < end) {
            int at = chunk.indexOfBreak(i, end);
            steps += at - i;
            i = at == end ? end : compareBehind(chunk, at, to);
            if (hasFound()) {
                return i;
            }
        }
        return i;
    }

    /*
     * Returns where the match is, or the last byte of the lookalike, or the end of the range if that cuts it off; or, with
     * nothing found, an index behind `at` before which no line break is.
     */
    private int compareBehind(ChunkMemory chunk, int at, int to) {
        boolean cr = chunk.getByte(at) == '\r';
        if (cr && at + 1 == to) {
            steps++;
            matched = 1;
            first = 0;
            return at;
        }
        boolean crLf = cr && chunk.getByte(at + 1) == '\n';
        boolean afterCr = !cr && at > start && chunk.getByte(at - 1) == '\r';
        boolean delimits = crLf || afterCr || !cr && acceptBareLf;
        int dash = crLf ? at + 2 : at + 1;
        steps += dash - at;
        if (!delimits && !watching) {
            return dash;
        }
        int most = Math.min(length - 1, to - dash);
        int same = chunk.matching(dash, text, Delimiter.LINE_BREAK_LENGTH, most);
        steps += same;
        if (same < most) {
            return dash + same;
        }
        if (delimits) {
            matched = Delimiter.LINE_BREAK_LENGTH + same;
            first = crLf || afterCr ? 0 : 1;
            return afterCr ? at - 1 : at;
        }
        lookalike = same + 1;
        return isAtLookalike() ? dash + same - 1 : to;
    }

    /**
     * Goes on comparing at the start of more bytes. Afterwards {@link #isComplete()}; or {@code matched() > 0} and the
     * result is {@code to}; or {@code matched() == 0}, a false start: the bytes {@link #falseFrom()} to {@link
     * #falseTo()} of the text were data after all (none of them if primed), and the byte at the result has not been
     * consumed: a CR alone may lead a lookalike.
     *
     * @return the index behind the last byte consumed
     * @param from absolute index in the chunk
     * @param to the index behind the last byte to compare
     * @throws IllegalStateException unless {@code 0 < matched() < length}
     * @throws IndexOutOfBoundsException if the range is not within the chunk
     */
    public int resume(ChunkMemory chunk, int from, int to) {
        if (matched == 0 || matched == text.length) {
            throw new IllegalStateException("no match is under way");
        }
        chunk.check(from, to);
        int most = Math.min(text.length - matched, to - from);
        int same = chunk.matching(from, text, matched, most);
        steps += same + 1;
        matched += same;
        if (same < most) {
            falseFrom = first;
            falseTo = matched;
            if (matched == 1) {
                resetAfterCr();
            } else {
                reset();
            }
        }
        return from + same;
    }

    /** {@return the index in the text of the first byte of the last false start} */
    public int falseFrom() {
        return falseFrom;
    }

    /** {@return the index in the text behind the last byte of the last false start} */
    public int falseTo() {
        return falseTo;
    }

    /** {@return units of work so far: probes of a word or a gram, and bytes of candidates looked at} */
    public long steps() {
        return steps;
    }
}
