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

/** The program: {@code java -jar cluster.jar up}, and {@code kill} while that runs. */
@Command(
        name = "cluster",
        description =
                "Upload servers on one object store, behind a proxy, and what becomes of forms when one is killed.",
        mixinStandardHelpOptions = true,
        synopsisSubcommandLabel = "COMMAND")
public final class Main {
    private final PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);

    private Main() {}

    /** Runs the program and ends the process: 0 if all is well, 1 if a form is not as it should be, 2 for anything else. */
    public static void main(String[] args) {
        System.exit(new CommandLine(new Main())
                .setExecutionExceptionHandler((failure, command, parsed) -> {
                    command.getErr().println(failure);
                    return CommandLine.ExitCode.USAGE;
                })
                .execute(args));
    }

    @Command(description = "Starts a store, nodes and a proxy, and runs until it is interrupted.")
    int up(
            @Option(names = "--dir", defaultValue = "cluster", description = "For files of the nodes.") Path directory,
            @Option(names = "--port", defaultValue = "8080", description = "Of the proxy.") int port,
            @Option(names = "--nodes", defaultValue = "3", description = "How many.") int nodes)
            throws IOException, InterruptedException {
        try (Cluster cluster = new Cluster(directory, port, nodes)) {
            if (!cluster.proxied) {
                out.println(
                        "no haproxy on this machine (apt-get install haproxy): each node has an address of its own");
            }
            cluster.doors().forEach((URI page) -> out.println("Upload page: " + page));
            new CountDownLatch(1).await();
        }
        return CommandLine.ExitCode.OK;
    }

    @Command(description = "Sends forms, kills nodes meanwhile, and shows what has become of the forms.")
    int kill(
            @Option(names = "--dir", defaultValue = "cluster", description = "That of the cluster.") Path directory,
            @Option(names = "--forms", defaultValue = "40", description = "How many.") int forms,
            @Option(names = "--kills", defaultValue = "3", description = "How many.") int kills,
            @Option(names = "--seed", defaultValue = "1", description = "Of sizes, bytes and moments.") long seed)
            throws IOException, InterruptedException, ExecutionException {
        Proof.Result result = new Proof(directory, forms, kills, seed, out).run();
        out.printf(
                "%d forms of %d MiB in %.1f s, %d kills of nodes%n",
                forms, result.bytes() >> 20, result.time().toMillis() / 1e3, result.kills());
        out.println("forms: " + result.verdicts());
        out.printf(
                "swept: %d uploads, %d objects; left: %d uploads, %d notes%n",
                result.swept().uploads().size(), result.swept().objects().size(), result.uploads(), result.notes());
        return result.isGood() ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }
}
