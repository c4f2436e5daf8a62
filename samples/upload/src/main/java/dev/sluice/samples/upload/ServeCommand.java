package dev.sluice.samples.upload;

import dev.sluice.samples.report.SizeConverter;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.BindException;
import java.net.URI;
import java.nio.channels.UnresolvedAddressException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import software.amazon.awssdk.core.exception.SdkException;

/** The command {@code serve}, which runs the upload server until it is interrupted. */
@Command(
        name = "serve",
        description = "Serves an upload page and stores the uploaded files.",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        sortOptions = false)
final class ServeCommand implements Callable<Integer> {
    static final int MAX_PORT = 65535;

    @Option(
            names = "--port",
            paramLabel = "PORT",
            description = "Port to listen on; 0 for any free one.",
            defaultValue = "8080")
    private int port;

    @Option(
            names = "--dir",
            paramLabel = "DIR",
            description = "Directory for the stored files; created if missing.",
            defaultValue = "uploads")
    private Path directory = Path.of("uploads");

    @Option(names = "--host", paramLabel = "HOST", description = "Address to listen on.", defaultValue = "127.0.0.1")
    private String host = "127.0.0.1";

    @Option(
            names = "--max-body",
            paramLabel = "SIZE",
            description =
                    "Largest body of POST /upload, in bytes or with K, M, G or T (1 K = 1024). POST /inspect accepts up to 64M.",
            defaultValue = "16G",
            converter = SizeConverter.class)
    private long maxBodyBytes;

    @Option(
            names = "--keep-free",
            paramLabel = "SIZE",
            description = "Minimum free space to leave on the disk.",
            defaultValue = "256M",
            converter = SizeConverter.class)
    private long keepFreeBytes;

    @Option(
            names = "--tls",
            description = "Use TLS with a certificate for localhost, generated at start; browsers warn about it.",
            defaultValue = "false")
    private boolean tls;

    @Option(
            names = "--s3",
            paramLabel = "URI",
            description = "Store the files in this S3-compatible object store, with credentials from the environment"
                    + " (AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY). Needs --bucket.",
            converter = StoreAddress.class)
    private @Nullable URI s3;

    @Option(names = "--bucket", paramLabel = "NAME", description = "An existing bucket. Needs --s3.")
    private @Nullable String bucket;

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() throws InterruptedException {
        if ((s3 == null) != (bucket == null)) {
            throw new ParameterException(spec.commandLine(), "--s3 requires --bucket and vice versa: pass both");
        }
        if (port < 0 || port > MAX_PORT) {
            throw new ParameterException(spec.commandLine(), "--port must be 0-" + MAX_PORT + ", not " + port);
        }
        UploadServer server;
        try {
            server = UploadServer.start(ServerConfig.of(directory)
                    .withAddress(host, port)
                    .withMaxBodyBytes(maxBodyBytes)
                    .withKeepFreeBytes(keepFreeBytes)
                    .withTls(tls)
                    .withBucket(s3 == null || bucket == null ? null : new ServerConfig.Bucket(s3, bucket)));
        } catch (IOException | IllegalArgumentException | SdkException e) {
            spec.commandLine().getErr().println(reason(e));
            if (e.getCause() instanceof BindException) {
                spec.commandLine().getErr().println("Try another --host or --port; --port=0 takes any free one.");
            }
            return ExitCode.USAGE;
        }
        Runtime.getRuntime().addShutdownHook(new Thread(server::close, "sluice-close"));
        PrintWriter out = spec.commandLine().getOut();
        out.println("Listening on " + server.uri());
        out.println("Storing files in " + (s3 == null ? server.directory() : s3 + ", bucket " + bucket));
        out.flush();
        server.join();
        return ExitCode.OK;
    }

    private String reason(Exception failure) {
        if (failure.getCause() instanceof UnresolvedAddressException) { // its message is empty
            return "cannot listen on " + host + ": unknown host";
        } else if (!(failure instanceof FileSystemException) && !(failure.getCause() instanceof FileSystemException)) {
            return String.valueOf(failure.getMessage());
        }
        Throwable wrong = failure instanceof FileSystemException ? failure : failure.getCause();
        String reason = wrong instanceof AccessDeniedException
                ? "permission denied"
                : wrong instanceof FileSystemException e && e.getReason() != null
                        ? e.getReason()
                        : "it cannot be created"; // the message of the exception is only the path
        return "cannot use the directory " + directory + ": " + reason;
    }
}
