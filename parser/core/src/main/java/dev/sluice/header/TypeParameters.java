package dev.sluice.header;

import org.jspecify.annotations.Nullable;

/**
 * A cursor over the parameters of a {@code Content-Type}: the text after each semicolon outside of quotes. {@link ContentTypeParser} uses
 * this class too, but accepts only parameters that match its stricter grammar.
 *
 * <p>{@link DispositionParser} does not use this class. In a {@code Content-Disposition}, a backslash is usually not an escape, and the
 * preset decides whether a quote ends a value, so parameters can be split only while their values are read.
 */
public final class TypeParameters {
    private final String text;

    /** The start of the current parameter. */
    int start;

    /** The index of the separator after the current parameter; the length of the text if there is none. */
    int end;

    /**
     * @param separator the index of the separator before the first parameter; the length of the text if there is none; -1 to read the media
     *     type like a parameter, with quotes
     */
    TypeParameters(String text, int separator) {
        this.text = text;
        this.end = separator;
    }

    /** {@return the value of the first parameter called {@code name}, without quotes, or null} */
    public static @Nullable String find(String contentType, String name) {
        TypeParameters parameters = of(contentType);
        while (parameters.next()) {
            String parameter = parameters.current();
            if (parameter.regionMatches(true, 0, name + "=", 0, name.length() + 1)) {
                String value = parameter.substring(name.length() + 1);
                boolean quoted = value.length() >= 2 && value.startsWith("\"") && value.endsWith("\"");
                return quoted ? value.substring(1, value.length() - 1) : value;
            }
        }
        return null;
    }

    static TypeParameters of(String contentType) {
        int first = contentType.indexOf(';');
        return new TypeParameters(contentType, first < 0 ? contentType.length() : first);
    }

    /** {@return whether there is another parameter} If so, moves to it. */
    boolean next() {
        if (end == text.length()) {
            return false;
        }
        start = end + 1;
        boolean quoted = false;
        for (end = start; end < text.length(); end++) {
            char c = text.charAt(end);
            if (c == '"') {
                quoted = !quoted;
            } else if (c == '\\' && quoted) {
                end++;
            } else if (c == ';' && !quoted) {
                return true;
            }
        }
        end = text.length();
        return true;
    }

    /** {@return the current parameter, without surrounding blanks} */
    String current() {
        return text.substring(start, end).strip();
    }
}
