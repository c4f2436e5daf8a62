package dev.sluice.concurrency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.CapacityException;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.SpillSink;
import dev.sluice.form.SpoolDirectory;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The quota of a spool that several threads write to. */
class SpoolQuotaTest {
    private static final int ROUNDS = 60;
    private static final int FILES = 5;
    private static final int QUOTA = 100;

    /** More than there is room for, also where one of them is alone. */
    private static final int OCTETS = 120;

    @TempDir
    Path root;

    private static void requireWithin(SpoolDirectory spool) {
        long bytes = spool.bytes();
        assertTrue(bytes >= 0 && bytes <= QUOTA, () -> bytes + " octets of " + QUOTA);
    }

    /** Writes file after file, and goes on after what is refused. {@return how many octets were not} */
    private static Integer write(SpoolDirectory spool) throws IOException {
        int written = 0;
        for (int file = 0; file < FILES; file++) {
            try (SpillSink sink = SpillSink.create(spool, 0, MemoryBudget.unlimited())) {
                for (int i = 0; i < OCTETS; i++) {
                    written += write(sink);
                    requireWithin(spool);
                }
            }
        }
        return written;
    }

    private static int write(SpillSink sink) throws IOException {
        try {
            sink.write(Unpooled.wrappedBuffer(new byte[1]));
            return 1;
        } catch (CapacityException e) {
            assertEquals(CapacityException.Resource.SPOOL_QUOTA, e.resource());
            return 0;
        }
    }

    @Test
    void writersTogetherNeverExceedItAndLeaveNothing() throws Exception {
        try (SpoolDirectory spool = SpoolDirectory.builder(root)
                        .maxBytes(QUOTA)
                        .keepFreeBytes(0)
                        .open();
                Race race = new Race(3)) {
            long refused = 0;
            long total = 0;
            Callable<Integer> writer = () -> write(spool);
            for (int round = 0; round < Race.times(ROUNDS); round++) {
                for (int written : race.run(writer, writer, writer)) {
                    refused += FILES * OCTETS - written;
                    total += written;
                }
                assertEquals(0, spool.bytes());
                assertEquals(0, spool.files());
            }
            assertEquals(total, spool.writtenBytes());
            assertTrue(refused > 0, "nothing was refused");
            try (Stream<Path> left = Files.list(spool.path())) {
                assertEquals(List.of(), left.toList());
            }
        }
    }
}
