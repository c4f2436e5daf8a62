package dev.sluice.bench.differential;

import dev.sluice.testkit.TextTable;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Where a preset and the parser of the Fetch Standard make something different of a form: the table {@code fetch.txt}. */
final class Fetch {
    /**
     * A difference, or several of one reason.
     *
     * @param kinds as {@link #kind} tells them
     */
    record Row(List<String> kinds, String title, String why, Sample example) {}

    private Fetch() {}

    static Reading read(Sample sample) {
        return FetchParser.read(sample.contentType(), sample.bytes());
    }

    /** {@return of what kind the difference is: which step of theirs fails, why Sluice refuses, or what is read otherwise} */
    static @Nullable String kind(Reading sluice, Reading fetch) {
        if (sluice.accepts() && fetch.accepts()) {
            return Difference.between(sluice, fetch, true)
                    .map(difference -> "reads " + difference.title)
                    .orElse(null);
        }
        if (!sluice.accepts() && !fetch.accepts()) {
            return null;
        }
        return sluice.accepts()
                ? "refuses: " + fetch.refusal()
                : sluice.refusal().split(" ")[0];
    }

    /** {@return the table: in each row the kinds, a title, the reason, and a body with escapes, alone on their lines} */
    static List<Row> rows() {
        List<Row> rows = new ArrayList<>();
        List<String> lines = TextTable.lines("/dev/sluice/bench/differential/fetch.txt");
        for (int at = 0; at < lines.size(); at += 4) {
            rows.add(new Row(
                    List.of(lines.get(at).split(" \\| ")),
                    lines.get(at + 1).strip(),
                    lines.get(at + 2).strip(),
                    Explanation.minimal(lines.get(at + 3))));
        }
        return rows;
    }

    static String section() {
        StringBuilder text = new StringBuilder();
        for (Row row : rows()) {
            Reading fetch = read(row.example());
            text.append("| %s<br>%s | %s | %s"
                    .formatted(row.title(), Page.minimal(row.example()), row.why(), told(fetch, fetch)));
            for (Sluice preset : Sluice.values()) {
                text.append(" | ").append(told(preset.read(row.example()), fetch));
            }
            text.append(" |\n");
        }
        return Page.section("fetch", text);
    }

    private static String told(Reading reading, Reading fetch) {
        if (!reading.accepts()) {
            return reading.refusal().split(" of part | at ")[0];
        }
        String kind = kind(reading, fetch);
        return kind != null && kind.startsWith("reads") ? "takes it, " + kind : "takes it";
    }
}
