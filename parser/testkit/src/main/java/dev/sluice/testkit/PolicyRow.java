package dev.sluice.testkit;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * An unusual input and the expected result for each preset, written by hand in {@code policy-rows.txt}, which explains
 * the format.
 *
 * @param title the number of the row in {@code parser/docs/policy.md}, and its subject
 * @param mark the offset of the byte that the row is about; -2 if it is not marked
 * @param expected the output of {@link #show} for each preset; {@code ALL} is COMPATIBLE with every deviation reported
 */
public record PolicyRow(
        String title, String contentType, byte[] body, int mark, ReferenceLimits limits, Map<String, String> expected) {
    private static final List<String> COLUMNS = List.of("STANDARD", "STRICT", "COMPATIBLE", "ALL");
    private static final Pattern ESCAPE = Pattern.compile("\\\\(?:(x..|u....)|([rnt]))|\\{(?:A|(\\d+)\\*([^}]*))}");
    private static final String NAMED = "Content-Disposition: form-data; name=a";

    /** {@return all rows of the table} */
    public static List<PolicyRow> all() {
        return parse(TextTable.lines("policy-rows.txt"));
    }

    private static List<PolicyRow> parse(List<String> table) {
        List<PolicyRow> rows = new ArrayList<>();
        String title = "";
        String input = "";
        ReferenceLimits limits = ReferenceLimits.DEFAULTS;
        for (String line : table) {
            if (line.startsWith("== ")) {
                title = line.substring(3);
            } else if (line.startsWith("  & ")) {
                String[] setting = line.substring(4).split("=");
                limits = limits.with(setting[0], Integer.parseInt(setting[1]));
            } else if (line.startsWith("  ")) {
                rows.add(of(title, input, limits, line.substring(2).split(" \\| ")));
                limits = ReferenceLimits.DEFAULTS;
            } else {
                input = line;
            }
        }
        return rows;
    }

    private static PolicyRow of(String title, String input, ReferenceLimits limits, String[] columns) {
        Map<String, String> expected = new LinkedHashMap<>();
        for (int i = 0; i < Math.max(3, columns.length); i++) {
            expected.put(COLUMNS.get(i), TextTable.unescaped(columns[columns.length == 1 ? 0 : i]));
        }
        String text = input.substring(Math.min(2, input.length()));
        String type = "multipart/form-data; boundary=x";
        String body = switch (input.charAt(0)) {
            case 'F' -> text;
            case 'M' -> {
                type = "multipart/mixed; boundary=x";
                yield text;
            }
            case 'D' -> "--x\\r\\nContent-Disposition: " + text + "\\r\\n\\r\\n1\\r\\n--x--";
            case 'H' -> "--x\\r\\n" + NAMED + "\\r\\n" + text + "\\r\\n1\\r\\n--x--";
            case 'T' -> {
                int arrow = text.indexOf(" => ");
                String boundary = arrow < 0 ? "x" : text.substring(arrow + 4);
                type = TextTable.unescaped(arrow < 0 ? text : text.substring(0, arrow));
                yield "--" + boundary + "\\r\\n" + NAMED + "\\r\\n\\r\\n1\\r\\n--" + boundary + "--";
            }
            default -> throw new IllegalArgumentException(input);
        };
        int mark = body.indexOf('^');
        byte[] bytes = TextTable.unescaped(body.replace("^", "")).getBytes(StandardCharsets.ISO_8859_1);
        int offset =
                mark < 0 ? -2 : TextTable.unescaped(body.substring(0, mark)).length();
        return new PolicyRow(title, type, bytes, offset, limits, expected);
    }

    /** {@return the result in the format of the table} */
    public String show(Outcome outcome) {
        StringBuilder text = new StringBuilder();
        outcome.parts().forEach(part -> text.append(' ').append(show(part)));
        if (outcome.partial() != null) {
            text.append(" ~").append(show(outcome.partial()));
        }
        for (Outcome.Deviation deviation : outcome.deviations()) {
            text.append(" +").append(deviation.kind()).append(place(deviation.offset(), deviation.part()));
        }
        Outcome.Error error = outcome.error();
        if (error != null) {
            text.append(" !").append(error.reason()).append(place(error.offset(), error.part()));
        }
        return text.isEmpty() ? "ok" : text.substring(1);
    }

    private static String show(Outcome.Part part) {
        return part.name() + (part.filename() == null ? "" : "(" + part.filename() + ")") + ":"
                + new String(part.body(), StandardCharsets.ISO_8859_1);
    }

    private String place(long offset, int part) {
        return "@" + (offset == mark ? "^" : Long.toString(offset)) + "/" + part;
    }

    /** {@return the rules for a column: a preset or {@code ALL}} */
    public static PresetRules rules(String column) {
        return column.equals("ALL") ? PresetRules.of("COMPATIBLE").reportingAll() : PresetRules.of(column);
    }

    @Override
    public String toString() {
        return title + ": " + contentType + " \"" + Soup.escape(body) + "\" " + limits;
    }
}
