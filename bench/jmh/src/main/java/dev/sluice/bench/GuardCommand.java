package dev.sluice.bench;

import dev.sluice.bench.peer.Environment;
import dev.sluice.bench.report.Guard;
import dev.sluice.bench.report.Row;
import dev.sluice.bench.report.Run;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Fails when Sluice has become much slower beside other parsers measured in the same minute. */
@Command(
        name = "guard",
        mixinStandardHelpOptions = true,
        description =
                "Measures a few bodies with Sluice and two other parsers, and compares the ratios with recorded ones."
                        + " Exit code 1 when Sluice has become slower beside both, and stays so when measured again, or when the"
                        + " record lacks a body; 2 when nothing could be compared.")
final class GuardCommand implements Callable<Integer> {

    /** Up to which a ratio may grow. */
    private static final double FACTOR = 1.6;
    /** How often a slow body is measured before it fails. */
    private static final int ATTEMPTS = 3;

    private static final Path RESULTS = Path.of("bench", "results");

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--record", description = "Records the ratios of now instead; to be run on an idle machine.")
    private boolean record;

    @Option(names = "--plan", description = "Says what would be measured and how long it would take, and ends.")
    private boolean plan;

    @Override
    public Integer call() throws Exception {
        PrintWriter console = new PrintWriter(spec.commandLine().getOut(), true);
        List<List<Trial>> bodies = Suite.guard();
        if (plan) {
            console.println(Plan.of(bodies.stream().flatMap(List::stream).toList()));
            return 0;
        }
        // CPU times are compared, so another benchmark on the machine is as good or bad as any other program.
        System.setProperty("jmh.ignoreLock", "true");
        TrialRunner runner = new TrialRunner(line -> {});
        if (record) {
            List<Row> rows = new ArrayList<>();
            bodies.forEach(body -> rows.addAll(runner.run(body)));
            Path file = Runs.file(null, "guard", true);
            Runs.now("guard --record", Environment.machine(), TrialRunner.JVM_ARGS, rows)
                    .write(file);
            console.println("written to " + file);
            return 0;
        }
        Path file = recorded();
        console.println("beside " + file.getFileName() + ", each ratio up to x " + FACTOR);
        Guard guard = new Guard(Run.read(file), FACTOR, ATTEMPTS, console::println);
        for (List<Trial> body : bodies) {
            guard.judge(body.get(0).group(), () -> runner.run(body));
        }
        console.println(guard.summary());
        return guard.exitCode();
    }

    /** The record of this JDK, or of the newest one before it, or else of the oldest. */
    private static Path recorded() throws IOException {
        TreeMap<Integer, Path> records = new TreeMap<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(RESULTS, "guard-jdk*.json")) {
            for (Path file : files) {
                String number = file.getFileName().toString().replaceAll("\\D", "");
                records.put(Integer.valueOf(number), file);
            }
        }
        if (records.isEmpty()) {
            throw new IOException("no guard-jdkNN.json in " + RESULTS + ": make one with --record");
        }
        var nearest = records.floorEntry(Runtime.version().feature());
        return nearest == null ? records.firstEntry().getValue() : nearest.getValue();
    }
}
