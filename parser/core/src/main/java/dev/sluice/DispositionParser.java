package dev.sluice;

import dev.sluice.MultipartException.Reason;
import dev.sluice.buffer.Text;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads a {@code Content-Disposition} value byte by byte, once, from left to right, without making strings.
 *
 * <pre>
 * value     = type *( OWS ";" OWS [ parameter ] )
 * parameter = token [ "=" ( run / quoted ) ]
 * run       = 1*( any byte but controls, SP, TAB, DQUOTE and ";" )
 * quoted    = DQUOTE *( "\" DQUOTE / "\" "\" / any byte but DQUOTE ) DQUOTE
 * </pre>
 *
 * <p>The grammar of RFC 6266 section 4.1, with the backslash as browsers send it: an escape before {@code "} and {@code \}
 * only. With {@link Deviation#DISPOSITION_SYNTAX} accepted, blanks may surround {@code =}, a run may hold blanks, and a quoted
 * value ends at the first quote that is followed by {@code ;} or the end; where there is none, at the last such quote that was
 * escaped, whose backslash is data then.
 *
 * <p>One instance is reused for all parts; positions are indexes in the array last parsed.
 */
final class DispositionParser {
    private static final int ABSENT = -1;

    /** One of the values that are one together; its number is the text between the name and {@code =}, without the star before it. */
    private record Piece(int numberStart, int numberEnd, int valueStart, int valueEnd, boolean escaped) {}

    /** What has one reading here, and may be refused or reported; from left to right. */
    enum Noted {
        SYNTAX(Deviation.DISPOSITION_SYNTAX, "parameters are malformed"),
        LOOSE(Deviation.LOOSE_PARAMETER, "a parameter is one that other parsers read differently"),
        DOUBLE_BACKSLASH(Deviation.ESCAPED_BACKSLASH, "a quoted value has a backslash"),
        SINGLE_BACKSLASH(Deviation.BACKSLASH, "a quoted value has a backslash"),
        CONTROL(Deviation.CONTROL_IN_DISPOSITION, "a quoted value has a control character");

        static final Noted[] ALL = values();

        final Deviation deviation;
        private final String detail;

        Noted(Deviation deviation, String detail) {
            this.deviation = deviation;
            this.detail = detail;
        }
    }

    private final Preset preset;
    private final boolean lenient;

    private byte[] bytes = new byte[0];
    private int at;
    private int end;

    /** The value of the parameter just read. */
    private int valueStart;

    private int valueEnd;
    private boolean escaped;

    int typeStart;
    int typeEnd;
    int nameAt;
    int nameStart;
    int nameEnd;
    private boolean nameEscaped;
    private int extendedNameStart;
    private int extendedNameEnd;
    int filenameStart;
    int filenameEnd;
    private boolean filenameEscaped;
    private int extendedStart;
    private int extendedEnd;
    private boolean extendedEscaped;

    /** Where the parameter's name starts; {@link #ABSENT} where there is none. */
    int filenameAt;

    int extendedFilenameAt;
    int extendedNameAt;
    int nameContinuationAt;
    int continuationAt;

    /** Those of {@code filename*0}, {@code filename*1}, ..., in the order in which they came. */
    private final List<Piece> pieces = new ArrayList<>(0);

    /** Where the first of each kind that is {@link Noted} is; {@link #ABSENT} where there is none. */
    final int[] notedAt = new int[Noted.ALL.length];

    /** Where the value is refused. */
    int errorAt;

    String errorDetail = "";

    private long steps;

    DispositionParser(Preset preset) {
        this.preset = preset;
        this.lenient = preset.accepts(Deviation.DISPOSITION_SYNTAX);
    }

    /** {@return null, or the reason why {@code array[from..to)} is refused, with {@link #errorAt} set} */
    @Nullable
    Reason parse(byte[] array, int from, int to) {
        bytes = array;
        at = from;
        end = to;
        nameStart = filenameAt = extendedFilenameAt = extendedNameAt = nameContinuationAt = continuationAt = ABSENT;
        pieces.clear();
        Arrays.fill(notedAt, ABSENT);
        typeStart = at;
        skipToken();
        typeEnd = at;
        if (typeStart == typeEnd) {
            return malformed("a disposition type is expected");
        }
        if (!isFormData() && !preset.accepts(Deviation.DISPOSITION_TYPE)) {
            at = from;
            return malformed("the disposition type is not form-data");
        }
        for (; ; ) {
            skipBlanks();
            if (at == end) {
                return null;
            }
            if (bytes[at] != ';') {
                return malformed("a semicolon or the end is expected");
            }
            at++;
            skipBlanks();
            if (at < end) {
                Reason refused = bytes[at] == ';' ? note(Noted.LOOSE, at) : parameter();
                if (refused != null) {
                    return refused;
                }
            }
        }
    }

    /** Takes over what {@code usual} found in {@code array}: the same as {@link #parse} would. */
    void take(byte[] array, UsualSection usual) {
        bytes = array;
        nameStart = usual.nameStart;
        nameEnd = usual.nameEnd;
        nameEscaped = false;
        filenameAt = usual.filenameStart;
        filenameStart = usual.filenameStart;
        filenameEnd = usual.filenameEnd;
        filenameEscaped = false;
        extendedFilenameAt = extendedNameAt = nameContinuationAt = continuationAt = ABSENT;
    }

    boolean isFormData() {
        return Keyword.FORM_DATA.is(bytes, typeStart, typeEnd);
    }

    private @Nullable Reason parameter() {
        int start = at;
        skipToken();
        int afterName = at;
        if (start == afterName) {
            return malformed("a parameter name is expected");
        }
        Key key = key(start, afterName);
        if (at < end && Bytes.isBlank(bytes[at])) {
            skipBlanks();
        }
        if (at == end || bytes[at] != '=' || at > afterName && !lenient) {
            boolean hasNoValue = at == end || bytes[at] == ';';
            at = afterName;
            if (!hasNoValue) {
                return null; // what follows is no parameter
            }
            return key == Key.OTHER ? note(Noted.LOOSE, at) : malformed("a parameter has no value");
        }
        if (positionOf(key) != ABSENT && key != Key.CONTINUATION && key != Key.NAME_CONTINUATION) {
            errorAt = start;
            errorDetail = "a parameter occurs twice";
            return Reason.DUPLICATE_PARAMETER;
        }
        if (at > afterName) {
            note(Noted.SYNTAX, at);
        }
        at++;
        if (lenient && at < end && Bytes.isBlank(bytes[at])) {
            note(Noted.SYNTAX, at);
            skipBlanks();
        }
        boolean quoted = at < end && bytes[at] == '"';
        Reason refused = quoted ? quotedValue() : run();
        if (refused == null) {
            store(key, start, afterName);
        }
        return refused;
    }

    /** {@return null, or why what was met at {@code position} is refused} */
    private @Nullable Reason note(Noted kind, int position) {
        if (notedAt[kind.ordinal()] == ABSENT) {
            notedAt[kind.ordinal()] = position;
        }
        if (preset.accepts(kind.deviation)) {
            return null;
        }
        errorAt = position;
        errorDetail = kind.detail;
        return kind.deviation.reason();
    }

    /** The parameters that matter. */
    private enum Key {
        NAME,
        EXTENDED_NAME,
        NAME_CONTINUATION,
        FILENAME,
        EXTENDED_FILENAME,
        CONTINUATION,
        OTHER
    }

    private Key key(int from, int to) {
        int first = bytes[from] | 0x20;
        if (first == 'n' && Keyword.NAME.startsAt(bytes, from, to)) {
            return keyOf(from + 4, to, Key.NAME, Key.EXTENDED_NAME, Key.NAME_CONTINUATION);
        }
        if (first == 'f' && Keyword.FILENAME.startsAt(bytes, from, to)) {
            return keyOf(from + 8, to, Key.FILENAME, Key.EXTENDED_FILENAME, Key.CONTINUATION);
        }
        return Key.OTHER;
    }

    /** What stands behind the name: nothing, {@code *}, or {@code *} and a number that {@code *} may follow. */
    private Key keyOf(int from, int to, Key plain, Key extended, Key continuation) {
        if (from == to) {
            return plain;
        }
        if (bytes[from] != '*') {
            return Key.OTHER;
        }
        if (from + 1 == to) {
            return extended;
        }
        int digits = bytes[to - 1] == '*' ? to - 1 : to;
        for (int i = from + 1; i < digits; i++) {
            if (bytes[i] < '0' || bytes[i] > '9') {
                return Key.OTHER;
            }
        }
        return digits > from + 1 ? continuation : Key.OTHER;
    }

    private int positionOf(Key key) {
        return switch (key) {
            case NAME -> nameStart;
            case EXTENDED_NAME -> extendedNameAt;
            case NAME_CONTINUATION -> nameContinuationAt;
            case FILENAME -> filenameAt;
            case EXTENDED_FILENAME -> extendedFilenameAt;
            case CONTINUATION -> continuationAt;
            case OTHER -> ABSENT;
        };
    }

    private void store(Key key, int start, int afterName) {
        switch (key) {
            case NAME -> {
                nameAt = start;
                nameStart = valueStart;
                nameEnd = valueEnd;
                nameEscaped = escaped;
            }
            case EXTENDED_NAME -> {
                extendedNameAt = start;
                extendedNameStart = valueStart;
                extendedNameEnd = valueEnd;
            }
            case NAME_CONTINUATION -> nameContinuationAt = nameContinuationAt == ABSENT ? start : nameContinuationAt;
            case FILENAME -> {
                filenameAt = start;
                filenameStart = valueStart;
                filenameEnd = valueEnd;
                filenameEscaped = escaped;
            }
            case EXTENDED_FILENAME -> {
                extendedFilenameAt = start;
                extendedStart = valueStart;
                extendedEnd = valueEnd;
                extendedEscaped = escaped;
            }
            case CONTINUATION -> {
                continuationAt = continuationAt == ABSENT ? start : continuationAt;
                pieces.add(new Piece(start + "filename*".length(), afterName, valueStart, valueEnd, escaped));
            }
            case OTHER -> {}
        }
    }

    private @Nullable Reason run() {
        valueStart = at;
        escaped = false;
        for (; ; ) {
            Reason refused = word();
            valueEnd = at;
            if (refused != null || !lenient || valueEnd == valueStart) {
                return refused == null && valueEnd == valueStart ? malformed("a parameter value is expected") : refused;
            }
            skipBlanks();
            if (at == end || !isRun(bytes[at])) {
                return null;
            }
            note(Noted.SYNTAX, at); // one more word of a value with blanks
        }
    }

    private @Nullable Reason word() {
        int from = at;
        Reason refused = null;
        for (; at < end && isRun(bytes[at]) && refused == null; at++) {
            refused = Bytes.isToken(bytes[at]) ? null : note(Noted.LOOSE, at);
        }
        steps += at - from + 1;
        return refused;
    }

    private static boolean isRun(byte b) {
        return b != ' ' && b != '\t' && b != '"' && b != ';' && !Bytes.isControl(b);
    }

    private @Nullable Reason quotedValue() {
        valueStart = ++at;
        escaped = false;
        int junkAt = ABSENT;
        for (; ; ) {
            Reason refused = upToQuote();
            if (refused != null) {
                return refused;
            }
            if (at == end) {
                if (junkAt == ABSENT && lenient && endAtEscapedQuote()) {
                    return null;
                }
                at = junkAt == ABSENT ? end : junkAt;
                return malformed("the quoted value does not end");
            }
            if (junkAt != ABSENT && bytes[at - 1] == '=') { // looks like another parameter: two readings
                at = junkAt;
                return malformed("there is text other than a semicolon after a quoted value");
            }
            valueEnd = at++;
            int afterQuote = at;
            skipBlanks();
            if (!lenient || at == end || bytes[at] == ';') {
                if (junkAt != ABSENT) {
                    note(Noted.SYNTAX, junkAt);
                }
                at = afterQuote;
                return null;
            }
            junkAt = junkAt == ABSENT ? at : junkAt; // a quote inside the value: it ends at a later one
            at = afterQuote;
        }
    }

    private @Nullable Reason upToQuote() {
        int from = at;
        Reason refused = null;
        for (; at < end && bytes[at] != '"' && refused == null; at++) {
            byte b = bytes[at];
            if (b == '\\') {
                byte next = at + 1 < end ? bytes[at + 1] : 0;
                refused = note(next == '\\' ? Noted.DOUBLE_BACKSLASH : Noted.SINGLE_BACKSLASH, at);
                if (next == '"' || next == '\\') {
                    escaped = true;
                    at++;
                }
            } else if (Bytes.isControl(b)) {
                refused = note(Noted.CONTROL, at);
            }
        }
        steps += at - from + 1;
        return refused;
    }

    /** Ends a value all of whose quotes are escaped at the last one that blanks and a semicolon or the end follow. */
    private boolean endAtEscapedQuote() {
        boolean isEnd = true;
        int i = end;
        while (--i >= valueStart && !(isEnd && bytes[i] == '"')) {
            isEnd = bytes[i] == ';' || isEnd && Bytes.isBlank(bytes[i]);
        }
        steps += end - i;
        if (i < valueStart) {
            return false;
        }
        valueEnd = i;
        at = i + 1;
        note(Noted.SYNTAX, i - 1);
        return true;
    }

    private Reason malformed(String detail) {
        errorAt = at;
        errorDetail = detail;
        return at < end && Bytes.isControl(bytes[at]) ? Reason.MALFORMED_HEADER : Reason.MALFORMED_CONTENT_DISPOSITION;
    }

    private void skipToken() {
        int from = at;
        while (at < end && Bytes.isToken(bytes[at])) {
            at++;
        }
        steps += at - from + 1;
    }

    private void skipBlanks() {
        int from = at;
        while (at < end && Bytes.isBlank(bytes[at])) {
            at++;
        }
        steps += at - from + 1;
    }

    /** Bytes looked at so far, each as often as it was, and decisions. */
    long steps() {
        return steps;
    }

    boolean hasName() {
        return nameStart != ABSENT;
    }

    boolean hasExtendedParameters() {
        return (extendedFilenameAt & extendedNameAt & nameContinuationAt & continuationAt) != ABSENT;
    }

    boolean hasFilename() {
        return filenameAt != ABSENT;
    }

    String name(Charset charset) {
        return text(nameStart, nameEnd, nameEscaped, charset);
    }

    String filename(Charset charset) {
        return text(filenameStart, filenameEnd, filenameEscaped, charset);
    }

    private String text(int from, int to, boolean escaped, Charset charset) {
        if (escaped) {
            byte[] raw = raw(from, to, true);
            return Text.decode(raw, 0, raw.length, charset);
        }
        return Text.decode(bytes, from, to - from, charset);
    }

    private byte[] raw(int from, int to, boolean escaped) {
        byte[] raw = new byte[to - from];
        int size = 0;
        steps += to - from;
        for (int i = from; i < to; i++) {
            if (escaped && bytes[i] == '\\' && i + 1 < to && (bytes[i + 1] == '"' || bytes[i + 1] == '\\')) {
                i++;
            }
            raw[size++] = bytes[i];
        }
        return size == raw.length ? raw : Arrays.copyOf(raw, size);
    }

    boolean nameMayBeWords() {
        return nameStart < nameEnd && bytes[nameStart] == '=';
    }

    boolean filenameMayBeWords() {
        return filenameStart < filenameEnd && bytes[filenameStart] == '=';
    }

    /** {@return whether the plain file name is an RFC 2047 encoded word, which says nothing as it stands} */
    boolean filenameIsEncodedWord() {
        return filenameEnd - filenameStart >= 4
                && bytes[filenameStart] == '='
                && bytes[filenameStart + 1] == '?'
                && bytes[filenameEnd - 2] == '?'
                && bytes[filenameEnd - 1] == '=';
    }

    /** {@return {@code filename*} decoded (RFC 8187), or null where there is none, or it is broken or of an unknown charset} */
    @Nullable
    String extendedFilename() {
        return extendedFilenameAt == ABSENT ? null : ExtendedValue.decode(bytes, extendedStart, extendedEnd);
    }

    /** {@return {@code filename*} as it came} */
    String literalExtendedFilename(Charset charset) {
        return text(extendedStart, extendedEnd, extendedEscaped, charset);
    }

    /** {@return {@code name*} decoded (RFC 8187), or null where there is none, or it is broken or of an unknown charset} */
    @Nullable
    String extendedName() {
        return extendedNameAt == ABSENT ? null : ExtendedValue.decode(bytes, extendedNameStart, extendedNameEnd);
    }

    /** {@return the pieces of {@code filename*0}, {@code filename*1}, ... joined (RFC 2231 section 3), or null where they do not fit} */
    @Nullable
    String joinedFilename(Charset headerCharset) {
        ExtendedValue.Joiner joiner = new ExtendedValue.Joiner(headerCharset);
        for (Piece piece : pieces) {
            byte[] value = raw(piece.valueStart, piece.valueEnd, piece.escaped);
            joiner.add(bytes, piece.numberStart, piece.numberEnd, value);
        }
        return joiner.join();
    }

    /** {@return {@code text} with the three escapes of browsers undone} */
    static String decodePercentEscapes(String text) {
        if (text.indexOf('%') < 0) {
            return text;
        }
        StringBuilder decoded = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            int escape = text.startsWith("%22", i)
                    ? '"'
                    : text.regionMatches(true, i, "%0D", 0, 3)
                            ? '\r'
                            : text.regionMatches(true, i, "%0A", 0, 3) ? '\n' : 0;
            decoded.append(escape != 0 ? (char) escape : text.charAt(i));
            i += escape != 0 ? 2 : 0;
        }
        return decoded.toString();
    }
}
