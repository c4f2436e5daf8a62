package dev.sluice.samples.upload;

import dev.sluice.form.MemoryBudget;
import dev.sluice.s3.ObjectStore;
import dev.sluice.s3.S3Sinks;
import java.io.PrintWriter;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code sweep}: ends the uploads into a bucket that servers have left behind. */
@Command(
        name = "sweep",
        description = "Ends the uploads into a bucket that killed servers have left behind.",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        sortOptions = false)
final class SweepCommand implements Callable<Integer> {
    @Option(names = "--s3", paramLabel = "URI", description = "The object store.", required = true)
    private URI s3 = URI.create("");

    @Option(names = "--bucket", paramLabel = "NAME", description = "The bucket.", required = true)
    private String bucket = "";

    @Option(
            names = "--age",
            paramLabel = "DURATION",
            description = "How long nothing has come of an upload that is ended, as PT24H.",
            defaultValue = "PT24H")
    private Duration age = Duration.ofDays(1);

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Override
    public Integer call() {
        try (ObjectStore store = UploadServer.open(new ServerConfig.Bucket(s3, bucket))) {
            List<ObjectStore.Upload> ended = S3Sinks.builder(store, MemoryBudget.unlimited())
                    .prefix(UploadServer.PREFIX)
                    .maxAge(age)
                    .build()
                    .sweep()
                    .join();
            PrintWriter out = spec.commandLine().getOut();
            ended.forEach(upload -> out.println("ended " + upload.key()));
            out.println("uploads ended: " + ended.size());
            out.flush();
        }
        return ExitCode.OK;
    }
}
