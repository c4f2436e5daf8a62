package dev.sluice.threats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.Preset;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PushedForm;
import dev.sluice.legacy.TransferDecoder;
import dev.sluice.testkit.ProofSize;
import dev.sluice.testkit.Soup;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

/**
 * Section M of threats.md, differences between readers: ambiguous input is rejected, or has the same result for every split.
 */
class DifferentialsTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final long BLANKS = ProofSize.of("sluice.blanks", 2 << 20, 20 << 20);

    @Tag("sized")
    @Test
    @Timeout(value = 180, threadMode = ThreadMode.SEPARATE_THREAD)
    void cve_2026_33033_whitespaceInBase64_isReadOnce() throws IOException {
        String head = "--x\r\n" + Run.FIELD + "Content-Transfer-Encoding: base64\r\n\r\n";
        List<String> tokens = List.of(" ", "\r\n", "QQ", "Q \r\n", "\t");
        for (String token : tokens) {
            for (int chunkSize : new int[] {1, 76, 8192, 64 << 10}) {
                assertReadOnce(Run.bytes(token.repeat((64 << 10) / token.length())), chunkSize);
            }
        }
        for (String token : tokens) {
            for (Preset preset : List.of(Preset.STANDARD, Preset.COMPATIBLE)) {
                FormOptions options = FormOptions.inMemory(MemoryBudget.unlimited())
                        .preset(preset)
                        .maxInMemoryBytes(64 << 20)
                        .maxFieldBytes(64 << 20)
                        .build();
                long times = BLANKS / token.length();
                Repeated body = new Repeated(head, token, times, Run.TAIL);
                long before = THREADS.getCurrentThreadAllocatedBytes();
                try (MultipartForm form = PushedForm.read(body, Boundary.of("x"), options)) {
                    long allocated = THREADS.getCurrentThreadAllocatedBytes() - before;
                    assertTrue(allocated <= 4 * body.size(), "allocated: " + allocated);
                    long size = form.parts().get(0).size();
                    long letters = token.chars().filter(c -> c == 'Q').count() * times;
                    assertEquals(preset == Preset.STANDARD ? token.length() * times : letters * 6 / 8, size);
                }
            }
        }
    }

    /** Decodes base64, and checks that each byte is read once, and that little memory is allocated. */
    private static void assertReadOnce(byte[] encoded, int chunkSize) throws IOException {
        TransferDecoder decoder = TransferDecoder.of("base64", IOException::new);
        long reads = 0;
        long allocated = 0;
        long calls = 0;
        for (int at = 0; at < encoded.length; at += chunkSize) {
            CountedBytes chunk =
                    new CountedBytes(Arrays.copyOfRange(encoded, at, Math.min(at + chunkSize, encoded.length)));
            long before = THREADS.getCurrentThreadAllocatedBytes();
            decoder.decode(chunk);
            allocated += THREADS.getCurrentThreadAllocatedBytes() - before;
            reads += chunk.reads();
            chunk.release();
            calls++;
        }
        assertEquals(encoded.length, reads, "in chunks of " + chunkSize);
        assertTrue(allocated <= 4L * encoded.length + 256 * calls, "allocated: " + allocated);
    }

    /** Writes parts again like a relay, using only the output of the decoder. */
    private static byte[] relayed(Boundary boundary, List<Run.Part> parts) throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (Run.Part part : parts) {
            String filename = part.filename() == null ? "" : "; filename=\"" + part.filename() + "\"";
            body.write(("--" + boundary.value() + "\r\nContent-Disposition: form-data; name=\"" + part.name() + "\""
                            + filename + "\r\n\r\n")
                    .getBytes(StandardCharsets.UTF_8));
            body.write(Run.bytes(part.body() + "\r\n"));
        }
        body.write(Run.bytes("--" + boundary.value() + "--\r\n"));
        return body.toByteArray();
    }

    @Test
    void cve_2026_59389_formAcceptedByStrict_relayed_isUnchanged() throws IOException {
        MultipartOptions strict =
                MultipartOptions.builder().preset(Preset.STRICT).build();
        int forms = 0;
        for (int seed = 0; seed < 20_000; seed++) {
            Soup.Body soup = Soup.body(seed);
            Boundary boundary;
            try {
                boundary = Boundary.formData(soup.contentType(), Preset.STRICT);
            } catch (MultipartException e) {
                continue;
            }
            Run first = Run.of(boundary, new ByteArrayInputStream(soup.bytes()), strict, 1000);
            if (first.failure == null && !first.parts.isEmpty()) {
                forms++;
                byte[] again = relayed(boundary, first.parts);
                Run second = Run.of(boundary, new ByteArrayInputStream(again), strict, 1000);
                assertNull(second.failure, soup::toString);
                assertEquals(first.parts, second.parts, soup::toString);
            }
        }
        assertTrue(forms > 1000, "forms: " + forms);
    }
}
