package dev.sluice.testkit;

import dev.sluice.testkit.DeviationLog.Failure;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A parser of the request's Content-Type: the media type and its boundary (rows 1 to 7 of {@code
 * parser/docs/policy.md}).
 */
final class ReferenceContentType {
    private static final String BCHARS_NOT_ALPHANUMERIC = "'()+_,-./:=? ";
    private static final Pattern ANOTHER_BOUNDARY =
            Pattern.compile("boundary|.*boundary[ \t]*=.*", Pattern.CASE_INSENSITIVE | Pattern.DOTALL);
    private static final Pattern HARMLESS_CHARSET = Pattern.compile("utf-?8|(us-)?ascii", Pattern.CASE_INSENSITIVE);

    private final String value;
    private int at;
    private @Nullable String boundary;
    private boolean quoted;
    private boolean comma;
    private boolean almost;
    private boolean lookalike;
    private boolean otherCharset;

    private ReferenceContentType(String value) {
        this.value = value;
    }

    record Parsed(boolean formData, byte[] dashBoundary) {}

    static Parsed parse(@Nullable String contentType, DeviationLog log) {
        if (contentType == null) {
            throw failure("UNSUPPORTED_MEDIA_TYPE");
        }
        ReferenceContentType reader = new ReferenceContentType(contentType);
        boolean formData = reader.mediaType();
        reader.comma = reader.is(',');
        if (reader.comma && !log.accepts("COMMA_AFTER_MEDIA_TYPE")) {
            throw failure("MISSING_BOUNDARY");
        }
        reader.parameters();
        return new Parsed(formData, ("--" + reader.checkedBoundary(log)).getBytes(StandardCharsets.US_ASCII));
    }

    private boolean mediaType() {
        blanks();
        String type = token();
        if (!type.equalsIgnoreCase("multipart") || !is('/')) {
            throw failure("UNSUPPORTED_MEDIA_TYPE");
        }
        at++;
        String subtype = token();
        blanks();
        if (subtype.isEmpty() || subtype.equals("*")) {
            throw failure("UNSUPPORTED_MEDIA_TYPE");
        }
        if (at < value.length() && !is(';') && !is(',')) {
            throw failure("MISSING_BOUNDARY");
        }
        return subtype.equalsIgnoreCase("form-data");
    }

    /** Reads the parameters. Text between parameters is reported as a missing, duplicate or invalid boundary. */
    private void parameters() {
        for (boolean first = comma; is(';') || first; first = false) {
            at++;
            blanks();
            if (at == value.length() || is(';')) {
                continue;
            }
            parameter();
            blanks();
            if (at < value.length() && !is(';')) {
                boolean another = value.substring(at).toLowerCase(Locale.ROOT).contains("boundary=");
                throw failure(
                        boundary == null ? "MISSING_BOUNDARY" : another ? "DUPLICATE_BOUNDARY" : "INVALID_BOUNDARY");
            }
        }
    }

    private void parameter() {
        String written = token();
        String name = written.toLowerCase(Locale.ROOT);
        boolean isBoundary = name.equals("boundary");
        if (name.isEmpty()) {
            throw failure("INVALID_BOUNDARY");
        }
        if (name.startsWith("boundary") && (boundary != null || isBoundary && almost)) {
            throw failure("DUPLICATE_BOUNDARY");
        }
        almost |= name.startsWith("boundary");
        lookalike |= name.contains("boundary") && !isBoundary;
        if (!is('=')) {
            blanks();
            if (isBoundary || (at < value.length() && !is(';'))) {
                throw failure("INVALID_BOUNDARY");
            }
            return;
        }
        at++;
        boolean inQuotes = is('"');
        String text = inQuotes ? quoted() : unquoted();
        boolean saysBoundary = text.toLowerCase(Locale.ROOT).contains("boundary");
        if (isBoundary) {
            boundary = text;
            quoted = inQuotes;
            lookalike |= saysBoundary && !written.equals("boundary")
                    || ANOTHER_BOUNDARY.matcher(text).matches();
        } else {
            lookalike |= saysBoundary || inQuotes && text.contains("\\");
            otherCharset |= name.startsWith("charset*")
                    || name.equals("charset") && !HARMLESS_CHARSET.matcher(text).matches();
        }
    }

    /** Reads a quoted value. Keeps backslashes, because a quoted boundary with a backslash is rejected. */
    private String quoted() {
        int start = ++at;
        for (; !is('"'); at++) {
            if (is('\\')) {
                at++;
            }
            if (at >= value.length() || isControl(value.charAt(at))) {
                throw failure("INVALID_BOUNDARY");
            }
        }
        return value.substring(start, at++);
    }

    private String unquoted() {
        int start = at;
        while (at < value.length()
                && value.charAt(at) > ' '
                && value.charAt(at) < 0x7F
                && "\";,".indexOf(value.charAt(at)) < 0) {
            at++;
        }
        if (at == start) {
            throw failure("INVALID_BOUNDARY");
        }
        return value.substring(start, at);
    }

    private String checkedBoundary(DeviationLog log) {
        String text = boundary;
        if (text == null) {
            throw failure("MISSING_BOUNDARY");
        }
        boolean plain = true;
        boolean visible = true;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean allowed = isAlphanumeric(c) || BCHARS_NOT_ALPHANUMERIC.indexOf(c) >= 0;
            plain &= allowed && (quoted || Bytes.isToken(c));
            visible &= allowed || c > ' ' && c < 0x7F && c != ';' && !(quoted && c == '\\');
        }
        if (text.isEmpty() || text.length() > 256 || text.endsWith(" ") || !visible) {
            throw failure("INVALID_BOUNDARY");
        }
        if (!plain) {
            log.met("BOUNDARY_CHARACTERS", "INVALID_BOUNDARY", -1, -1);
        }
        if (text.length() > 70) {
            log.met("LONG_BOUNDARY", "INVALID_BOUNDARY", -1, -1);
        }
        if (lookalike) {
            log.met("LOOKALIKE_BOUNDARY", "INVALID_BOUNDARY", -1, -1);
        }
        if (comma) {
            log.met("COMMA_AFTER_MEDIA_TYPE", "MISSING_BOUNDARY", -1, -1);
        }
        if (otherCharset) {
            log.met("REQUEST_CHARSET", "UNKNOWN_CHARSET", -1, -1);
        }
        return text;
    }

    private String token() {
        int start = at;
        while (at < value.length() && Bytes.isToken(value.charAt(at))) {
            at++;
        }
        return value.substring(start, at);
    }

    private void blanks() {
        while (is(' ') || is('\t')) {
            at++;
        }
    }

    private boolean is(char c) {
        return at < value.length() && value.charAt(at) == c;
    }

    private static boolean isAlphanumeric(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    }

    private static boolean isControl(char c) {
        return (c < ' ' && c != '\t') || c == 0x7F;
    }

    private static Failure failure(String reason) {
        return new Failure(reason, -1, -1);
    }
}
