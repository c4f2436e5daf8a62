package dev.sluice.bench;

import dev.sluice.bench.report.Charts;
import dev.sluice.bench.report.Learned;
import dev.sluice.bench.report.Readme;
import dev.sluice.bench.report.Run;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Draws the recorded results and writes their tables into the README. */
@Command(
        name = "report",
        mixinStandardHelpOptions = true,
        description = "Draws charts (SVG and PNG) from recorded results and regenerates the tables of the README.")
final class ReportCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--results", paramLabel = "DIR", description = "Recorded results (default: ${DEFAULT-VALUE}).")
    private Path results = Path.of("bench", "results");

    @Option(names = "--readme", paramLabel = "FILE", description = "Default: ${DEFAULT-VALUE}.")
    private Path readme = Path.of("bench", "README.md");

    @Option(
            names = "--page",
            paramLabel = "FILE",
            description = "A text whose figures are filled in; default: ${DEFAULT-VALUE}.")
    private Path[] pages = {Path.of("README.md"), Path.of("bench", "LEARNED.md"), Path.of("bench", "TUNING.md")};

    @Override
    public Integer call() throws IOException {
        Map<String, Run> runs = new TreeMap<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(results, "*.json")) {
            for (Path file : files) {
                String name = file.getFileName().toString();
                runs.put(name.substring(0, name.length() - ".json".length()), Run.read(file));
            }
        }
        Path charts = results.resolve("charts");
        Map<String, Iterable<String>> drawn = new TreeMap<>();
        for (Map.Entry<String, Run> run : runs.entrySet()) {
            drawn.put(run.getKey(), Charts.draw(run.getValue(), run.getKey(), charts));
        }
        Readme.update(readme, runs, drawn, charts);
        Learned.update(readme, runs);
        for (Path page : pages) {
            Learned.update(page, runs);
        }
        spec.commandLine()
                .getOut()
                .printf("%d recorded runs, tables in %s, figures in %s%n", runs.size(), readme, List.of(pages));
        return 0;
    }
}
