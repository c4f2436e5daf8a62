package dev.sluice.bench;

import dev.sluice.bench.report.Guard;
import dev.sluice.bench.report.Row;
import dev.sluice.bench.report.Run;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import picocli.CommandLine.Option;

/** The options of the commands that compare what they measure with what was recorded. */
final class Judging {
    @Option(names = "--plan", description = Measuring.PLAN)
    private boolean plan;

    @Option(
            names = "--only",
            paramLabel = "REGEX",
            defaultValue = "",
            description = "Only the groups of rows whose name contains a match.")
    private Pattern only;

    /**
     * Measures a group after the other.
     *
     * @param records the commands whose recorded runs have the rows
     */
    int run(String command, List<String> records, Function<List<Row>, Guard> by, PrintWriter console) throws Exception {
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
            console.println("beside " + file);
            recorded.addAll(Run.read(file).rows());
        }
        Guard guard = by.apply(recorded);
        TrialRunner runner = new TrialRunner(console::println);
        for (List<Trial> group : groups) {
            guard.judge(group.get(0).group(), () -> runner.run(group));
        }
        console.println(guard.summary());
        return guard.exitCode();
    }

    /** The record of this JDK, or of the newest one before it, or else of the oldest. */
    private static Path recorded(String command) throws IOException {
        int here = Runtime.version().feature();
        Path results = Run.file(command, true).getParent();
        return IntStream.concat(IntStream.iterate(here, java -> java > 0, java -> java - 1), IntStream.range(here, 100))
                .mapToObj(java -> results.resolve(command + "-jdk" + java + ".json"))
                .filter(Files::exists)
                .findFirst()
                .orElseThrow(() -> new IOException("no recorded run of " + command + " in " + results));
    }
}
