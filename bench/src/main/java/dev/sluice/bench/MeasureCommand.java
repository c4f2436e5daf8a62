package dev.sluice.bench;

import dev.sluice.bench.report.Row;
import dev.sluice.bench.report.Run;
import dev.sluice.bench.report.Tables;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Measures one suite, prints its tables and writes them as JSON. */
abstract class MeasureCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--quick", description = "A few rows, measured shortly: under five minutes.")
    private boolean quick;

    @Option(names = "--plan", description = "Says what would be measured and how long it would take, and ends.")
    private boolean plan;

    @Option(
            names = "--only",
            paramLabel = "REGEX",
            description = "Only the rows whose label (table, method, parameters) contains a match.")
    private @Nullable Pattern only;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "Where the results go (default: bench/results/COMMAND-jdkNN.json; with --quick or --only,"
                    + " bench/target/...).")
    private @Nullable Path out;

    @Option(
            names = "--again",
            paramLabel = "MINUTES",
            description =
                    "Measures groups of a recorded run once more in which a main row has an error above 10 %%, the most"
                            + " disturbed first, as many as the minutes allow, and has the new figures take the place of all"
                            + " old ones. With --only, groups that have such a row, disturbed or not.")
    private double again;

    abstract List<Trial> trials(boolean fewer);

    List<Row> counted() throws Exception {
        return List.of();
    }

    @Override
    public Integer call() throws Exception {
        PrintWriter console = spec.commandLine().getOut();
        if (again > 0) {
            return again(console, Environment.resultFile(out, spec.name(), !quick));
        }
        List<Trial> trials = new ArrayList<>();
        for (Trial trial : trials(quick)) {
            if (only == null || only.matcher(trial.label()).find()) {
                trials.add(trial);
            }
        }
        Path file = Environment.resultFile(out, spec.name(), !quick && only == null);
        if (plan) {
            console.println(Plan.of(trials));
            return 0;
        }
        List<Row> rows = new ArrayList<>();
        if (only == null) {
            rows.addAll(counted());
        }
        rows.addAll(measured(console, trials));
        return write(console, run(rows), file);
    }

    private int again(PrintWriter console, Path file) {
        Run recorded = Run.read(file);
        if (!recorded.jvm().equals(Environment.jvm())) {
            console.println(file + " is of another JVM: " + recorded.jvm());
            console.flush();
            return 2;
        }
        List<Disturbed> groups = Disturbed.in(recorded, trials(quick), only, again);
        if (plan) {
            console.println(Plan.of(Disturbed.trials(groups)));
            return 0;
        }
        List<Row> rows = measured(console, Disturbed.trials(groups));
        return write(console, Disturbed.replaced(recorded, groups, run(rows)), file);
    }

    private Run run(List<Row> rows) {
        return Environment.run(
                spec.name() + (quick ? " --quick" : "") + (only == null ? "" : " --only '" + only + "'"),
                TrialRunner.JVM_ARGS,
                rows);
    }

    private static List<Row> measured(PrintWriter console, List<Trial> trials) {
        return new TrialRunner(line -> {
                    console.println(line);
                    console.flush();
                })
                .run(trials);
    }

    private static int write(PrintWriter console, Run run, Path file) {
        console.println();
        console.println(Tables.of(run));
        run.write(file);
        console.println("written to " + file);
        long failed = run.rows().stream().filter(Row::failed).count();
        if (failed > 0) {
            console.println(failed + " rows could not be measured");
        }
        console.flush();
        return failed == 0 ? 0 : 1;
    }

    @Command(
            name = "levels",
            mixinStandardHelpOptions = true,
            description = "What leak detection costs at each level, for each decoder on netty's buffers.")
    static final class Levels extends MeasureCommand {

        @Override
        List<Trial> trials(boolean fewer) {
            return Suite.levels(fewer);
        }

        @Override
        List<Row> counted() throws Exception {
            return LeakRecords.count();
        }
    }

    @Command(
            name = "peers",
            mixinStandardHelpOptions = true,
            description = "Every parser on the same bytes, with the floors.")
    static final class Peers extends MeasureCommand {

        @Override
        List<Trial> trials(boolean fewer) {
            return Suite.peers(fewer);
        }
    }

    @Command(
            name = "buffers",
            mixinStandardHelpOptions = true,
            description = "The work on buffers: text, scanning, checks, allocation; old ways and new.")
    static final class Buffers extends MeasureCommand {

        @Override
        List<Trial> trials(boolean fewer) {
            return Suite.buffers(fewer);
        }

        @Override
        List<Row> counted() throws Exception {
            return PoolSizes.count();
        }
    }
}
