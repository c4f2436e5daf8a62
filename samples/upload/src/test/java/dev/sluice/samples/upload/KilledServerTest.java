package dev.sluice.samples.upload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardWatchEventKinds;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A server in a process of its own, killed within an upload. */
@Timeout(60)
class KilledServerTest {
    @TempDir
    Path directory;

    private List<Path> files(String suffix) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.filter(file -> file.toString().endsWith(suffix)).toList();
        }
    }

    private Process serve() throws IOException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        return new ProcessBuilder(
                        java,
                        "-cp",
                        System.getProperty("java.class.path"),
                        Main.class.getName(),
                        "serve",
                        "--port=0",
                        "--dir=" + directory)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
    }

    private static int port(BufferedReader output) throws IOException {
        String line = output.readLine();
        assertNotNull(line);
        return URI.create(line.substring(line.indexOf("http:"))).getPort();
    }

    private void awaitPartFile(WatchService watch) throws Exception {
        while (files(".part").isEmpty()) {
            WatchKey key = watch.poll(20, TimeUnit.SECONDS);
            assertNotNull(key, "no part file was made");
            key.pollEvents();
            key.reset();
        }
    }

    @Test
    void itsPartFilesAreKeptWhileItLivesAndSweptAtTheFirstStartAfterIt() throws Exception {
        Process process = serve();
        try (BufferedReader output = process.inputReader();
                WatchService watch = directory.getFileSystem().newWatchService();
                RawConnection connection = new RawConnection(port(output))) {
            directory.register(watch, StandardWatchEventKinds.ENTRY_CREATE);
            connection
                    .send("POST /upload HTTP/1.1\r\nHost: x\r\nContent-Type: " + TestForm.CONTENT_TYPE
                            + "\r\nContent-Length: 1000000\r\n\r\n")
                    .send(new TestForm().file("f", "a.bin", new byte[500_000]).open());
            awaitPartFile(watch);

            UploadServer.start(ServerConfig.of(directory)).close();
            assertEquals(1, files(".part").size());
            assertEquals(1, files(".lock").size());
            process.destroyForcibly().waitFor();
        } finally {
            process.destroyForcibly();
        }

        assertEquals(1, files(".part").size());
        UploadServer.start(ServerConfig.of(directory)).close();
        assertEquals(List.of(), files(""));
    }
}
