package dev.sluice.bench;

import dev.sluice.bench.report.Row;
import dev.sluice.bench.report.Run;
import dev.sluice.bench.report.Tables;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of the commands that measure a suite, print its tables and write them as JSON. */
final class Measuring {
    static final String PLAN = "Says what would be measured and how long it would take, and ends.";

    @Option(names = "--quick", description = "A few rows, measured shortly: under five minutes.")
    private boolean quick;

    @Option(names = "--plan", description = PLAN)
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

    int run(String name, Callable<List<Row>> counted, PrintWriter console) throws Exception {
        List<Trial> all = Suite.of(name, quick);
        List<Trial> trials = again != null ? groupsWith(all, again) : only != null ? matching(all, only) : all;
        if (plan) {
            console.println(Trial.plan(trials));
            return 0;
        }
        Path file = Run.file(name, again != null || (!quick && only == null));
        List<Row> rows = new ArrayList<>(only == null && again == null ? counted.call() : List.of());
        rows.addAll(new TrialRunner(console::println).run(trials));
        String command = name + (quick ? " --quick" : "") + (only == null ? "" : " --only '" + only + "'");
        Run run = Run.now(command, Map.of(), TrialRunner.JVM_ARGS, rows);
        if (again != null) {
            Set<String> groups = trials.stream().map(Trial::group).collect(Collectors.toCollection(TreeSet::new));
            run = Run.read(file).with(groups, run);
        }
        run.write(file);
        long failed = rows.stream().filter(Row::failed).count();
        console.println(Tables.of(run) + "\nwritten to " + file + "; rows that could not be measured: " + failed);
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
}
