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
import dev.sluice.MultipartReader;
import dev.sluice.Preset;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PushedForm;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
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

    @Test
    void cve_2023_28709_limitsOfCountsAndSizes_areExact() throws IOException {
        for (int limit : new int[] {1, 2, 7, 100}) {
            for (int count = limit - 1; count <= limit + 1; count++) {
                boolean passes = count <= limit;
                int parts = count;
                assertEveryApi(
                        passes ? null : Reason.TOO_MANY_PARTS,
                        () -> parts(FIELD, parts),
                        limits -> limits.maxParts(limit).unlimitedFiles());
                assertEveryApi(
                        passes ? null : Reason.TOO_MANY_FILES,
                        () -> parts(FILE, parts),
                        limits -> limits.maxFiles(limit).maxParts(1000));
                assertEveryApi(
                        passes ? null : Reason.BODY_TOO_LARGE,
                        () -> parts(FIELD, parts),
                        limits -> limits.maxBodyBytes(parts(FIELD, limit).size()));
                assertEveryApi(
                        passes ? null : Reason.PART_TOO_LARGE,
                        () -> new Repeated(Run.HEAD, "v", parts, Run.TAIL),
                        limits -> limits.maxPartBytes(limit));
            }
        }
    }

    /** Asserts that the decoder, the reader and the form have the same result, also with a preset that expands nested parts. */
    private static void assertEveryApi(
            Reason expected, Supplier<InputStream> body, UnaryOperator<MultipartOptions.Builder> limits)
            throws IOException {
        for (Preset preset : List.of(Preset.STANDARD, Preset.COMPATIBLE)) {
            MultipartOptions options = Run.options(preset, limits);
            assertReason(expected, Run.of(body.get(), options, 1000).failure);
            assertReason(expected, failure(() -> {
                try (MultipartReader reader = MultipartReader.create(body.get(), Boundary.of("x"), options)) {
                    while (reader.nextPart() != null) {}
                }
            }));
            FormOptions form =
                    FormOptions.inMemory(MemoryBudget.unlimited(), options).build();
            assertReason(
                    expected,
                    failure(() ->
                            PushedForm.read(body.get(), Boundary.of("x"), form).close()));
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

    @Test
    void commonsFileUpload_481_nestedParts_countAgainstLimits() throws IOException {
        StringBuilder nested = new StringBuilder("--x\r\nContent-Disposition: form-data; name=n\r\n")
                .append("Content-Type: multipart/mixed; boundary=y\r\n\r\n");
        for (int count = 0; count < 20; count++) {
            nested.append("--y\r\nContent-Disposition: attachment; filename=f\r\n\r\nv\r\n");
        }
        String body = nested.append("--y--\r\n--x--\r\n").toString();
        List<UnaryOperator<FormOptions.Builder>> limits = new ArrayList<>();
        limits.add(builder -> builder.maxParts(20));
        limits.add(builder -> builder.maxFiles(19));
        limits.add(builder -> builder.maxHeaderBytes(800));
        List<Reason> reasons = List.of(Reason.TOO_MANY_PARTS, Reason.TOO_MANY_FILES, Reason.HEADERS_TOO_LARGE);
        for (int i = 0; i < limits.size(); i++) {
            FormOptions options = limits.get(i)
                    .apply(FormOptions.inMemory(MemoryBudget.unlimited()).preset(Preset.COMPATIBLE))
                    .build();
            assertReason(
                    reasons.get(i),
                    failure(() -> PushedForm.read(new Repeated(body, " ", 0, ""), Boundary.of("x"), options)));
        }
        FormOptions enough = FormOptions.inMemory(MemoryBudget.unlimited())
                .preset(Preset.COMPATIBLE)
                .maxParts(21)
                .maxFiles(20)
                .build();
        try (MultipartForm form = PushedForm.read(new Repeated(body, " ", 0, ""), Boundary.of("x"), enough)) {
            assertEquals(20, form.files().size());
        }
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
