package dev.sluice;

import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.nio.charset.StandardCharsets;
import java.nio.charset.UnsupportedCharsetException;
import org.jspecify.annotations.Nullable;

/** The charset of a part's text (RFC 7578 section 4.5): the {@code charset} parameter of its Content-Type, else UTF-8. */
final class PartCharset {
    private PartCharset() {}

    /** {@return the charset that {@code contentType} names, UTF-8 where it names none, or null where it is unknown} */
    static @Nullable Charset of(@Nullable String contentType) {
        String name = contentType == null ? null : parameter(contentType, "charset");
        if (name == null) {
            return StandardCharsets.UTF_8;
        }
        try {
            return Charset.forName(name);
        } catch (IllegalCharsetNameException | UnsupportedCharsetException e) {
            return null;
        }
    }

    /** {@return the value of the first parameter called {@code name}, quotes removed, or null} */
    static @Nullable String parameter(String contentType, String name) {
        int at = contentType.indexOf(';');
        while (at >= 0) {
            int end = endOfParameter(contentType, at + 1);
            String parameter = contentType.substring(at + 1, end).strip();
            if (parameter.regionMatches(true, 0, name + "=", 0, name.length() + 1)) {
                String value = parameter.substring(name.length() + 1);
                boolean quoted = value.length() >= 2 && value.startsWith("\"") && value.endsWith("\"");
                return quoted ? value.substring(1, value.length() - 1) : value;
            }
            at = end < contentType.length() ? end : -1;
        }
        return null;
    }

    private static int endOfParameter(String text, int from) {
        boolean quoted = false;
        for (int i = from; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"') {
                quoted = !quoted;
            } else if (c == '\\' && quoted) {
                i++;
            } else if (c == ';' && !quoted) {
                return i;
            }
        }
        return text.length();
    }
}
