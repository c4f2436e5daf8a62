package dev.sluice.bench;

import dev.sluice.bench.report.Guard;
import dev.sluice.bench.report.Row;
import dev.sluice.bench.report.Run;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.openjdk.jmh.runner.RunnerException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Fails when Sluice has become much slower beside peers measured in the same minute. */
@Command(
        name = "guard",
        mixinStandardHelpOptions = true,
        description = {
            "Measures a few bodies with Sluice and with peers, and compares the ratios with recorded ones.",
            "Exit code 1 when Sluice has become slower beside every peer, and stays so when measured again, or when the"
                    + " record lacks a body; 2 when nothing could be compared."
        })
final class GuardCommand implements Callable<Integer> {

    private static final Pattern RECORD = Pattern.compile("guard-jdk(\\d+)\\.json");

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--record", description = "Records the ratios of now instead; to be run on an idle machine.")
    private boolean record;

    @Option(
            names = "--results",
            paramLabel = "DIR",
            description = "Where guard-jdkNN.json lies (default: ${DEFAULT-VALUE}).")
    private Path results = Path.of("bench", "results");

    @Option(
            names = "--factor",
            paramLabel = "FACTOR",
            description = "Up to which a ratio may grow (default: ${DEFAULT-VALUE}).")
    private double factor = 1.6;

    @Option(
            names = "--attempts",
            paramLabel = "N",
            description = "How often a slow body is measured before it fails (default: ${DEFAULT-VALUE}).")
    private int attempts = 3;

    @Option(names = "--plan", description = "Says what would be measured and how long it would take, and ends.")
    private boolean plan;

    @Override
    public Integer call() throws Exception {
        PrintWriter console = spec.commandLine().getOut();
        List<List<Trial>> bodies = Suite.guard();
        if (plan) {
            console.println(Plan.of(bodies.stream().flatMap(List::stream).toList()));
            return 0;
        }
        // CPU times are compared, so another benchmark on the machine is as good or bad as any other program.
        System.setProperty("jmh.ignoreLock", "true");
        TrialRunner runner = new TrialRunner(line -> {});
        return record ? record(console, runner, bodies) : compare(console, runner, bodies);
    }

    private int record(PrintWriter console, TrialRunner runner, List<List<Trial>> bodies) throws RunnerException {
        List<Row> rows = new ArrayList<>();
        for (List<Trial> body : bodies) {
            rows.addAll(runner.run(body));
        }
        Path file = results.resolve("guard-jdk" + Runtime.version().feature() + ".json");
        Environment.run("guard --record", TrialRunner.JVM_ARGS, rows).write(file);
        console.println("written to " + file);
        return 0;
    }

    private int compare(PrintWriter console, TrialRunner runner, List<List<Trial>> bodies) throws Exception {
        Path file = recorded();
        console.println("beside " + file.getFileName() + ", each ratio up to x " + factor);
        Guard guard = new Guard(Run.read(file).rows(), factor, attempts, line -> {
            console.println(line);
            console.flush();
        });
        for (List<Trial> body : bodies) {
            Map<String, String> params = new LinkedHashMap<>(body.get(0).params());
            params.remove("peer");
            guard.judge(String.join(" ", params.values()), () -> runner.run(body));
        }
        console.println(guard.summary());
        console.flush();
        return guard.exitCode();
    }

    /** The record of this JDK, or of the newest one before it, or else of the oldest. */
    private Path recorded() throws IOException {
        TreeMap<Integer, Path> records = new TreeMap<>();
        try (DirectoryStream<Path> files = Files.newDirectoryStream(results, "guard-jdk*.json")) {
            for (Path file : files) {
                Matcher name = RECORD.matcher(file.getFileName().toString());
                if (name.matches()) {
                    records.put(Integer.valueOf(name.group(1)), file);
                }
            }
        }
        if (records.isEmpty()) {
            throw new IOException("no guard-jdkNN.json in " + results + ": make one with --record");
        }
        var nearest = records.floorEntry(Runtime.version().feature());
        return nearest == null ? records.firstEntry().getValue() : nearest.getValue();
    }
}
