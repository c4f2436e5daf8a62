package dev.sluice.header;

import dev.sluice.Deviation;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.Preset;
import dev.sluice.ReportedDeviation;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A parser of the {@code Content-Type} of a body. It rejects a value in which other parsers may find a different boundary.
 *
 * <pre>
 * value    = type "/" subtype *( OWS ";" OWS [ name "=" ( unquoted / quoted-string ) ] )     RFC 9110 sections 5.6.6 and 8.3.1
 * unquoted = 1*( any visible ASCII character except DQUOTE, "," and ";" )
 * </pre>
 */
public final class ContentTypeParser {
    public static final String FORM_DATA = "multipart/form-data";

    /** The parsed value, with the deviations that the preset reports. */
    public record Result(String boundary, String mediaType, List<ReportedDeviation> deviations) {}

    private static final int MAX_LENGTH = 70;
    private static final int MAX_LONG_LENGTH = 256;
    private static final String BOUNDARY = "boundary";
    private static final String CHARSET = "charset";
    private static final Set<String> HARMLESS_CHARSETS = Set.of("utf-8", "utf8", "us-ascii", "ascii");

    private final String text;
    private final Preset preset;
    private int at;

    /** The end of the current parameter; before the first one, the end of the text. */
    private int end;

    private @Nullable String boundary;
    private boolean boundaryQuoted;

    /** Whether the name of another parameter begins with {@code boundary}. */
    private boolean almostBoundary;

    /** Whether some parsers find another boundary, in another parameter or within the boundary. */
    private boolean lookalike;

    /** Whether a charset parameter makes some parsers decode names in a charset other than UTF-8. */
    private boolean otherCharset;

    private boolean comma;

    private ContentTypeParser(String text, Preset preset) {
        this.text = text;
        this.end = text.length();
        this.preset = preset;
    }

    /**
     * {@return the type and boundary of a body}
     *
     * @param formOnly true if the type must be {@code multipart/form-data}, false if any multipart type is accepted
     */
    public static Result parse(@Nullable String contentType, Preset preset, boolean formOnly)
            throws MultipartException {
        Objects.requireNonNull(preset, "preset");
        String expected = formOnly ? FORM_DATA : "a multipart type";
        if (contentType == null) {
            throw error(Reason.UNSUPPORTED_MEDIA_TYPE, "the Content-Type is missing: it must be " + expected);
        }
        ContentTypeParser parser = new ContentTypeParser(contentType, preset);
        String mediaType = parser.readMediaType();
        boolean multipart =
                mediaType.startsWith("multipart/") && !mediaType.endsWith("/") && !mediaType.equals("multipart/*");
        if (formOnly ? !mediaType.equals(FORM_DATA) : !multipart) {
            throw error(Reason.UNSUPPORTED_MEDIA_TYPE, "the Content-Type is not " + expected);
        }
        String value = parser.readBoundary();
        Deviations deviations = check(value, parser.boundaryQuoted, preset);
        if (parser.lookalike) {
            require(Deviation.LOOKALIKE_BOUNDARY, "some parsers find another boundary in the Content-Type", deviations);
        }
        if (parser.comma) {
            require(Deviation.COMMA_AFTER_MEDIA_TYPE, "", deviations);
        }
        if (parser.otherCharset) {
            require(
                    Deviation.REQUEST_CHARSET,
                    "the Content-Type of the request has a charset other than UTF-8 and US-ASCII",
                    deviations);
        }
        return new Result(value, mediaType, deviations.list());
    }

    /** {@return the result for a form with this boundary, which must conform to RFC 2046} */
    public static Result formData(String boundary) throws MultipartException {
        return new Result(
                boundary, FORM_DATA, check(boundary, true, Preset.STRICT).list());
    }

    private static Deviations check(String value, boolean quoted, Preset preset) throws MultipartException {
        if (value.isEmpty()) {
            throw invalid("the boundary is empty");
        }
        int most = preset.accepts(Deviation.LONG_BOUNDARY) ? MAX_LONG_LENGTH : MAX_LENGTH;
        if (value.length() > most) {
            throw invalid("the boundary has " + value.length() + " characters, more than " + most);
        }
        if (value.endsWith(" ")) {
            throw invalid("the boundary ends with a space");
        }
        Deviations deviations = new Deviations(preset, List.of());
        if (!isPlain(value, quoted)) {
            require(
                    Deviation.BOUNDARY_CHARACTERS,
                    "the boundary has characters outside RFC 2046 bchars, or needs quotes",
                    deviations);
        }
        if (value.length() > MAX_LENGTH) {
            require(Deviation.LONG_BOUNDARY, "", deviations);
        }
        return deviations;
    }

    private static boolean isPlain(String value, boolean quoted) throws MultipartException {
        boolean plain = true;
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            boolean isBoundary = Bytes.isBoundary(c);
            if (!isBoundary && (!isUnquoted(c) || c == ';' || quoted && c == '\\')) {
                throw invalid("the boundary has an illegal character at index " + i);
            }
            plain &= isBoundary && (quoted || Bytes.isToken(c));
        }
        return plain;
    }

    private static void require(Deviation kind, String sentence, Deviations deviations) throws MultipartException {
        if (!deviations.accept(kind, -1, -1)) {
            throw error(kind.reason(), sentence);
        }
    }

    /** {@return the type and subtype in lower case} */
    private String readMediaType() {
        skipBlanks();
        int start = at;
        skipToken();
        if (at < end && text.charAt(at) == '/') {
            at++;
            skipToken();
        }
        return text.substring(start, at).toLowerCase(Locale.ROOT);
    }

    /** {@return the boundary, after reading all parameters} {@link #readMediaType()} must have been called. */
    private String readBoundary() throws MultipartException {
        skipBlanks();
        comma = at < end && text.charAt(at) == ',' && preset.accepts(Deviation.COMMA_AFTER_MEDIA_TYPE);
        if (at < end && text.charAt(at) != ';' && !comma) {
            throw error(Reason.MISSING_BOUNDARY, "the Content-Type has no semicolon before its parameters");
        }
        TypeParameters parameters = new TypeParameters(text, at);
        while (parameters.next()) {
            at = parameters.start;
            end = parameters.end;
            skipBlanks();
            if (at < end) {
                parameter();
                skipBlanks();
            }
            if (at < end) {
                throw unexpectedText();
            }
        }
        if (boundary == null) {
            throw error(Reason.MISSING_BOUNDARY, "the Content-Type has no boundary parameter");
        }
        return boundary;
    }

    private void parameter() throws MultipartException {
        int start = at;
        skipToken();
        String name = text.substring(start, at);
        boolean isBoundary = name.equalsIgnoreCase(BOUNDARY);
        boolean isAlmost = name.regionMatches(true, 0, BOUNDARY, 0, BOUNDARY.length());
        if (isAlmost && boundary != null || isBoundary && almostBoundary) {
            throw error(Reason.DUPLICATE_BOUNDARY, "the Content-Type has more than one boundary parameter");
        }
        almostBoundary |= isAlmost;
        lookalike |= !isBoundary && hasBoundary(name);
        if (name.isEmpty() || at == end || text.charAt(at) != '=') {
            skipBlanks();
            if (name.isEmpty() || isBoundary || at < end) {
                throw invalid("a parameter of the Content-Type does not have the form name=value");
            }
            return;
        }
        at++;
        boolean quoted = at < end && text.charAt(at) == '"';
        String value = quoted ? quoted() : unquoted();
        if (isBoundary) {
            boundary = value;
            boundaryQuoted = quoted;
            lookalike |= hasBoundary(value) && (!name.equals(BOUNDARY) || showsBoundary(value));
        } else {
            lookalike |= quoted && value.contains("\\") || hasBoundary(value);
            otherCharset |= isOtherCharset(name.toLowerCase(Locale.ROOT), value.toLowerCase(Locale.ROOT));
        }
    }

    /** {@return whether {@code text} contains the word {@code boundary} (case-insensitive)} */
    private static boolean hasBoundary(String text) {
        return text.toLowerCase(Locale.ROOT).contains(BOUNDARY);
    }

    private static boolean isOtherCharset(String name, String value) {
        return name.equals(CHARSET) ? !HARMLESS_CHARSETS.contains(value) : name.startsWith(CHARSET + "*");
    }

    /** {@return whether {@code value} is the word {@code boundary}, or contains it with optional blanks and {@code =} after it} */
    private static boolean showsBoundary(String value) {
        String text = value.toLowerCase(Locale.ROOT);
        if (text.equals(BOUNDARY)) {
            return true;
        }
        for (int at, from = 0; (at = text.indexOf(BOUNDARY, from)) >= 0; ) {
            from = at + BOUNDARY.length();
            while (from < text.length() && Bytes.isBlank(text.charAt(from))) {
                from++;
            }
            if (text.startsWith("=", from)) {
                return true;
            }
        }
        return false;
    }

    private String unquoted() throws MultipartException {
        int start = at;
        while (at < end && isUnquoted(text.charAt(at))) {
            at++;
        }
        if (at == start) {
            throw invalid("the Content-Type has a parameter with an empty value");
        }
        return text.substring(start, at);
    }

    private static boolean isUnquoted(char c) {
        return c > ' ' && c < 0x7F && c != '"' && c != ',';
    }

    private String quoted() throws MultipartException {
        int start = ++at;
        boolean escaped = false;
        while (at < end && (escaped || text.charAt(at) != '"')) {
            char c = text.charAt(at++);
            if (c < ' ' && c != '\t' || c == 0x7F) {
                throw invalid("the Content-Type has a control character in a quoted string");
            }
            escaped = !escaped && c == '\\';
        }
        if (at >= end) {
            throw invalid("the Content-Type has a quoted string that does not end");
        }
        return text.substring(start, at++);
    }

    private MultipartException unexpectedText() {
        String unexpected = "the Content-Type has text other than a semicolon after a parameter value";
        if (boundary == null) {
            return error(Reason.MISSING_BOUNDARY, unexpected + ", so its boundary was not read");
        }
        return text.substring(at).toLowerCase(Locale.ROOT).contains("boundary=")
                ? error(Reason.DUPLICATE_BOUNDARY, "the Content-Type has more than one boundary parameter")
                : invalid(unexpected);
    }

    private static MultipartException invalid(String message) {
        return error(Reason.INVALID_BOUNDARY, message);
    }

    private static MultipartException error(Reason reason, String message) {
        return MultipartException.because(reason).saying(message).build();
    }

    private void skipToken() {
        while (at < end && Bytes.isToken(text.charAt(at))) {
            at++;
        }
    }

    private void skipBlanks() {
        while (at < end && Bytes.isBlank(text.charAt(at))) {
            at++;
        }
    }
}
