package dev.sluice.samples.upload;

import dev.sluice.form.MemoryBudget;
import dev.sluice.s3.ObjectStore;
import dev.sluice.s3.S3Sinks;
import java.io.PrintWriter;
import java.net.URI;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;

/** The command {@code sweep}, which removes the leftovers of killed servers from a bucket. */
@Command(
        name = "sweep",
        description =
                "Removes the leftovers of killed servers from a bucket: unfinished uploads, and objects of incomplete forms.",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        sortOptions = false)
final class SweepCommand implements Callable<Integer> {
    @Option(
            names = "--s3",
            paramLabel = "URI",
            description = "The object store.",
            required = true,
            converter = StoreAddress.class)
    private URI s3 = URI.create("");

    @Option(names = "--bucket", paramLabel = "NAME", description = "The bucket.", required = true)
    private String bucket = "";

    @Option(
            names = "--age",
            paramLabel = "DURATION",
            description = "Minimum time without progress before an upload or form is removed, such as PT24H.",
            defaultValue = "PT24H")
    private Duration age = Duration.ofDays(1);

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
        try (ObjectStore store = UploadServer.open(new ServerConfig.Bucket(s3, bucket))) {
            S3Sinks.Swept swept = S3Sinks.builder(store, MemoryBudget.unlimited())
                    .prefix(UploadServer.PREFIX)
                    .maxAge(age)
                    .build()
                    .sweep()
                    .join();
            PrintWriter out = spec.commandLine().getOut();
            swept.uploads().forEach(upload -> out.println("ended " + upload.key()));
            swept.objects().forEach(key -> out.println("removed " + key));
            out.println("uploads ended: " + swept.uploads().size() + ", objects removed: "
                    + swept.objects().size());
            out.flush();
        } catch (CompletionException | SdkException e) { // from the store, or from the client's settings
            spec.commandLine().getErr().println("cannot sweep the bucket " + bucket + " at " + s3 + ": " + reason(e));
            return ExitCode.USAGE;
        }
        return ExitCode.OK;
    }

    private static String reason(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        String message = Objects.toString(cause.getMessage(), cause.toString());
        if (message.contains("Unable to load credentials")) { // followed by a line for each place that was searched
            return "no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY";
        } else if (message.contains("NoSuchBucket")) {
            return "the bucket does not exist";
        } else if (message.matches(".*\\b40[13]\\b.*")) {
            return message + " (are AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY right?)";
        }
        return message.lines().findFirst().orElse(message)
                + (cause.getCause() instanceof SdkClientException ? " (is it running?)" : "");
    }
}
