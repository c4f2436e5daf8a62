package dev.sluice.bench.differential;

import dev.sluice.bench.peer.Tally.Part;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A transcription of the parser proposed for the Fetch Standard (whatwg/fetch, pull request 1922), step by step. The proposal does not yet
 * define how the value of Content-Disposition is parsed; here a quoted value ends at the next quote, which matches what browsers send. Each
 * character of a string stands for one byte. Used for one body; not thread-safe.
 */
final class FetchParser {
    private static final Pattern MIME_PARAMETER =
            Pattern.compile(";[ \t]*([^;=]*)(?:=(?:\"((?:\\\\.|[^\"\\\\])*)\"?[^;]*|([^;]*)))?");
    private static final Pattern PARAMETER =
            Pattern.compile("\\G[ \t]*;[ \t]*(?:([^ \t;=\"]+)=(?:\"([^\"]*)\"|([^ \t;\"]+)))?");
    private static final String REFUSED_IN_HEADERS = "\0\r\n";

    private final String input;
    private final String dashBoundary;
    private int position;
    private @Nullable String name;
    private @Nullable String filename;

    private FetchParser(String boundary, byte[] body) {
        this.dashBoundary = new String(("--" + boundary).getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
        this.input = new String(body, StandardCharsets.ISO_8859_1);
    }

    private static final class Failure extends Exception {
        private static final long serialVersionUID = 1;

        Failure(String step) {
            super(step, null, false, false);
        }
    }

    /** Returns the entries, with the text of fields in UTF-8, or the step that fails. */
    static Reading read(String contentType, byte[] body) {
        List<Part> entries = new ArrayList<>();
        try {
            new FetchParser(boundary(contentType), body).parse(entries);
            return new Reading(entries, null);
        } catch (Failure e) {
            return new Reading(List.of(), e.getMessage());
        }
    }

    /** Parses the boundary as defined by the MIME Sniffing Standard, which uses the first of duplicate parameters. */
    private static String boundary(String contentType) throws Failure {
        Matcher parameter = MIME_PARAMETER.matcher(contentType);
        while (parameter.find()) {
            if (parameter.group(1).equalsIgnoreCase("boundary")) {
                String quoted = parameter.group(2);
                String value = quoted != null ? quoted.replaceAll("\\\\(.)", "$1") : parameter.group(3);
                if (value != null && !value.stripTrailing().isEmpty()) {
                    return quoted != null ? value : value.stripTrailing();
                }
            }
        }
        throw new Failure("no boundary");
    }

    private void parse(List<Part> entries) throws Failure {
        while (true) {
            if (!input.startsWith(dashBoundary, position)) {
                throw new Failure("does not start with a delimiter");
            }
            position += dashBoundary.length();
            if (input.startsWith("--", position)) {
                position += 2;
                skipBlanks();
                if (position < input.length() && !input.startsWith("\r\n", position)) {
                    throw new Failure("text after the close-delimiter");
                }
                return;
            }
            skipBlanks();
            lineEnd("text after a delimiter");
            headers();
            int end = input.indexOf("\r\n" + dashBoundary, position);
            if (end < 0) {
                throw new Failure("no delimiter after the content");
            }
            byte[] content = input.substring(position, end).getBytes(StandardCharsets.ISO_8859_1);
            entries.add(new Part(decoded(name), filename == null ? null : decoded(filename), content));
            position = end + 2;
        }
    }

    private void headers() throws Failure {
        name = null;
        filename = null;
        while (!input.startsWith("\r\n", position)) {
            String field = collect(":" + REFUSED_IN_HEADERS).strip();
            if (field.isEmpty() || !field.chars().allMatch(Anatomy::isToken)) {
                throw new Failure("a header name that is not a token");
            }
            if (!input.startsWith(":", position)) {
                throw new Failure("a header without a colon");
            }
            position++;
            skipBlanks();
            String value = collect(REFUSED_IN_HEADERS).replaceFirst("[ \t]+$", "");
            if (field.equalsIgnoreCase("Content-Disposition")) {
                disposition(value);
            }
            lineEnd("a control character in a header");
        }
        position += 2;
        if (name == null) {
            throw new Failure("no name");
        }
    }

    private void disposition(String value) throws Failure {
        if (!value.regionMatches(true, 0, "form-data", 0, 9)) {
            throw new Failure("not form-data");
        }
        Matcher parameter = PARAMETER.matcher(value);
        int at = 9;
        String foundName = null;
        String foundFilename = null;
        for (; parameter.find(at) && parameter.start() == at; at = parameter.end()) {
            String found = parameter.group(2) != null ? parameter.group(2) : parameter.group(3);
            if ("name".equalsIgnoreCase(parameter.group(1)) && foundName == null) {
                foundName = found;
            } else if ("filename".equalsIgnoreCase(parameter.group(1)) && foundFilename == null) {
                foundFilename = found;
            }
        }
        if (!value.substring(at).isBlank()) {
            throw new Failure("malformed parameters");
        }
        name = foundName;
        filename = foundFilename;
    }

    private String collect(String until) {
        int start = position;
        while (position < input.length() && until.indexOf(input.charAt(position)) < 0) {
            position++;
        }
        return input.substring(start, position);
    }

    private void skipBlanks() {
        while (position < input.length() && " \t".indexOf(input.charAt(position)) >= 0) {
            position++;
        }
    }

    private void lineEnd(String otherwise) throws Failure {
        if (!input.startsWith("\r\n", position)) {
            throw new Failure(position == input.length() ? "the end is missing" : otherwise);
        }
        position += 2;
    }

    private static String decoded(String bytes) {
        return new String(bytes.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }
}
