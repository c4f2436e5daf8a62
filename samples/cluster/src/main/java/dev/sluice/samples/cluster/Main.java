package dev.sluice.samples.cluster;

import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The entry point: {@code java -jar cluster.jar up}, and {@code kill} while that runs. */
@Command(
        name = "cluster",
        description =
                "Runs upload servers with a proxy and one object store, and checks the forms when servers are killed.",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND")
public final class Main {
    private final PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);

    private Main() {}

    /**
     * Runs the program. It exits with 0 on success and with 2 for an error. It exits with 1 if a form is lost or
     * incomplete, or if an unfinished upload or a file without a form is left over.
     */
    public static void main(String[] args) {
        System.exit(new CommandLine(new Main())
                .setExecutionExceptionHandler((failure, command, parsed) -> {
                    command.getErr().println(failure);
                    return CommandLine.ExitCode.USAGE;
                })
                .execute(args));
    }

    @Command(description = "Starts a store, nodes and a proxy, and runs until interrupted.")
    int up(
            @Option(names = "--dir", defaultValue = "cluster", description = "Directory for the files of the nodes.")
                    Path directory,
            @Option(names = "--port", defaultValue = "8080", description = "Port of the proxy.") int port,
            @Option(names = "--nodes", defaultValue = "3", description = "Number of upload servers.") int nodes)
            throws IOException, InterruptedException {
        try (Cluster cluster = new Cluster(directory, port, nodes)) {
            if (!cluster.proxied) {
                out.println("haproxy is not installed (apt-get install haproxy): each node has its own address");
            }
            cluster.pages().forEach((URI page) -> out.println("Upload page: " + page));
            new CountDownLatch(1).await();
        }
        return CommandLine.ExitCode.OK;
    }

    @Command(description = "Sends forms while killing nodes, and reports which forms are complete.")
    int kill(
            @Option(names = "--dir", defaultValue = "cluster", description = "Directory of the running cluster.")
                    Path directory,
            @Option(names = "--forms", defaultValue = "40", description = "Minimum number of forms.") int forms,
            @Option(names = "--kills", defaultValue = "3", description = "Number of kills.") int kills,
            @Option(names = "--seed", defaultValue = "1", description = "Seed of the sizes, contents and times.")
                    long seed)
            throws IOException, InterruptedException, ExecutionException {
        KillExperiment.Result result = new KillExperiment(directory, forms, kills, seed, out).run();
        out.printf(
                "%d forms of %d MiB in %.1f s, %d kills of nodes, %d of them during publication, %d sweeps%n",
                result.verdicts().values().stream().mapToInt(count -> count).sum(),
                result.bytes() >> 20,
                result.time().toMillis() / 1e3,
                result.kills(),
                result.inPublication(),
                result.sweeps());
        out.println("forms: " + result.verdicts());
        out.printf(
                "swept: %d forms, %d uploads, %d files; left: %d uploads, %d files without a form%n",
                result.swept().forms(),
                result.swept().uploads(),
                result.swept().objects(),
                result.uploads(),
                result.strays());
        return result.isGood() ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }
}
