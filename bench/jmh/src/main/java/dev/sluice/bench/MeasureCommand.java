package dev.sluice.bench;

import dev.sluice.bench.peer.Environment;
import dev.sluice.bench.report.Row;
import dev.sluice.bench.report.Run;
import dev.sluice.bench.report.Tables;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
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
            names = "--again",
            paramLabel = "REGEX",
            description =
                    "Measures once more what is compared with a row whose label contains a match, and puts it into"
                            + " the recorded run in the place of the old figures, whatever it is.")
    private @Nullable Pattern again;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "Where the results go (default: bench/results/COMMAND-jdkNN.json; with --quick or --only,"
                    + " bench/jmh/target/...).")
    private @Nullable Path out;

    abstract List<Trial> trials(boolean fewer);

    List<Row> counted() throws Exception {
        return List.of();
    }

    @Override
    public Integer call() throws Exception {
        PrintWriter console = spec.commandLine().getOut();
        List<Trial> trials = trials(quick);
        trials = again != null ? groupsWith(trials, again) : only != null ? matching(trials, only) : trials;
        if (plan) {
            console.println(Plan.of(trials));
            return 0;
        }
        Path file = Runs.file(out, spec.name(), again != null || (!quick && only == null));
        List<Row> rows = new ArrayList<>(only == null && again == null ? counted() : List.of());
        rows.addAll(new TrialRunner(line -> {
                    console.println(line);
                    console.flush();
                })
                .run(trials));
        String command = spec.name() + (quick ? " --quick" : "") + (only == null ? "" : " --only '" + only + "'");
        Run run = Runs.now(command, Environment.machine(), TrialRunner.JVM_ARGS, rows);
        if (again != null) {
            Set<String> groups = trials.stream().map(Trial::group).collect(Collectors.toCollection(TreeSet::new));
            run = Runs.replaced(Run.read(file), groups, run);
        }
        console.println(Tables.of(run));
        run.write(file);
        console.println("written to " + file);
        long failed = rows.stream().filter(Row::failed).count();
        console.println(failed == 0 ? "" : failed + " rows could not be measured");
        console.flush();
        return failed == 0 ? 0 : 1;
    }

    private static List<Trial> matching(List<Trial> trials, Pattern label) {
        return trials.stream()
                .filter(trial -> label.matcher(trial.label()).find())
                .toList();
    }

    /** Always whole groups: figures that are compared stem from the same minutes. Those that share a figure are one. */
    static List<Trial> groupsWith(List<Trial> trials, Pattern label) {
        Set<String> groups = new HashSet<>();
        matching(trials, label).forEach(trial -> groups.add(trial.group()));
        Predicate<Trial> in = trial -> groups.contains(trial.group());
        for (int before = -1; before < groups.size(); ) {
            before = groups.size();
            Set<String> figures = trials.stream().filter(in).map(Trial::label).collect(Collectors.toSet());
            trials.stream()
                    .filter(trial -> figures.contains(trial.label()))
                    .forEach(trial -> groups.add(trial.group()));
        }
        return trials.stream().filter(in).toList();
    }

    @Command(
            name = "levels",
            mixinStandardHelpOptions = true,
            description = "What leak detection costs at each level, for each decoder on Netty's buffers.")
    static final class Levels extends MeasureCommand {

        @Override
        List<Trial> trials(boolean fewer) {
            return Suite.levels(fewer);
        }

        @Override
        List<Row> counted() throws Exception {
            return LeakRecords.count(LeakRecords.WORKLOADS);
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
