package dev.sluice.samples.upload.soak;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/**
 * The program run by {@code .ci/soak}. It exits with 1 if a bound is exceeded, and records the figures if requested.
 */
@Command(name = "soak", mixinStandardHelpOptions = true)
final class Soak {
    private static final double NANOS = 1e9;

    @Option(names = "--json", paramLabel = "FILE", description = "File for the figures.", scope = ScopeType.INHERIT)
    private @Nullable Path json;

    private Soak() {}

    public static void main(String[] arguments) {
        System.exit(new CommandLine(new Soak()).execute(arguments));
    }

    private void keep(String kind, ObjectNode figures, long startNanos) throws IOException {
        figures.put("seconds", Math.round((System.nanoTime() - startNanos) / NANOS * 10) / 10.0);
        keep(kind, figures);
    }

    private void keep(String kind, ObjectNode figures) throws IOException {
        System.out.println(kind + ": " + figures.toPrettyString());
        if (json != null) {
            Records.put(json, kind, figures);
        }
    }

    private static void delete(Path directory) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            for (Path file : files) {
                Files.delete(file);
            }
        }
        Files.delete(directory);
    }

    @Command(name = "uploads", description = "Many uploads in one process.")
    int uploads(
            @Option(names = "--count", defaultValue = "100000") long count,
            @Option(names = "--connections", defaultValue = "16") int connections,
            @Option(names = "--rounds", defaultValue = "20") int rounds,
            @Option(
                            names = "--minutes",
                            description = "Time after which no further round starts.",
                            defaultValue = "1440")
                    int minutes,
            @Option(names = "--dir", required = true) Path parent)
            throws IOException, InterruptedException {
        long start = System.nanoTime();
        Path directory = Files.createTempDirectory(parent, "soak");
        UploadSoak.Result result =
                new UploadSoak(count, connections, rounds, Duration.ofMinutes(minutes)).run(directory);
        delete(directory);
        ObjectNode figures = Records.today();
        figures.set("result", Records.tree(result));
        keep("uploads", figures, start);
        return result.isGood() ? 0 : 1;
    }

    @Command(name = "record", description = "Records the figures of another test.")
    int record(
            @Option(names = "--kind", required = true) String kind,
            @Option(names = "--count", required = true) int count,
            @Option(names = "--seconds", required = true) double seconds,
            @Option(names = "--says", defaultValue = "") String says)
            throws IOException {
        keep(kind, Records.today().put("count", count).put("seconds", seconds).put("says", says));
        return 0;
    }
}
