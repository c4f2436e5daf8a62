package dev.sluice.bench.differential;

import dev.sluice.bench.differential.Anatomy.Field;
import dev.sluice.bench.differential.Anatomy.Piece;
import dev.sluice.bench.differential.Disposition.Parameter;
import java.util.Comparator;
import java.util.function.BinaryOperator;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/**
 * What a body can have about it that makes parsers disagree. Each can be taken away and the rest left: where the
 * disagreement goes with it, it was the cause. In the order in which they are tried: the particular before the general.
 */
enum Feature {
    // Framing
    LEADING_LINE_END("a line end before the first delimiter", anatomy -> anatomy.lead = ""),
    CLOSE_PADDING("blanks after the close-delimiter", anatomy -> anatomy.tail = anatomy.tail.strip() + "\r\n"),
    NO_LAST_LINE_END("nothing after the close-delimiter", anatomy -> {
        if (anatomy.tail.isEmpty()) {
            anatomy.tail = "\r\n";
        }
    }),
    NO_PARTS("only the close-delimiter", anatomy -> {
        if (anatomy.pieces.isEmpty()) {
            Piece piece = new Piece();
            piece.fields.add(new Field("Content-Disposition", " form-data; name=\"a\""));
            anatomy.pieces.add(piece);
        }
    }),
    CONTENT_TYPE("the writing of the request's Content-Type", Anatomy::plainContentType),

    // Header sections
    PART_LENGTH("a Content-Length in a part", anatomy -> anatomy.dropFields("Content-Length")),
    TRANSFER_ENCODING(
            "a Content-Transfer-Encoding of 7bit, 8bit or binary",
            anatomy -> anatomy.dropFields("Content-Transfer-Encoding")),
    PART_CHARSET("a charset in the part's Content-Type", fields(field -> {
        if (field.is("Content-Type") && Anatomy.lower(field.rest).contains("charset")) {
            field.rest = " text/plain";
        }
    })),
    MESSAGE_TYPE("a message as a part", fields(field -> {
        if (field.is("Content-Type") && Anatomy.lower(field.rest).contains("message/")) {
            field.rest = " text/plain";
        }
    })),
    ODD_FIELD_NAME("a field name of other characters than letters and dashes", fields(field -> {
        if (!field.name.chars().allMatch(c -> Character.isLetter(c) || c == '-')) {
            field.name = "X-Plain";
        }
    })),
    EMPTY_FIELD("a header field without a value", fields(field -> {
        if (field.value().isEmpty()) {
            field.rest = field.is("Content-Type") ? " text/plain" : " x";
        }
    })),
    FIELD_NOT_ASCII("a header field, not Content-Disposition, that is not ASCII", fields(field -> {
        if (!field.is("Content-Disposition")) {
            field.rest = ascii(field.rest);
        }
    })),
    FIELD_BLANKS("blanks around a field's value", fields(field -> field.rest = " " + field.value())),
    FIELD_NAME_CASE("the case of a field's name", fields(field -> {
        for (String usual : new String[] {"Content-Disposition", "Content-Type"}) {
            if (field.is(usual)) {
                field.name = usual;
            }
        }
    })),
    FIELD_ORDER(
            "Content-Disposition behind another field",
            anatomy -> anatomy.pieces.forEach(
                    piece -> piece.fields.sort(Comparator.comparing(field -> !field.is("Content-Disposition"))))),
    PART_TYPE("a Content-Type in a part", anatomy -> anatomy.dropFields("Content-Type")),
    OTHER_FIELDS(
            "other header fields",
            anatomy ->
                    anatomy.pieces.forEach(piece -> piece.fields.removeIf(field -> !field.is("Content-Disposition")))),

    // Content-Disposition
    ESCAPED_QUOTE("a backslash before a quote", values(value -> escapes(value, '"'))),
    ESCAPED_BACKSLASH("two backslashes", values(value -> escapes(value, '\\'))),
    BACKSLASH("a backslash before another character", values(value -> escapes(value, '\0'))),
    PARAMETER_IN_VALUE("a parameter's name and = in a value", values(value -> value.replace("name=", "name_"))),
    SEMICOLON("a semicolon in a value", values(value -> value.replace(';', '_'))),
    COMMA("a comma in a value", values(value -> value.replace(',', '_'))),
    COLON("a colon in a value", values(value -> value.replace(':', '_'))),
    ENCODED_WORD("an RFC 2047 encoded word", values(value -> value.replace("=?", "__"))),
    EQUALS("an = in a value", values(value -> value.replace('=', '_'))),
    SINGLE_QUOTE("a single quote in a value", values(value -> value.replace('\'', '_'))),
    PERCENT("a % in a value", values(value -> value.replace('%', '_'))),
    PLUS("a + in a value", values(value -> value.replace('+', '_'))),
    BRACKET("a bracket in a value", values(value -> value.replace('[', '_').replace(']', '_'))),
    ENTITY("a character reference in a value", values(value -> value.replace("&#", "__"))),
    LEADING_SLASH("a slash at the start of a value", values(value -> value.replaceFirst("^/+", "_"))),
    TRAILING_SLASH("a slash at the end of a value", values(value -> value.replaceFirst("/+$", "_"))),
    DOTS("a file name of dots", parameters(parameter -> {
        if (parameter.is("filename")) {
            parameter.value = parameter.value.replaceFirst("(^|/)\\.\\.?$", "$1_");
        }
    })),
    TAB_IN_VALUE("a tab in a value", values(value -> value.replace('\t', '_'))),
    OUTER_BLANKS(
            "blanks at the ends of a value",
            values(value -> value.equals(value.strip()) ? value : '_' + value.strip() + '_')),
    VALUE_NOT_ASCII("a value that is not ASCII", values(Feature::ascii)),
    EMPTY_NAME("an empty name", parameters(parameter -> fillEmpty(parameter, "name"))),
    EMPTY_FILENAME("an empty file name", parameters(parameter -> fillEmpty(parameter, "filename"))),
    EXTENDED_FILENAME("filename* beside filename", without(parameter -> parameter.is("filename*"))),
    TOKEN_VALUE(
            "a value without quotes",
            parameters(parameter -> parameter.quoted |= parameter.hasValue && parameter.isPlain())),
    PARAMETER_CASE(
            "the case of a parameter's name", parameters(parameter -> parameter.name = Anatomy.lower(parameter.name))),
    TYPE_CASE("the case of form-data", disposition(disposition -> disposition.type = Anatomy.lower(disposition.type))),
    EMPTY_PARAMETER("a semicolon with no parameter behind it", without(parameter -> parameter.name.isEmpty())),
    NO_VALUE("a parameter without a value", without(parameter -> !parameter.hasValue && !parameter.name.isEmpty())),
    PARAMETER_BLANKS("blanks around semicolons", disposition(disposition -> {
        disposition.parameters.forEach(parameter -> parameter.before = "; ");
        disposition.end = "";
    })),
    PARAMETER_ORDER(
            "filename before name",
            disposition(disposition ->
                    disposition.parameters.sort(Comparator.comparing(parameter -> !parameter.is("name"))))),
    OTHER_PARAMETERS("other parameters", without(parameter -> !parameter.isPlain())),
    FILENAME("a file name at all", without(parameter -> parameter.is("filename"))),

    // Content
    DASH_BOUNDARY(
            "the dash-boundary within content",
            contents((content, dash) -> content.replace(dash, "_".repeat(dash.length())))),
    CONTENT_STARTS_WITH_LINE_END(
            "content that begins with a line end", contents(content -> content.replaceFirst("^[\r\n]", "_"))),
    CONTENT_ENDS_WITH_LINE_END(
            "content that ends with a line end", contents(content -> content.replaceFirst("[\r\n]\\z", "_"))),
    CARRIAGE_RETURN("a CR within content", contents(content -> content.replace('\r', '_'))),
    LINE_FEED("an LF within content", contents(content -> content.replace('\n', '_'))),
    CONTENT_DASHES("dashes within content", contents(content -> content.replace('-', '_'))),
    CONTENT_NOT_ASCII(
            "content that is not ASCII", contents(content -> ascii(content).replace('\0', '_'))),
    EMPTY_CONTENT("empty content", contents(content -> content.isEmpty() ? "_" : content)),
    LONG_CONTENT("long content", Anatomy::shortContent),
    BOUNDARY("the boundary's characters", Anatomy::plainBoundary),
    /** Nothing of the above. */
    UNKNOWN("something that is not known", anatomy -> {});

    private static final Pattern BACKSLASH_AND_NEXT = Pattern.compile("\\\\([\"\\\\]?)");

    final String title;
    private final Consumer<Anatomy> removal;

    Feature(String title, Consumer<Anatomy> removal) {
        this.title = title;
        this.removal = removal;
    }

    /** Whether it takes so much away that it is looked at only where nothing particular is the cause. */
    boolean isGeneral() {
        return this == PART_TYPE
                || this == OTHER_FIELDS
                || this == OTHER_PARAMETERS
                || this == FILENAME
                || this == LONG_CONTENT;
    }

    void removeFrom(Anatomy anatomy) {
        removal.accept(anatomy);
    }

    private static Consumer<Anatomy> fields(Consumer<Field> change) {
        return anatomy -> anatomy.pieces.forEach(piece -> piece.fields.forEach(change));
    }

    private static Consumer<Anatomy> disposition(Consumer<Disposition> change) {
        return fields(field -> {
            if (field.is("Content-Disposition")) {
                Disposition disposition = Disposition.of(field.value());
                change.accept(disposition);
                field.rest = " " + disposition;
            }
        });
    }

    private static Consumer<Anatomy> values(UnaryOperator<String> change) {
        return disposition(disposition -> disposition.changeValues(change));
    }

    private static Consumer<Anatomy> parameters(Consumer<Parameter> change) {
        return disposition(disposition -> disposition.parameters.forEach(change));
    }

    private static Consumer<Anatomy> without(Predicate<Parameter> dropped) {
        return disposition(disposition -> disposition.parameters.removeIf(dropped));
    }

    private static Consumer<Anatomy> contents(UnaryOperator<String> change) {
        return contents((content, dash) -> change.apply(content));
    }

    /** @param change is told the dash-boundary */
    private static Consumer<Anatomy> contents(BinaryOperator<String> change) {
        return anatomy ->
                anatomy.pieces.forEach(piece -> piece.content = change.apply(piece.content, "--" + anatomy.boundary));
    }

    private static String ascii(String text) {
        return text.replaceAll("[^\\x00-\\x7E]", "_");
    }

    /** Replaces the escapes of one character, or for 0 the backslashes that escape nothing, from left to right. */
    private static String escapes(String value, char escaped) {
        return BACKSLASH_AND_NEXT.matcher(value).replaceAll(found -> {
            if (found.group(1).isEmpty()) {
                return escaped == 0 ? "_" : "$0";
            }
            return found.group(1).charAt(0) == escaped ? "__" : "$0";
        });
    }

    private static void fillEmpty(Parameter parameter, String name) {
        if (parameter.is(name) && parameter.value.isEmpty()) {
            parameter.value = "_";
        }
    }
}
