package dev.sluice.bench;

import dev.sluice.bench.report.Comparison;
import dev.sluice.bench.report.Run;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Compares two recorded runs. */
@Command(
        name = "compare",
        mixinStandardHelpOptions = true,
        description = {
            "Flags the rows that changed beyond their errors, in time or in what they allocate; exit code 1 when something"
                    + " became slower, allocates more, or is there no longer; 2 when nothing could be compared.",
            "With --by-ratio, Sluice's rows are compared by their ratio to a peer measured in the same run, so the two"
                    + " runs may",
            "come from different machines."
        })
final class CompareCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "OLD.json")
    private Path before = Path.of("");

    @Parameters(index = "1", paramLabel = "NEW.json")
    private Path after = Path.of("");

    @Option(
            names = "--by-ratio",
            paramLabel = "PEER",
            description = "The peer whose rows are the yardstick, for example netty42-dropped.")
    private String yardstick = "";

    @Option(
            names = "--tolerance",
            paramLabel = "FACTOR",
            description = "Growth that is let pass beside the errors (default: ${DEFAULT-VALUE}).")
    private double tolerance = 1.0;

    @Override
    public Integer call() {
        Run oldRun = Run.read(before);
        Run newRun = Run.read(after);
        List<Comparison> comparisons = yardstick.isEmpty()
                ? Comparison.byTime(oldRun, newRun, tolerance)
                : Comparison.byRatio(oldRun, newRun, yardstick, tolerance);
        boolean failed = false;
        int compared = 0;
        for (Comparison comparison : comparisons) {
            if (comparison.verdict() != Comparison.Verdict.SAME) {
                spec.commandLine().getOut().println(comparison);
            }
            failed |= comparison.verdict().isFailure();
            compared += comparison.verdict() == Comparison.Verdict.MISSING ? 0 : 1;
        }
        spec.commandLine().getOut().printf("%d figures compared%n", compared);
        if (compared == 0) {
            spec.commandLine().getErr().println("the two runs have no figures in common");
            return 2;
        }
        return failed ? 1 : 0;
    }
}
