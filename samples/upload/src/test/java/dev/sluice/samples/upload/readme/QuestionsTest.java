package dev.sluice.samples.upload.readme;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.form.Forms;
import dev.sluice.testkit.SpooledFiles;
import dev.sluice.testkit.TestForm;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the code samples of the page with questions. */
class QuestionsTest {
    private static final byte[] CONTENT = TestForm.noise(300_000, 1);

    @TempDir
    Path root;

    private static InputStream body(TestForm form) {
        return new ByteArrayInputStream(form.body());
    }

    private static TestForm photos() {
        return new TestForm()
                .field("title", "Sea")
                .file("photo", "a.jpg", CONTENT)
                .file("photo", "b.jpg", new byte[0])
                .file("photo", "", new byte[0]);
    }

    @Test
    void checksums_areThoseOfTheStoredFiles_andFailedFormStoresNothing() throws IOException {
        Path store = Files.createDirectory(root.resolve("store"));
        try (Forms forms = Forms.open(root.resolve("spool"), options -> options)) {
            Map<Path, String> checksums = Checksums.receive(forms, body(photos()), TestForm.CONTENT_TYPE, store);
            assertEquals(2, checksums.size());
            for (Map.Entry<Path, String> file : checksums.entrySet()) {
                assertEquals(TestForm.sha256(Files.readAllBytes(file.getKey())), file.getValue());
            }
            InputStream truncated = new ByteArrayInputStream(photos().open());
            assertThrows(
                    MultipartException.class, () -> Checksums.receive(forms, truncated, TestForm.CONTENT_TYPE, store));
        }
        assertEquals(2, SpooledFiles.below(store).size());
    }

    @Test
    void progress_endsWith100Percent_andIsNotReportedWithoutLength() throws IOException {
        try (Forms forms = Forms.open(root, options -> options)) {
            List<Long> percents = new ArrayList<>();
            long length = photos().body().length;
            UploadProgress.receive(forms, body(photos()), TestForm.CONTENT_TYPE, length, percents::add);
            assertEquals(100, percents.get(percents.size() - 1));
            percents.clear();
            int files = UploadProgress.receive(forms, body(photos()), TestForm.CONTENT_TYPE, -1, percents::add);
            assertEquals(2, files);
            assertEquals(List.of(), percents);
        }
    }

    @Test
    void otherMultipart_isReadPartByPart() throws IOException {
        String body =
                "--x\r\nContent-Type: text/plain\r\n\r\none\r\n--x\r\nContent-Type: image/png\r\n\r\n12\r\n--x--\r\n";
        for (String type : List.of("mixed", "related", "byteranges", "form-data")) {
            InputStream in = new ByteArrayInputStream(body.getBytes(StandardCharsets.US_ASCII));
            String contentType = "multipart/" + type + "; boundary=x";
            if (type.equals("form-data")) {
                assertThrows(MultipartException.class, () -> OtherMultipart.read(in, contentType));
            } else {
                assertEquals(
                        "{0 text/plain=3, 1 image/png=2}",
                        OtherMultipart.read(in, contentType).toString());
            }
        }
    }

    @Test
    void largeUploads_haveQuotaToMatch() throws IOException {
        try (Forms forms = LargeUploads.open(root)) {
            assertEquals(2049L << 20, forms.options().multipart().maxBodyBytes());
            assertTrue(forms.options().spool().maxSpoolBytes() >= 16 * (2L << 30));
        }
    }
}
