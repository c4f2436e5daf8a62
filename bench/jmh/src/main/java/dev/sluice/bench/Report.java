package dev.sluice.bench;

import dev.sluice.bench.peer.Scenario;
import dev.sluice.testkit.TextTable;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The results page, with the tables of all recorded runs. */
final class Report {
    private Report() {}

    /** Returns the runs that are recorded in a directory, by the name of the file. */
    static Map<String, Run> recorded(Path results) throws IOException {
        Map<String, Run> runs = new TreeMap<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(results, "*.json")) {
            for (Path file : files) {
                runs.put(file.getFileName().toString().replace(".json", ""), Run.read(file));
            }
        }
        return runs;
    }

    /** Returns the text of the page. */
    static String of(Map<String, Run> runs) {
        String links = runs.keySet().stream().map("[%1$s](#%1$s) "::formatted).collect(Collectors.joining());
        String bodies = Stream.of(Scenario.values())
                .map(body -> "| %s | %s |\n".formatted(body.id(), body.title))
                .collect(Collectors.joining());
        StringBuilder sections = new StringBuilder();
        runs.forEach((name, run) -> sections.append("\n## %s\n\n%s\n".formatted(name, run.heading()))
                .append(Tables.of(run)));
        return TextTable.text("/dev/sluice/bench/results.md").formatted(links, bodies, sections);
    }
}
