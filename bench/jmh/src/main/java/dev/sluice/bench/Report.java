package dev.sluice.bench;

import dev.sluice.bench.peer.PeerKind;
import dev.sluice.bench.peer.Scenario;
import dev.sluice.testkit.TextTable;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/** The files generated from the recorded runs: the results page, and the table and chart of the project's README. */
final class Report {
    private static final String BEGIN = "<!-- speed: written by the command report, do not edit -->\n";
    private static final String END = "<!-- end of speed -->";
    private static final List<PeerKind> SHOWN = List.of(
            PeerKind.SLUICE_PUSH,
            PeerKind.SLUICE_FORM,
            PeerKind.SLUICE_SERVLET,
            PeerKind.SLUICE_HANDLER,
            PeerKind.JETTY,
            PeerKind.NETTY42_DROPPED,
            PeerKind.FILEUPLOAD2);
    /** Samples of three forks. Figures with fewer are marked in the README. */
    private static final int CLAIMED_SAMPLES = 12;

    private final Map<String, Run> runs;

    private Report(Map<String, Run> runs) {
        this.runs = runs;
    }

    /**
     * Generates all files.
     *
     * @param project the root directory of the project
     * @return the contents by path
     */
    static Map<Path, String> of(Path project) throws IOException {
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
        made.put(results.resolve("readme.svg"), Chart.ofReadme(runs.get("peers-jdk17"), runs.get("levels-jdk17")));
        made.put(project.resolve("bench/RESULTS.md"), report.page());
        return made;
    }

    private String page() {
        StringBuilder sections = new StringBuilder();
        runs.forEach((name, run) -> {
            sections.append("\n## %s\n\n%s\n".formatted(name, run.heading())).append(Tables.of(run));
        });
        return TextTable.text("/dev/sluice/bench/results.md")
                .formatted(
                        joined(runs.keySet(), name -> "[%s](#%s) ".formatted(name, name)),
                        joined(List.of(Scenario.values()), body -> "| %s | %s |\n".formatted(body.id(), body.title)),
                        Losses.of(runs),
                        sections);
    }

    private static <T> String joined(Collection<T> all, Function<T, String> text) {
        return all.stream().map(text).collect(Collectors.joining());
    }

    private String withSpeed(String readme) {
        int begin = readme.indexOf(BEGIN);
        int end = readme.indexOf(END);
        if (begin < 0 || end < begin) {
            throw new IllegalArgumentException("README.md does not contain the markers of the speed table");
        }
        return readme.substring(0, begin + BEGIN.length()) + speed() + readme.substring(end);
    }

    private String speed() {
        List<PeerKind> shown = SHOWN.stream().filter(this::isRecorded).toList();
        StringBuilder table = new StringBuilder("| us for a whole body");
        shown.forEach(peer -> table.append(" | ").append(peer.title));
        table.append(" |\n|---").append("|---:".repeat(shown.size())).append("|\n");
        for (Scenario body : List.of(Scenario.RANDOM_16M, Scenario.FORM, Scenario.FIELDS_100, Scenario.PARTS_1000)) {
            table.append("| ").append(body.title);
            for (PeerKind peer : shown) {
                String query = query(peer) + " scenario=" + body.id();
                table.append(" | %s; %s".formatted(micros("peers-jdk17", query), micros("peers-jdk25", query)));
            }
            table.append(" |\n");
        }
        return TextTable.text("/dev/sluice/bench/speed.md")
                .formatted(
                        table,
                        paranoid("sluice-push", "wrapped-each"),
                        paranoid("netty42-kept", "wrapped-each"),
                        paranoid("netty-contrib", "wrapped-each"),
                        paranoid("sluice-push", "pooled-each"),
                        paranoid("netty42-kept", "pooled-each"),
                        paranoid("netty-contrib", "pooled-each"),
                        table.indexOf("*") < 0 ? "" : " \\* Measured with fewer than three forks.");
    }

    private boolean isRecorded(PeerKind peer) {
        return runs.get("peers-jdk17").find(query(peer)).isPresent();
    }

    private static String query(PeerKind peer) {
        return "main memory=heap peer=" + peer.id();
    }

    private String micros(String run, String query) {
        return runs.get(run)
                .find(query)
                .map(row -> row.vague()
                        ? "error above 30 %"
                        : Tables.number(row.score()) + " ± " + Math.round(100 * row.relativeError()) + " %"
                                + (row.samples() < CLAIMED_SAMPLES ? "*" : ""))
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
