package dev.sluice.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Tables of escaped texts in a file, one entry per line. */
public final class TextTable {
    private static final Pattern ESCAPE = Pattern.compile("\\\\(?:(x..|u....)|([rnt]))|\\{(?:A|(\\d+)\\*([^}]*))}");

    private TextTable() {}

    /** {@return the text of a file, with LF as line ends} */
    public static String text(String name) {
        try (InputStream in = TextTable.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException("no " + name);
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8).replace("\r\n", "\n");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static List<String> lines(String name) {
        return text(name)
                .lines()
                .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                .toList();
    }

    /** {@return the texts of a table, grouped by the titles of its sections} */
    public static Map<String, List<String>> sections(String name) {
        Map<String, List<String>> sections = new LinkedHashMap<>();
        List<String> texts = List.of();
        for (String line : lines(name)) {
            if (line.startsWith("== ")) {
                texts = new ArrayList<>();
                sections.put(line.substring(3), texts);
            } else {
                texts.add(unescaped(line));
            }
        }
        return sections;
    }

    /** {@return the text with its escapes replaced, as {@code policy-rows.txt} explains them} */
    public static String unescaped(String text) {
        return ESCAPE.matcher(text).replaceAll(found -> Matcher.quoteReplacement(decoded(found)));
    }

    private static String decoded(MatchResult found) {
        if (found.group(1) != null) {
            return Character.toString(Integer.parseInt(found.group(1).substring(1), 16));
        } else if (found.group(2) != null) {
            return "r".equals(found.group(2)) ? "\r" : "n".equals(found.group(2)) ? "\n" : "\t";
        }
        return found.group(3) == null
                ? "Content-Disposition: form-data; name=\"a\""
                : unescaped(found.group(4)).repeat(Integer.parseInt(found.group(3)));
    }
}
