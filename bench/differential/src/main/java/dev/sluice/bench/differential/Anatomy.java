package dev.sluice.bench.differential;

import dev.sluice.testkit.Outcome;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A request that the preset STRICT accepts, taken apart so that its parts can be changed and written as a request
 * again. Each character of a string stands for one byte. Not thread-safe.
 */
final class Anatomy {
    private static final Pattern DISPOSITION = Pattern.compile("(?is)^(Content-Disposition:)([ \t]*)(.*?)([ \t]*)\\z");
    /** A semicolon, a name, and optionally a quoted or unquoted value. */
    private static final Pattern PARAMETER =
            Pattern.compile("\\G[ \t]*;[ \t]*[^=; \t]*+(?:=(?:\"(?:\\\\[\"\\\\]|[^\"])*+\"|[^; \t]*+))?");

    private String contentType;
    private String boundary;
    /** The text before the first delimiter: empty or one line end. */
    String lead;

    private final List<Piece> pieces = new ArrayList<>();
    /** The text after the two dashes of the close-delimiter. */
    String tail;

    /** A body part: its header fields without line ends, and its content. */
    private static final class Piece {
        final List<String> fields = new ArrayList<>();
        String content = "";
    }

    /** @param outcome the result of the reference parser, which must accept the request with the rules of STRICT */
    Anatomy(Sample sample, String boundary, Outcome outcome) {
        this.contentType = sample.contentType();
        this.boundary = boundary;
        String text = new String(sample.bytes(), StandardCharsets.ISO_8859_1);
        String dash = "--" + boundary;
        int at = text.startsWith(dash) ? 0 : 2;
        lead = text.substring(0, at);
        at += dash.length();
        for (Outcome.Part part : outcome.parts()) {
            Piece piece = new Piece();
            int line = text.indexOf("\r\n", at);
            int end = part.bodyOffset() + part.body().length;
            piece.content = text.substring(part.bodyOffset(), end);
            for (at = line + 2; !text.startsWith("\r\n", at); ) {
                int lineEnd = text.indexOf("\r\n", at);
                piece.fields.add(text.substring(at, lineEnd));
                at = lineEnd + 2;
            }
            pieces.add(piece);
            at = end + 2 + dash.length();
        }
        tail = text.substring(at + 2);
    }

    Sample toSample(Sample.Origin origin) {
        StringBuilder text = new StringBuilder(lead);
        for (Piece piece : pieces) {
            text.append("--").append(boundary).append("\r\n");
            piece.fields.forEach(field -> text.append(field).append("\r\n"));
            text.append("\r\n").append(piece.content).append("\r\n");
        }
        text.append("--").append(boundary).append("--").append(tail);
        return new Sample(origin, contentType, text.toString().getBytes(StandardCharsets.ISO_8859_1));
    }

    /** Replaces the Content-Type by the simplest one with the same boundary. */
    void plainContentType() {
        boolean token = boundary.chars().allMatch(Anatomy::isToken);
        contentType = "multipart/form-data; boundary=" + (token ? boundary : '"' + boundary + '"');
    }

    /** Replaces the boundary, also in content, so that text that looks like a delimiter still looks like one. */
    void plainBoundary() {
        String old = "--" + boundary;
        boundary = "----PlainBoundary7d93b1";
        changeContents(content -> content.replace(old, "--" + boundary));
        plainContentType();
    }

    void maskDashBoundary() {
        String dash = "--" + boundary;
        changeContents(content -> content.replace(dash, "_".repeat(dash.length())));
    }

    void needPart() {
        if (pieces.isEmpty()) {
            Piece piece = new Piece();
            piece.fields.add("Content-Disposition: form-data; name=\"a\"");
            pieces.add(piece);
        }
    }

    void changeContents(UnaryOperator<String> change) {
        pieces.forEach(piece -> piece.content = change.apply(piece.content));
    }

    /** Changes each header field. Fields that become empty are removed. */
    void changeFields(UnaryOperator<String> change) {
        pieces.forEach(piece -> {
            piece.fields.replaceAll(change);
            piece.fields.removeIf(String::isEmpty);
        });
    }

    /** Moves Content-Disposition to the front. */
    void sortFields() {
        pieces.forEach(piece -> piece.fields.sort(
                Comparator.comparing(field -> !DISPOSITION.matcher(field).find())));
    }

    /**
     * Changes each Content-Disposition field. The argument of {@code change} has one space after the colon and none at
     * the end. The original blanks are put back.
     */
    void changeDispositions(UnaryOperator<String> change) {
        changeFields(field -> {
            Matcher found = DISPOSITION.matcher(field);
            if (!found.find()) {
                return field;
            }
            String changed = change.apply(found.group(1) + " " + found.group(3));
            int colon = changed.indexOf(':') + 1;
            return changed.substring(0, colon) + found.group(2) + changed.substring(colon + 1) + found.group(4);
        });
    }

    /** Changes each parameter. The argument of {@code change} consists of the semicolon, the name and the value. */
    void changeParameters(UnaryOperator<String> change) {
        changeDispositions(field -> {
            int type = field.indexOf(' ') + 1;
            while (type < field.length() && isToken(field.charAt(type))) {
                type++;
            }
            Matcher parameters = PARAMETER.matcher(field.substring(type));
            return field.substring(0, type)
                    + parameters.replaceAll(found -> Matcher.quoteReplacement(change.apply(found.group())));
        });
    }

    void lowerParameters() {
        changeParameters(parameter -> {
            String name = parameter.replaceFirst("(?s)=.*", "");
            return lower(name) + parameter.substring(name.length());
        });
    }

    /**
     * Changes the values of parameters, without their quotes.
     *
     * @param name a regular expression for the names of the parameters
     */
    void changeValues(String name, UnaryOperator<String> change) {
        Pattern value = Pattern.compile("(?is)([ \t]*;[ \t]*" + name + "=)(\"?)(.*)\\2");
        changeParameters(parameter -> {
            Matcher found = value.matcher(parameter);
            String quote = found.matches() ? found.group(2) : "";
            return found.matches() ? found.group(1) + quote + change.apply(found.group(3)) + quote : parameter;
        });
    }

    static boolean isToken(int c) {
        return c > ' ' && c < 0x7F && "()<>@,;:\\\"/[]?={}".indexOf(c) < 0;
    }

    static String lower(String text) {
        return text.toLowerCase(Locale.ROOT);
    }
}
