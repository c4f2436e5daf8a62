package dev.sluice.bench;

import dev.sluice.bench.endtoend.EndToEnd;
import dev.sluice.bench.peer.Environment;
import dev.sluice.bench.report.Run;
import dev.sluice.bench.report.Tables;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** A server under load. */
@Command(
        name = "endtoend",
        mixinStandardHelpOptions = true,
        description = "A server under load: with Sluice, with Netty's decoder, and dropping the body."
                + " Loads with many connections need wrk on the PATH.")
final class EndToEndCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--quick", description = "Fewer loads and rounds.")
    private boolean quick;

    @Option(names = "--plan", description = "Says what would be measured and how long it would take, and ends.")
    private boolean plan;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "Where the results go (default: bench/results/endtoend-jdkNN.json; with --quick,"
                    + " bench/jmh/target/...).")
    private @Nullable Path out;

    @Override
    public Integer call() throws Exception {
        PrintWriter console = new PrintWriter(spec.commandLine().getOut(), true);
        EndToEnd endToEnd = new EndToEnd(quick, console::println);
        if (plan) {
            console.println(Plan.line("endtoend", endToEnd.runs(), endToEnd.expected()));
            return 0;
        }
        Map<String, String> machine = Environment.machine();
        machine.put(Run.LOAD, endToEnd.loadedBy());
        Run run = Runs.now(spec.name() + (quick ? " --quick" : ""), machine, EndToEnd.jvmArgs(), endToEnd.run());
        console.println(Tables.of(run));
        Path file = Runs.file(out, spec.name(), !quick);
        run.write(file);
        console.println("written to " + file);
        return 0;
    }
}
