package dev.sluice.samples.upload;

import dev.sluice.form.MemoryBudget;
import dev.sluice.s3.ObjectStore;
import dev.sluice.s3.S3Sinks;
import java.io.PrintWriter;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import software.amazon.awssdk.core.exception.SdkException;

/** The command {@code sweep}, which removes the leftovers of killed servers from a bucket. */
@Command(
        name = "sweep",
        description =
                "Removes the leftovers of killed servers from a bucket: abandoned forms with their files and unfinished uploads.",
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
            description = "Minimum time without progress before a form is removed, more than 0, such as PT24H.",
            defaultValue = "PT24H")
    private Duration age = Duration.ofDays(1);

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
        try (ObjectStore store = UploadServer.open(new ServerConfig.Bucket(s3, bucket))) {
            S3Sinks sinks = S3Sinks.builder(store, MemoryBudget.unlimited())
                    .prefix(UploadServer.PREFIX)
                    .maxAge(age)
                    .build();
            sinks.probe()
                    .orTimeout(StoreAddress.RESPONSE_SECONDS, TimeUnit.SECONDS)
                    .join();
            S3Sinks.Swept swept = sinks.sweep().join();
            PrintWriter out = spec.commandLine().getOut();
            out.println("forms ended: " + swept.forms() + ", uploads aborted: " + swept.uploads() + ", files deleted: "
                    + swept.objects());
            out.flush();
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), "--age: " + e.getMessage());
        } catch (CompletionException | SdkException e) { // the store failed, or its settings are invalid
            PrintWriter err = spec.commandLine().getErr();
            err.println("cannot sweep the bucket " + bucket + " at " + s3 + ": " + StoreAddress.reason(e));
            Throwable first = e.getCause() == null ? e : e.getCause();
            for (Throwable other : first.getSuppressed()) { // other forms that cannot be swept
                err.println(StoreAddress.reason(other));
            }
            return ExitCode.USAGE;
        }
        return ExitCode.OK;
    }
}
