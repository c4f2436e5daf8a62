package dev.sluice.samples.servlet.slow;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.samples.servlet.SampleConfig;
import dev.sluice.samples.servlet.ServletServer;
import dev.sluice.samples.upload.soak.ServerProcess;
import dev.sluice.samples.upload.soak.Vitals;
import dev.sluice.testkit.SpooledFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/** A process that runs the sample with the limits of the test, and reports the resources that it uses. */
final class UploadHost {
    static final Duration GRACE = Duration.ofSeconds(15);
    static final long BODY_BYTES = 80L << 20;

    private UploadHost() {}

    /** Starts a process with its spool in {@code directory/spool} and its error output in {@code directory/err}. */
    static ServerProcess start(Path directory, String... options) throws IOException {
        return new ServerProcess(
                directory.resolve("err"), UploadHost.class, List.of(options), directory.resolve("spool"));
    }

    /** {@return the temporary files of uploads} */
    static List<Path> uploads(Path directory) throws IOException {
        return SpooledFiles.below(directory.resolve("spool"));
    }

    /** Ends the process, and requires an empty error output and an empty spool. */
    static void end(ServerProcess process, Path directory) throws IOException, InterruptedException {
        process.end();
        assertEquals("", process.errorOutput());
        Path spool = directory.resolve("spool");
        try (Stream<Path> left = Files.walk(spool)) {
            assertEquals(List.of(spool), left.toList());
        }
    }

    /** Runs until the input ends. */
    public static void main(String[] arguments) throws Exception {
        SampleConfig config = SampleConfig.of(Path.of(arguments[0]))
                .with(options -> options.maxBodyBytes(BODY_BYTES).minRateGrace(GRACE));
        try (ServletServer server = ServletServer.start(config)) {
            ServerProcess.answer(server.port(), () -> Vitals.now(server.memoryUsed(), 0));
        }
    }
}
