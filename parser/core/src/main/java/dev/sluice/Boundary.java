package dev.sluice;

import dev.sluice.MultipartException.Reason;
import dev.sluice.buffer.Delimiter;
import dev.sluice.encode.RandomBoundary;
import dev.sluice.header.Bytes;
import dev.sluice.header.Deviations;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The boundary of a multipart body, from its {@code Content-Type} (RFC 2046 section 5.1.1). Immutable and thread-safe.
 *
 * <p>A {@code boundary} parameter is accepted only if all readers agree on it: it occurs once, no other parameter has a name that begins
 * with {@code boundary}, it is not empty, has at most 70 characters, does not end with a space, has no blanks around {@code =}, and is
 * quoted completely or not at all. A {@link Preset} may accept more.
 */
public final class Boundary {
    private static final String FORM_DATA = "multipart/form-data";
    private static final int MAX_LENGTH = 70;
    private static final int MAX_LONG_LENGTH = 256;

    private final String value;
    private final String mediaType;
    private final Delimiter delimiter;
    private final List<ReportedDeviation> deviations;

    private Boundary(String value, String mediaType, Deviations deviations) {
        NettyVersion.require();
        this.value = value;
        this.mediaType = mediaType;
        this.delimiter = Delimiter.of(value.getBytes(StandardCharsets.US_ASCII));
        this.deviations = deviations.list();
    }

    /** {@return the result of {@link #formData(String, Preset)} with {@link Preset#STANDARD}} */
    public static Boundary formData(@Nullable String contentType) throws MultipartException {
        return formData(contentType, Preset.STANDARD);
    }

    /**
     * {@return the boundary of a {@code multipart/form-data} body, read from the value of its {@code Content-Type} header field}
     *
     * @param contentType the field value, or null if the request has no such field
     * @param preset decides which deviations are accepted
     * @throws MultipartException if the type is not {@code multipart/form-data} (415), or the boundary is missing or not
     *     acceptable; its offset is -1
     */
    public static Boundary formData(@Nullable String contentType, Preset preset) throws MultipartException {
        return parse(contentType, preset, true);
    }

    /** {@return the result of {@link #anyMultipart(String, Preset)} with {@link Preset#STANDARD}} */
    public static Boundary anyMultipart(@Nullable String contentType) throws MultipartException {
        return anyMultipart(contentType, Preset.STANDARD);
    }

    /**
     * {@return the boundary of a {@code multipart} body of any subtype, read from the value of its {@code Content-Type} header
     * field}
     *
     * <p>The sender chooses the subtype, and with it the rules: outside of {@code multipart/form-data}, parts need no name in any
     * preset. Use {@link #formData(String, Preset)} for forms.
     *
     * @param contentType the field value, or null if the request has no such field
     * @param preset decides which deviations are accepted
     * @throws MultipartException if the type is not {@code multipart} (415), or the boundary is missing or not acceptable; its
     *     offset is -1
     */
    public static Boundary anyMultipart(@Nullable String contentType, Preset preset) throws MultipartException {
        return parse(contentType, preset, false);
    }

    private static Boundary parse(@Nullable String contentType, Preset preset, boolean formOnly)
            throws MultipartException {
        Objects.requireNonNull(preset, "preset");
        String expected = formOnly ? FORM_DATA : "a multipart type";
        if (contentType == null) {
            throw error(Reason.UNSUPPORTED_MEDIA_TYPE, "the Content-Type is missing: it must be " + expected);
        }
        ContentTypeParser parser = new ContentTypeParser(contentType, preset);
        String mediaType = parser.mediaType();
        boolean multipart =
                mediaType.startsWith("multipart/") && !mediaType.endsWith("/") && !mediaType.equals("multipart/*");
        if (formOnly ? !mediaType.equals(FORM_DATA) : !multipart) {
            throw error(Reason.UNSUPPORTED_MEDIA_TYPE, "the Content-Type is not " + expected);
        }
        parser.parameters();
        String value = parser.boundary;
        if (value == null) {
            throw error(Reason.MISSING_BOUNDARY, "the Content-Type has no boundary parameter");
        }
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
        return new Boundary(value, mediaType, deviations);
    }

    /**
     * {@return the boundary of a {@code multipart/form-data} body if there is no Content-Type}
     *
     * @param value 1 to 70 {@code bchars} of RFC 2046, not ending with a space
     * @throws IllegalArgumentException if {@code value} is not a boundary of RFC 2046
     */
    public static Boundary of(String value) {
        try {
            return new Boundary(value, FORM_DATA, check(value, true, Preset.STRICT));
        } catch (MultipartException e) {
            throw new IllegalArgumentException(e.getMessage() + "; pass 1 to 70 RFC 2046 bchars", e);
        }
    }

    /**
     * {@return a new boundary for a body that will be written: 192 random bits}
     *
     * @param mediaType the type of the body, such as {@code multipart/form-data}
     * @throws IllegalArgumentException if {@code mediaType} is not {@code multipart}, or has parameters
     */
    public static Boundary random(String mediaType) {
        return of(RandomBoundary.next(), mediaType);
    }

    static Boundary of(String value, String mediaType) {
        try {
            check(value, true, Preset.STRICT); // a quote in the value would end it
            return anyMultipart(mediaType + "; boundary=\"" + value + "\"", Preset.STRICT);
        } catch (MultipartException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    private static Deviations check(String value, boolean quoted, Preset preset) throws MultipartException {
        if (value.isEmpty()) {
            throw invalid("the boundary is empty");
        }
        if (value.length() > (preset.accepts(Deviation.LONG_BOUNDARY) ? MAX_LONG_LENGTH : MAX_LENGTH)) {
            throw invalid("the boundary has " + value.length() + " characters, more than 70");
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
            if (!isBoundary && (c <= ' ' || c >= 0x7F || c == ';' || quoted && c == '\\')) {
                throw invalid("the boundary has an illegal character (at " + i + ")");
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

    private static MultipartException invalid(String message) {
        return error(Reason.INVALID_BOUNDARY, message);
    }

    private static MultipartException error(Reason reason, String message) {
        return MultipartException.because(reason).saying(message).build();
    }

    /** {@return the boundary, without the two dashes that precede it in the body} */
    public String value() {
        return value;
    }

    /** {@return type and subtype in lower case, such as {@code multipart/form-data}} */
    public String mediaType() {
        return mediaType;
    }

    /** {@return whether the body is {@code multipart/form-data}, so that the rules of RFC 7578 apply to its parts} */
    public boolean isFormData() {
        return mediaType.equals(FORM_DATA);
    }

    /** {@return the reported deviations of the Content-Type; their offset and part index are -1} */
    public List<ReportedDeviation> deviations() {
        return deviations;
    }

    Delimiter delimiter() {
        return delimiter;
    }

    /** {@return the boundary's value} */
    @Override
    public String toString() {
        return value;
    }

    /** {@code type "/" subtype *( OWS ";" OWS [ name "=" ( run / quoted-string ) ] )} (RFC 9110 sections 5.6.6 and 8.3.1). */
    private static final class ContentTypeParser {
        private static final String BOUNDARY = "boundary";
        private static final String CHARSET = "charset";
        private static final Set<String> HARMLESS_CHARSETS = Set.of("utf-8", "utf8", "us-ascii", "ascii");

        private final String text;
        private final Preset preset;
        private int at;
        private @Nullable String boundary;
        private boolean boundaryQuoted;

        /** Whether the name of another parameter begins with {@code boundary}. */
        private boolean almostBoundary;

        /** Whether some readers find another boundary, in another parameter or within the boundary. */
        private boolean lookalike;

        /** Whether a charset parameter makes some readers decode names in another charset than UTF-8. */
        private boolean otherCharset;

        private boolean comma;

        ContentTypeParser(String text, Preset preset) {
            this.text = text;
            this.preset = preset;
        }

        String mediaType() {
            skipBlanks();
            int start = at;
            skipToken();
            if (at < text.length() && text.charAt(at) == '/') {
                at++;
                skipToken();
            }
            return text.substring(start, at).toLowerCase(Locale.ROOT);
        }

        void parameters() throws MultipartException {
            skipBlanks();
            comma = at < text.length() && text.charAt(at) == ',' && preset.accepts(Deviation.COMMA_AFTER_MEDIA_TYPE);
            for (boolean first = comma; ; first = false) {
                skipBlanks();
                if (at == text.length()) {
                    return;
                }
                if (text.charAt(at) != ';' && !first) {
                    throw boundary == null
                            ? error(Reason.MISSING_BOUNDARY, "the Content-Type has no semicolon before its parameters")
                            : junkAfterBoundary();
                }
                at++;
                skipBlanks();
                if (at < text.length() && text.charAt(at) != ';') {
                    parameter();
                }
            }
        }

        private void parameter() throws MultipartException {
            int start = at;
            skipToken();
            String name = text.substring(start, at);
            boolean isBoundary = name.equalsIgnoreCase(BOUNDARY);
            boolean startsSo = name.regionMatches(true, 0, BOUNDARY, 0, BOUNDARY.length());
            if (startsSo && boundary != null || isBoundary && almostBoundary) {
                throw error(Reason.DUPLICATE_BOUNDARY, "the Content-Type has more than one boundary parameter");
            }
            almostBoundary |= startsSo;
            lookalike |= !isBoundary && hasBoundary(name);
            if (name.isEmpty() || at == text.length() || text.charAt(at) != '=') {
                skipBlanks();
                if (name.isEmpty() || isBoundary || at < text.length() && text.charAt(at) != ';') {
                    throw invalid("the Content-Type has a parameter without a plain = and a value");
                }
                return;
            }
            at++;
            boolean quoted = at < text.length() && text.charAt(at) == '"';
            String value = quoted ? quoted() : run();
            if (isBoundary) {
                boundary = value;
                boundaryQuoted = quoted;
                lookalike |= hasBoundary(value) && (!name.equals(BOUNDARY) || showsBoundary(value));
            } else {
                lookalike |= quoted && value.indexOf('\\') >= 0 || hasBoundary(value);
                otherCharset |= isOtherCharset(name.toLowerCase(Locale.ROOT), value.toLowerCase(Locale.ROOT));
            }
        }

        /** {@return whether {@code text} contains the word {@code boundary}, in any case} */
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

        /** {@return an unquoted value: at least one character of visible ASCII, up to a blank or separator} */
        private String run() throws MultipartException {
            int start = at;
            while (at < text.length() && isRun(text.charAt(at))) {
                at++;
            }
            if (at == start) {
                throw invalid("the Content-Type has a parameter with an empty value");
            }
            return text.substring(start, at);
        }

        private static boolean isRun(char c) {
            return c > ' ' && c < 0x7F && c != '"' && c != ';' && c != ',';
        }

        private String quoted() throws MultipartException {
            int start = ++at;
            boolean escaped = false;
            while (at < text.length() && (escaped || text.charAt(at) != '"')) {
                char c = text.charAt(at++);
                if (c < ' ' && c != '\t' || c == 0x7F) {
                    throw invalid("the Content-Type has a control character in a quoted string");
                }
                escaped = !escaped && c == '\\';
            }
            if (at >= text.length()) {
                throw invalid("the Content-Type has a quoted string that does not end");
            }
            return text.substring(start, at++);
        }

        private MultipartException junkAfterBoundary() {
            return text.toLowerCase(Locale.ROOT).indexOf("boundary=", at) >= 0
                    ? error(Reason.DUPLICATE_BOUNDARY, "the Content-Type has more than one boundary parameter")
                    : invalid("the Content-Type has text after a parameter's value that is not a semicolon");
        }

        private void skipToken() {
            while (at < text.length() && Bytes.isToken(text.charAt(at))) {
                at++;
            }
        }

        private void skipBlanks() {
            while (at < text.length() && Bytes.isBlank(text.charAt(at))) {
                at++;
            }
        }
    }
}
