package dev.sluice.threats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.sluice.Boundary;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.MultipartOptions;
import dev.sluice.Preset;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.PushedForm;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** Section D of threats.md, the number of parts: the decoder limits it, and its memory does not grow with it. */
class PartCountTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private static final String FIELD = "--x\r\n" + Run.FIELD + "\r\n\r\n";
    private static final String FILE = "--x\r\nContent-Disposition: form-data; name=\"a\"; filename=\"f\"\r\n\r\n\r\n";

    private static Repeated parts(String part, long count) {
        return new Repeated("", part, count, "--x--\r\n");
    }

    @Test
    void cve_2023_24998_millionEmptyParts_areRejectedAtPart1001() {
        for (int chunkSize : new int[] {64, 8192}) {
            long before = THREADS.getCurrentThreadAllocatedBytes();
            Run run = Run.of(parts(FIELD, 1_000_000), MultipartOptions.defaults(), chunkSize)
                    .assertRejected(Reason.TOO_MANY_PARTS);
            long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
            assertEquals(1000, run.begun);
            assertEquals(1000, run.failure.partIndex());
            assertEquals(413, run.failure.httpStatus());
            assertTrue(run.fed <= 1001L * FIELD.length() + chunkSize, "fed: " + run.fed);
            assertTrue(allocated <= 32L << 20, "allocated: " + allocated);
        }
    }

    private interface Reading {
        void run() throws IOException;
    }

    private static MultipartException failure(Reading reading) throws IOException {
        try {
            reading.run();
            return null;
        } catch (MultipartException e) {
            return e;
        }
    }

    private static void assertReason(Reason expected, MultipartException failure) {
        assertEquals(expected, failure == null ? null : failure.reason(), () -> String.valueOf(failure));
    }

    @Test
    void cve_2023_24580_defaultLimits_allow1000PartsAnd100Files() throws IOException {
        FormOptions options = FormOptions.inMemory(MemoryBudget.unlimited()).build();
        assertNull(failure(() ->
                PushedForm.read(parts(FILE, 100), Boundary.of("x"), options).close()));
        assertReason(
                Reason.TOO_MANY_FILES,
                failure(() -> PushedForm.read(parts(FILE, 1_000_000), Boundary.of("x"), options)));
        assertNull(failure(() ->
                PushedForm.read(parts(FIELD, 1000), Boundary.of("x"), options).close()));
        Repeated million = parts(FIELD, 1_000_000);
        assertReason(Reason.TOO_MANY_PARTS, failure(() -> PushedForm.read(million, Boundary.of("x"), options)));
        assertTrue(million.taken() <= 1001L * FIELD.length() + (32 << 10), "taken: " + million.taken());
    }

    @Test
    void cve_2024_29025_endedParts_areNotKeptInMemory() throws MultipartException {
        MultipartOptions options =
                Run.options(Preset.STANDARD, limits -> limits.unlimitedParts().unlimitedHeaderBytes());
        String folded = "--x\r\n" + Run.FIELD + "X: a\r\n b\r\n\r\n\r\n"; // reported in each part
        byte[] thousand = Run.bytes(folded.repeat(1000));
        try (MultipartDecoder decoder = MultipartDecoder.create(Boundary.of("x"), options)) {
            feed(decoder, thousand);
            long before = Memory.live();
            for (int count = 0; count < 500; count++) {
                feed(decoder, thousand);
            }
            long grown = Memory.live() - before;
            assertEquals(500_999, decoder.partIndex());
            assertEquals(501_000, decoder.deviationCount());
            assertEquals(100, decoder.deviations().size());
            assertTrue(grown <= 2 << 20, "grown by " + grown);
        }
    }

    private static void feed(MultipartDecoder decoder, byte[] body) throws MultipartException {
        ByteBuf chunk = Unpooled.wrappedBuffer(body);
        decoder.feed(chunk);
        while (decoder.next() != MultipartDecoder.Event.NEED_INPUT) {}
        assertEquals(0, chunk.refCnt());
    }

    /** A limit. The body of the test exceeds the value that {@code tight} sets. */
    private record Limit(
            Reason reason,
            UnaryOperator<MultipartOptions.Builder> tight,
            UnaryOperator<MultipartOptions.Builder> off) {}

    @Test
    void cve_2026_47885_limitTurnedOff_doesNotAffectOthers() {
        List<Limit> limits = List.of(
                new Limit(Reason.TOO_MANY_PARTS, o -> o.maxParts(1), o -> o.unlimitedParts()),
                new Limit(Reason.TOO_MANY_FILES, o -> o.maxFiles(1), o -> o.unlimitedFiles()),
                new Limit(Reason.PART_TOO_LARGE, o -> o.maxPartBytes(9), o -> o.unlimitedPartBytes()),
                new Limit(Reason.BODY_TOO_LARGE, o -> o.maxBodyBytes(100), o -> o.unlimitedBodyBytes()),
                new Limit(Reason.HEADERS_TOO_LARGE, o -> o.maxHeaderBytes(70), o -> o.unlimitedHeaderBytes()));
        String twoFiles = Run.file("a", "f", "0123456789") + Run.file("b", "g", "0123456789") + "--x--";
        for (Limit kept : limits) {
            for (Limit other : limits) {
                if (other != kept) {
                    Run.of(twoFiles, Run.options(o -> other.off.apply(kept.tight.apply(o))), 64)
                            .assertRejected(kept.reason);
                    Run.of(twoFiles, Run.options(o -> kept.tight.apply(other.off.apply(o))), 64)
                            .assertRejected(kept.reason);
                }
            }
            Run.of(twoFiles, Run.options(o -> kept.off.apply(kept.tight.apply(o))), 64)
                    .assertAccepted();
        }
    }
}
