package dev.sluice.threats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException.Reason;
import dev.sluice.Preset;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PushedForm;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.form.Upload;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bugs of other parsers. When each bug was planted in Sluice, no other test in this package detected it. */
class HistoryTest {
    @TempDir
    Path root;

    @Test
    void part_leavesNoStateForNextPart() {
        String body = "--x\r\nContent-Disposition: form-data; name=\"a\"; filename*=UTF-8''f\r\n\r\n0123456789\r\n"
                + "--x\r\nContent-Disposition: form-data; name=\"b\"\r\n\r\n0123456789\r\n"
                + "--x\r\nContent-Disposition:form-data;name=c\r\n\r\n0123456789\r\n"
                + "--x\r\nContent-Disposition: form-data; name=\"d\"; filename=\"g\"\r\n\r\n\r\n"
                + "--x\r\nContent-Disposition:form-data;name=e\r\n\r\n0123456789\r\n--x--";
        for (Preset preset : List.of(Preset.STANDARD, Preset.COMPATIBLE)) {
            for (int chunkSize : new int[] {1, 17, 1000}) {
                Run run = Run.of(
                                body,
                                Run.options(
                                        preset,
                                        limits -> limits.maxPartBytes(10).maxFiles(2)),
                                chunkSize)
                        .assertAccepted();
                assertEquals(
                        List.of(
                                new Run.Part("a", "f", "0123456789"),
                                new Run.Part("b", null, "0123456789"),
                                new Run.Part("c", null, "0123456789"),
                                new Run.Part("d", "g", ""),
                                new Run.Part("e", null, "0123456789")),
                        run.parts);
                assertTrue(run.deviationCount <= 1, run.deviations.toString());
                Run.of(body, Run.options(preset, limits -> limits.maxFiles(1)), chunkSize)
                        .assertRejected(Reason.TOO_MANY_FILES);
            }
        }
    }

    @Test
    void nestedBody_inAnySpelling_isRejectedByStrict() {
        for (String type : List.of("multipart/mixed", "Multipart/Form-Data", "MULTIPART/x")) {
            for (String header : List.of("Content-Type: ", "Content-Type:", "content-type: ")) {
                String body = "--x\r\n" + Run.FIELD + header + type + "; boundary=y\r\n\r\n--y--" + Run.TAIL;
                Run.of(body, Preset.STRICT).assertRejected(Reason.UNSUPPORTED_MEDIA_TYPE);
                assertEquals(1, Run.of(body).assertAccepted().parts.size());
            }
        }
    }

    @Test
    void contentInFile_isNotChargedAsMemory() throws IOException {
        MemoryBudget budget = MemoryBudget.of(4 << 20);
        String part = Run.HEAD + "v".repeat(100 << 10) + "\r\n";
        try (SpoolDirectory spool =
                        SpoolDirectory.builder(root).keepFreeBytes(0).open();
                MultipartForm form = PushedForm.read(
                        new Repeated("", part, 20, "--x--"),
                        Upload.BOUNDARY,
                        FormOptions.builder(spool, budget).build())) {
            assertEquals(20, form.parts().size());
            assertEquals(20, spool.files());
            assertTrue(budget.used() <= 20 * 1024, "used: " + budget.used());
        }
        assertEquals(0, budget.used());
    }
}
