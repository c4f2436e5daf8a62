package dev.sluice.threats;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
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
import java.util.SplittableRandom;
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
}
