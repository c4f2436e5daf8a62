package dev.sluice.samples.gateway;

import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.regex.Pattern;

/** The page with the last forms. Everything that a client has sent is escaped, and its control characters are replaced. */
final class HistoryPage {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT).withZone(ZoneId.systemDefault());
    private static final Pattern INVISIBLE = Pattern.compile("\\p{C}");
    private static final String ARRIVING = "…";

    private HistoryPage() {}

    static String html(Rules rules, String upstream, History history) {
        StringBuilder page = new StringBuilder("""
                <!doctype html>
                <html lang="en">
                <head>
                <meta charset="utf-8">
                <meta name="viewport" content="width=device-width, initial-scale=1">
                <meta name="color-scheme" content="light dark">
                <title>Upload gateway</title>
                <link rel="stylesheet" href="/page.css">
                </head>
                <body>
                <header><h1>Upload gateway</h1>
                """);
        page.append("<p>Forwards forms to <code>").append(escaped(upstream)).append("</code></p></header>\n");
        page.append("<section><h2>Rules</h2><dl>");
        rule(page, "Fields", String.join(", ", rules.fields()));
        rule(page, "Files", String.join(", ", rules.files()) + ", up to " + rules.maxFileBytes() + " bytes");
        rule(page, "Types", String.join(", ", rules.types()));
        rule(page, "Removed", String.join(", ", rules.stripped()));
        page.append("</dl></section>\n<section><h2>Try it</h2>\n");
        page.append("<form action=\"/upload\" method=\"post\" enctype=\"multipart/form-data\">\n");
        rules.stripped().forEach(name -> input(page, "hidden", name, " value=\"1234\""));
        rules.fields().forEach(name -> input(page, "text", name, ""));
        rules.files().forEach(name -> input(page, "file", name, " multiple"));
        page.append("<button>Send</button>\n</form></section>\n<section><h2>Last forms</h2>\n");
        if (history.latest().isEmpty()) {
            page.append("<p>None yet.</p>\n");
        }
        history.latest().forEach(form -> form(page, form));
        return page.append("</section>\n</body>\n</html>\n").toString();
    }

    private static void rule(StringBuilder page, String title, String value) {
        page.append("<dt>")
                .append(title)
                .append("</dt><dd>")
                .append(escaped(value))
                .append("</dd>");
    }

    private static void input(StringBuilder page, String type, String name, String more) {
        String label = escaped(name);
        String element = "<input type=\"" + type + "\" name=\"" + label + "\"" + more + ">\n";
        page.append(type.equals("hidden") ? element : "<label>" + label + " " + element + "</label>\n");
    }

    private static void form(StringBuilder page, History.Form form) {
        History.State state = form.state();
        String kind = state.status() == 0 ? "arriving" : state.status() < 400 ? "good" : "bad";
        page.append("<article class=\"").append(kind).append("\"><h3><time>").append(TIME.format(form.since));
        page.append("</time> <b>").append(state.status() == 0 ? ARRIVING : String.valueOf(state.status()));
        page.append("</b> ").append(escaped(state.outcome())).append("</h3>\n");
        if (!state.parts().isEmpty()) {
            page.append("<table><tr><th>Part<th>File name<th>Declared type<th>Bytes<th>Decision</tr>\n");
            for (History.Part part : state.parts()) {
                page.append("<tr><td>").append(escaped(part.name()));
                page.append("<td>").append(escaped(part.filename()));
                page.append("<td>")
                        .append(escaped(part.contentType()))
                        .append("<td>")
                        .append(part.bytes());
                page.append("<td>").append(escaped(part.decision())).append("</tr>\n");
            }
            page.append("</table>\n");
        }
        int more = state.allParts() - state.parts().size();
        page.append(more > 0 ? "<p>and " + more + " more parts</p>\n" : "").append("</article>\n");
    }

    /** {@return {@code text} as HTML, for an element or a quoted attribute} */
    static String escaped(String text) {
        return INVISIBLE
                .matcher(text)
                .replaceAll("\uFFFD")
                .replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;")
                .replace("'", "&#39;");
    }
}
