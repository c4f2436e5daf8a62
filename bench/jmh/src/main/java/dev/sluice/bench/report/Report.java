package dev.sluice.bench.report;

import dev.sluice.bench.body.Scenario;
import dev.sluice.bench.peer.PeerKind;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToDoubleFunction;

/** All that is made of the recorded runs: the charts, the page with their tables, and the table in the project's README. */
public final class Report {
    private static final String BEGIN = "<!-- speed: written by the command report, do not edit -->\n";
    private static final String END = "<!-- end of speed -->";
    private static final List<String> SHOWN =
            List.of("sluice-push", "sluice-servlet", "jetty", "netty42-dropped", "fileupload2");

    private final Map<String, Run> runs;

    private Report(Map<String, Run> runs) {
        this.runs = runs;
    }

    /**
     * Makes all files anew.
     *
     * @param project folder of the whole project
     * @return their contents
     */
    public static Map<Path, String> of(Path project) throws IOException {
        Map<String, Run> runs = new TreeMap<>();
        Path results = project.resolve("bench/results");
        try (DirectoryStream<Path> files = Files.newDirectoryStream(results, "*.json")) {
            for (Path file : files) {
                runs.put(file.getFileName().toString().replace(".json", ""), Run.read(file));
            }
        }
        Map<Path, String> made = new TreeMap<>();
        Report report = new Report(runs);
        Path readme = project.resolve("README.md");
        made.put(readme, report.withSpeed(Files.readString(readme)));
        made.put(
                results.resolve("charts/readme.svg"),
                Chart.ofReadme(runs.get("peers-jdk17"), runs.get("levels-jdk17")));
        made.put(project.resolve("bench/RESULTS.md"), report.page(results.resolve("charts"), made));
        return made;
    }

    // ---- the page

    /** @param made where the charts are put */
    private String page(Path charts, Map<Path, String> made) {
        Map<String, Run> judged = new TreeMap<>(runs);
        judged.keySet().removeIf(name -> name.startsWith("guard-"));
        StringBuilder page = new StringBuilder("""
            # Results

            Written by the command `report` from the runs in [results](results); do not edit. A test fails when this page is out of
            date. How it is measured, and how to read it: [README](README.md). What lies behind it: [What we learned](LEARNED.md).

            Runs:\s""");
        runs.keySet().forEach(name -> page.append("[%s](#%s) ".formatted(name, name)));
        page.append("\n\n## Where others are ahead\n\n").append(Losses.peers(judged));
        page.append("\n## Netty's other ways\n\n").append(Losses.ways(judged));
        page.append("\n## Goals that are missed\n\nBy more than the error of the figure.\n\n");
        page.append(goals(judged, Goals.Outcome.NO));
        page.append("\n## Goals that are open\n\nThe limit lies within the error of the figure.\n\n");
        page.append(goals(judged, Goals.Outcome.OPEN));
        page.append("\n## Goals for which a full run has no figure, or none that counts\n\n");
        page.append(goals(judged, Goals.Outcome.UNKNOWN));
        runs.forEach((name, run) -> {
            page.append("\n## %s\n\n%s\n".formatted(name, run.provenance()));
            Chart.of(name, run).forEach((file, svg) -> {
                made.put(charts.resolve(file), svg);
                page.append("\n![%s](results/charts/%s)\n".formatted(file.replace(".svg", ""), file));
            });
            page.append(Tables.of(run));
        });
        return page.toString();
    }

    private static String goals(Map<String, Run> judged, Goals.Outcome outcome) {
        StringBuilder lines = new StringBuilder();
        judged.forEach((name, run) -> Goals.of(run).stream()
                .filter(finding -> finding.outcome() == outcome)
                .forEach(finding -> lines.append("| ").append(name).append(' ').append(finding.line())));
        return lines.isEmpty()
                ? "There are none.\n"
                : Goals.COLUMNS.replaceFirst("what", "run | what").replaceFirst("---", "---|---") + lines;
    }

    // ---- the table in the README

    private String withSpeed(String readme) {
        int begin = readme.indexOf(BEGIN);
        int end = readme.indexOf(END);
        if (begin < 0 || end < begin) {
            throw new IllegalArgumentException("the README has no place marked for the table");
        }
        return readme.substring(0, begin + BEGIN.length()) + speed() + readme.substring(end);
    }

    private String speed() {
        StringBuilder text = new StringBuilder("| us for a whole body");
        SHOWN.forEach(peer -> text.append(" | ").append(PeerKind.of(peer).title));
        text.append(" |\n|---").append("|---:".repeat(SHOWN.size())).append("|\n");
        for (Scenario body : List.of(Scenario.RANDOM_16M, Scenario.FORM, Scenario.FIELDS_100, Scenario.PARTS_1000)) {
            text.append("| ").append(body.title);
            for (String peer : SHOWN) {
                String query = "main peer=" + peer + " scenario=" + body.id() + " memory=heap";
                text.append(" | %s; %s".formatted(micros("peers-jdk17", query), micros("peers-jdk25", query)));
            }
            text.append(" |\n");
        }
        return text
                + """

            With leak detection at PARANOID, 64 small files in wrapped arrays (JDK 17) cost Sluice %s times what they cost without,
            Netty's decoder %s times and netty-contrib's %s times; in pooled direct chunks, of which the taking is tracked too, %s, %s and %s times.
            """.formatted(
                                paranoid("sluice-push", "wrapped-each"),
                                paranoid("netty42-kept", "wrapped-each"),
                                paranoid("netty-contrib", "wrapped-each"),
                                paranoid("sluice-push", "pooled-each"),
                                paranoid("netty42-kept", "pooled-each"),
                                paranoid("netty-contrib", "pooled-each"));
    }

    private String micros(String run, String query) {
        return runs.get(run)
                .find(query)
                .map(row -> Tables.number(row.score()) + " ± " + Math.round(100 * row.relativeError()) + " %")
                .orElse("-");
    }

    private String paranoid(String peer, String memory) {
        String query = "levels scenario=netty-high peer=" + peer + " memory=" + memory + " level=";
        Run levels = runs.get("levels-jdk17");
        ToDoubleFunction<String> time =
                level -> levels.find(query + level).orElseThrow().score();
        return Tables.ratio(time.applyAsDouble("PARANOID") / time.applyAsDouble("DISABLED"));
    }
}
