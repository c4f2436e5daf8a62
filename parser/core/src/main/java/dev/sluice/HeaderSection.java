package dev.sluice;

import dev.sluice.MultipartException.Reason;
import dev.sluice.buffer.Accumulation;
import dev.sluice.buffer.ChunkMemory;
import dev.sluice.buffer.Text;
import io.netty.buffer.ByteBuf;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Reads one header section after the other (RFC 5322 section 2.2 as narrowed by RFC 9112 section 5): gathers its bytes in one
 * pooled buffer and looks at each of them once, whatever the chunks.
 *
 * <pre>
 * section = *( field CRLF ) CRLF
 * field   = token ":" OWS value OWS *( CRLF blanks value )
 *
 * state        byte                then
 * LINE         dash                 DASHES, until the line is a dash-boundary, or no longer the beginning of one
 *              token character      NAME, a new field
 *              blank                FOLD, goes on with the last field
 *              CR                   END_CR
 * NAME         ":"                  VALUE
 * VALUE        CR                   VALUE_CR
 * VALUE_CR     LF                   LINE
 * FOLD         not a blank          VALUE
 * END_CR       LF                   the section is complete
 * </pre>
 *
 * <p>Whatever is not listed is an error at that byte. With bare LF accepted, LF stands for CRLF.
 */
final class HeaderSection implements AutoCloseable {
    private static final String NOT_TOKEN = "a header name contains the byte";
    private static final int FIRST_BLOCK = 128;
    private static final int BLOCK = 512;

    /** Slots of {@link #fields} per field: where the name starts and ends, where the value ends, and whether it is folded. */
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
    private final UsualSection usual = new UsualSection();
    private boolean isUsual;

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
    long steps;

    /** Leaves control characters in the Content-Disposition of form-data to {@link PartRules}. */
    HeaderSection(MultipartOptions options, Boundary boundary, Deviations deviations) {
        this.formData = boundary.isFormData();
        this.boundary = boundary.value();
        this.deviations = deviations;
        this.maxFields = options.maxHeadersPerPart();
        this.maxSize = options.maxHeaderBytesPerPart();
        this.maxTotalSize = options.maxHeaderBytes();
        this.bytes = new Accumulation(options.allocator(), 256);
    }

    /** Starts the next section, whose first byte is at {@code offset} of the body. */
    void begin(int partIndex, long offset) {
        part = partIndex;
        totalBefore += scanned;
        bytes.truncate(0);
        this.offset = offset;
        limit = (int) Math.min(maxSize, maxTotalSize - totalBefore);
        state = State.LINE;
        count = 0;
        scanned = 0;
        isUsual = false;
    }

    /**
     * Reads on.
     *
     * @return the index after the last byte that belongs to the section; afterwards it {@link #isComplete()}, or all of
     *     {@code [from, to)} has been taken
     */
    int read(ChunkMemory chunk, int from, int to) throws Refusal {
        int at = from;
        while (at < to && state != State.COMPLETE) {
            int room = limit - scanned;
            if (room == 0) {
                Reason reason = limit == maxSize ? Reason.HEADER_SECTION_TOO_LARGE : Reason.HEADERS_TOO_LARGE;
                throw new Refusal(reason, offset + scanned, "");
            }
            int block = Math.min(Math.min(room, to - at), scanned == 0 ? FIRST_BLOCK : BLOCK);
            int before = scanned;
            bytes.append(chunk, at, block);
            if (before > 0 || !usual()) {
                scan();
            }
            bytes.truncate(scanned);
            at += scanned - before;
            steps += scanned - before + block / Long.BYTES;
        }
        return at;
    }

    private void scan() throws Refusal {
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

    /** Takes the whole section at once if it is as most are. */
    private boolean usual() {
        int base = bytes.arrayOffset();
        if (maxFields < 2 || !usual.matches(bytes.array(), base, base + bytes.size())) {
            return false;
        }
        count = 1;
        field(0, 0, Keyword.CONTENT_DISPOSITION.length(), usual.dispositionEnd - base);
        if (usual.typeStart >= 0) {
            count = 2;
            int start = usual.dispositionEnd + 2 - base;
            field(SLOTS, start, start + Keyword.CONTENT_TYPE.length(), usual.typeEnd - base);
        }
        endOfSection = usual.blankLine - base;
        scanned = endOfSection + 2;
        state = State.COMPLETE;
        isUsual = true;
        return true;
    }

    private void field(int at, int nameStart, int nameEnd, int valueEnd) {
        fields[at] = nameStart;
        fields[at + 1] = nameEnd;
        fields[at + 2] = valueEnd;
        fields[at + 3] = 0;
    }

    /** {@return where its pieces are if the section was taken at once, or null} */
    @Nullable
    UsualSection usualSection() {
        return isUsual ? usual : null;
    }

    private void line(byte b, int at) throws Refusal {
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
            throw new Refusal(Reason.TOO_MANY_HEADERS, offset + at, "");
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

    /** {@return where to go on: behind what may become a dash-boundary, else behind the first byte of the line, to be read as a field} */
    private int dashes(byte[] array, int base, int from, int end) throws Refusal {
        int at = from;
        int whole = lineStart + 2 + boundary.length();
        while (at < whole && at < end && array[base + at] == ofDashBoundary(at - lineStart)) {
            at++;
        }
        if (at == whole) {
            deviations.require(
                    Deviation.DELIMITER_IN_HEADER, part, offset + at - 1, "a header line begins as a delimiter does");
        } else if (at == end) {
            return at;
        }
        beginField(array[base + lineStart], lineStart);
        return lineStart + 1;
    }

    private char ofDashBoundary(int index) {
        return index < 2 ? '-' : boundary.charAt(index - 2);
    }

    private void beginField(byte b, int at) throws Refusal {
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

    private int name(byte[] array, int base, int from, int end) throws Refusal {
        int at = from;
        if (Keyword.CONTENT_DISPOSITION.isUsualAt(array, base + at - 1, base + end)) {
            at += Keyword.CONTENT_DISPOSITION.length() - 1; // all of them token characters
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

    private int value(byte[] array, int base, int from, int end) throws Refusal {
        int at = from;
        do {
            at = Text.indexOfControl(array, base + at, base + end) - base;
        } while (at < end && mayStand(array, base, array[base + at]) && ++at < end);
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

    private boolean mayStand(byte[] array, int base, byte control) {
        return control == '\t'
                || formData
                        && control != 0
                        && !Bytes.isLineEnd(control)
                        && Keyword.CONTENT_DISPOSITION.is(
                                array, base + fields[lastField()], base + fields[lastField() + 1]);
    }

    private void afterCr(byte b, int at, State then) throws Refusal {
        if (b != Bytes.LF) {
            throw malformed(at - 1, "a header line has a CR without an LF");
        }
        state = then;
    }

    private int fold(byte[] array, int base, int from, int end) throws Refusal {
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

    private Refusal malformed(int at, String detail, byte seen) {
        return new Refusal(Reason.MALFORMED_HEADER, offset + at, detail, Bytes.show(seen));
    }

    private Refusal malformed(int at, String detail) {
        return new Refusal(Reason.MALFORMED_HEADER, offset + at, detail);
    }

    private int lastField() {
        return (count - 1) * SLOTS;
    }

    boolean isComplete() {
        return state == State.COMPLETE;
    }

    /** {@return the offset in the body of an index in the array} */
    long offsetOf(int index) {
        return offset + index - bytes.arrayOffset();
    }

    byte[] array() {
        return bytes.array();
    }

    int arrayOffset() {
        return bytes.arrayOffset();
    }

    /** {@return where the name starts in the array} */
    int nameStart(int field) {
        return bytes.arrayOffset() + fields[field * SLOTS];
    }

    int nameEnd(int field) {
        return bytes.arrayOffset() + fields[field * SLOTS + 1];
    }

    boolean isFolded(int field) {
        return fields[field * SLOTS + 3] != 0;
    }

    /** {@return where the value starts in the array, blanks before it skipped} */
    int valueStart(int field) {
        byte[] array = bytes.array();
        int start = nameEnd(field) + 1;
        int end = bytes.arrayOffset() + fields[field * SLOTS + 2];
        while (start < end && Bytes.isSpace(array[start])) {
            start++;
        }
        return start;
    }

    /** {@return where the value ends in the array, blanks behind it left out} */
    int valueEnd(int field) {
        byte[] array = bytes.array();
        int start = valueStart(field);
        int end = bytes.arrayOffset() + fields[field * SLOTS + 2];
        while (end > start && Bytes.isSpace(array[end - 1])) {
            end--;
        }
        return end;
    }

    /** {@return the bytes of the section; borrowed} */
    ByteBuf slice() {
        return bytes.slice(scanned);
    }

    /** {@return a copy of the bytes of the section} */
    byte[] copy() {
        return Arrays.copyOfRange(bytes.array(), bytes.arrayOffset(), bytes.arrayOffset() + scanned);
    }

    @Override
    public void close() {
        bytes.close();
    }
}
