package dev.sluice.header;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The parameters of the {@code Content-Type} of a part. Malformed parameters are ignored. */
public final class TypeParameters {
    private TypeParameters() {}

    /** {@return the value of the first parameter called {@code name}, without quotes, or null} */
    public static @Nullable String parameter(String contentType, String name) {
        for (String parameter : parameters(contentType)) {
            if (parameter.regionMatches(true, 0, name + "=", 0, name.length() + 1)) {
                String value = parameter.substring(name.length() + 1);
                boolean quoted = value.length() >= 2 && value.startsWith("\"") && value.endsWith("\"");
                return quoted ? value.substring(1, value.length() - 1) : value;
            }
        }
        return null;
    }

    /** {@return the text after each semicolon, without surrounding blanks} */
    static List<String> parameters(String contentType) {
        List<String> parameters = new ArrayList<>(2);
        int end = contentType.indexOf(';');
        while (end >= 0 && end < contentType.length()) {
            int start = end + 1;
            end = endOfParameter(contentType, start);
            parameters.add(contentType.substring(start, end).strip());
        }
        return parameters;
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
