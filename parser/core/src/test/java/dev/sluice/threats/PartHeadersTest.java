package dev.sluice.threats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.MultipartOptions;
import dev.sluice.MultipartReader;
import dev.sluice.Preset;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PushedForm;
import dev.sluice.testkit.LinearWork;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

/**
 * Section B of threats.md, size and count of part headers: limited before they are stored, for each part and for all parts
 * together.
 */
@Timeout(value = 180, threadMode = ThreadMode.SEPARATE_THREAD)
class PartHeadersTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    /** The maximum number of bytes held: twice the largest header section, because buffers grow by doubling, plus one block. */
    private static final long MOST_HELD = 2 * 8192 + 512;

    private static final String PADDED = "--x\r\n" + Run.FIELD + "X-Padding: " + "p".repeat(7000) + "\r\n\r\nv\r\n";

    @Test
    void cve_2025_48976_headersOfAllParts_areLimitedInBoundedMemory() {
        for (int chunkSize : new int[] {1, 1000, 64 << 10}) {
            Run run = Run.of(new Repeated("", PADDED, 10_000, "--x--"), MultipartOptions.defaults(), chunkSize)
                    .assertRejected(Reason.HEADERS_TOO_LARGE);
            assertTrue(run.fed <= (256 << 10) + 40 * 12 + chunkSize, "fed: " + run.fed);
            assertTrue(run.mostHeld <= MOST_HELD, "held: " + run.mostHeld);
        }
    }

    @Test
    void cve_2025_61772_endlessHeaderSection_isRejectedAtLimit() {
        String start = "--x\r\n";
        for (int chunkSize : new int[] {1, 64, 4096}) {
            Run fields = Run.of(new Repeated(start, "X: y\r\n", 1 << 20, ""), MultipartOptions.defaults(), chunkSize)
                    .assertRejected(Reason.TOO_MANY_HEADERS);
            assertTrue(fields.fed <= 5 + 32 * 6 + 1 + chunkSize, "fed: " + fields.fed);
            MultipartOptions manyFields = Run.options(limits -> limits.maxHeadersPerPart(1_000_000));
            Run bytes = Run.of(new Repeated(start, "X: y\r\n", 1 << 20, ""), manyFields, chunkSize)
                    .assertRejected(Reason.HEADER_SECTION_TOO_LARGE);
            assertTrue(bytes.fed <= 5 + 8192 + chunkSize, "fed: " + bytes.fed);
            assertTrue(bytes.mostHeld <= MOST_HELD, "held: " + bytes.mostHeld);
        }
    }

    @Test
    void cve_2026_87908_headersInChunks_useBoundedMemory() {
        for (String token : new String[] {"n", "n: v", " ", "X: y\r\n", "\t", "X:\r\n ", "\u00e9", "n:n:"}) {
            for (String start : new String[] {"", "X: y", "X: y\r\n ", "X:"}) {
                Run run = Run.of(new Repeated("--x\r\n" + start, token, 1 << 16, ""), MultipartOptions.defaults(), 7);
                assertTrue(run.failure != null && run.begun == 0, "a part began");
                assertTrue(run.fed <= 5 + 8192 + 7, "fed: " + run.fed);
                assertTrue(run.mostHeld <= MOST_HELD, "held: " + run.mostHeld);
            }
        }
    }

    @Test
    void cve_2023_45290_longHeaderLine_isRejectedWhileRead() throws IOException {
        allocationOfALongLine();
        long allocated = allocationOfALongLine();
        assertTrue(allocated <= 128 << 10, "allocated: " + allocated);
    }

    private static long allocationOfALongLine() throws IOException {
        InputStream line = new Repeated("--x\r\nX: ", "v", 100 << 20, "");
        long before = THREADS.getCurrentThreadAllocatedBytes();
        try (MultipartReader reader = MultipartReader.create(line, Boundary.of("x"))) {
            reader.nextPart();
            throw new AssertionError("100 MiB of a header line were accepted");
        } catch (MultipartException e) {
            assertEquals(Reason.HEADER_SECTION_TOO_LARGE, e.reason());
        }
        return THREADS.getCurrentThreadAllocatedBytes() - before;
    }

    @Test
    void cve_2026_94440_limitOfHeaderBytes_isNeverExceeded() {
        int used = Run.FIELD.length() + 2;
        for (int left = 0; left <= 1024; left++) {
            int budget = used + left;
            MultipartOptions options = Run.options(limits -> limits.maxHeaderBytes(budget));
            Run run = Run.of(
                            new Repeated(Run.HEAD + "\r\n--x\r\nX: ", "v", 4096, "\r\n\r\n\r\n--x--"),
                            options,
                            left % 2 == 0 ? 1 : 5000)
                    .assertRejected(Reason.HEADERS_TOO_LARGE);
            assertEquals(Run.HEAD.length() + 7 + left, run.failure.offset());
            assertTrue(left % 2 > 0 || run.fed <= run.failure.offset() + 1, "fed: " + run.fed);
            assertTrue(left % 2 > 0 || run.mostHeld <= 2 * budget + 512, left + ": held " + run.mostHeld);
        }
    }

    @Test
    void cve_2015_4024_foldedLines_areJoinedInLinearTime() throws IOException {
        MultipartOptions large =
                Run.options(limits -> limits.maxHeaderBytesPerPart(4 << 20).unlimitedHeaderBytes());
        String start = "--x\r\n" + Run.FIELD + "X: a";
        String end = "\r\n\r\n\r\n--x--";
        for (int chunkSize : new int[] {1, 8192}) {
            LinearWork.require("folds", 20_000, count -> {
                String body = start + "\r\n b".repeat(count) + end;
                return () -> Run.of(body, large, chunkSize).assertAccepted();
            });
        }
        String folds = start + "\r\n b".repeat(200_000) + end;
        try (MultipartReader reader =
                MultipartReader.create(new ByteArrayInputStream(Run.bytes(folds)), Boundary.of("x"), large)) {
            MultipartReader.Part part = reader.nextPart();
            long before = THREADS.getCurrentThreadAllocatedBytes();
            assertEquals(400_001, part.head().headers().get(1).value().length());
            long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
            assertTrue(allocated <= 8L * folds.length(), "allocated: " + allocated);
        }
        Run strict = Run.of(folds, Preset.STRICT).assertRejected(Reason.MALFORMED_HEADER);
        assertEquals(folds.indexOf("\r\n b") + 2, strict.failure.offset());
    }

    @Test
    void cve_2023_24536_manyPartsAndHeaders_useNoMoreHeapThanCharged() throws IOException {
        String fields = "--x\r\n" + Run.FIELD + "a:\r\n".repeat(31) + "\r\n\r\n";
        FormOptions options = FormOptions.inMemory(MemoryBudget.unlimited())
                .maxInMemoryBytes(1 << 30)
                .build();
        double overhead = Memory.overhead(options, () -> new Repeated("", fields, 1000, "--x--"));
        assertTrue(overhead <= 1.25, "the heap used, as a multiple of the charge, is " + overhead);
    }

    @Test
    void cve_2026_128846_headersAboveLimit_neverTurnFileIntoField() {
        String headers =
                "X-Padding: " + "p".repeat(60) + "\r\nContent-Disposition: form-data; name=\"a\"; filename=\"f\"\r\n"
                        + "Content-Type: text/plain\r\n\r\n";
        String body = "--x\r\n" + headers + "v" + Run.TAIL;
        for (int limit = 1; limit <= headers.length() + 1; limit++) {
            int most = limit;
            for (int chunkSize : new int[] {1, 2, 3, 7, 64, body.length()}) {
                Run run = Run.of(body, Run.options(options -> options.maxHeaderBytesPerPart(most)), chunkSize);
                if (limit < headers.length()) {
                    assertEquals(0, run.assertRejected(Reason.HEADER_SECTION_TOO_LARGE).begun, "limit " + limit);
                } else {
                    assertEquals(List.of(new Run.Part("a", "f", "v")), run.assertAccepted().parts);
                }
            }
        }
    }

    @Test
    void cve_2026_107937_headersOfAttachments_haveSameLimits() throws IOException {
        FormOptions options = FormOptions.inMemory(MemoryBudget.unlimited())
                .preset(Preset.COMPATIBLE)
                .maxHeaderBytesPerPart(200)
                .maxHeadersPerPart(3)
                .build();
        String one = "Content-Disposition: attachment; filename=f\r\n";
        assertEquals("f", attachment(one + "X: " + "v".repeat(140) + "\r\n", options));
        assertEquals("f", attachment(one + "a:\r\nb:\r\n", options));
        assertEquals("HEADER_SECTION_TOO_LARGE", attachment(one + "X: " + "v".repeat(200) + "\r\n", options));
        assertEquals("HEADER_SECTION_TOO_LARGE", attachment(one + "X".repeat(200) + ": v\r\n", options));
        assertEquals("TOO_MANY_HEADERS", attachment(one + "a:\r\nb:\r\nc:\r\n", options));
    }

    /** {@return the file name of an attachment with these headers, or the reason of the rejection} */
    private static String attachment(String headers, FormOptions options) throws IOException {
        String body = "--x\r\n" + Run.FIELD + "Content-Type: multipart/mixed; boundary=y\r\n\r\n--y\r\n" + headers
                + "\r\nv\r\n--y--" + Run.TAIL;
        try (MultipartForm form =
                PushedForm.read(new ByteArrayInputStream(Run.bytes(body)), Boundary.of("x"), options)) {
            return String.valueOf(form.parts().get(0).filename());
        } catch (MultipartException e) {
            return e.reason().name();
        }
    }
}
