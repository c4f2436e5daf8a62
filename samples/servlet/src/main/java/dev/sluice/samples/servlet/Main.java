package dev.sluice.samples.servlet;

import dev.sluice.samples.report.PresetName;
import dev.sluice.samples.report.SizeConverter;
import dev.sluice.samples.report.Version;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The entry point: {@code java -jar sluice-servlet.jar}. The program runs until it is interrupted. */
@Command(
        name = "sluice-servlet",
        description = "Serves a page and two servlets that report the parts of a multipart/form-data body.",
        mixinStandardHelpOptions = true,
        versionProvider = Version.class,
        showDefaultValues = true,
        sortOptions = false)
public final class Main implements Callable<Integer> {
    private static final int GOOD = 0;
    private static final int TROUBLE = 2;

    @Option(
            names = "--port",
            paramLabel = "PORT",
            description = "Port to listen on; 0 for any free one.",
            defaultValue = "8080")
    private int port;

    @Option(
            names = "--dir",
            paramLabel = "DIR",
            description = "Directory for the temporary files of uploads; created if missing.",
            defaultValue = "sluice-spool")
    private Path directory = Path.of("sluice-spool");

    @Option(
            names = "--preset",
            paramLabel = "PRESET",
            description = "Strictness for a request without ?preset=: ${COMPLETION-CANDIDATES}.",
            defaultValue = "standard")
    private PresetName preset = PresetName.standard;

    @Option(names = "--host", paramLabel = "HOST", description = "Address to listen on.", defaultValue = "127.0.0.1")
    private String host = "127.0.0.1";

    @Option(
            names = "--max-body",
            paramLabel = "SIZE",
            description = "Largest body, in bytes or with K, M, G or T (1 K = 1024).",
            defaultValue = "64M",
            converter = SizeConverter.class)
    private long maxBodyBytes;

    @Option(
            names = "--min-rate",
            paramLabel = "SIZE",
            description =
                    "Minimum rate at which a client must send, in bytes per second, after a grace period of 5 seconds.",
            defaultValue = "240",
            converter = SizeConverter.class)
    private long minBytesPerSecond;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    private Main() {}

    /** Runs the program and exits with 0 on success, 2 for a usage or I/O error. */
    public static void main(String[] args) {
        PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
        PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
        System.exit(commandLine(out, err).execute(args));
    }

    /** {@return the program with its output redirected} */
    static CommandLine commandLine(PrintWriter out, PrintWriter err) {
        return new CommandLine(new Main()).setOut(out).setErr(err);
    }

    @Override
    public Integer call() throws InterruptedException {
        PrintWriter err = spec.commandLine().getErr();
        ServletServer server;
        try {
            server = ServletServer.start(SampleConfig.of(directory)
                    .withAddress(host, port)
                    .withPreset(preset)
                    .with(options -> options.maxBodyBytes(maxBodyBytes).minBytesPerSecond(minBytesPerSecond)));
        } catch (IllegalArgumentException e) {
            err.println(e.getMessage());
            return TROUBLE;
        } catch (IOException e) {
            // the message of a FileSystemException is often only the path
            err.println(e instanceof FileSystemException ? "cannot use the directory: " + e : e.getMessage());
            LoggerFactory.getLogger(Main.class).debug("the server failed to start", e);
            return TROUBLE;
        }
        Runtime.getRuntime().addShutdownHook(new Thread(server::close, "sluice-close"));
        PrintWriter out = spec.commandLine().getOut();
        out.println("Listening on " + server.uri());
        out.println("Storing temporary files in " + server.directory());
        out.flush();
        server.join();
        return GOOD;
    }
}
