package dev.sluice.header;

import static java.util.Map.entry;

import dev.sluice.Deviation;
import dev.sluice.MultipartException.Reason;
import dev.sluice.Preset;
import dev.sluice.legacy.Continuations;
import dev.sluice.legacy.EncodedWords;
import dev.sluice.legacy.ExtendedValue;
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
 * A parser of {@code Content-Disposition} values. It reads from left to right, and creates no strings for the known
 * parameters. Only COMPATIBLE reads some bytes again.
 *
 * <pre>
 * value     = type *( OWS ";" OWS [ parameter ] )
 * parameter = token [ "=" ( run / quoted ) ]
 * run       = 1*( any byte except controls, SP, TAB, DQUOTE and ";" )
 * quoted    = DQUOTE *( "\" DQUOTE / "\" "\" / any byte but DQUOTE ) DQUOTE
 * </pre>
 *
 * <p>This is the grammar of RFC 6266 section 4.1, but a backslash is an escape only before {@code "} and {@code \}, because browsers send
 * it unescaped elsewhere. If {@link Deviation#DISPOSITION_SYNTAX} is accepted, blanks may surround {@code =} and a run may contain blanks.
 * A quoted value then ends at the first quote that is followed by {@code ;} or the end. If there is no such quote, the value ends at the
 * last escaped quote that is followed by {@code ;} or the end, and the backslash before that quote is data.
 *
 * <p>One instance is used for all parts. Positions are indices in the array that was parsed last.
 */
final class DispositionParser {
    private static final int ABSENT = -1;

    private static final Map<Deviation, String> DETAILS = Map.ofEntries(
            entry(Deviation.DISPOSITION_TYPE, "the disposition type is not form-data"),
            entry(Deviation.DISPOSITION_SYNTAX, "parameters are malformed"),
            entry(Deviation.LOOSE_PARAMETER, "other parsers read a parameter differently"),
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

    private int valueStart;

    private int valueEnd;
    private boolean escaped;

    final Parameter name = new Parameter();
    final Parameter extendedName = new Parameter();
    final Parameter filename = new Parameter();
    final Parameter extendedFilename = new Parameter();
    /** The first of the continuations {@code name*0}, {@code name*1}, ... */
    final Parameter nameContinuation = new Parameter();

    /** The first of the continuations {@code filename*0}, {@code filename*1}, ... */
    final Parameter continuation = new Parameter();

    /** The continuations {@code filename*0}, {@code filename*1}, ...; null if there are none. */
    private @Nullable Continuations continuations;

    /** The names of unknown parameters, in lower case. */
    private Set<String> unknown = new HashSet<>(0);

    /** The deviations found while parsing, one of each kind. */
    final List<PartNames.FoundDeviation> found = new ArrayList<>(0);

    /** The kinds of {@link #found}, one bit each. */
    private long foundKinds;

    DispositionParser(Preset preset) {
        this.preset = preset;
        this.lenient = preset.accepts(Deviation.DISPOSITION_SYNTAX);
    }

    /** Removes the parameters of the previous part. */
    void clear() {
        name.at = filename.at = ABSENT;
        extendedName.at = nameContinuation.at = extendedFilename.at = continuation.at = ABSENT;
    }

    /** Parses {@code array[from..to)}. {@link #clear()} must have been called. */
    void parse(byte[] array, int from, int to) throws Rejection {
        bytes = array;
        at = from;
        end = to;
        continuations = null;
        if (!unknown.isEmpty()) {
            unknown = new HashSet<>(0); // clear() would take time in proportion to the largest set so far
        }
        found.clear();
        foundKinds = 0;
        skipToken();
        if (at == from) {
            throw malformed("a disposition type is expected");
        }
        if (!Keyword.FORM_DATA.is(bytes, from, at)) {
            addDeviation(Deviation.DISPOSITION_TYPE, from);
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
                addDeviation(Deviation.LOOSE_PARAMETER, at);
            } else if (at < end) {
                parameter();
            }
        }
    }

    /** Sets the parameters from the positions in a section in the common format. {@link #parse} would produce the same result. */
    void set(byte[] array, CommonHeaders common) {
        bytes = array;
        name.set(common.nameStart, common.nameStart, common.nameEnd, false);
        filename.set(common.filenameStart, common.filenameStart, common.filenameEnd, false);
    }

    /** {@return the joined continuations of the file name; null if they cannot be joined} */
    @Nullable
    String joined(Charset charset) {
        return Objects.requireNonNull(continuations).join(charset);
    }

    private void parameter() throws Rejection {
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
                addDeviation(Deviation.LOOSE_PARAMETER, at);
            }
            return; // the caller rejects any text that follows
        }
        if (known != null && known.isPresent() && known != continuation && known != nameContinuation) {
            throw new Rejection(Reason.DUPLICATE_PARAMETER, start, "a parameter occurs twice");
        }
        if (known == null) {
            unknownParameter(start, afterName);
        }
        if (at > afterName) {
            addDeviation(Deviation.DISPOSITION_SYNTAX, at);
        }
        at++;
        if (lenient && at < end && Bytes.isBlank(bytes[at])) {
            addDeviation(Deviation.DISPOSITION_SYNTAX, at);
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
            continuations = continuations == null ? new Continuations() : continuations;
            continuations.add(bytes, start + "filename*".length(), afterName, raw(valueStart, valueEnd, escaped));
        }
        if (known != null && !known.isPresent()) {
            known.set(start, valueStart, valueEnd, escaped);
        }
    }

    /** Reports an unknown parameter that other parsers may misread. */
    private void unknownParameter(int from, int to) throws Rejection {
        String lowerCase = new String(bytes, from, to - from, StandardCharsets.US_ASCII).toLowerCase(Locale.ROOT);
        if (!unknown.add(lowerCase)) {
            addDeviation(Deviation.REPEATED_PARAMETER, from);
        }
        if (lowerCase.indexOf('*') >= 0 || endsAsWord(lowerCase, "name") || endsAsWord(lowerCase, "filename")) {
            addDeviation(Deviation.LOOKALIKE_PARAMETER, from);
        }
    }

    /** {@return whether {@code text} ends with {@code word} after a character that is not a letter} */
    private static boolean endsAsWord(String text, String word) {
        int before = text.length() - word.length() - 1;
        return before >= 0 && text.endsWith(word) && (text.charAt(before) < 'a' || text.charAt(before) > 'z');
    }

    private void byteOrderMark(int from) throws Rejection {
        if (from + 2 < end
                && bytes[from] == (byte) 0xEF
                && bytes[from + 1] == (byte) 0xBB
                && bytes[from + 2] == (byte) 0xBF) {
            addDeviation(Deviation.BYTE_ORDER_MARK, from);
        }
    }

    private void addDeviation(Deviation kind, int position) throws Rejection {
        long bit = 1L << kind.ordinal();
        if ((foundKinds & bit) == 0) {
            foundKinds |= bit;
            // DISPOSITION_SYNTAX precedes other deviations at the same byte.
            int place = kind == Deviation.DISPOSITION_SYNTAX ? 0 : found.size();
            found.add(place, new PartNames.FoundDeviation(position, kind, false));
        }
        if (!preset.accepts(kind)) {
            throw new Rejection(kind.reason(), position, detail(kind));
        }
    }

    /** {@return the message for a disposition with this deviation} */
    static String detail(Deviation kind) {
        return Objects.requireNonNull(DETAILS.get(kind));
    }

    /** {@return the parameter with this name, or null if it is unknown} */
    private @Nullable Parameter known(int from, int to) {
        if (Keyword.NAME.startsAt(bytes, from, to)) {
            return known(from + 4, to, name, extendedName, nameContinuation);
        }
        return Keyword.FILENAME.startsAt(bytes, from, to)
                ? known(from + 8, to, filename, extendedFilename, continuation)
                : null;
    }

    /**
     * {@return {@code plain} if the range is empty, {@code extended} for {@code *}, {@code continued} for {@code *} and a number with or
     * without another {@code *}, otherwise null}
     */
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

    private void run() throws Rejection {
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
            addDeviation(Deviation.DISPOSITION_SYNTAX, at); // the value continues after blanks
            word();
        }
    }

    private void word() throws Rejection {
        for (; at < end && isRun(bytes[at]); at++) {
            if (!Bytes.isToken(bytes[at])) {
                addDeviation(Deviation.LOOSE_PARAMETER, at);
            }
        }
        valueEnd = at;
    }

    private static boolean isRun(byte b) {
        return b != ' ' && b != '\t' && b != '"' && b != ';' && !Bytes.isControl(b);
    }

    private void quotedValue() throws Rejection {
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
            if (junkAt != ABSENT && bytes[at - 1] == '=') { // looks like another parameter, so the value is ambiguous
                at = junkAt;
                throw malformed("there is text other than a semicolon after a quoted value");
            }
            valueEnd = at++;
            int afterQuote = at;
            skipBlanks();
            if (!lenient || at == end || bytes[at] == ';') {
                if (junkAt != ABSENT) {
                    addDeviation(Deviation.DISPOSITION_SYNTAX, junkAt);
                }
                at = afterQuote;
                return;
            }
            junkAt = junkAt == ABSENT ? at : junkAt; // the quote is inside the value, which ends at a later quote
            at = afterQuote;
        }
    }

    private void upToQuote() throws Rejection {
        for (; at < end && bytes[at] != '"'; at++) {
            byte b = bytes[at];
            if (b == '\\') {
                byte next = at + 1 < end ? bytes[at + 1] : 0;
                addDeviation(next == '\\' ? Deviation.ESCAPED_BACKSLASH : Deviation.BACKSLASH, at);
                if (next == '"' || next == '\\') {
                    escaped = true;
                    at++;
                }
            } else if (Bytes.isControl(b)) {
                addDeviation(Deviation.CONTROL_IN_DISPOSITION, at);
            }
        }
    }

    /**
     * Ends a value without an unescaped closing quote at its last escaped quote that is followed, after optional blanks, by a semicolon or
     * the end. Returns false if there is none.
     */
    private boolean endAtEscapedQuote() throws Rejection {
        boolean isEnd = true;
        int i = end;
        while (--i >= valueStart && !(isEnd && bytes[i] == '"')) {
            isEnd = bytes[i] == ';' || isEnd && Bytes.isBlank(bytes[i]);
        }
        if (i < valueStart) {
            return false;
        }
        valueEnd = i;
        at = i + 1;
        addDeviation(Deviation.DISPOSITION_SYNTAX, i - 1);
        return true;
    }

    private Rejection malformed(String detail) {
        boolean control = at < end && Bytes.isControl(bytes[at]);
        Reason reason = control ? Reason.MALFORMED_HEADER : Reason.MALFORMED_CONTENT_DISPOSITION;
        return new Rejection(reason, at, detail);
    }

    private void skipToken() {
        while (at < end && Bytes.isToken(bytes[at])) {
            at++;
        }
    }

    private void skipBlanks() {
        while (at < end && Bytes.isBlank(bytes[at])) {
            at++;
        }
    }

    /** A known parameter. */
    final class Parameter {
        /** The start of its name; {@link #ABSENT} if the parameter is missing. */
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

        boolean isPresent() {
            return at != ABSENT;
        }

        /** {@return the value without escapes} */
        String text(Charset charset) {
            return hasEscapes ? new String(raw(from, to, true), charset) : new String(bytes, from, to - from, charset);
        }

        /** {@return the decoded value (RFC 8187); null if it is missing or malformed, or its charset is unknown} */
        @Nullable
        String decoded() {
            return isPresent() ? ExtendedValue.decode(bytes, from, to) : null;
        }

        /** {@return the decoded value if it consists of RFC 2047 encoded words; null otherwise} */
        @Nullable
        String words(Charset charset) {
            return isPresent() && bytes[from] == '=' ? EncodedWords.in(text(charset)) : null;
        }

        /** {@return whether the value has the form of an RFC 2047 encoded word} */
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
        for (int i = from; i < to; i++) {
            if (escaped && bytes[i] == '\\' && i + 1 < to && (bytes[i + 1] == '"' || bytes[i + 1] == '\\')) {
                i++;
            }
            raw[size++] = bytes[i];
        }
        return size == raw.length ? raw : Arrays.copyOf(raw, size);
    }
}
