package dev.sluice.samples.servlet.slow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.samples.servlet.SampleConfig;
import dev.sluice.samples.servlet.ServletServer;
import dev.sluice.samples.upload.clients.ServerResponse;
import dev.sluice.samples.upload.soak.ServerProcess;
import dev.sluice.samples.upload.soak.Vitals;
import dev.sluice.testkit.Eventually;
import dev.sluice.testkit.ProofSize;
import dev.sluice.testkit.RawHttp;
import dev.sluice.testkit.SpooledFiles;
import dev.sluice.testkit.TestForm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients that send one byte per second, two thousand of them with {@code -Pfull}. They must not hold a thread each, and must not block
 * other uploads. Their effect on the speed of other uploads depends on the machine, so a 500th of the usual rate suffices.
 */
@Timeout(300)
@Tag("sized")
class SlowClientsTest {
    /** The number of slow clients. {@code .ci/soak} uses more. */
    private static final int CLIENTS = ProofSize.of("sluice.slow.clients", 300, 2_000);

    private static final int SPARE_DESCRIPTORS = 300;

    /** The limit for any number of clients: the pool of 64, threads that are just ending, and the JVM's own threads. */
    private static final int MOST_THREADS = 150;

    private static final Duration GRACE = Duration.ofSeconds(15);

    /** The size of the other uploads. */
    private static final int MEBIBYTES = ProofSize.of("sluice.slow.mebibytes", 16, 64);

    private final byte[] file = TestForm.noise(MEBIBYTES << 20, 3);

    @TempDir
    private Path directory;

    /** Runs in the server process; its argument is the directory of the spool. */
    public static void main(String[] arguments) throws Exception {
        SampleConfig config = SampleConfig.of(Path.of(arguments[0]))
                .with(options -> options.maxBodyBytes(80L << 20).minRateGrace(GRACE));
        try (ServletServer server = ServletServer.start(config)) {
            ServerProcess.answer(server.port(), () -> Vitals.now(server.memoryUsed()));
        }
    }

    /** {@return the number of clients, reduced and reported if the process may not open enough descriptors} */
    private static int clients() {
        Vitals here = Vitals.now(0);
        long most = here.mostDescriptors() - here.descriptors() - SPARE_DESCRIPTORS;
        if (most < CLIENTS) {
            System.out.println("SlowClientsTest: only " + most + " of " + CLIENTS
                    + " clients, because of the limit of open files (ulimit -Hn)");
        }
        assertTrue(most > 0, "too few descriptors to test anything");
        return (int) Math.min(most, CLIENTS);
    }

    /** Sends a large file, checks the response, and returns the rate in MiB/s, measured until the response is read. */
    private double upload(ServerProcess server, String endpoint) throws IOException {
        byte[] request = new TestForm().file("f", "large.bin", file).post(endpoint);
        long begin = System.nanoTime();
        try (RawHttp connection = new RawHttp(server.port())) {
            ServerResponse response = ServerResponse.on(connection.send(request));
            double rate = MEBIBYTES * 1e9 / (System.nanoTime() - begin);
            assertEquals(200, response.status(), response.text());
            assertEquals(TestForm.sha256(file), response.at("/parts/0/sha256"));
            return rate;
        }
    }

    private List<Path> spooled() throws IOException {
        return SpooledFiles.below(directory.resolve("spool"));
    }

    @Test
    void slowClients_areClosed_whileOthersAreServed() throws Exception {
        int count = clients();
        Path spool = directory.resolve("spool");
        List<String> options = List.of("-Xmx256m", "-XX:+ExitOnOutOfMemoryError");
        try (ServerProcess server =
                new ServerProcess(directory.resolve("err"), SlowClientsTest.class, options, spool)) {
            upload(server, "/async"); // warms up
            upload(server, "/parts");
            double usual = upload(server, "/async");
            Vitals base = server.await("all uploads are complete", vitals -> vitals.budget() == 0);
            assertEquals(List.of(), spooled());

            try (SlowClients slow = new SlowClients(server.port())) {
                slow.enter(count);
                Vitals held = server.look();
                assertTrue(held.descriptors() >= base.descriptors() + count, held::toString);
                assertTrue(held.budget() > base.budget(), held::toString);

                double[] meanwhile = {upload(server, "/async"), upload(server, "/parts")};
                int stillOpen = slow.open();
                slow.noMore();
                assertTrue(stillOpen > count / 2, "the uploads took longer than the slow clients: " + slow);

                Eventually.isTrue(() -> slow.open() == 0, slow::toString);
                assertClosedForBeingSlow(slow);
                Vitals after = server.await(
                        "nothing is left",
                        vitals -> vitals.budget() == 0 && vitals.descriptors() <= base.descriptors());
                assertTrue(after.peakThreads() < MOST_THREADS, after::toString);
                assertEquals(List.of(), spooled());
                report(count, stillOpen, base, held, after, usual, meanwhile);
                assertTrue(meanwhile[0] > usual / 500, "other clients were blocked");
            }
            upload(server, "/async");
            server.end();
            assertEquals("", server.errorOutput());
            try (Stream<Path> left = Files.walk(spool)) {
                assertEquals(List.of(spool), left.toList());
            }
        }
    }

    private static void assertClosedForBeingSlow(SlowClients slow) {
        int count = slow.all().size();
        Map<Integer, Long> statuses = slow.all().stream()
                .collect(Collectors.groupingBy(SlowClients.Client::status, TreeMap::new, Collectors.counting()));
        System.out.println("SlowClientsTest: answers by status (0: closed without one): " + statuses);
        assertEquals(count, statuses.getOrDefault(408, 0L) + statuses.getOrDefault(0, 0L), statuses::toString);
        assertTrue(statuses.getOrDefault(408, 0L) > count / 2, statuses::toString);
        for (SlowClients.Client client : slow.all()) {
            Duration activeTime = client.activeTime();
            assertTrue(activeTime.compareTo(GRACE) > 0, () -> "closed within its grace: " + activeTime);
        }
    }

    /** Prints figures that depend on the machine and are therefore not asserted. */
    private static void report(
            int count, int stillOpen, Vitals base, Vitals held, Vitals after, double usual, double[] meanwhile) {
        System.out.printf(
                Locale.ROOT,
                "SlowClientsTest: %d clients, %d of them still open after the uploads; threads %d before, %d with them,"
                        + " %d at most; %d MiB uploads at %.0f MiB/s before, %.0f MiB/s (/async) and %.0f MiB/s (/parts)"
                        + " meanwhile; budget %d KiB with them, %d after%n",
                count,
                stillOpen,
                base.threads(),
                held.threads(),
                after.peakThreads(),
                MEBIBYTES,
                usual,
                meanwhile[0],
                meanwhile[1],
                held.budget() >> 10,
                after.budget());
    }
}
