package dev.sluice.header;

import dev.sluice.Deviation;
import dev.sluice.MultipartException.Reason;
import dev.sluice.MultipartOptions;
import dev.sluice.buffer.Accumulation;
import dev.sluice.buffer.ChunkMemory;
import dev.sluice.buffer.Text;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.nio.charset.Charset;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A reader of header sections (RFC 5322 section 2.2, narrowed by RFC 9112 section 5). One instance reads all sections of a body, one
 * after the other.
 *
 * <p>The bytes of a section are collected in one buffer, because a section may be split between chunks and fields are read after it is
 * complete. The grammar is a state machine that can stop after any byte. It reads each byte once, except the start of a line that begins
 * with a dash:
 *
 * <pre>
 * section = *( field CRLF ) CRLF
 * field   = token ":" OWS value OWS *( CRLF blanks value )
 *
 * state      byte               next state
 * LINE       "-"                DASHES, while the line is a prefix of the dash-boundary
 *            token character    NAME: a new field begins
 *            blank              FOLD: the last field continues
 *            CR                 END_CR
 * DASHES     any other          NAME: the line is read again, as a field
 * NAME       ":"                VALUE
 * VALUE      CR                 VALUE_CR
 * VALUE_CR   LF                 LINE
 * FOLD       no blank, CR or LF VALUE
 * END_CR     LF                 COMPLETE
 * </pre>
 *
 * <p>Bytes that continue a name, a value or a fold are not listed. Everything else is an error at that byte; a CR without an LF is an error
 * at the CR. If {@link Deviation#BARE_LF_IN_HEADER} is accepted, LF is accepted in place of CRLF.
 *
 * <p>The result is {@link #fields}: the positions of all names and values. {@link PartRules} looks up and checks the fields that affect
 * decoding.
 *
 * <p>Nearly all sections are in the format of {@link CommonHeaders}. If the first block contains such a section, it is recognized as a
 * whole, with the same result.
 */
public final class HeaderSection implements AutoCloseable {
    private static final String NOT_TOKEN = "a header name contains the byte";

    /**
     * The allocator if the options have none. It is unpooled and not tracked for leaks: the garbage collector frees the one array of a
     * decoder, and a tracked buffer would take at least a microsecond at Netty's leak detection level PARANOID.
     */
    private static final ByteBufAllocator UNTRACKED = new UnpooledByteBufAllocator(false, true);

    private static final int FIRST_BLOCK = 128;
    private static final int BLOCK = 512;

    /** The number of entries of {@link #fields} for each field: start and end of the name, end of the value, 1 if it is folded. */
    static final int SLOTS = 4;

    enum State {
        LINE,
        DASHES,
        NAME,
        VALUE,
        VALUE_CR,
        FOLD,
        END_CR,
        COMPLETE
    }

    private final Deviations deviations;
    private final boolean formData;
    private final String boundary;
    private final int maxFields;
    private final int maxSize;
    private final long maxTotalSize;
    final Accumulation bytes;
    private final CommonHeaders common = new CommonHeaders();
    private boolean isCommon;

    State state = State.COMPLETE;
    int[] fields = new int[4 * SLOTS];
    int count;
    int scanned;

    long totalBefore;
    int limit;
    int endOfSection;
    int lineStart;
    long offset;
    private int part;

    private final Charset charset;

    /** The fields last returned by {@link #headerFields()}. */
    private HeaderFields shared;

    /** Creates a reader. It accepts control characters in the Content-Disposition of a form, because {@link PartRules} checks them. */
    public HeaderSection(MultipartOptions options, String boundary, boolean formData, Deviations deviations) {
        this.formData = formData;
        this.boundary = boundary;
        this.deviations = deviations;
        this.maxFields = options.maxHeadersPerPart();
        this.maxSize = options.maxHeaderBytesPerPart();
        this.maxTotalSize = options.maxHeaderBytes();
        this.bytes = new Accumulation(options.hasAllocator() ? options.allocator() : UNTRACKED, 256);
        this.charset = options.headerCharset();
        this.shared = new HeaderFields(new int[0], charset);
    }

    /** Begins the next section, whose first byte is at {@code offset} in the body. */
    public void begin(int partIndex, long offset) {
        part = partIndex;
        totalBefore += scanned;
        bytes.truncate(0);
        this.offset = offset;
        limit = (int) Math.min(maxSize, maxTotalSize - totalBefore);
        state = State.LINE;
        count = 0;
        scanned = 0;
        isCommon = false;
    }

    /**
     * Reads bytes of the section, up to its end or to {@code to}.
     *
     * @return the index after the last byte that belongs to the section; less than {@code to} only if {@link #isComplete()}
     */
    public int read(ChunkMemory chunk, int from, int to) throws Rejection {
        int at = from;
        while (at < to && state != State.COMPLETE) {
            int room = limit - scanned;
            if (room == 0) {
                Reason reason = limit == maxSize ? Reason.HEADER_SECTION_TOO_LARGE : Reason.HEADERS_TOO_LARGE;
                throw new Rejection(reason, offset + scanned, "");
            }
            int block = Math.min(Math.min(room, to - at), scanned == 0 ? FIRST_BLOCK : BLOCK);
            int before = scanned;
            bytes.append(chunk, at, block);
            if (before > 0 || !readCommon()) {
                scan();
            }
            bytes.truncate(scanned);
            at += scanned - before;
        }
        return at;
    }

    private void scan() throws Rejection {
        byte[] array = bytes.array();
        int base = bytes.arrayOffset();
        int end = bytes.size();
        int at = scanned;
        while (at < end) {
            switch (state) {
                case LINE -> line(array[base + at], at++);
                case DASHES -> at = dashes(array, base, at, end);
                case NAME -> at = name(array, base, at, end);
                case VALUE -> at = value(array, base, at, end);
                case VALUE_CR -> afterCr(array[base + at], at++, State.LINE);
                case FOLD -> at = fold(array, base, at, end);
                case END_CR -> afterCr(array[base + at], at++, State.COMPLETE);
                default -> { // COMPLETE
                    scanned = at;
                    return;
                }
            }
        }
        scanned = at;
    }

    /** {@return whether the buffer contains the whole section and the section is in the common format} If so, reads it completely. */
    private boolean readCommon() {
        int base = bytes.arrayOffset();
        if (maxFields < 2 || !common.matches(bytes.array(), base, base + bytes.size())) {
            return false;
        }
        count = 1;
        field(0, 0, Keyword.CONTENT_DISPOSITION.length(), common.dispositionEnd - base);
        if (common.typeStart >= 0) {
            count = 2;
            int start = common.dispositionEnd + 2 - base;
            field(SLOTS, start, start + Keyword.CONTENT_TYPE.length(), common.typeEnd - base);
        }
        endOfSection = common.blankLine - base;
        scanned = endOfSection + 2;
        state = State.COMPLETE;
        isCommon = true;
        return true;
    }

    private void field(int at, int nameStart, int nameEnd, int valueEnd) {
        fields[at] = nameStart;
        fields[at + 1] = nameEnd;
        fields[at + 2] = valueEnd;
        fields[at + 3] = 0;
    }

    /** {@return the positions in a section in the common format; null for other sections} */
    @Nullable
    CommonHeaders commonHeaders() {
        return isCommon ? common : null;
    }

    private void line(byte b, int at) throws Rejection {
        if (b == Bytes.CR) {
            endOfSection = at;
            state = State.END_CR;
        } else if (b == Bytes.LF) {
            endOfSection = at;
            if (!accept(Deviation.BARE_LF_IN_HEADER, at)) {
                throw malformed(at, NOT_TOKEN, b);
            }
            state = State.COMPLETE;
        } else if (Bytes.isBlank(b)) {
            if (count == 0 || !accept(Deviation.FOLDED_HEADER, at)) {
                throw malformed(at, "a header line starts with a blank");
            }
            fields[lastField() + 3] = 1;
            state = State.FOLD;
        } else if (count == maxFields) {
            throw new Rejection(Reason.TOO_MANY_HEADERS, offset + at, "");
        } else if (b == '-') {
            lineStart = at;
            state = State.DASHES;
        } else {
            beginField(b, at);
        }
    }

    private boolean accept(Deviation kind, int at) {
        return deviations.accept(kind, part, offset + at);
    }

    /** {@return the index at which to continue: {@code end}, or the second byte of the line if the line is a field} */
    private int dashes(byte[] array, int base, int from, int end) throws Rejection {
        int at = from;
        int whole = lineStart + 2 + boundary.length();
        while (at < whole && at < end && array[base + at] == ofDashBoundary(at - lineStart)) {
            at++;
        }
        if (at == whole) {
            deviations.require(
                    Deviation.DELIMITER_IN_HEADER, part, offset + at - 1, "a header line begins like a delimiter");
        } else if (at == end) {
            return at;
        }
        beginField(array[base + lineStart], lineStart);
        return lineStart + 1;
    }

    private char ofDashBoundary(int index) {
        return index < 2 ? '-' : boundary.charAt(index - 2);
    }

    private void beginField(byte b, int at) throws Rejection {
        if (!Bytes.isToken(b)) {
            throw malformed(at, b == ':' ? "a header field has no name" : NOT_TOKEN, b);
        }
        int field = count++ * SLOTS;
        if (field == fields.length) {
            fields = Arrays.copyOf(fields, 2 * fields.length);
        }
        fields[field] = at;
        fields[field + 3] = 0;
        state = State.NAME;
    }

    private int name(byte[] array, int base, int from, int end) throws Rejection {
        int at = from;
        if (Keyword.CONTENT_DISPOSITION.startsExactlyAt(array, base + at - 1, base + end)) {
            at += Keyword.CONTENT_DISPOSITION.length() - 1; // token characters only
        }
        while (at < end && Bytes.isToken(array[base + at])) {
            at++;
        }
        if (at == end) {
            return at;
        }
        byte b = array[base + at];
        if (b != ':') {
            throw malformed(at, Bytes.isLineEnd(b) ? "a header line has no colon" : NOT_TOKEN, b);
        }
        fields[lastField() + 1] = at;
        state = State.VALUE;
        return at + 1;
    }

    private int value(byte[] array, int base, int from, int end) throws Rejection {
        int at = from;
        do {
            at = Text.indexOfControl(array, base + at, base + end) - base;
        } while (at < end && isAllowedControl(array, base, array[base + at]) && ++at < end);
        if (at == end) {
            return at;
        }
        byte b = array[base + at];
        fields[lastField() + 2] = at;
        if (b == Bytes.CR) {
            state = State.VALUE_CR;
        } else if (b == Bytes.LF && accept(Deviation.BARE_LF_IN_HEADER, at)) {
            state = State.LINE;
        } else {
            throw malformed(at, "a header value contains the control byte", b);
        }
        return at + 1;
    }

    private boolean isAllowedControl(byte[] array, int base, byte control) {
        return control == '\t'
                || formData
                        && control != 0
                        && !Bytes.isLineEnd(control)
                        && Keyword.CONTENT_DISPOSITION.is(
                                array, base + fields[lastField()], base + fields[lastField() + 1]);
    }

    private void afterCr(byte b, int at, State then) throws Rejection {
        if (b != Bytes.LF) {
            throw malformed(at - 1, "a header line has a CR without an LF");
        }
        state = then;
    }

    private int fold(byte[] array, int base, int from, int end) throws Rejection {
        int at = from;
        while (at < end && Bytes.isBlank(array[base + at])) {
            at++;
        }
        if (at < end) {
            if (Bytes.isLineEnd(array[base + at])) {
                throw malformed(at, "a header line is blank");
            }
            state = State.VALUE;
        }
        return at;
    }

    private Rejection malformed(int at, String detail, byte seen) {
        return new Rejection(Reason.MALFORMED_HEADER, offset + at, detail, Bytes.show(seen));
    }

    private Rejection malformed(int at, String detail) {
        return new Rejection(Reason.MALFORMED_HEADER, offset + at, detail);
    }

    private int lastField() {
        return (count - 1) * SLOTS;
    }

    /** {@return whether the blank line has been read} */
    public boolean isComplete() {
        return state == State.COMPLETE;
    }

    /** {@return the offset in the body of the byte at {@code index} in the array} */
    long offsetOf(int index) {
        return offset + index - bytes.arrayOffset();
    }

    byte[] array() {
        return bytes.array();
    }

    int arrayOffset() {
        return bytes.arrayOffset();
    }

    /** {@return the index in the array at which the name starts} */
    int nameStart(int field) {
        return bytes.arrayOffset() + fields[field * SLOTS];
    }

    int nameEnd(int field) {
        return bytes.arrayOffset() + fields[field * SLOTS + 1];
    }

    boolean isFolded(int field) {
        return fields[field * SLOTS + 3] != 0;
    }

    /** {@return the index in the array at which the value starts, after leading blanks} */
    int valueStart(int field) {
        return Bytes.trimStart(bytes.array(), nameEnd(field) + 1, bytes.arrayOffset() + fields[field * SLOTS + 2]);
    }

    /** {@return the index in the array at which the value ends, before trailing blanks} */
    int valueEnd(int field) {
        return Bytes.trimEnd(bytes.array(), valueStart(field), bytes.arrayOffset() + fields[field * SLOTS + 2]);
    }

    /** {@return the positions of all fields in {@link #copy()}; most sections of a body share one object} */
    public HeaderFields headerFields() {
        int[] positions = shared.positions;
        int length = count * SLOTS;
        boolean same = positions.length == length;
        for (int slot = 0; same && slot < length; slot++) {
            same = positions[slot] == relative(slot);
        }
        if (!same) {
            positions = new int[length];
            for (int slot = 0; slot < length; slot++) {
                positions[slot] = relative(slot);
            }
            shared = new HeaderFields(positions, charset);
        }
        return shared;
    }

    private int relative(int slot) {
        boolean isAbsolute = slot < 2 || slot % SLOTS == 3;
        return isAbsolute ? fields[slot] : fields[slot] - scanned;
    }

    /** {@return the bytes of the section; borrowed} */
    public ByteBuf slice() {
        return bytes.slice(scanned);
    }

    public byte[] copy() {
        return Arrays.copyOfRange(bytes.array(), bytes.arrayOffset(), bytes.arrayOffset() + scanned);
    }

    @Override
    public void close() {
        bytes.close();
    }
}
