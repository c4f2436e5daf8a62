package dev.sluice.bench.differential;

import dev.sluice.testkit.TextTable;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Where a preset and the parser of the Fetch Standard make something different of a form: the table {@code fetch.txt}. */
final class Fetch {
    static final Map<String, Sluice> PRESETS = presets();

    /**
     * A difference, or several of one reason.
     *
     * @param kinds as {@link #kind} tells them
     */
    record Row(List<String> kinds, String title, String why, Sample example) {}

    private Fetch() {}

    private static Map<String, Sluice> presets() {
        Map<String, Sluice> presets = new LinkedHashMap<>();
        presets.put("STANDARD", Sluice.STANDARD);
        presets.put("STRICT", Sluice.STRICT);
        presets.put("COMPATIBLE", Sluice.COMPATIBLE);
        return presets;
    }

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
                    Explanations.minimal(lines.get(at + 3))));
        }
        return rows;
    }

    /** {@return the part of the page with the table} */
    static String section() {
        StringBuilder text = new StringBuilder("""
            ## The parser of the Fetch Standard

            The Fetch Standard is about to say how `multipart/form-data` is parsed (whatwg/fetch, pull request 1922), the first \
            normative parser there is. Its steps are transcribed for tests (`FetchParser`), and a test gives both the same forms: \
            what STRICT accepts, that parser reads the same or refuses, and every other difference is one of these. How it reads the \
            value of Content-Disposition is not settled yet; the transcription takes a backslash for itself. The boundary is `x`.

            | Form | Why they differ | Fetch | STANDARD | STRICT | COMPATIBLE |
            |---|---|---|---|---|---|
            """);
        for (Row row : rows()) {
            Reading fetch = read(row.example());
            text.append("| %s<br>%s | %s | %s"
                    .formatted(row.title(), Page.minimal(row.example()), row.why(), told(fetch, fetch)));
            PRESETS.values().forEach(preset -> text.append(" | ").append(told(preset.read(row.example()), fetch)));
            text.append(" |\n");
        }
        return text.toString();
    }

    private static String told(Reading reading, Reading fetch) {
        if (!reading.accepts()) {
            return reading.refusal().split(" of part | at ")[0];
        }
        String kind = kind(reading, fetch);
        return kind != null && kind.startsWith("reads") ? "takes it, " + kind : "takes it";
    }
}
