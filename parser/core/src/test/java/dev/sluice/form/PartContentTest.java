package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.testkit.FaultyFileSystem;
import dev.sluice.testkit.OpenFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Parts that are moved, detached or deleted. The part {@code small} is in memory, {@code large} in a file. */
class PartContentTest extends SpooledTest {
    private static final String LARGE = "l".repeat(1000);

    private final MemoryBudget roomy = MemoryBudget.of(1 << 20);

    PartContentTest() {
        super(100_000, 16 << 20);
    }

    private MultipartForm form() throws IOException {
        return formOn(spool);
    }

    private static String expected(String name) {
        return name.equals("small") ? "small" : LARGE;
    }

    private static List<String> names(Path directory) {
        return Upload.list(directory).stream()
                .map(path -> path.getFileName().toString())
                .toList();
    }

    private static FormPart part(MultipartForm form, String name) {
        FormPart part = form.part(name);
        assertNotNull(part);
        return part;
    }

    @ParameterizedTest
    @ValueSource(strings = {"small", "large"})
    void movedPart_outlivesItsForm(String name) throws IOException {
        Path target = root.resolve("target");
        try (MultipartForm form = form()) {
            FormPart part = part(form, name);
            part.moveTo(target);
            assertEquals(expected(name).length(), part.size());
            assertThrows(IllegalStateException.class, part::inputStream);
            assertThrows(IllegalStateException.class, () -> part.moveTo(target));
            assertThrows(IllegalStateException.class, part::detach);
            assertEquals(name.equals("large") ? 0 : 1, spool.files());
            part.delete(); // has no effect
        }
        assertEquals(expected(name), Files.readString(target));
        assertEquals(List.of("spool", "target"), names(root));
    }

    @ParameterizedTest
    @ValueSource(strings = {"small", "large"})
    void moveTo_existingTarget_isReplacedOnlyOnRequest(String name) throws IOException {
        Path target = Files.writeString(root.resolve("target"), "old");
        try (MultipartForm form = form()) {
            FormPart part = part(form, name);
            assertThrows(FileAlreadyExistsException.class, () -> part.moveTo(target));
            assertEquals("old", Files.readString(target));
            assertEquals(expected(name), part.text());
            assertThrows(
                    UnsupportedOperationException.class, () -> part.moveTo(target, StandardCopyOption.COPY_ATTRIBUTES));
            part.moveTo(target, StandardCopyOption.REPLACE_EXISTING);
        }
        assertEquals(expected(name), Files.readString(target));
    }

    @ParameterizedTest
    @ValueSource(strings = {"small", "large"})
    void copiedPart_remainsAvailable(String name) throws IOException {
        Path target = root.resolve("target");
        try (MultipartForm form = form()) {
            FormPart part = part(form, name);
            part.copyTo(target);
            assertThrows(FileAlreadyExistsException.class, () -> part.copyTo(target));
            Files.writeString(target, "old");
            part.copyTo(target, StandardCopyOption.REPLACE_EXISTING);
            assertEquals(expected(name), part.text());
            part.delete();
            assertThrows(IllegalStateException.class, () -> part.copyTo(target));
        }
        assertEquals(expected(name), Files.readString(target));
        assertEquals(List.of("spool", "target"), names(root));
    }

    @ParameterizedTest
    @ValueSource(strings = {"small", "large"})
    void moveTo_thatFails_leavesThePartUnchanged(String name) throws IOException {
        try (MultipartForm form = form()) {
            FormPart part = part(form, name);
            assertThrows(
                    NoSuchFileException.class,
                    () -> part.moveTo(root.resolve("missing").resolve("target")));
            assertEquals(expected(name), part.text());
            part.moveTo(root.resolve("target"));
        }
        assertEquals(expected(name), Files.readString(root.resolve("target")));
    }

    @Test
    void moveTo_anotherFileSystem_copiesAndRenames() throws IOException {
        FaultyFileSystem files = new FaultyFileSystem(FileSystems.getDefault());
        files.otherFileSystem();
        Path targets = files.wrap(Files.createDirectory(root.resolve("targets")));
        try (SpoolDirectory other = SpoolDirectory.builder(files.wrap(root.resolve("other")))
                .keepFreeBytes(0)
                .open()) {
            FormOptions options =
                    FormOptions.builder(other, budget).spillThreshold(0).build();
            for (String target : List.of("one", "two")) {
                try (MultipartForm form = new Upload().file("large", "l", LARGE).read(options)) {
                    files.failAt(-1);
                    part(form, "large").moveTo(targets.resolve(target));
                    assertTrue(
                            files.calls().containsAll(List.of("write", "move")),
                            files.calls().toString());
                    assertEquals(0, other.files());
                }
            }
        }
        assertEquals(List.of("one", "two"), names(root.resolve("targets")));
        assertEquals(LARGE, Files.readString(root.resolve("targets/two")));
    }

    private static FaultyFileSystem withoutHardLinks(boolean asOnFat) {
        FaultyFileSystem files = new FaultyFileSystem(FileSystems.getDefault());
        if (asOnFat) {
            files.basicOnly();
        } else {
            files.withoutLinks();
        }
        return files;
    }

    private MultipartForm formOn(SpoolDirectory other) throws IOException {
        return new Upload()
                .file("small", "s", "small")
                .file("large", "l", LARGE)
                .read(FormOptions.builder(other, budget).spillThreshold(100).build());
    }

    @ParameterizedTest
    @CsvSource({"small, true", "small, false", "large, true", "large, false"})
    void moveTo_withoutHardLinks_renamesAndKeepsAnExistingTarget(String name, boolean asOnFat) throws IOException {
        FaultyFileSystem files = withoutHardLinks(asOnFat);
        Path targets = files.wrap(Files.createDirectory(root.resolve("targets")));
        Files.writeString(root.resolve("targets/taken"), "old");
        try (SpoolDirectory other = SpoolDirectory.builder(files.wrap(root.resolve("other")))
                        .keepFreeBytes(0)
                        .open();
                MultipartForm form = formOn(other);
                MultipartForm another = formOn(other)) {
            FormPart part = part(form, name);
            assertThrows(FileAlreadyExistsException.class, () -> part.moveTo(targets.resolve("taken")));
            assertEquals("old", Files.readString(root.resolve("targets/taken")));
            assertEquals(expected(name), part.text());
            files.failAt(-1);
            part.moveTo(targets.resolve("free"));
            int link = files.calls().indexOf("link");
            assertTrue(
                    link >= 0 && files.calls().indexOf("move") > link,
                    files.calls().toString());
            part(another, name).moveTo(targets.resolve("taken"), StandardCopyOption.REPLACE_EXISTING);
            assertEquals(name.equals("large") ? 0 : 2, other.files());
        }
        assertEquals(List.of("free", "taken"), names(root.resolve("targets")));
        assertEquals(expected(name), Files.readString(root.resolve("targets/free")));
        assertEquals(expected(name), Files.readString(root.resolve("targets/taken")));
    }

    @ParameterizedTest
    @CsvSource({"small, true", "small, false", "large, true", "large, false"})
    void moveTo_withoutHardLinks_leavesThePartUnchangedIfTheRenameFails(String name, boolean asOnFat)
            throws IOException {
        FaultyFileSystem files = withoutHardLinks(asOnFat);
        Path targets = files.wrap(Files.createDirectory(root.resolve("targets")));
        try (SpoolDirectory other = SpoolDirectory.builder(files.wrap(root.resolve("other")))
                .keepFreeBytes(0)
                .open()) {
            int rename;
            try (MultipartForm form = formOn(other)) {
                files.failAt(-1);
                part(form, name).moveTo(targets.resolve("target"));
                rename = files.calls().indexOf("move");
            }
            Files.delete(root.resolve("targets/target"));
            try (MultipartForm form = formOn(other)) {
                FormPart part = part(form, name);
                files.failAt(rename);
                assertThrows(IOException.class, () -> part.moveTo(targets.resolve("target")));
                assertTrue(files.hasFailed());
                files.failAt(-1);
                assertEquals(List.of(), Upload.list(root.resolve("targets")));
                assertEquals(expected(name), part.text());
                part.moveTo(targets.resolve("target"));
            }
        }
        assertEquals(expected(name), Files.readString(root.resolve("targets/target")));
    }

    @ParameterizedTest
    @ValueSource(strings = {"small", "large"})
    void detachedPart_outlivesItsFormAndBelongsToTheCaller(String name) throws IOException {
        PartContent detached;
        try (MultipartForm form = form()) {
            FormPart part = part(form, name);
            detached = part.detach();
            assertThrows(IllegalStateException.class, part::inputStream);
            assertThrows(IllegalStateException.class, part::detach);
            part.delete(); // has no effect
        }
        assertEquals(name.equals("small") ? "small".length() : 0, budget.used());
        assertEquals(name.equals("large") ? 1 : 0, spool.files());
        assertEquals(expected(name), new String(detached.bytes(), StandardCharsets.US_ASCII));
        InputStream open = detached.inputStream();
        detached.close();
        detached.close();
        assertThrows(IOException.class, open::read);
        assertThrows(IllegalStateException.class, detached::inputStream);
    }

    @ParameterizedTest
    @ValueSource(strings = {"small", "large"})
    void deletedPart_releasesItsContentImmediatelyAndClosesItsStreams(String name) throws IOException {
        try (MultipartForm form = form()) {
            FormPart part = part(form, name);
            InputStream stream = part.inputStream();
            long used = budget.used();
            part.delete();
            part.delete();
            assertTrue(name.equals("large") ? spool.files() == 0 : budget.used() < used);
            assertThrows(IOException.class, stream::read);
            assertThrows(IllegalStateException.class, part::inputStream);
            assertEquals(expected(name).length(), part.size());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"small", "large"})
    void detach_closesTheStreamsOfThePart(String name) throws IOException {
        try (MultipartForm form = form()) {
            FormPart part = part(form, name);
            InputStream open = part.inputStream();
            try (PartContent detached = part.detach()) {
                assertThrows(IOException.class, open::read);
                assertEquals(List.of(), OpenFiles.below(spool.path()));
                assertEquals(expected(name), new String(detached.bytes(), StandardCharsets.US_ASCII));
            }
        }
    }

    @Test
    void detach_withAFullBudget_leavesThePartUnchanged() throws IOException {
        try (MultipartForm form = form();
                MemoryBudget.Account other = budget.open()) {
            other.reserve(100_000 / 4 * 3 - budget.used());
            try (MemoryBudget.Account small = budget.open()) {
                assertTrue(small.tryReserve(100_000 - budget.used()));
                assertEquals(
                        Reason.MEMORY_FULL,
                        assertThrows(
                                        MultipartException.class,
                                        () -> part(form, "small").detach())
                                .reason());
                assertEquals("small", part(form, "small").text());
            }
        }
    }

    /** {@return a form of equal bytes in several segments of memory, the last of them nearly full} */
    private MultipartForm inMemory(String letter) throws IOException {
        return new Upload()
                .file("file", "f", letter.repeat(24_000))
                .read(FormOptions.inMemory(roomy).build());
    }

    @Test
    void streamOfMemory_neverShowsBytesOfALaterForm() throws IOException {
        InputStream ofClosed;
        InputStream ofMoved;
        try (MultipartForm first = inMemory("a")) {
            ofClosed = part(first, "file").inputStream();
            assertEquals('a', ofClosed.read());
        }
        try (MultipartForm moved = inMemory("b")) {
            ofMoved = part(moved, "file").inputStream();
            assertEquals('b', ofMoved.read());
            part(moved, "file").moveTo(root.resolve("moved"));
            try (MultipartForm next = inMemory("c")) {
                assertThrows(IOException.class, ofClosed::read);
                assertThrows(IOException.class, ofMoved::read);
                assertEquals("c".repeat(24_000), part(next, "file").text());
            }
        }
        assertEquals("b".repeat(24_000), Files.readString(root.resolve("moved")));
        assertEquals(0, roomy.used());
    }

    @Test
    void detachedMemory_isNotReusedByALaterForm() throws IOException {
        PartContent detached;
        try (MultipartForm first = inMemory("a")) {
            detached = part(first, "file").detach();
        }
        try (detached;
                MultipartForm next = inMemory("b")) {
            assertEquals("b".repeat(24_000), part(next, "file").text());
            assertEquals("a".repeat(24_000), new String(detached.bytes(), StandardCharsets.US_ASCII));
        }
    }
}
