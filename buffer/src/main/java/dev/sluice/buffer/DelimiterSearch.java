package dev.sluice.buffer;

/**
 * Resumable search for a {@link Delimiter} through successive chunks. One per decoder; not thread-safe.
 *
 * <p>What is remembered from chunk to chunk is how much of the delimiter's text ended the last one, a single number:
 * the bytes themselves are known. In LF mode the delimiter is {@code (CRLF | LF) "--" boundary}; a CR directly before
 * the LF belongs to it. Otherwise a bare LF is a byte like any other.
 *
 * <p>The work is linear in the bytes searched, whatever they and the boundary are: a candidate is compared forward
 * from its line break, of which the text holds only one, so that each byte is compared at most once; and a kernel
 * looks at a byte a bounded number of times.
 *
 * <p>Chunks whose memory is reachable (see {@link ChunkMemory}) are searched word by word; all others with
 * {@link io.netty.buffer.ByteBuf#bytesBefore(int, int, byte)}.
 */
public final class DelimiterSearch {
    /** Bytes seen before the set of grams is made: a small form does without. */
    private static final int WARM_UP = 16 * 1024;

    /**
     * Bytes for which grams are left alone after they pointed too often at nothing: the body is made against them, or
     * unlucky.
     */
    private static final int PAUSE = 64 * 1024;

    /** Grams of a delimiter below which their stride is too short to gain anything. */
    private static final int MIN_STRIDE = 13;

    /** The same where passes over spans are vectors. */
    private static final int MIN_STRIDE_BESIDE_VECTORS = 29;

    /** More bytes than a stream has. */
    private static final long NEVER = 1L << 62;

    private static final int FREE_ALARMS = 4;

    /** Starts that are looked at without a branch: few enough that one candidate by chance wastes little. */
    private static final int SPAN = 1024;

    /**
     * Bytes that are looked at closely, without a pass over them first: at the start, and once a span had a candidate.
     */
    private static final int SPAN_PAUSE = 4 * SPAN;

    /** The kernels add strides to indexes before they compare them. */
    private static final int LAST_INDEX_OF_KERNELS = Integer.MAX_VALUE - 1024;

    private static final int BYTES_PER_ALARM = 512;

    private final Delimiter delimiter;
    private final byte[] text;

    /** Index in the text of the byte that starts a candidate: CR, or LF in LF mode. */
    private final int anchor;

    /** Bytes from the anchor to the end of the text. */
    private final int length;

    /**
     * Bytes from the anchor to the last byte. A field of its own: as a difference in the kernels, it keeps the JIT from
     * making vectors.
     */
    private final int reach;

    private final long anchorPattern;
    private final long lastPattern;
    private final int stride;
    private final int lastIndexOfKernels;
    private int matched;
    private int first;
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
        this.anchor = acceptBareLf ? 1 : 0;
        this.length = text.length - anchor;
        this.reach = length - 1;
        this.anchorPattern = Swar.repeat(text[anchor]);
        this.lastPattern = Swar.repeat(text[text.length - 1]);
        this.stride = length - Grams.REACH;
        this.gramsFrom = warmUp;
        this.spansFrom = Math.min(warmUp, SPAN_PAUSE);
    }

    /** Goes on as if CRLF had just been seen: at the start of the stream and of a part body. */
    public void prime() {
        matched = 2;
        first = 2;
    }

    /** Forgets what was matched. */
    public void reset() {
        matched = 0;
        first = 0;
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
     * or {@code 0 < matched() < length}, and the result is where the longest beginning of the delimiter that ends the
     * range starts; or {@code matched() == 0}, and the result is {@code to}. What is before the result is data.
     *
     * @param from absolute index in the chunk
     * @param to the index behind the last byte to search
     * @throws IllegalStateException if {@link #matched()} is not 0
     * @throws IndexOutOfBoundsException if the range is not within the chunk
     */
    public int find(ChunkMemory chunk, int from, int to) {
        if (matched != 0) {
            throw new IllegalStateException(matched + " bytes of the delimiter are matched already");
        }
        chunk.check(from, to);
        boolean fast = chunk.isFlat() && to <= lastIndexOfKernels;
        int at = fast ? findByKernels(chunk, from, to) : compare(chunk, from, to, to);
        searched += at - from;
        return anchor == 0 ? at : withCr(chunk, from, at);
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
            if (matched != 0) {
                return i;
            }
        }
        return compare(chunk, i, to, to);
    }

    /** {@return the shortest stride with which grams are faster than what else there is for a chunk} */
    static int minStride(int leastOfPass) {
        return leastOfPass < ViewKernel.NONE ? MIN_STRIDE_BESIDE_VECTORS : MIN_STRIDE;
    }

    /* A gram at q lies in the delimiters that start at q - stride + 1 to q. Returns the first start not ruled out. */
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
                if (!chunk.anyPair(at, at + whole, reach, anchorPattern, lastPattern)) {
                    at += whole;
                    continue;
                }
                spansFrom = position + (stop - i) + SPAN_PAUSE;
            }
            at = byPairs(chunk, at, stop, to);
            if (matched != 0) {
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
            int block = chunk.pairs(at, limit, reach, anchorPattern, lastPattern);
            steps += (block - at) / 8 + 2;
            if (block > limit - Swar.BLOCK) {
                return block < blocks ? compare(chunk, block, limit, to) : block;
            }
            at = compare(chunk, block, block + Swar.BLOCK, to);
            if (matched != 0) {
                return at;
            }
        }
    }

    /*
     * for each byte in [from, end) that starts a candidate:
     *     compare forward to the delimiter's end or to `to`; if all bytes are equal: a match
     *
     * Returns where the match is; or, with nothing matched, an index from `end` on before which none starts.
     */
    private int compare(ChunkMemory chunk, int from, int end, int to) {
        int i = from;
        while (i < end) {
            int at = chunk.indexOf(i, end, anchorPattern);
            steps += at - i;
            i = at;
            if (at < end) {
                int most = Math.min(length, to - at);
                int same = chunk.matching(at, text, anchor, most);
                steps += same;
                if (same == most) {
                    matched = anchor + same;
                    first = anchor;
                    return at;
                }
                i += same;
            }
        }
        return i;
    }

    /** LF mode: takes the CR before the LF into the match, and a CR that ends the range. */
    private int withCr(ChunkMemory chunk, int from, int at) {
        if (at == from || chunk.getByte(at - 1) != '\r') {
            return at;
        }
        matched = Math.max(1, matched);
        first = 0;
        return at - 1;
    }

    /**
     * Goes on comparing at the start of more bytes. Afterwards {@link #isComplete()}; or {@code matched() > 0} and the
     * result is {@code to}; or {@code matched() == 0}, a false start: the bytes {@link #falseFrom()} to {@link
     * #falseTo()} of the text were data after all (none of them if primed), and the byte at the result has not been
     * consumed.
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
            reset();
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
