package dev.sluice.bench;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code java -jar sluice-bench.jar levels|peers|crates|buffers|writers|endtoend|containers|fairness|guard|claims|report|compare}. */
@Command(
        name = "sluice-bench",
        resourceBundle = "dev.sluice.bench.Main",
        mixinStandardHelpOptions = true,
        scope = CommandLine.ScopeType.INHERIT)
public final class Main {
    private final PrintWriter console = new PrintWriter(System.out, true);

    private Main() {}

    public static void main(String[] args) {
        System.exit(new CommandLine(new Main()).execute(args));
    }

    /** Options of the commands that measure a suite, print its tables and write the results as JSON. */
    private static final class Measuring {
        @Option(names = "--quick", descriptionKey = "quick.rows")
        private boolean quick;

        @Option(names = "--plan")
        private boolean plan;

        @Option(names = "--only", paramLabel = "REGEX", descriptionKey = "only.rows")
        private @Nullable Pattern only;

        @Option(names = "--again", paramLabel = "REGEX")
        private @Nullable Pattern again;

        int run(String name, Callable<List<Row>> counted, PrintWriter console) throws Exception {
            List<Trial> all = Suite.of(name, quick);
            List<Trial> trials =
                    again != null ? Suite.groupsWith(all, again) : only != null ? Suite.matching(all, only) : all;
            if (plan) {
                console.println(Trial.plan(trials));
                return 0;
            }
            if (trials.stream().anyMatch(Trial::ofCrate) && !Crates.build(console::println)) {
                trials = trials.stream().filter(trial -> !trial.ofCrate()).toList();
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
            console.println(Tables.of(run) + "\nWritten to " + file + ". Rows that could not be measured: " + failed);
            return failed == 0 ? 0 : 1;
        }
    }

    @Command
    int levels(@Mixin Measuring measuring) throws Exception {
        return measuring.run("levels", () -> LeakRecords.count(LeakRecords.WORKLOADS), console);
    }

    @Command
    int peers(@Mixin Measuring measuring) throws Exception {
        return measuring.run("peers", List::of, console);
    }

    @Command
    int crates(@Mixin Measuring measuring) throws Exception {
        return measuring.run("crates", List::of, console);
    }

    @Command
    int buffers(@Mixin Measuring measuring) throws Exception {
        return measuring.run("buffers", List::of, console);
    }

    @Command
    int writers(@Mixin Measuring measuring) throws Exception {
        return measuring.run("writers", List::of, console);
    }

    /** Options of the commands that load servers. */
    private static final class Serving {
        @Option(names = "--quick", descriptionKey = "quick.rounds")
        private boolean quick;

        @Option(names = "--plan")
        private boolean plan;

        int run(String command, BiFunction<Boolean, Consumer<String>, ServerBench> servers, PrintWriter console)
                throws Exception {
            ServerBench served = servers.apply(quick, console::println);
            if (plan) {
                ServerBench.Plan planned = served.plan();
                console.println(Trial.plan(command, planned.figures(), planned.seconds()));
                return 0;
            }
            List<Row> rows = served.run();
            Map<String, String> load = Map.of(Run.LOAD, served.loadedBy());
            Run run = Run.now(command + (quick ? " --quick" : ""), load, ServerProcess.JVM_ARGS, rows);
            console.println(Tables.of(run));
            run.write(Run.file(command, !quick));
            return 0;
        }
    }

    @Command
    int endtoend(@Mixin Serving serving) throws Exception {
        return serving.run("endtoend", EndToEnd::new, console);
    }

    @Command
    int fairness(@Mixin Serving serving) throws Exception {
        return serving.run("fairness", Fairness::new, console);
    }

    @Command
    int containers(@Mixin Serving serving) throws Exception {
        return serving.run("containers", Containers::new, console);
    }

    /** Options of the commands that compare new measurements with recorded runs. */
    private static final class Judging {
        @Option(names = "--plan")
        private boolean plan;

        @Option(names = "--only", paramLabel = "REGEX", defaultValue = "", descriptionKey = "only.groups")
        private Pattern only;

        /**
         * Measures and compares one group after the other.
         *
         * @param records the commands whose recorded runs contain the rows
         */
        int run(String command, List<String> records, PrintWriter console) throws Exception {
            List<List<Trial>> groups = Suite.groups(command).stream()
                    .filter(group -> only.matcher(group.get(0).group()).find())
                    .toList();
            if (plan) {
                console.println(Trial.plan(groups.stream().flatMap(List::stream).toList()));
                return 0;
            }
            List<Row> recorded = new ArrayList<>();
            for (String each : records) {
                Path file = recorded(each);
                console.println("compared with " + file);
                recorded.addAll(Run.read(file).rows());
            }
            Guard guard = new Guard(recorded, command.equals("claims"), console::println);
            TrialRunner runner = new TrialRunner(console::println);
            for (List<Trial> group : groups) {
                guard.judge(group.get(0).group(), () -> runner.run(group));
            }
            console.println(guard.summary());
            return guard.exitCode();
        }

        /** Returns the recorded run of this JDK version, else of the newest older one, else of the oldest. */
        private static Path recorded(String command) throws IOException {
            int here = Runtime.version().feature();
            Path results = Run.file(command, true).getParent();
            return IntStream.concat(
                            IntStream.iterate(here, java -> java > 0, java -> java - 1), IntStream.range(here, 100))
                    .mapToObj(java -> results.resolve(command + "-jdk" + java + ".json"))
                    .filter(Files::exists)
                    .findFirst()
                    .orElseThrow(() -> new IOException("no recorded run of " + command + " in " + results));
        }
    }

    @Command
    int guard(@Mixin Judging judging) throws Exception {
        // Other benchmarks may run at the same time, because only CPU times are compared.
        System.setProperty("jmh.ignoreLock", "true");
        return judging.run("guard", List.of("peers"), console);
    }

    @Command
    int claims(@Mixin Judging judging) throws Exception {
        double busy = judging.plan ? 0 : BusyMachine.share(Duration.ofSeconds(3));
        if (busy > BusyMachine.TOO_BUSY) {
            console.println(Tables.format(
                    "Other programs use %.0f %% of the processors. Claims need an idle machine.", 100 * busy));
            return 2;
        }
        return judging.run("claims", List.of("peers", "levels"), console);
    }

    @Command
    int report() throws IOException {
        Path results = Run.BENCH.resolve("results");
        Map<String, Run> runs = Report.recorded(results);
        Files.writeString(Run.BENCH.resolve("RESULTS.md"), Report.of(runs));
        Files.writeString(Run.BENCH.resolve("HISTORY.md"), History.update(results, runs.values()));
        return 0;
    }

    @Command
    int compare(@Parameters(paramLabel = "OLD.json") Path before, @Parameters(paramLabel = "NEW.json") Path after) {
        List<Comparison> all = Comparison.of(Run.read(before), Run.read(after));
        all.stream()
                .filter(comparison -> comparison.verdict() != Comparison.Verdict.SAME)
                .forEach(console::println);
        long compared = all.stream()
                .filter(comparison -> comparison.verdict() != Comparison.Verdict.MISSING)
                .count();
        console.println(compared + " figures compared");
        boolean failed =
                all.stream().anyMatch(comparison -> comparison.verdict().isFailure());
        return compared == 0 ? 2 : failed ? 1 : 0;
    }
}
