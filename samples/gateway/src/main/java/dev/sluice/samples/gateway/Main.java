package dev.sluice.samples.gateway;

import dev.sluice.samples.report.SizeConverter;
import dev.sluice.samples.report.Version;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Option;

/** The entry point: {@code java -jar gateway.jar}. */
@Command(
        name = "gateway",
        description = "Checks uploaded forms, and forwards them to another server while they arrive.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        showDefaultValues = true,
        sortOptions = false)
public final class Main implements Callable<Integer> {
    @Option(
            names = "--upstream",
            paramLabel = "URI",
            description =
                    "Address that forms are posted to. By default, the gateway starts a demo server and forwards to it.")
    private @Nullable URI upstream;

    @Option(names = "--host", paramLabel = "HOST", description = "Address to listen on.", defaultValue = "127.0.0.1")
    private String host = "127.0.0.1";

    @Option(
            names = "--port",
            paramLabel = "PORT",
            description = "Port to listen on; 0 for any free one.",
            defaultValue = "8090")
    private int port;

    @Option(
            names = "--tls",
            description = "Use TLS with a certificate for localhost, generated at start.",
            defaultValue = "false")
    private boolean tls;

    @Option(
            names = "--field",
            paramLabel = "NAME",
            split = ",",
            description = "Text fields to forward.",
            defaultValue = "title,comment")
    private Set<String> fields = Set.of();

    @Option(
            names = "--file",
            paramLabel = "NAME",
            split = ",",
            description = "File inputs to forward.",
            defaultValue = "photo")
    private Set<String> files = Set.of();

    @Option(
            names = "--strip",
            paramLabel = "NAME",
            split = ",",
            description = "Parts to remove.",
            defaultValue = "csrf")
    private Set<String> stripped = Set.of();

    @Option(
            names = "--type",
            paramLabel = "TYPE",
            split = ",",
            description = "Media types of files, as detected in their content.",
            defaultValue = "image/jpeg,image/png,application/pdf")
    private Set<String> types = Set.of();

    @Option(
            names = "--max-field",
            paramLabel = "SIZE",
            description = "Largest text field, in bytes or with K, M or G.",
            defaultValue = "64K",
            converter = SizeConverter.class)
    private long maxFieldBytes;

    @Option(
            names = "--max-file",
            paramLabel = "SIZE",
            description = "Largest file.",
            defaultValue = "64M",
            converter = SizeConverter.class)
    private long maxFileBytes;

    @Option(
            names = "--max-body",
            paramLabel = "SIZE",
            description = "Largest form.",
            defaultValue = "256M",
            converter = SizeConverter.class)
    private long maxBodyBytes;

    @Option(
            names = "--max-wait",
            paramLabel = "DURATION",
            description = "Time for which the upstream may accept no bytes.",
            defaultValue = "PT30S")
    private Duration maxWait = Duration.ofSeconds(30);

    private final PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);

    private Main() {}

    /** Runs the program until it is interrupted; exits with 2 for a usage or I/O error. */
    public static void main(String[] args) {
        System.exit(new CommandLine(new Main())
                .setExecutionExceptionHandler((failure, command, parsed) -> {
                    command.getErr().println(failure.getMessage());
                    return ExitCode.USAGE;
                })
                .execute(args));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        URI target = upstream == null ? DemoUpstream.start() : upstream;
        if (target.getRawUserInfo() != null) { // it would become part of the Host header and of the page
            throw new IOException("the address of the upstream must not have a user name or a password");
        }
        if (!"http".equals(target.getScheme()) || target.getHost() == null) {
            throw new IOException("the address of the upstream must be http://host:port/path, but is " + target);
        }
        Rules rules = new Rules(fields, files, stripped, types, maxFieldBytes, maxFileBytes);
        Gateway gateway = Gateway.start(new Gateway.Config(host, port, tls, target, rules, maxBodyBytes, maxWait));
        out.println("Listening on " + gateway.uri());
        out.println("Forwarding forms to " + target + (upstream == null ? " (built-in demo server)" : ""));
        new CountDownLatch(1).await();
        return ExitCode.OK;
    }
}
