package dev.sluice.bench;

import dev.sluice.bench.report.Comparison;
import dev.sluice.bench.report.Report;
import dev.sluice.bench.report.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code java -jar sluice-bench.jar levels|peers|buffers|endtoend|guard|report|compare}. */
@Command(
        name = "sluice-bench",
        description = "Measures Sluice and the parsers beside it, draws and compares what was recorded.",
        mixinStandardHelpOptions = true,
        subcommands = {
            MeasureCommand.Levels.class,
            MeasureCommand.Peers.class,
            MeasureCommand.Buffers.class,
            EndToEndCommand.class,
            GuardCommand.class
        })
public final class Main {

    @Spec
    private CommandSpec spec = CommandSpec.create();

    private Main() {}

    public static void main(String[] args) {
        System.exit(new CommandLine(new Main()).execute(args));
    }

    @Command(
            mixinStandardHelpOptions = true,
            description = "Makes charts, bench/RESULTS.md and the table of README.md anew from the recorded runs.")
    int report() throws IOException {
        Map<Path, String> files = Report.of(Path.of(""));
        for (Map.Entry<Path, String> file : files.entrySet()) {
            Files.createDirectories(file.getKey().toAbsolutePath().getParent());
            Files.writeString(file.getKey(), file.getValue());
        }
        spec.commandLine().getOut().println(files.size() + " files written");
        return 0;
    }

    @Command(
            mixinStandardHelpOptions = true,
            description = "Tells which rows of two recorded runs changed beyond their errors, in time or in what they"
                    + " allocate; exit code 1 when something became slower, allocates more, or is there no longer; 2 when"
                    + " nothing could be compared.")
    int compare(
            @Parameters(paramLabel = "OLD.json") Path before,
            @Parameters(paramLabel = "NEW.json") Path after,
            @Option(
                            names = "--by-ratio",
                            paramLabel = "PEER",
                            defaultValue = "",
                            description = "Sluice's rows by their ratio to this parser's in the same run, for example"
                                    + " netty42-dropped, so that the runs may come from different machines.")
                    String yardstick,
            @Option(
                            names = "--tolerance",
                            paramLabel = "FACTOR",
                            defaultValue = "1.0",
                            description = "Growth that is let pass beside the errors (default: ${DEFAULT-VALUE}).")
                    double tolerance) {
        List<Comparison> all = Comparison.of(Run.read(before), Run.read(after), yardstick, tolerance);
        all.stream()
                .filter(comparison -> comparison.verdict() != Comparison.Verdict.SAME)
                .forEach(spec.commandLine().getOut()::println);
        long compared = all.stream()
                .filter(comparison -> comparison.verdict() != Comparison.Verdict.MISSING)
                .count();
        spec.commandLine().getOut().println(compared + " figures compared");
        boolean failed =
                all.stream().anyMatch(comparison -> comparison.verdict().isFailure());
        return compared == 0 ? 2 : failed ? 1 : 0;
    }
}
