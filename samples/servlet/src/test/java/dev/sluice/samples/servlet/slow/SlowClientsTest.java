package dev.sluice.samples.servlet.slow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.samples.upload.soak.ServerProcess;
import dev.sluice.samples.upload.soak.Vitals;
import dev.sluice.testkit.ProofSize;
import dev.sluice.testkit.TestForm;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Collectors;
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

    private static final Duration ENTRY = Duration.ofSeconds(30);
    private static final Duration UPLOADS = Duration.ofSeconds(60);
    private static final Duration CLOSING = Duration.ofSeconds(20);

    @TempDir
    private Path directory;

    private static byte[] start() {
        return new TestForm()
                .field("a", "1")
                .file("f", "slow.bin", new byte[10])
                .open();
    }

    /** {@return the number of clients, reduced and reported if the process may not open enough descriptors} */
    private static int clients() {
        Vitals here = Vitals.now(0, 0);
        long most = here.mostDescriptors() - here.descriptors() - SPARE_DESCRIPTORS;
        if (most < CLIENTS) {
            System.out.println("SlowClientsTest: only " + most + " of " + CLIENTS
                    + " clients, because of the limit of open files (ulimit -Hn)");
        }
        assertTrue(most > 0, "too few descriptors to test anything");
        return (int) Math.min(most, CLIENTS);
    }

    @Test
    void slowClients_areClosed_whileOthersAreServed() throws Exception {
        LargeUpload upload = new LargeUpload();
        int count = clients();
        try (ServerProcess server = UploadHost.start(directory, "-Xmx256m", "-XX:+ExitOnOutOfMemoryError")) {
            upload.post(server.port(), "/async"); // warms up
            upload.post(server.port(), "/parts");
            double usual = upload.post(server.port(), "/async");
            Vitals base = server.await("all uploads are complete", vitals -> vitals.budget() == 0);
            assertEquals(List.of(), UploadHost.uploads(directory));

            try (SlowClients slow = new SlowClients(server.port(), TestForm.CONTENT_TYPE, start(), 1 << 20)) {
                slow.enter(count, ENTRY);
                Vitals held = server.look();
                assertTrue(held.descriptors() >= base.descriptors() + count, held::toString);
                assertTrue(held.budget() > base.budget(), held::toString);

                CompletableFuture<double[]> normal = CompletableFuture.supplyAsync(() -> postBoth(upload, server));
                slow.drive("the uploads", UPLOADS, normal::isDone);
                int stillOpen = slow.open();
                slow.noMore();
                double[] meanwhile = normal.join();
                assertTrue(stillOpen > count / 2, "the uploads took longer than the slow clients: " + slow);

                slow.drive("all connections are closed", UploadHost.GRACE.plus(CLOSING), () -> slow.open() == 0);
                assertClosedForBeingSlow(slow);
                Vitals after = server.await(
                        "nothing is left",
                        vitals -> vitals.budget() == 0 && vitals.descriptors() <= base.descriptors());
                assertTrue(after.peakThreads() < MOST_THREADS, after::toString);
                assertEquals(List.of(), UploadHost.uploads(directory));
                report(count, stillOpen, base, held, after, usual, meanwhile);
                assertTrue(meanwhile[0] > usual / 500, "other clients were blocked");
            }
            upload.post(server.port(), "/async");
            UploadHost.end(server, directory);
        }
    }

    private static double[] postBoth(LargeUpload upload, ServerProcess server) {
        try {
            return new double[] {upload.post(server.port(), "/async"), upload.post(server.port(), "/parts")};
        } catch (IOException e) {
            throw new CompletionException(e);
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
            assertTrue(activeTime.compareTo(UploadHost.GRACE) > 0, () -> "closed within its grace: " + activeTime);
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
                LargeUpload.MEBIBYTES,
                usual,
                meanwhile[0],
                meanwhile[1],
                held.budget() >> 10,
                after.budget());
    }
}
