package dev.sluice;

import static java.util.Map.entry;

import dev.sluice.MultipartException.Reason;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
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

    private static final Map<Deviation, String> DETAILS = Map.ofEntries(
            entry(Deviation.DISPOSITION_TYPE, "the disposition type is not form-data"),
            entry(Deviation.DISPOSITION_SYNTAX, "parameters are malformed"),
            entry(Deviation.LOOSE_PARAMETER, "a parameter is one that other parsers read differently"),
            entry(Deviation.REPEATED_PARAMETER, "a parameter occurs twice"),
            entry(Deviation.LOOKALIKE_PARAMETER, "some parsers take a parameter for the name or file name"),
            entry(Deviation.BYTE_ORDER_MARK, "a name begins with a byte order mark"),
            entry(Deviation.ESCAPED_BACKSLASH, "a quoted value has a backslash"),
            entry(Deviation.BACKSLASH, "a quoted value has a backslash"),
            entry(Deviation.CONTROL_IN_DISPOSITION, "a quoted value has a control character"),
            entry(Deviation.UNUSABLE_EXTENDED_PARAMETER, "an extended parameter cannot be used"),
            entry(Deviation.EXTENDED_FILENAME, "filename* is not used in form-data"),
            entry(Deviation.TWO_FILENAMES, "filename and filename* are both given"),
            entry(Deviation.CONFLICTING_FILENAMES, "filename and filename* differ"),
            entry(Deviation.PARAMETER_CONTINUATION, "filename* continuations are not used in form-data"),
            entry(Deviation.UNREADABLE_FILENAME, "the only file name cannot be read"),
            entry(Deviation.ENCODED_WORD, "encoded words are not used in form-data"));

    private final Preset preset;
    private final boolean lenient;

    private byte[] bytes = new byte[0];
    private int at;
    private int end;

    /** The value of the parameter just read. */
    private int valueStart;

    private int valueEnd;
    private boolean escaped;

    final Parameter name = new Parameter();
    final Parameter extendedName = new Parameter();
    final Parameter filename = new Parameter();
    final Parameter extendedFilename = new Parameter();
    /** The first of several, as the next one. */
    final Parameter nameContinuation = new Parameter();

    final Parameter continuation = new Parameter();

    /** Those of {@code filename*0}, {@code filename*1}, ..., in the order in which they came. */
    final List<ExtendedValue.Piece> pieces = new ArrayList<>(0);

    /** The names of the parameters without a meaning, in lower case. */
    private final Set<String> unknown = new HashSet<>(0);

    /** The first of each kind of what has one reading here, and may be refused or reported. */
    final List<PartNames.Oddity> noted = new ArrayList<>(0);

    /** The kinds of those, one bit each. */
    private long notedKinds;

    private long steps;

    DispositionParser(Preset preset) {
        this.preset = preset;
        this.lenient = preset.accepts(Deviation.DISPOSITION_SYNTAX);
    }

    /** Forgets the parameters of the part before. */
    void clear() {
        name.at = filename.at = ABSENT;
        extendedName.at = nameContinuation.at = extendedFilename.at = continuation.at = ABSENT;
    }

    /** Parses the value of a part whose parameters are {@linkplain #clear() cleared}. */
    void parse(byte[] array, int from, int to) throws Refusal {
        bytes = array;
        at = from;
        end = to;
        pieces.clear();
        unknown.clear();
        noted.clear();
        notedKinds = 0;
        skipToken();
        if (at == from) {
            throw malformed("a disposition type is expected");
        }
        if (!Keyword.FORM_DATA.is(bytes, from, at)) {
            note(Deviation.DISPOSITION_TYPE, from);
        }
        for (; ; ) {
            skipBlanks();
            if (at == end) {
                return;
            }
            if (bytes[at] != ';') {
                throw malformed("a semicolon or the end is expected");
            }
            at++;
            skipBlanks();
            if (at < end && bytes[at] == ';') {
                note(Deviation.LOOSE_PARAMETER, at);
            } else if (at < end) {
                parameter();
            }
        }
    }

    /** Takes over what {@code usual} found in {@code array}: the same as {@link #parse} would. */
    void take(byte[] array, UsualSection usual) {
        bytes = array;
        name.set(usual.nameStart, usual.nameStart, usual.nameEnd, false);
        filename.set(usual.filenameStart, usual.filenameStart, usual.filenameEnd, false);
    }

    private void parameter() throws Refusal {
        int start = at;
        skipToken();
        int afterName = at;
        if (start == afterName) {
            throw malformed("a parameter name is expected");
        }
        Parameter known = known(start, afterName);
        if (at < end && Bytes.isBlank(bytes[at])) {
            skipBlanks();
        }
        if (at == end || bytes[at] != '=' || at > afterName && !lenient) {
            boolean hasNoValue = at == end || bytes[at] == ';';
            at = afterName;
            if (hasNoValue && known != null) {
                throw malformed("a parameter has no value");
            } else if (hasNoValue) {
                note(Deviation.LOOSE_PARAMETER, at);
            }
            return; // else what follows is no parameter
        }
        if (known != null && known.isThere() && known != continuation && known != nameContinuation) {
            throw new Refusal(Reason.DUPLICATE_PARAMETER, start, "a parameter occurs twice");
        }
        if (known == null) {
            unknownParameter(start, afterName);
        }
        if (at > afterName) {
            note(Deviation.DISPOSITION_SYNTAX, at);
        }
        at++;
        if (lenient && at < end && Bytes.isBlank(bytes[at])) {
            note(Deviation.DISPOSITION_SYNTAX, at);
            skipBlanks();
        }
        if (known == name || known == filename) {
            byteOrderMark(at < end && bytes[at] == '"' ? at + 1 : at);
        }
        if (at < end && bytes[at] == '"') {
            quotedValue();
        } else {
            run();
        }
        if (known == continuation) {
            byte[] value = raw(valueStart, valueEnd, escaped);
            pieces.add(ExtendedValue.Piece.of(bytes, start + "filename*".length(), afterName, value));
        }
        if (known != null && !known.isThere()) {
            known.set(start, valueStart, valueEnd, escaped);
        }
    }

    /** Notes what other readers make of a parameter that has no meaning. */
    private void unknownParameter(int from, int to) throws Refusal {
        steps += to - from;
        String lowerCase = new String(bytes, from, to - from, StandardCharsets.US_ASCII).toLowerCase(Locale.ROOT);
        if (!unknown.add(lowerCase)) {
            note(Deviation.REPEATED_PARAMETER, from);
        }
        if (lowerCase.indexOf('*') >= 0 || endsAsWord(lowerCase, "name") || endsAsWord(lowerCase, "filename")) {
            note(Deviation.LOOKALIKE_PARAMETER, from);
        }
    }

    /** {@return whether {@code text} ends with {@code word} after a character that is not a letter} */
    private static boolean endsAsWord(String text, String word) {
        int before = text.length() - word.length() - 1;
        return before >= 0 && text.endsWith(word) && (text.charAt(before) < 'a' || text.charAt(before) > 'z');
    }

    private void byteOrderMark(int from) throws Refusal {
        if (from + 2 < end
                && bytes[from] == (byte) 0xEF
                && bytes[from + 1] == (byte) 0xBB
                && bytes[from + 2] == (byte) 0xBF) {
            note(Deviation.BYTE_ORDER_MARK, from);
        }
    }

    private void note(Deviation kind, int position) throws Refusal {
        long bit = 1L << kind.ordinal();
        if ((notedKinds & bit) == 0) {
            notedKinds |= bit;
            int place = kind == Deviation.DISPOSITION_SYNTAX ? 0 : noted.size(); // of two at one byte it is the first
            noted.add(place, new PartNames.Oddity(position, kind, false));
        }
        if (!preset.accepts(kind)) {
            throw new Refusal(kind.reason(), position, detail(kind));
        }
    }

    /** {@return what is wrong with a disposition that has a deviation} */
    static String detail(Deviation kind) {
        return Objects.requireNonNull(DETAILS.get(kind));
    }

    /** {@return the parameter of that name, or null where it does not matter} */
    private @Nullable Parameter known(int from, int to) {
        int first = bytes[from] | 0x20;
        if (first == 'n' && Keyword.NAME.startsAt(bytes, from, to)) {
            return known(from + 4, to, name, extendedName, nameContinuation);
        }
        if (first == 'f' && Keyword.FILENAME.startsAt(bytes, from, to)) {
            return known(from + 8, to, filename, extendedFilename, continuation);
        }
        return null;
    }

    /** What stands behind the name: nothing, {@code *}, or {@code *} and a number that {@code *} may follow. */
    private @Nullable Parameter known(int from, int to, Parameter plain, Parameter extended, Parameter continued) {
        if (from == to) {
            return plain;
        }
        if (bytes[from] != '*') {
            return null;
        }
        if (from + 1 == to) {
            return extended;
        }
        int digits = bytes[to - 1] == '*' ? to - 1 : to;
        for (int i = from + 1; i < digits; i++) {
            if (bytes[i] < '0' || bytes[i] > '9') {
                return null;
            }
        }
        return digits > from + 1 ? continued : null;
    }

    private void run() throws Refusal {
        valueStart = at;
        escaped = false;
        word();
        if (valueEnd == valueStart) {
            throw malformed("a parameter value is expected");
        }
        while (lenient) {
            skipBlanks();
            if (at == end || !isRun(bytes[at])) {
                return;
            }
            note(Deviation.DISPOSITION_SYNTAX, at); // one more word of a value with blanks
            word();
        }
    }

    private void word() throws Refusal {
        int from = at;
        for (; at < end && isRun(bytes[at]); at++) {
            if (!Bytes.isToken(bytes[at])) {
                note(Deviation.LOOSE_PARAMETER, at);
            }
        }
        steps += at - from + 1;
        valueEnd = at;
    }

    private static boolean isRun(byte b) {
        return b != ' ' && b != '\t' && b != '"' && b != ';' && !Bytes.isControl(b);
    }

    private void quotedValue() throws Refusal {
        valueStart = ++at;
        escaped = false;
        int junkAt = ABSENT;
        for (; ; ) {
            upToQuote();
            if (at == end) {
                if (junkAt == ABSENT && lenient && endAtEscapedQuote()) {
                    return;
                }
                at = junkAt == ABSENT ? end : junkAt;
                throw malformed("the quoted value does not end");
            }
            if (junkAt != ABSENT && bytes[at - 1] == '=') { // looks like another parameter: two readings
                at = junkAt;
                throw malformed("there is text other than a semicolon after a quoted value");
            }
            valueEnd = at++;
            int afterQuote = at;
            skipBlanks();
            if (!lenient || at == end || bytes[at] == ';') {
                if (junkAt != ABSENT) {
                    note(Deviation.DISPOSITION_SYNTAX, junkAt);
                }
                at = afterQuote;
                return;
            }
            junkAt = junkAt == ABSENT ? at : junkAt; // a quote inside the value: it ends at a later one
            at = afterQuote;
        }
    }

    private void upToQuote() throws Refusal {
        int from = at;
        for (; at < end && bytes[at] != '"'; at++) {
            byte b = bytes[at];
            if (b == '\\') {
                byte next = at + 1 < end ? bytes[at + 1] : 0;
                note(next == '\\' ? Deviation.ESCAPED_BACKSLASH : Deviation.BACKSLASH, at);
                if (next == '"' || next == '\\') {
                    escaped = true;
                    at++;
                }
            } else if (Bytes.isControl(b)) {
                note(Deviation.CONTROL_IN_DISPOSITION, at);
            }
        }
        steps += at - from + 1;
    }

    /** Ends a value all of whose quotes are escaped at the last one that blanks and a semicolon or the end follow. */
    private boolean endAtEscapedQuote() throws Refusal {
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
        note(Deviation.DISPOSITION_SYNTAX, i - 1);
        return true;
    }

    private Refusal malformed(String detail) {
        boolean control = at < end && Bytes.isControl(bytes[at]);
        Reason reason = control ? Reason.MALFORMED_HEADER : Reason.MALFORMED_CONTENT_DISPOSITION;
        return new Refusal(reason, at, detail);
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

    /** One of those that matter. */
    final class Parameter {
        /** Where its name starts; {@link #ABSENT} where there is none. */
        int at = ABSENT;

        private int from;
        private int to;
        private boolean hasEscapes;

        private void set(int start, int valueFrom, int valueTo, boolean escapes) {
            at = start;
            from = valueFrom;
            to = valueTo;
            hasEscapes = escapes;
        }

        boolean isThere() {
            return at != ABSENT;
        }

        /** {@return the value, its escapes undone} */
        String text(Charset charset) {
            return hasEscapes ? new String(raw(from, to, true), charset) : new String(bytes, from, to - from, charset);
        }

        /** {@return the value decoded (RFC 8187), or null where there is none, or it is broken or of an unknown charset} */
        @Nullable
        String decoded() {
            return isThere() ? ExtendedValue.decode(bytes, from, to) : null;
        }

        /** {@return what the RFC 2047 encoded words say that the value consists of, or null where it does not} */
        @Nullable
        String words(Charset charset) {
            return isThere() && from < to && bytes[from] == '=' ? EncodedWords.in(text(charset)) : null;
        }

        /** {@return whether it is an RFC 2047 encoded word, which says nothing as it stands} */
        boolean isEncodedWord() {
            return to - from >= 4
                    && bytes[from] == '='
                    && bytes[from + 1] == '?'
                    && bytes[to - 2] == '?'
                    && bytes[to - 1] == '=';
        }
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
}
