package dev.sluice;

import dev.sluice.MultipartException.Reason;
import dev.sluice.buffer.Delimiter;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The boundary of a multipart body, from its {@code Content-Type} (RFC 2046 section 5.1.1). Immutable and thread-safe.
 *
 * <p>Only a {@code boundary} parameter that every reader reads alike is taken: one, not empty, at most 70 characters, not
 * ending with a space, without blanks around {@code =}, quoted wholly or not at all.
 */
public final class Boundary {
    private static final int MAX_LENGTH = 70;
    private static final int MAX_LONG_LENGTH = 256;

    private final String value;
    private final String mediaType;
    private final Delimiter delimiter;
    private final List<ReportedDeviation> deviations;

    private Boundary(String value, String mediaType, List<ReportedDeviation> deviations) {
        NettyVersion.require();
        this.value = value;
        this.mediaType = mediaType;
        this.delimiter = Delimiter.of(value.getBytes(StandardCharsets.US_ASCII));
        this.deviations = deviations;
    }

    /**
     * Reads the boundary from the value of a {@code Content-Type} header field, by {@link Preset#STANDARD}.
     *
     * @param contentType the field value, or null where the request has none
     * @return the boundary
     * @throws MultipartException if there is none that can be used, or the type is not {@code multipart/*}; its offset is -1
     */
    public static Boundary from(@Nullable String contentType) throws MultipartException {
        return from(contentType, Preset.STANDARD);
    }

    /**
     * Reads the boundary from the value of a {@code Content-Type} header field.
     *
     * @param contentType the field value, or null where the request has none
     * @param preset which deviations are accepted
     * @return the boundary
     * @throws MultipartException if there is none that can be used, or the type is not {@code multipart/*}; its offset is -1
     */
    public static Boundary from(@Nullable String contentType, Preset preset) throws MultipartException {
        Objects.requireNonNull(preset, "preset");
        if (contentType == null) {
            throw error(
                    Reason.UNSUPPORTED_MEDIA_TYPE, "the request has no Content-Type; multipart/form-data is expected");
        }
        ContentTypeParser parser = new ContentTypeParser(contentType);
        String mediaType = parser.mediaType();
        if (!mediaType.startsWith("multipart/") || mediaType.endsWith("/") || mediaType.equals("multipart/*")) {
            throw error(
                    Reason.UNSUPPORTED_MEDIA_TYPE,
                    "the Content-Type is not multipart/form-data or another multipart type");
        }
        parser.parameters();
        String value = parser.boundary;
        if (value == null) {
            throw error(Reason.MISSING_BOUNDARY, "the Content-Type has no boundary parameter");
        }
        return new Boundary(value, mediaType, check(value, parser.boundaryQuoted, preset));
    }

    /**
     * {@return a boundary for a {@code multipart/form-data} body that was not announced by a Content-Type}
     *
     * @param value 1 to 70 of RFC 2046's {@code bchars}, not ending with a space
     * @throws IllegalArgumentException if {@code value} is anything else
     */
    public static Boundary of(String value) {
        try {
            return new Boundary(value, "multipart/form-data", check(value, true, Preset.STRICT));
        } catch (MultipartException e) {
            throw new IllegalArgumentException(e.getMessage() + "; pass 1 to 70 RFC 2046 bchars", e);
        }
    }

    private static List<ReportedDeviation> check(String value, boolean quoted, Preset preset)
            throws MultipartException {
        if (value.isEmpty()) {
            throw error(Reason.INVALID_BOUNDARY, "the boundary is empty");
        }
        if (value.length() > MAX_LENGTH
                && (value.length() > MAX_LONG_LENGTH || !preset.accepts(Deviation.LONG_BOUNDARY))) {
            throw error(Reason.INVALID_BOUNDARY, "the boundary has " + value.length() + " characters, more than 70");
        }
        if (value.endsWith(" ")) {
            throw error(Reason.INVALID_BOUNDARY, "the boundary ends with a space");
        }
        boolean plain = true;
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (quoted && !Bytes.isBoundary(c)) {
                throw error(
                        Reason.INVALID_BOUNDARY,
                        "the quoted boundary has a character outside RFC 2046 bchars (at " + i + ")");
            }
            plain &= Bytes.isBoundary(c) && (quoted || Bytes.isToken(c));
        }
        List<ReportedDeviation> deviations = List.of();
        if (!plain) {
            if (!preset.accepts(Deviation.BOUNDARY_CHARACTERS)) {
                throw error(
                        Reason.INVALID_BOUNDARY,
                        "the boundary has characters outside RFC 2046 bchars, or needs quotes");
            }
            deviations = report(deviations, Deviation.BOUNDARY_CHARACTERS, preset);
        }
        return value.length() > MAX_LENGTH ? report(deviations, Deviation.LONG_BOUNDARY, preset) : deviations;
    }

    private static List<ReportedDeviation> report(List<ReportedDeviation> before, Deviation kind, Preset preset) {
        if (!preset.reports(kind)) {
            return before;
        }
        ReportedDeviation reported = new ReportedDeviation(kind, -1, -1);
        return before.isEmpty() ? List.of(reported) : List.of(before.get(0), reported);
    }

    private static MultipartException error(Reason reason, String message) {
        return MultipartException.because(reason).saying(message).build();
    }

    /** {@return the boundary, without the dashes that the body puts before it} */
    public String value() {
        return value;
    }

    /** {@return type and subtype in lower case, such as {@code multipart/form-data}} */
    public String mediaType() {
        return mediaType;
    }

    /** {@return whether the body is {@code multipart/form-data}, so that the rules of RFC 7578 apply to its parts} */
    public boolean isFormData() {
        return mediaType.equals("multipart/form-data");
    }

    /** {@return what was accepted in the Content-Type and is to be reported; offset and part index are -1} */
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
        private final String text;
        private int at;
        private @Nullable String boundary;
        private boolean boundaryQuoted;

        ContentTypeParser(String text) {
            this.text = text;
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
            for (; ; ) {
                skipBlanks();
                if (at == text.length()) {
                    return;
                }
                if (text.charAt(at) != ';') {
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
            boolean isBoundary = name.equalsIgnoreCase("boundary");
            if (isBoundary && boundary != null) {
                throw error(Reason.DUPLICATE_BOUNDARY, "the Content-Type has more than one boundary parameter");
            }
            if (name.isEmpty() || at == text.length() || text.charAt(at) != '=') {
                skipBlanks();
                if (name.isEmpty() || isBoundary || at < text.length() && text.charAt(at) != ';') {
                    throw error(
                            Reason.INVALID_BOUNDARY, "the Content-Type has a parameter without a plain = and a value");
                }
                return;
            }
            at++;
            boolean quoted = at < text.length() && text.charAt(at) == '"';
            String value = quoted ? quoted() : run();
            if (isBoundary) {
                boundary = value;
                boundaryQuoted = quoted;
            }
        }

        /** Visible ASCII up to a blank or a separator, at least one character. */
        private String run() throws MultipartException {
            int start = at;
            while (at < text.length() && isRun(text.charAt(at))) {
                at++;
            }
            if (at == start) {
                throw error(Reason.INVALID_BOUNDARY, "the Content-Type has a parameter with an empty value");
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
                    throw error(Reason.INVALID_BOUNDARY, "the Content-Type has a control character in a quoted string");
                }
                escaped = !escaped && c == '\\';
            }
            if (at >= text.length()) {
                throw error(Reason.INVALID_BOUNDARY, "the Content-Type has a quoted string that does not end");
            }
            return text.substring(start, at++);
        }

        private MultipartException junkAfterBoundary() {
            return text.toLowerCase(Locale.ROOT).indexOf("boundary=", at) >= 0
                    ? error(Reason.DUPLICATE_BOUNDARY, "the Content-Type has more than one boundary parameter")
                    : error(
                            Reason.INVALID_BOUNDARY,
                            "the Content-Type has text after a parameter's value that is not a semicolon");
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
