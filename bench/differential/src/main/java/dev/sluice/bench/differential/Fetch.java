package dev.sluice.bench.differential;

import dev.sluice.testkit.TextTable;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The differences between Sluice's presets and the parser of the Fetch Standard, listed in {@code fetch.txt}. */
final class Fetch {
    /**
     * One or more differences with the same reason.
     *
     * @param kinds the results of {@link #kind}
     */
    record Row(List<String> kinds, String title, String why, Sample example) {}

    private Fetch() {}

    static Reading read(Sample sample) {
        return FetchParser.read(sample.contentType(), sample.bytes());
    }

    /**
     * Returns the kind of a difference: the step of the standard that fails, the reason for which Sluice rejects the
     * body, or how the parts differ. Null if there is no difference.
     */
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

    /** Reads the table. Each row has the kinds, a title, the reason and a body with escapes, each on a separate line. */
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
                    .formatted(row.title(), Page.minimal(row.example()), row.why(), describe(fetch, fetch)));
            for (Sluice preset : Sluice.values()) {
                text.append(" | ").append(describe(preset.read(row.example()), fetch));
            }
            text.append(" |\n");
        }
        return Page.section("fetch", text);
    }

    private static String describe(Reading reading, Reading fetch) {
        if (!reading.accepts()) {
            return reading.refusal().split(" of part | at ")[0];
        }
        String kind = kind(reading, fetch);
        return kind != null && kind.startsWith("reads") ? "accepted, " + kind : "accepted";
    }
}
