package dev.sluice.threats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.MultipartReader;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PushedForm;
import dev.sluice.form.SpoolDirectory;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Section E of threats.md, fields in memory: limited by size, with or without a file name, and charged with their full cost. */
class FieldsInMemoryTest {
    private static final Boundary X = Boundary.of("x");
    private static final long GIBI = 1L << 30;

    @TempDir
    Path root;

    private final MemoryBudget budget = MemoryBudget.of(4 << 20);

    private static Repeated huge(String headers) {
        return new Repeated("--x\r\n" + headers + "\r\n", "v".repeat(4096), GIBI / 4096, Run.TAIL);
    }

    private SpoolDirectory spool() throws IOException {
        return SpoolDirectory.builder(root.resolve("spool"))
                .keepFreeBytes(0)
                .maxSpoolBytes(8 << 20)
                .open();
    }

    @Test
    void cve_2023_26048_hugeField_isLimitedLikeHugeFile() throws IOException {
        for (String headers : List.of(
                Run.FIELD,
                "Content-Disposition: form-data; name=a; filename=f\r\n",
                "Content-Disposition: form-data; name=a; filename=\"\"\r\n")) {
            try (SpoolDirectory spool = spool()) {
                FormOptions options =
                        FormOptions.builder(spool, budget).unlimitedBodyBytes().build();
                MultipartException full = rejected(huge(headers), options);
                assertEquals(Reason.SPOOL_FULL, full.reason());
                assertEquals(0, spool.files());
                assertTooLarge(
                        Reason.PART_TOO_LARGE,
                        headers,
                        options.toBuilder().maxPartBytes(1 << 20).build());
                assertTooLarge(
                        Reason.FIELD_TOO_LARGE,
                        headers,
                        options.toBuilder()
                                .decider(part -> PartDecision.storeInMemory())
                                .build());
                assertTooLarge(
                        Reason.IN_MEMORY_TOO_LARGE,
                        headers,
                        FormOptions.inMemory(budget).unlimitedBodyBytes().build());
            }
            assertTrue(budget.peak() <= 2 << 20, "held: " + budget.peak());
        }
        assertEquals(0, budget.used());
    }

    private static MultipartException rejected(InputStream body, FormOptions options) {
        return assertThrows(MultipartException.class, () -> PushedForm.read(body, X, options));
    }

    private static void assertTooLarge(Reason reason, String headers, FormOptions options) {
        Repeated body = huge(headers);
        MultipartException e = rejected(body, options);
        assertEquals(reason, e.reason());
        assertEquals(413, e.httpStatus());
        assertTrue(body.taken() <= 2 << 20, "taken: " + body.taken());
    }

    @Test
    void cve_2025_61771_manyFields_reachLimitOfForm() throws IOException {
        String field = Run.HEAD + "v".repeat(60_000) + "\r\n";
        Repeated body = new Repeated("", field, 500, "--x--");
        MultipartException e = rejected(body, FormOptions.inMemory(budget).build());
        assertEquals(Reason.IN_MEMORY_TOO_LARGE, e.reason());
        assertTrue(body.taken() <= (1 << 20) + (64 << 10), "taken: " + body.taken());
        assertTrue(budget.peak() <= (1 << 20) + (64 << 10), "held: " + budget.peak());
        try (SpoolDirectory spool = spool();
                MultipartForm form = PushedForm.read(
                        new Repeated("", field, 60, "--x--"),
                        X,
                        FormOptions.builder(spool, budget).build())) {
            assertEquals(60, form.fields().size());
            assertTrue(budget.peak() <= (1 << 20) + (64 << 10), "held: " + budget.peak());
            assertTrue(spool.files() >= 43, "files: " + spool.files());
        }
    }

    @Test
    void cve_2024_49767_form_usesNoMoreHeapThanCharged() throws IOException {
        FormOptions options = FormOptions.inMemory(MemoryBudget.unlimited())
                .maxInMemoryBytes(64 << 20)
                .maxHeaderBytes(64 << 20)
                .build();
        // The euro sign: a String that contains it needs two bytes for each character.
        String wide = "\u00e2\u0082\u00ac";
        for (String part : List.of(
                Run.HEAD + "\r\n",
                Run.HEAD + "v".repeat(300) + "\r\n",
                Run.HEAD + "v".repeat(20_000) + "\r\n",
                "--x\r\nContent-Disposition: form-data; name=\"" + "n".repeat(4000) + "\"\r\n\r\n\r\n",
                "--x\r\nContent-Disposition: form-data; name=\"" + "n".repeat(4000) + wide + "\"\r\n\r\n\r\n",
                "--x\r\nContent-Disposition: form-data; name=a; filename=\"" + wide.repeat(1000) + "\"\r\n\r\n\r\n",
                "--x\r\n" + Run.FIELD + "X: " + "h".repeat(4000) + "\r\n\r\n\r\n")) {
            double overhead = Memory.overhead(
                    options.toBuilder().unlimitedFiles().build(), () -> new Repeated("", part, 500, "--x--"));
            assertTrue(
                    overhead <= 1.25, part.length() + ": the heap used, as a multiple of the charge, is " + overhead);
        }
    }

    @Test
    void cve_2022_41725_emptyPart_isCharged() throws IOException {
        Repeated parts = new Repeated("", Run.HEAD + "\r\n", 1000, "--x--");
        FormOptions options = FormOptions.inMemory(budget).build();
        try (MultipartForm form = PushedForm.read(parts, X, options)) {
            assertEquals(1000, form.parts().size());
            assertTrue(budget.used() >= 1000 * 512, "used: " + budget.used());
        }
        assertEquals(0, budget.used());
        MultipartException e = assertThrows(
                MultipartException.class,
                () -> PushedForm.read(
                        new Repeated("", Run.HEAD + "\r\n", 1000, "--x--"),
                        X,
                        options.toBuilder().maxInMemoryBytes(100_000).build()));
        assertEquals(Reason.IN_MEMORY_TOO_LARGE, e.reason());
        assertTrue(e.partIndex() < 200, "part: " + e.partIndex());
    }

    @Test
    void cve_2024_3884_namesAreChargedAndBodyIsLimitedByDefault() throws IOException {
        String part = "--x\r\nContent-Disposition: form-data; name=\"" + "n".repeat(7000) + "\"\r\n\r\n\r\n";
        FormOptions options = FormOptions.inMemory(budget)
                .maxInMemoryBytes(200_000)
                .unlimitedHeaderBytes()
                .build();
        MultipartException names = rejected(new Repeated("", part, 1000, "--x--"), options);
        assertEquals(Reason.IN_MEMORY_TOO_LARGE, names.reason());
        assertTrue(names.partIndex() <= 200_000 / 14_000, "part: " + names.partIndex());
        FormOptions defaults = FormOptions.inMemory(budget)
                .decider(head -> PartDecision.skip())
                .build();
        Repeated body = huge(Run.FIELD);
        MultipartException size = rejected(body, defaults);
        assertEquals(Reason.BODY_TOO_LARGE, size.reason());
        assertEquals(64L << 20, size.offset());
        assertTrue(body.taken() <= (64L << 20) + (32 << 10) + 1, "taken: " + body.taken());
    }

    @Test
    void cve_2023_34149_text_aboveFieldLimit_isRejected() throws IOException {
        try (SpoolDirectory spool = spool();
                MultipartForm form = PushedForm.read(
                        new Repeated(Run.HEAD, "v", (256 << 10) + 1, Run.TAIL),
                        X,
                        FormOptions.builder(spool, budget).build())) {
            assertFalse(form.parts().get(0).isInMemory());
            assertReason(assertThrows(
                    MultipartException.class, () -> form.parts().get(0).text()));
            assertReason(assertThrows(MultipartException.class, () -> form.text("a")));
            assertReason(assertThrows(MultipartException.class, () -> form.texts("a")));
        }
        Repeated body = huge(Run.FIELD);
        try (MultipartReader reader = MultipartReader.create(body, X)) {
            MultipartReader.Part part = reader.nextPart();
            assertReason(assertThrows(MultipartException.class, part::text));
            assertTrue(body.taken() <= 512 << 10, "taken: " + body.taken());
        }
    }

    private static void assertReason(MultipartException e) {
        assertEquals(Reason.FIELD_TOO_LARGE, e.reason());
    }
}
