package dev.sluice.bench;

import dev.sluice.bench.differential.Differential;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.logging.Level;
import java.util.logging.LogManager;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Reads the same bodies with Sluice and with every other parser. */
@Command(
        name = "differential",
        mixinStandardHelpOptions = true,
        description = {
            "Gives the same bodies to Sluice and to every other parser, and explains where they read something else.",
            "Exit code 1 when a disagreement has no explanation, or when Sluice reads a split body otherwise than the whole."
        })
final class DifferentialCommand implements Callable<Integer> {

    private static final long QUICK_BODIES = 2_000;
    private static final int QUICK_LARGEST = 256;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Option(names = "--splits", description = "Splits the corpus instead, every body at every byte.")
    private boolean splits;

    @Option(names = "--page-only", description = "Only writes the page anew from what is recorded.")
    private boolean pageOnly;

    @Option(names = "--bodies", paramLabel = "N", description = "How many bodies (default: ${DEFAULT-VALUE}).")
    private long bodies = 1_000_000;

    @Option(
            names = "--minutes",
            paramLabel = "N",
            description = "Records what was reached after so many minutes, where that is less (default: no limit).")
    private long minutes = Long.MAX_VALUE / 1_000_000;

    @Option(names = "--seed", paramLabel = "SEED", description = "Of the bodies (default: ${DEFAULT-VALUE}).")
    private long seed = 20_261_120;

    @Option(
            names = "--largest",
            paramLabel = "N",
            description = "With --splits: leaves out larger bodies (default: no limit).")
    private int largest = Integer.MAX_VALUE;

    @Option(names = "--quick", description = "2,000 bodies, or bodies of up to 256 bytes; results go to bench/target.")
    private boolean quick;

    @Option(
            names = "--results",
            paramLabel = "DIR",
            description = "Where results are recorded (default: bench/results/differential).")
    private @Nullable Path results;

    @Option(
            names = "--page",
            paramLabel = "FILE",
            description = "Made from the recorded results (default: parser/docs/differential.md).")
    private @Nullable Path page;

    @Override
    public Integer call() throws IOException {
        // Parsers that log each body they refuse.
        LogManager.getLogManager().reset();
        Logger.getLogger("").setLevel(Level.OFF);
        Path folder = results != null ? results : Path.of("bench", quick ? "target" : "results", "differential");
        Path text = page != null
                ? page
                : quick ? folder.resolve("differential.md") : Path.of("parser/docs/differential.md");
        Differential differential = new Differential(
                spec.commandLine().getOut(),
                Map.of(
                        "machine", Environment.machine(),
                        "jvm", Environment.jvm(),
                        "versions", Environment.versions()),
                folder,
                text);
        if (pageOnly) {
            differential.writePage();
            return 0;
        }
        String command = "java -jar sluice-bench.jar differential";
        if (splits) {
            int most = quick ? QUICK_LARGEST : largest;
            String limit = most == Integer.MAX_VALUE ? "" : " --largest " + most;
            return differential.splits(command + " --splits" + limit, most) ? 0 : 1;
        }
        long count = quick ? QUICK_BODIES : bodies;
        command += " --bodies " + count + " --seed " + seed;
        return differential.bodies(command, count, Duration.ofMinutes(minutes), seed) ? 0 : 1;
    }
}
