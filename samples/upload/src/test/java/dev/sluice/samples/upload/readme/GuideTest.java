package dev.sluice.samples.upload.readme;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import dev.sluice.samples.upload.TestForm;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the guide shows does what the guide says. */
class GuideTest {
    @TempDir
    Path directory;

    private static InputStream body(TestForm form) {
        return new ByteArrayInputStream(form.body());
    }

    @Test
    void aStreamIsReadAndTheFileStays() throws IOException {
        try (Forms forms = Forms.open()) {
            Guide guide = new Guide(forms, directory);
            TestForm form = new TestForm().field("title", "Sea").file("photo", "../x", new byte[] {1, 2});
            assertEquals("Sea", guide.stream(body(form), TestForm.CONTENT_TYPE));
            try (Stream<Path> files = Files.list(directory)) {
                assertEquals(2, Files.size(files.findAny().orElseThrow()));
            }
            assertNull(guide.stream(body(new TestForm().field("a", "1")), TestForm.CONTENT_TYPE));
        }
    }

    @Test
    void anErrorIsAnsweredWithItsStatusAndInItsWords() throws IOException {
        try (Forms forms = Forms.open(directory, options -> options.maxBodyBytes(1000))) {
            Guide guide = new Guide(forms, directory);
            assertEquals("took 1 parts", guide.answer(body(new TestForm().field("a", "1")), TestForm.CONTENT_TYPE));
            assertEquals(
                    "The most is 1000 bytes.",
                    guide.answer(body(new TestForm().file("f", "f", new byte[1000])), TestForm.CONTENT_TYPE));
            assertEquals(413, guide.status());
            guide.answer(new ByteArrayInputStream(new byte[0]), TestForm.CONTENT_TYPE);
            assertEquals(400, guide.status());
        }
    }

    @Test
    void aDeciderAndAPresetTakeWhatTheySay() throws IOException {
        String lines = new String(new TestForm().field("a", "1").body(), StandardCharsets.UTF_8).replace("\r\n", "\n");
        try (Forms forms = Forms.open(
                        directory, options -> options.decider(Guide.onlyPdf()).preset(Guide.oneOldClient()));
                MultipartForm old = forms.read(
                        new ByteArrayInputStream(lines.getBytes(StandardCharsets.UTF_8)), TestForm.CONTENT_TYPE);
                MultipartForm refused =
                        forms.read(body(new TestForm().file("f", "f.txt", new byte[1])), TestForm.CONTENT_TYPE)) {
            assertEquals("1", old.text("a"));
            assertEquals(415, refused.refused().get(0).httpStatus());
        }
    }
}
