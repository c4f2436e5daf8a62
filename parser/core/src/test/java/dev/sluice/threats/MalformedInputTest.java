package dev.sluice.threats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.MultipartReader;
import dev.sluice.Preset;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormPart;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PushedForm;
import dev.sluice.testkit.Soup;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Section J of threats.md, crashes on malformed input: every malformed body causes the same type of exception. */
class MalformedInputTest {
    private static FormOptions options(Preset preset) {
        return FormOptions.inMemory(MemoryBudget.unlimited()).preset(preset).build();
    }

    /**
     * Reads the body through every API.
     *
     * @return whether it was accepted
     */
    private static boolean read(String contentType, byte[] body, Preset preset) {
        try {
            Boundary boundary = Boundary.anyMultipart(contentType, preset);
            try (MultipartReader reader = MultipartReader.create(
                    new ByteArrayInputStream(body), boundary, options(preset).multipart())) {
                for (MultipartReader.Part part; (part = reader.nextPart()) != null; ) {
                    part.safeFilename();
                    part.head().headers();
                    part.text();
                }
            }
            if (boundary.isFormData()) {
                try (MultipartForm form = PushedForm.read(new ByteArrayInputStream(body), boundary, options(preset))) {
                    for (FormPart part : form.parts()) {
                        part.safeFilename();
                        part.text();
                    }
                }
            }
            return true;
        } catch (MultipartException e) {
            return false;
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void cve_2022_24434_randomBody_isAcceptedOrThrowsMultipartException() {
        SplittableRandom random = new SplittableRandom(24434);
        int accepted = 0;
        for (int seed = 0; seed < 24_000; seed++) {
            Soup.Body soup = Soup.body(seed);
            byte[] body = soup.bytes();
            if (seed % 2 == 0 && body.length > 0) { // changes random bytes
                for (int change = random.nextInt(4); change >= 0; change--) {
                    body[random.nextInt(body.length)] = (byte) random.nextInt(256);
                }
            }
            try {
                accepted += read(soup.contentType(), body, Run.PRESETS.get(seed % 3)) ? 1 : 0;
            } catch (RuntimeException | Error e) {
                throw new AssertionError(soup.toString(), e);
            }
        }
        assertTrue(accepted > 1000, "accepted: " + accepted);
    }

    private static void assertRejected(String disposition, Reason reason) {
        for (Preset preset : Run.PRESETS) {
            Run.of("--x\r\nContent-Disposition: " + disposition + "\r\n\r\nv\r\n--x--", preset)
                    .assertRejected(reason);
        }
    }

    @Test
    void cve_2025_47944_emptyName_isAccepted_truncatedNameIsRejected() {
        for (Preset preset : Run.PRESETS) {
            for (String value : List.of("form-data; name=\"\"", "form-data;name=\"\"", "form-data; x=y; name=\"\"")) {
                Run empty = Run.of("--x\r\nContent-Disposition: " + value + "\r\n\r\nv\r\n--x--", preset)
                        .assertAccepted();
                assertEquals("", empty.parts.get(0).name());
            }
        }
        assertRejected("form-data; name=\"", Reason.MALFORMED_CONTENT_DISPOSITION);
        assertRejected("form-data; name=", Reason.MALFORMED_CONTENT_DISPOSITION);
        assertRejected("form-data; name=\"\\", Reason.MALFORMED_CONTENT_DISPOSITION);
        assertRejected("form-data; name", Reason.MALFORMED_CONTENT_DISPOSITION);
        assertRejected("form-data; ", Reason.MISSING_NAME);
    }

    @Test
    void cve_2025_47944_deepNestingAndManyEscapes_needNoRecursion() throws InterruptedException {
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        // A stack of this size overflows on recursion.
        Thread small = new Thread(null, MalformedInputTest::nestDeeply, "small stack", 64 << 10);
        small.setUncaughtExceptionHandler((thread, e) -> thrown.set(e));
        small.start();
        small.join();
        assertEquals(null, thrown.get());
    }

    private static void nestDeeply() {
        StringBuilder body = new StringBuilder();
        for (int depth = 0; depth < 2000; depth++) {
            body.append("--x").append(depth).append("\r\nContent-Disposition: form-data; name=n\r\n");
            body.append("Content-Type: multipart/mixed; boundary=x")
                    .append(depth + 1)
                    .append("\r\n\r\n");
        }
        for (Preset preset : Run.PRESETS) {
            read("multipart/form-data; boundary=x0", Run.bytes(body.toString()), preset);
        }
        String escapes = "--x\r\nContent-Disposition: form-data; name=\"" + "\\\"\\\\".repeat(2000) + "\"\r\n\r\n";
        read("multipart/form-data; boundary=x", Run.bytes(escapes + "\r\n--x--"), Preset.COMPATIBLE);
    }

    @Test
    void nettyContrib_29_missingName_isRejectedWith400() throws IOException {
        String noName = "--x\r\nContent-Disposition: form-data; filename=\"f\"\r\n\r\nv\r\n--x--";
        String noDisposition = "--x\r\nContent-Type: text/plain\r\n\r\nv\r\n--x--";
        for (Preset preset : Run.PRESETS) {
            Run.of(noName, preset).assertRejected(Reason.MISSING_NAME);
            Run.of(noDisposition, preset).assertRejected(Reason.MISSING_CONTENT_DISPOSITION);
            for (String body : List.of(noName, noDisposition)) {
                InputStream in = new ByteArrayInputStream(Run.bytes(body));
                MultipartException e = assertThrows(
                        MultipartException.class, () -> PushedForm.read(in, Boundary.of("x"), options(preset)));
                assertEquals(400, e.httpStatus());
            }
        }
        Boundary mixed = Boundary.anyMultipart("multipart/mixed; boundary=x");
        try (MultipartReader reader =
                MultipartReader.create(new ByteArrayInputStream(Run.bytes(noDisposition)), mixed)) {
            MultipartReader.Part part = reader.nextPart();
            assertEquals(null, part.name());
            assertEquals(null, part.safeFilename());
            assertEquals("v", part.text());
        }
    }

    @Test
    void tomcat_invalidFileName_controlInFilename_isKeptOrRejectedWith400() {
        for (char control = 0; control < 0x80; control++) {
            if ((control < ' ' || control == 0x7F) && control != '\t') {
                for (Preset preset : Run.PRESETS) {
                    if (control == '\n' && preset == Preset.COMPATIBLE) {
                        continue; // a line end in this preset
                    }
                    for (String quote : List.of("", "\"")) {
                        Run run = Run.of(
                                "--x\r\nContent-Disposition: form-data; name=a; filename=" + quote + "a.jsp" + control
                                        + ".png" + quote + "\r\n\r\nv\r\n--x--",
                                preset);
                        boolean alwaysRejected = control == 0 || control == '\r' || control == '\n';
                        if (quote.isEmpty() || alwaysRejected || preset == Preset.STRICT) {
                            run.assertRejected(Reason.MALFORMED_HEADER);
                            assertEquals(400, run.failure.httpStatus());
                        } else {
                            run.assertAccepted();
                            assertEquals(
                                    "a.jsp" + control + ".png", run.parts.get(0).filename());
                        }
                    }
                }
            }
        }
    }
}
