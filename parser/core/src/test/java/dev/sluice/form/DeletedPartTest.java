package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Boundary;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A part that the application is done with before its form. */
class DeletedPartTest {
    @TempDir
    Path root;

    private final MemoryBudget budget = MemoryBudget.of(1 << 20);
    private SpoolDirectory spool;

    @BeforeEach
    void open() throws IOException {
        spool = SpoolDirectory.builder(root).keepFreeBytes(0).open();
    }

    @AfterEach
    void close() throws IOException {
        assertEquals(0, spool.files());
        assertEquals(0, budget.used());
        spool.close();
    }

    private MultipartForm form(long spillThreshold) throws IOException {
        String body = "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\n\r\ncontent\r\n--B--\r\n";
        return PushedForm.read(
                new ByteArrayInputStream(body.getBytes(StandardCharsets.US_ASCII)),
                Boundary.of("B"),
                FormOptions.builder(spool, budget)
                        .spillThreshold(spillThreshold)
                        .build());
    }

    @Test
    void itsFileIsGoneAtOnceAndItsStreamsAreClosed() throws IOException {
        try (MultipartForm form = form(0)) {
            FormPart part = form.parts().get(0);
            InputStream stream = part.inputStream();
            part.delete();
            part.delete();
            assertEquals(0, spool.files());
            assertThrows(IOException.class, stream::read);
            assertThrows(IllegalStateException.class, part::inputStream);
            assertEquals(7, part.size());
        }
    }

    @Test
    void itsMemoryIsGivenBackAtOnce() throws IOException {
        try (MultipartForm form = form(1000)) {
            long before = budget.used();
            form.parts().get(0).delete();
            assertTrue(budget.used() < before);
        }
    }

    @Test
    void whatWasMovedOrDetachedBeforeIsNotTouched() throws IOException {
        Path target = root.resolve("moved");
        try (MultipartForm form = form(0)) {
            form.parts().get(0).moveTo(target);
            form.parts().get(0).delete();
            assertEquals("content", Files.readString(target));
        }
        try (MultipartForm form = form(0);
                PartContent detached = form.parts().get(0).detach()) {
            form.parts().get(0).delete();
            assertEquals(7, detached.toByteArray().length);
        }
    }
}
