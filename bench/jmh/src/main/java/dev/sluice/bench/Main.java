package dev.sluice.bench;

import dev.sluice.bench.endtoend.Containers;
import dev.sluice.bench.endtoend.EndToEnd;
import dev.sluice.bench.endtoend.Fairness;
import dev.sluice.bench.endtoend.Served;
import dev.sluice.bench.endtoend.ServerProcess;
import dev.sluice.bench.jmh.Pools;
import dev.sluice.bench.report.Comparison;
import dev.sluice.bench.report.Guard;
import dev.sluice.bench.report.Report;
import dev.sluice.bench.report.Row;
import dev.sluice.bench.report.Run;
import dev.sluice.bench.report.Tables;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code java -jar sluice-bench.jar levels|peers|buffers|endtoend|containers|fairness|guard|claims|report|compare}. */
@Command(
        name = "sluice-bench",
        description = "Measures Sluice and the parsers beside it, draws and compares what was recorded.",
        mixinStandardHelpOptions = true,
        scope = CommandLine.ScopeType.INHERIT)
public final class Main {
    /** Up to which a ratio may grow before the guard calls it slower. */
    private static final double FACTOR = 1.6;
    /** How often a slow body is measured before it fails. */
    private static final int ATTEMPTS = 3;
    /** Up to which a ratio may be greater on this machine than on that of the README. */
    private static final double CLAIMED = 1.25;

    private final PrintWriter console = new PrintWriter(System.out, true);

    private Main() {}

    public static void main(String[] args) {
        System.exit(new CommandLine(new Main()).execute(args));
    }

    @Command(description = "What leak detection costs at each level, for each decoder on Netty's buffers.")
    int levels(@Mixin Measuring measuring) throws Exception {
        return measuring.run("levels", () -> LeakRecords.count(LeakRecords.WORKLOADS), console);
    }

    @Command(description = "Every parser on the same bytes, with the floors.")
    int peers(@Mixin Measuring measuring) throws Exception {
        return measuring.run("peers", List::of, console);
    }

    @Command(description = "The work on buffers: text, scanning, checks, allocation; old ways and new.")
    int buffers(@Mixin Measuring measuring) throws Exception {
        return measuring.run("buffers", Pools::sizes, console);
    }

    /** The options of the commands that load servers. */
    private static final class Serving {
        @Option(names = "--quick", description = "Fewer rounds, to bench/jmh/target.")
        private boolean quick;

        @Option(names = "--plan", description = Measuring.PLAN)
        private boolean plan;

        int run(String command, BiFunction<Boolean, Consumer<String>, Served> servers, PrintWriter console)
                throws Exception {
            Served served = servers.apply(quick, console::println);
            if (plan) {
                Served.Plan planned = served.plan();
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

    @Command(
            description = "A server under load: with Sluice, with Netty's decoder, and dropping the body."
                    + " Loads with many connections need wrk on the PATH.")
    int endtoend(@Mixin Serving serving) throws Exception {
        return serving.run("endtoend", EndToEnd::new, console);
    }

    @Command(description = "How long 100 small forms take on one event loop, alone and while 1 GiB comes in on it.")
    int fairness(@Mixin Serving serving) throws Exception {
        return serving.run("fairness", Fairness::new, console);
    }

    @Command(
            description = "Forms in servlet containers: by Sluice's filter, by the container's own parser, not parsed."
                    + " Needs wrk on the PATH.")
    int containers(@Mixin Serving serving) throws Exception {
        return serving.run("containers", Containers::new, console);
    }

    @Command(
            description =
                    "Measures a few bodies with Sluice and two other parsers, and compares the ratios with recorded"
                            + " ones. Exit code 1 when Sluice has become slower beside both, and stays so when measured again, or"
                            + " when the record lacks a body; 2 when nothing could be compared.")
    int guard(@Mixin Judging judging) throws Exception {
        // CPU times are compared, so another benchmark on the machine is as good or bad as any other program.
        System.setProperty("jmh.ignoreLock", "true");
        Function<List<Row>, Guard> by = rows -> Guard.ofSpeed(rows, FACTOR, ATTEMPTS, console::println);
        return judging.run("guard", List.of("peers"), by, console);
    }

    @Command(
            description =
                    "Measures again what the README claims, in at most 15 minutes, and tells of each ratio to another"
                            + " parser, and of what PARANOID costs each, whether it holds here: up to " + CLAIMED
                            + " times what"
                            + " was recorded, the errors aside, and ahead of whom it was ahead. Exit code 1 when one does not.")
    int claims(@Mixin Judging judging) throws Exception {
        Function<List<Row>, Guard> by = rows -> Guard.ofClaims(rows, CLAIMED, console::println);
        return judging.run("claims", List.of("peers", "levels"), by, console);
    }

    @Command(description = "Makes charts, bench/RESULTS.md and the table of README.md anew from the recorded runs.")
    int report() throws IOException {
        Map<Path, String> files = Report.of(Path.of(""));
        for (Map.Entry<Path, String> file : files.entrySet()) {
            Files.createDirectories(file.getKey().toAbsolutePath().getParent());
            Files.writeString(file.getKey(), file.getValue());
        }
        console.println(files.size() + " files written");
        return 0;
    }

    @Command(
            description = "Tells which rows of two recorded runs changed beyond their errors, in time or in what they"
                    + " allocate; exit code 1 when something became slower, allocates more, or is there no longer; 2 when"
                    + " nothing could be compared.")
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
