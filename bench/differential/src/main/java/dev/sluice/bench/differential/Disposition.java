package dev.sluice.bench.differential;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A sound Content-Disposition value, taken apart. Texts hold a byte per character. Not thread-safe. */
final class Disposition {
    /** Semicolon and blanks, name, and a value in quotes or without. */
    private static final Pattern PARAMETER =
            Pattern.compile("\\G([ \t]*;[ \t]*)([^=; \t]*+)(?:=(?:\"((?:\\\\[\"\\\\]|[^\"])*+)\"|([^; \t]*+)))?");

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

        Parameter(Matcher found) {
            before = found.group(1);
            name = found.group(2);
            quoted = found.group(3) != null;
            hasValue = quoted || found.group(4) != null;
            value = quoted ? found.group(3) : hasValue ? found.group(4) : "";
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
        Matcher parameter = PARAMETER.matcher(value);
        int at = 0;
        while (at < value.length() && Anatomy.isToken(value.charAt(at))) {
            at++;
        }
        Disposition disposition = new Disposition(value.substring(0, at));
        for (; parameter.find(at); at = parameter.end()) {
            disposition.parameters.add(new Parameter(parameter));
        }
        disposition.end = value.substring(at);
        return disposition;
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
