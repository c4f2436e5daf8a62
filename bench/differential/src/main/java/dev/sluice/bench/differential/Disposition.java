package dev.sluice.bench.differential;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;

/** A sound Content-Disposition value, taken apart. Texts hold a byte per character. Not thread-safe. */
final class Disposition {
    String type;
    final List<Parameter> parameters = new ArrayList<>();
    /** After the last parameter. */
    String end = "";

    /** A parameter; one without a name stands for a semicolon with nothing behind it. */
    static final class Parameter {
        /** Semicolon and blanks. */
        String before;

        String name;
        /** Between the quotes where there are some, with its backslashes. */
        String value;

        boolean quoted;
        boolean hasValue;

        Parameter(String before, String name) {
            this.before = before;
            this.name = name;
            this.value = "";
        }

        boolean is(String other) {
            return name.equalsIgnoreCase(other);
        }

        boolean isPlain() {
            return is("name") || is("filename");
        }
    }

    private Disposition(String type) {
        this.type = type;
    }

    static Disposition of(String value) {
        int at = 0;
        while (at < value.length() && Anatomy.isToken(value.charAt(at))) {
            at++;
        }
        Disposition disposition = new Disposition(value.substring(0, at));
        while (at < value.length()) {
            int from = at;
            boolean semicolon = false;
            while (at < value.length() && (isBlank(value.charAt(at)) || (value.charAt(at) == ';' && !semicolon))) {
                semicolon |= value.charAt(at) == ';';
                at++;
            }
            String before = value.substring(from, at);
            if (!semicolon) {
                disposition.end = before;
                return disposition;
            }
            from = at;
            while (at < value.length() && "=; \t".indexOf(value.charAt(at)) < 0) {
                at++;
            }
            Parameter parameter = new Parameter(before, value.substring(from, at));
            disposition.parameters.add(parameter);
            if (at < value.length() && value.charAt(at) == '=') {
                parameter.hasValue = true;
                at = disposition.value(parameter, value, at + 1);
            }
        }
        return disposition;
    }

    private int value(Parameter parameter, String text, int start) {
        int at = start;
        if (at < text.length() && text.charAt(at) == '"') {
            parameter.quoted = true;
            int from = ++at;
            while (text.charAt(at) != '"') {
                at += text.charAt(at) == '\\' && (text.charAt(at + 1) == '"' || text.charAt(at + 1) == '\\') ? 2 : 1;
            }
            parameter.value = text.substring(from, at);
            return at + 1;
        }
        while (at < text.length() && text.charAt(at) != ';' && !isBlank(text.charAt(at))) {
            at++;
        }
        parameter.value = text.substring(start, at);
        return at;
    }

    private static boolean isBlank(char c) {
        return c == ' ' || c == '\t';
    }

    /** Changes the value of every name and file name. */
    void changeValues(UnaryOperator<String> change) {
        for (Parameter parameter : parameters) {
            if (parameter.isPlain() && parameter.hasValue) {
                parameter.value = change.apply(parameter.value);
            }
        }
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder(type);
        for (Parameter parameter : parameters) {
            text.append(parameter.before).append(parameter.name);
            if (parameter.hasValue) {
                text.append('=');
                text.append(parameter.quoted ? '"' + parameter.value + '"' : parameter.value);
            }
        }
        return text.append(end).toString();
    }
}
