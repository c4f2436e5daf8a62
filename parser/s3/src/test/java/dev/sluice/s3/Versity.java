package dev.sluice.s3;

import dev.sluice.testkit.Seaweed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * A second store, shared by all tests in a JVM: versitygw on a folder, with the same bucket and credentials as {@link Weed}. {@code
 * SLUICE_VERSITYGW} names the program.
 */
final class Versity {
    private static Versity running;

    private final int port;

    static Optional<String> program() {
        return Seaweed.program("SLUICE_VERSITYGW", "versitygw");
    }

    /** {@return the port of the store, which the first call starts} */
    static synchronized int port() throws IOException, InterruptedException {
        if (running == null) {
            running = new Versity();
        }
        return running.port;
    }

    private Versity() throws IOException, InterruptedException {
        port = Seaweed.freePorts(1)[0];
        Path folder = Files.createTempDirectory(Path.of("target"), "versitygw").toAbsolutePath();
        Process process = new ProcessBuilder(List.of(
                        program().orElseThrow(),
                        "--quiet",
                        "--port=127.0.0.1:" + port,
                        "--access=" + Seaweed.USER,
                        "--secret=" + Seaweed.SECRET,
                        "posix",
                        folder.toString()))
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
        Weed.await(() -> Weed.shared(port)
                .createBucket(request -> request.bucket(Weed.BUCKET))
                .join());
    }
}
