package dev.sluice.samples.upload.soak;

import dev.sluice.samples.upload.ServerConfig;
import dev.sluice.samples.upload.UploadServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * The sample server in a process of its own. Takes a directory, the largest body and the space to leave free, in
 * bytes; writes its port and then, for each line that it reads, its {@link Vitals} after a collection of garbage. Ends
 * with its input, and so with whoever started it.
 */
final class SoakHost {
    private SoakHost() {}

    /** Runs until there are no more lines to read. */
    public static void main(String[] arguments) throws IOException {
        ServerConfig config = ServerConfig.of(Path.of(arguments[0]))
                .withMaxBodyBytes(Long.parseLong(arguments[1]))
                .withKeepFreeBytes(Long.parseLong(arguments[2]));
        try (UploadServer server = UploadServer.start(config)) {
            System.out.println(server.port());
            BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
            while (lines.readLine() != null) {
                System.gc();
                System.gc(); // what the first one has only enqueued
                System.out.println(Vitals.now().toLine());
            }
        }
    }
}
