package dev.sluice.samples.upload.soak;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.samples.upload.ServerConfig;
import dev.sluice.samples.upload.UploadServer;
import dev.sluice.testkit.ProofSize;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.TestForm;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Hundreds of concurrent clients, thousands with {@code -Pfull}. The server has 512 MiB of heap and direct memory together. */
@Tag("sized")
@Timeout(300)
class ManyClientsTest {
    /** Only the long form runs long enough to benefit from the second compiler. */
    private static final List<String> OPTIONS = List.of(
            "-XX:TieredStopAtLevel=" + (Boolean.getBoolean("sluice.full") ? 4 : 1),
            "-Xmx384m",
            "-XX:MaxDirectMemorySize=128m",
            "-XX:+ExitOnOutOfMemoryError");

    /** The number of slow clients, fewer if the limit of file descriptors is too low. */
    private static final int SLOW = (int) Math.min(
            ProofSize.of("sluice.slowClients", 500, 10_000), Vitals.now(0).mostDescriptors() - 500);

    private static final int SECONDS = ProofSize.of("sluice.slowSeconds", 3, 20);
    private static final int AT_ONCE = ProofSize.of("sluice.formsAtOnce", 200, 1_000);
    private static final int FILE = 100 << 10;

    /** A rate above the minimum of the server. */
    private static final int BYTES_PER_SECOND = (int) (2 * ServerConfig.MIN_BYTES_PER_SECOND);

    @TempDir
    Path directory;

    /** Runs in the server process; its argument is a directory. */
    public static void main(String[] arguments) throws IOException {
        try (UploadServer server = UploadServer.start(ServerConfig.of(Path.of(arguments[0])))) {
            ServerProcess.answer(server.port(), () -> Vitals.now(0));
        }
    }

    @Test
    void slowClients_areAllServed() throws Exception {
        uploaded(
                SLOW,
                new TestForm()
                        .field("a", "v".repeat(SECONDS * BYTES_PER_SECOND))
                        .post("/upload"),
                SECONDS);
    }

    @Test
    void concurrentForms_areAllAccepted() throws Exception {
        uploaded(AT_ONCE, new TestForm().file("f", "f.bin", new byte[FILE]).post("/upload"), 2);
    }

    /** Sends a request from each client in several pieces, one in each second, so that all forms are in progress at the same time. */
    private void uploaded(int clients, byte[] request, int pieces) throws Exception {
        List<RawHttp> connections = new ArrayList<>();
        try (ServerProcess server =
                new ServerProcess(directory.resolve("err"), ManyClientsTest.class, OPTIONS, directory)) {
            for (int i = 0; i < clients; i++) {
                connections.add(new RawHttp(server.port()));
            }
            long start = System.nanoTime();
            Vitals most = server.look();
            for (int piece = 0; piece < pieces; piece++) {
                int from = (int) ((long) request.length * piece / pieces);
                int to = (int) ((long) request.length * (piece + 1) / pieces);
                for (RawHttp connection : connections) {
                    send(connection, request, from, to);
                }
                long left = start + TimeUnit.SECONDS.toNanos(piece + 1) - System.nanoTime();
                TimeUnit.NANOSECONDS.sleep(left);
                most = piece == pieces - 1 ? most : server.look();
            }
            Map<String, Integer> responses = new TreeMap<>();
            for (RawHttp connection : connections) {
                responses.merge(answer(connection), 1, Integer::sum);
                connection.close();
            }
            double took = (System.nanoTime() - start) / 1e9;
            System.out.printf(
                    "ManyClientsTest: %d clients, %d bytes each, %.1f s; %d descriptors, %d threads, resident %d MiB: %s%n",
                    clients,
                    request.length,
                    took,
                    most.descriptors(),
                    most.threads(),
                    server.residentBytes() >> 20,
                    responses);
            assertEquals(Map.of("200", clients), responses, server::toString);
            assertTrue(most.descriptors() > clients, most::toString);
            server.await("connections are still open", vitals -> vitals.descriptors() < clients);
            server.end();
        } finally {
            for (RawHttp connection : connections) {
                connection.close();
            }
        }
    }

    private static void send(RawHttp connection, byte[] request, int from, int to) {
        try {
            connection.send(request, from, to);
        } catch (IOException e) {
            // the server has closed the connection, and its response shows why
        }
    }

    private static String answer(RawHttp connection) {
        try {
            RawHttp.Response response = connection.response();
            return response.status() == 200 ? "200" : response.body();
        } catch (IOException e) {
            return e.toString();
        }
    }
}
