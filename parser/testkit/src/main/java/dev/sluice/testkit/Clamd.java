package dev.sluice.testkit;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A {@code clamd} with one signature, {@link #MALWARE}, and a small limit. Without the program, tests are {@link Installed skipped}. */
public final class Clamd implements AutoCloseable {
    /** The size of the largest stream that is scanned, in bytes. */
    public static final int MAX_BYTES = 1 << 20;

    /** Content that is reported as malware. */
    public static final String MALWARE = "sluice-test-malware";

    private static final Path PROGRAM = Path.of("/usr/sbin/clamd");

    private final InetSocketAddress address;
    private final Process process;

    /** @param home an empty directory for the configuration and the log */
    public Clamd(Path home) throws IOException, InterruptedException {
        Installed.require("clamd", Files.isExecutable(PROGRAM));
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            address = (InetSocketAddress) free.getLocalSocketAddress();
        }
        Path database = Files.createDirectory(home.resolve("database"));
        // The format of body-based signatures: name, type of target (0 for any), offset, hexadecimal content.
        Files.writeString(
                database.resolve("test.ndb"),
                "Sluice.Test:0:*:" + HexFormat.of().formatHex(MALWARE.getBytes(StandardCharsets.US_ASCII)) + "\n");
        Path config = Files.write(
                home.resolve("clamd.conf"),
                List.of(
                        "Foreground yes",
                        "DatabaseDirectory " + database,
                        "TCPSocket " + address.getPort(),
                        "TCPAddr 127.0.0.1",
                        "StreamMaxLength " + MAX_BYTES,
                        "ConcurrentDatabaseReload no"));
        process = new ProcessBuilder(PROGRAM.toString(), "--config-file=" + config)
                .redirectErrorStream(true)
                .redirectOutput(home.resolve("log").toFile())
                .start();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(40);
        while (!accepts()) {
            if (!process.isAlive() || System.nanoTime() > end) {
                throw new IOException("clamd did not start: " + Files.readString(home.resolve("log")));
            }
            Thread.sleep(50);
        }
    }

    public InetSocketAddress address() {
        return address;
    }

    private boolean accepts() {
        try (Socket probe = new Socket(address.getAddress(), address.getPort())) {
            return probe.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
