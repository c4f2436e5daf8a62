package dev.sluice.servlet.abort;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.PartDecider;
import dev.sluice.form.PartDecision;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.servlet.GateSink;
import dev.sluice.servlet.MultipartFilter;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A container that never runs what it was given to run, because the request ended first: the form ends all the same. */
@Timeout(30)
class DroppedWorkerTest {
    private static final String START = "--B\r\nContent-Disposition: form-data; name=f; filename=f\r\n\r\n0123456789";

    @TempDir
    private Path root;

    private final MemoryBudget memory = MemoryBudget.of(1 << 20);
    private SpoolDirectory spool;
    private AbortedApp app;

    @BeforeEach
    void open() throws Exception {
        spool = SpoolDirectory.builder(root).keepFreeBytes(0).open();
        app = new AbortedApp();
        app.dropWorkers();
    }

    @AfterEach
    void close() throws Exception {
        app.stop();
        spool.close();
    }

    private MultipartFilter filter(AbortedApp.Visit visit, Duration grace, PartDecider decider) throws Exception {
        FormOptions options = FormOptions.builder(spool, memory)
                .spillThreshold(0)
                .metrics(visit)
                .build();
        return app.next(
                visit,
                MultipartFilter.of(
                        options.toBuilder().minRateGrace(grace).decider(decider).build()));
    }

    private Socket connect() throws Exception {
        return new Socket(InetAddress.getLoopbackAddress(), app.port());
    }

    private static void sendStart(Socket client) throws Exception {
        String head =
                "POST " + AbortedApp.ASYNC + " HTTP/1.1\r\nHost: x\r\nContent-Type: multipart/form-data; boundary=B\r\n"
                        + "Content-Length: 100000\r\n\r\n";
        client.getOutputStream().write((head + START).getBytes(StandardCharsets.US_ASCII));
    }

    private void assertNothingIsLeft(MultipartFilter filter) {
        AbortedApp.eventually("the request ends", () -> filter.live() == 0);
        assertEquals(0, spool.files());
        assertEquals(0, memory.used());
        filter.destroy();
    }

    @Test
    void aSlowFormEndsWithItsRequest() throws Exception {
        AbortedApp.Visit visit = new AbortedApp.Visit(false);
        MultipartFilter filter = filter(visit, Duration.ofMillis(100), part -> PartDecision.spill());
        try (Socket client = connect()) {
            sendStart(client);
            visit.awaitBytes(START.length());
            app.awaitDropped(); // the form was found too slow
            assertEquals(1, filter.live());
            visit.context().complete();
            assertNothingIsLeft(filter);
        }
    }

    @Test
    void aFormThatWasToGoOnEndsWithItsRequest() throws Exception {
        AbortedApp.Visit visit = new AbortedApp.Visit(false);
        GateSink gate = new GateSink().shut();
        MultipartFilter filter = filter(visit, Duration.ofSeconds(20), part -> PartDecision.to(gate));
        try (Socket client = connect()) {
            sendStart(client);
            AbortedApp.eventually("the sink is written to", () -> gate.bytes() > 0);
            gate.open();
            app.awaitDropped();
            visit.context().complete();
            assertNothingIsLeft(filter);
        }
    }
}
