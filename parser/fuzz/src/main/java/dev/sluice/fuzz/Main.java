package dev.sluice.fuzz;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/**
 * The command {@code fuzz}. It fuzzes one target or all, continues where the previous run stopped, and records the
 * number of executions.
 */
@Command(
        name = "fuzz",
        mixinStandardHelpOptions = true,
        description = "Fuzzes the decoder and the layers above it. Exits with 1 if a target fails.")
public final class Main implements Callable<Integer> {
    /** The length of a run that also learns from comparisons. Each run is recorded at its end. */
    private static final long COMPARISON_SECONDS = 60;

    /**
     * The length of a run that uses only edge coverage, which is several times as fast. The two kinds alternate, unless
     * only edges are used: then one run takes the whole time.
     */
    private static final long EDGE_SECONDS = 240;

    @Parameters(
            index = "0",
            defaultValue = "all",
            paramLabel = "TARGET",
            description =
                    "partition, round-trip, reference, invariant, form, header or filter; 'every' runs all targets in one process, 'all' runs them one after the other")
    private String target = "all";

    @Parameters(
            index = "1",
            defaultValue = "60s",
            paramLabel = "AMOUNT",
            description =
                    "amount per target: seconds such as 60s, or executions such as 1000000; default ${DEFAULT-VALUE}")
    private String amount = "60s";

    @Option(names = "--corpus", required = true, description = "directory for the learned corpus and the findings")
    private Path corpus = Path.of("corpus");

    @Option(names = "--record", required = true, description = "file in which the executions are recorded")
    private Path record = Path.of("executions.json");

    @Option(names = "--edges", description = "use only edge coverage, for more executions in little processor time")
    private boolean edgesOnly;

    private Main() {}

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new Main()).execute(arguments));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        boolean timed = amount.endsWith("s");
        long number = Long.parseLong(timed ? amount.substring(0, amount.length() - 1) : amount);
        boolean found = false;
        for (Target each : target.equals("all") ? Target.single() : List.of(Target.of(target))) {
            found |= !fuzz(each, timed ? number : 0, timed ? 0 : number);
        }
        System.out.println("total: " + new Executions(record).total() + " executions");
        return found ? 1 : 0;
    }

    /** {@return whether the target did not fail} */
    private boolean fuzz(Target each, long seconds, long executions) throws IOException, InterruptedException {
        Fuzzer fuzzer = new Fuzzer(each, corpus.toAbsolutePath(), System.getProperty("java.class.path"));
        long secondsLeft = seconds;
        long executionsLeft = executions;
        for (int i = 0; secondsLeft > 0 || executionsLeft > 0; i++) {
            boolean comparisons = !edgesOnly && i % 2 == 0;
            long longest = comparisons ? COMPARISON_SECONDS : EDGE_SECONDS;
            long slice = edgesOnly || secondsLeft > 0 && secondsLeft < longest ? secondsLeft : longest;
            Fuzzer.Run run = fuzzer.run(slice, executionsLeft, comparisons, 0);
            new Executions(record).add(each, run.executions(), run.seconds());
            System.out.println(String.join(
                    " ",
                    List.of(
                            each + ":",
                            run.executions() + " executions in " + run.seconds() + " s,",
                            run.executions() / Math.max(1, run.seconds()) + "/s,",
                            run.coverageBefore() + " to " + run.coverage() + " edges"
                                    + (comparisons ? ", with comparisons" : ""))));
            if (run.found() || run.executions() == 0) {
                System.out.println(run.output());
                System.out.println(each + " failed; the input is in " + fuzzer.findings());
                return false;
            }
            secondsLeft -= slice;
            executionsLeft -= run.executions();
        }
        return true;
    }
}
