package dev.sluice.concurrency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.PartSink;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.form.storage.Spool;
import dev.sluice.form.storage.SpoolRoom;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests of the quota of a shared spool, with model-checked schedules and with races on real files. */
@Tag("sized")
class SpoolQuotaTest {
    private static final int ROUNDS = 60;
    private static final int FILES = 5;
    private static final int QUOTA = 5 * 4096;

    /** The number of bytes written to each file, more than the quota. */
    private static final int BYTES = 6 * 4096;

    private static final int PIECE = 512;

    private static final int ROOM = 10;

    @TempDir
    Path root;

    /** The spool of all schedules, because opening a spool accesses the disk. Each schedule begins with nothing reserved. */
    private static Spool shared;

    @BeforeAll
    static void openShared(@TempDir Path directory) throws IOException {
        shared = new Spool(directory, Spool::randomName, (long) ROOM, Long.MAX_VALUE, 0);
    }

    @AfterAll
    static void closeShared() throws IOException {
        shared.close();
    }

    /** Two files, each written by one thread, and readers. */
    public static final class Writers {
        private final SpoolRoom room = new SpoolRoom(shared);
        private int one;
        private int two;

        @Operation(nonParallelGroup = "one")
        public boolean oneGrows(@Param(gen = IntGen.class, conf = "1:8") int bytes) {
            boolean reserved = room.tryReserve(bytes);
            one += reserved ? bytes : 0;
            return reserved;
        }

        @Operation(nonParallelGroup = "one")
        public void oneIsDeleted() {
            room.release(one);
            one = 0;
        }

        @Operation(nonParallelGroup = "two")
        public boolean twoGrows(@Param(gen = IntGen.class, conf = "1:8") int bytes) {
            boolean reserved = room.tryReserve(bytes);
            two += reserved ? bytes : 0;
            return reserved;
        }

        @Operation(nonParallelGroup = "two")
        public void twoIsDeleted() {
            room.release(two);
            two = 0;
        }

        @Operation
        public long used() {
            return room.used();
        }
    }

    @Test
    void files_sharingQuota_areLinearizable() {
        new ModelCheckingOptions()
                .iterations(Race.times(15))
                .invocationsPerIteration(100)
                .threads(2)
                .actorsPerThread(2)
                .actorsBefore(1)
                .actorsAfter(2)
                .check(Writers.class);
    }

    private static void requireWithin(SpoolDirectory spool) {
        long bytes = spool.bytes();
        assertTrue(bytes >= 0 && bytes <= QUOTA, () -> bytes + " bytes of " + QUOTA);
    }

    /**
     * Writes one file after the other and continues after rejections.
     *
     * @return the number of accepted bytes
     */
    private static Integer write(SpoolDirectory spool) throws IOException {
        int written = 0;
        for (int file = 0; file < FILES; file++) {
            try (PartSink sink = PartSink.toFile(spool, Path.of("never"))) {
                for (int i = 0; i < BYTES; i += PIECE) {
                    written += write(sink);
                    requireWithin(spool);
                }
            }
        }
        return written;
    }

    private static int write(PartSink sink) throws IOException {
        try {
            sink.write(Unpooled.wrappedBuffer(new byte[PIECE]));
            return PIECE;
        } catch (MultipartException e) {
            assertEquals(Reason.SPOOL_FULL, e.reason());
            return 0;
        }
    }

    @Test
    void writers_sharingQuota_neverExceedItAndLeaveNoFile() throws Exception {
        try (SpoolDirectory spool = SpoolDirectory.builder(root)
                        .maxSpoolBytes(QUOTA)
                        .keepFreeBytes(0)
                        .open();
                Race race = new Race(3)) {
            long rejected = 0;
            long total = 0;
            Callable<Integer> writer = () -> write(spool);
            for (int round = 0; round < Race.times(ROUNDS); round++) {
                for (int written : race.run(writer, writer, writer)) {
                    rejected += FILES * BYTES - written;
                    total += written;
                }
                assertEquals(0, spool.bytes());
                assertEquals(0, spool.files());
            }
            assertEquals(total, spool.writtenBytes());
            assertTrue(rejected > 0, "nothing was rejected");
            try (Stream<Path> left = Files.list(spool.path())) {
                assertEquals(List.of(), left.toList());
            }
        }
    }
}
