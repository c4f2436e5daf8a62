package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.storage.Spool;
import dev.sluice.testkit.FaultyFileSystem;
import dev.sluice.testkit.LeakCheck;
import dev.sluice.testkit.OpenFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Failures of any single call of the file system. No memory or descriptor stays in use, and no file of the application is
 * incomplete. Only files that cannot be deleted stay in the spool.
 */
@ExtendWith(LeakCheck.class)
class TortureTest {
    private static final String LARGE = "0123456789".repeat(50);

    @TempDir
    Path root;

    private final MemoryBudget budget = MemoryBudget.of(1 << 20);

    /** Runs every operation that uses files. */
    private void run(Path directory, Path targets) throws IOException {
        try (SpoolDirectory spool =
                SpoolDirectory.builder(directory).keepFreeBytes(1).open()) {
            FormOptions options = FormOptions.builder(spool, budget)
                    .spillThreshold(100)
                    .decider(part -> part.name().equals("sink")
                            ? PartDecision.to(PartSink.toFile(spool, targets.resolve("sink")))
                            : PartDecision.store())
                    .build();
            Upload upload = new Upload()
                    .field("memory", "small")
                    .file("spilled", "s", LARGE)
                    .file("sink", "s", LARGE)
                    .file("field", "f", LARGE)
                    .file("replaced", "r", LARGE);
            PartContent detached;
            try (MultipartForm form = upload.read(options)) {
                assertEquals(LARGE, form.part("field").text());
                form.part("spilled").moveTo(targets.resolve("moved"));
                form.part("memory").moveTo(targets.resolve("memory"));
                form.part("replaced").moveTo(targets.resolve("moved"), StandardCopyOption.REPLACE_EXISTING);
                detached = form.part("field").detach();
            }
            detached.close();
            assertTrue(spool.files() <= spool.failedDeletes(), "files: " + spool.files());
        }
    }

    private void assertNothingIsLeft(String context) throws IOException {
        assertEquals(0, budget.used(), context);
        assertEquals(List.of(), OpenFiles.below(root), context);
        for (Path target : Upload.list(root.resolve("targets"))) {
            String expected = target.getFileName().toString().equals("memory") ? "small" : LARGE;
            assertFalse(target.getFileName().toString().startsWith("."), context + ": left " + target);
            assertEquals(expected, Files.readString(target, StandardCharsets.US_ASCII), context);
            Files.delete(target);
        }
    }

    /** {@return a new faulty file system} The directory of the targets exists. */
    private FaultyFileSystem prepare() throws IOException {
        Files.createDirectories(root.resolve("targets"));
        return new FaultyFileSystem(FileSystems.getDefault());
    }

    @ParameterizedTest
    @ValueSource(strings = {"posix", "basic", "crossing"})
    void failureOfAnyCall_leavesNothing(String kind) throws IOException {
        FaultyFileSystem files = prepare();
        if (kind.equals("basic")) {
            files.basicOnly();
        } else if (kind.equals("crossing")) {
            files.otherFileSystem();
        }
        Path directory = files.wrap(root.resolve("spool"));
        Path targets = files.wrap(root.resolve("targets"));
        run(directory, targets);
        assertEquals(4 - 1, Upload.list(root.resolve("targets")).size());
        assertNothingIsLeft(kind);
        Set<String> failed = new HashSet<>();
        int n = 0;
        for (files.failAt(n); ; files.failAt(++n)) {
            String outcome = "no exception";
            try {
                run(directory, targets);
            } catch (IOException e) {
                outcome = e.toString();
            }
            if (!files.hasFailed()) {
                assertEquals("no exception", outcome);
                break;
            }
            String context = kind + ": call " + n + " of " + files.calls() + " failed, " + outcome;
            failed.add(files.calls().get(n));
            files.failAt(-1);
            assertNothingIsLeft(context);
            assertSwept(context);
        }
        assertTrue(n > 30, "calls: " + n);
        assertTrue(
                failed.containsAll(
                        Set.of("open openLock write close delete mkdir list link move read statfs".split(" "))),
                failed.toString());
    }

    /** Deletes the files that the process could not delete. In production, the sweep of a later process does so. */
    private void assertSwept(String context) throws IOException {
        List<Path> left = Upload.list(root.resolve("spool"));
        assertTrue(left.size() <= 2, context + ": left " + left);
        for (Path path : left) {
            for (Path file : Upload.list(path)) {
                Files.delete(file);
            }
            Files.delete(path);
        }
        if (!left.isEmpty()) {
            assertTrue(
                    context.contains("injected: delete") || context.contains("injected: list"),
                    context + ": left " + left);
        }
    }

    @Test
    void diskFullAtAnyByte_leavesNothing() throws IOException {
        int most = 4 * LARGE.length() + 5;
        for (int bytes = 0; bytes < most; bytes += 7) {
            FaultyFileSystem files = prepare();
            files.diskSpace(bytes);
            Path directory = files.wrap(root.resolve("spool"));
            Path targets = files.wrap(root.resolve("targets"));
            IOException full = assertThrows(IOException.class, () -> run(directory, targets));
            assertTrue(full.getMessage().contains("No space left on device"), full.toString());
            assertEquals(List.of(), Upload.list(root.resolve("spool")));
            assertNothingIsLeft("full at " + bytes);
        }
    }

    @Test
    void shortWrites_areContinued() throws IOException {
        for (int largest : new int[] {1, 3, 499}) {
            FaultyFileSystem files = prepare();
            files.largestWrite(largest);
            run(files.wrap(root.resolve("spool")), files.wrap(root.resolve("targets")));
            assertEquals(3, Upload.list(root.resolve("targets")).size());
            assertNothingIsLeft("writes of " + largest);
        }
    }

    @Test
    void failedDeletes_areTriedAgain_twoForEachNewFile() throws IOException {
        FaultyFileSystem files = prepare();
        Path directory = files.wrap(root.resolve("spool"));
        try (SpoolDirectory spool =
                SpoolDirectory.builder(directory).keepFreeBytes(0).open()) {
            FormOptions options =
                    FormOptions.builder(spool, budget).spillThreshold(0).build();
            List<MultipartForm> forms = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                forms.add(new Upload().file("f", "f", LARGE).read(options));
            }
            for (MultipartForm form : forms) {
                files.failAt(0);
                form.close();
                assertTrue(files.hasFailed());
            }
            assertEquals(3, spool.failedDeletes());
            assertEquals(3, spool.files());
            assertEquals(3 * Spool.BLOCK, spool.bytes());
            files.failAt(-1);
            for (int left = 1; left >= 0; left--) {
                new Upload().file("f", "f", LARGE).read(options).close();
                assertEquals(left, spool.files());
                assertEquals(left * Spool.BLOCK, spool.bytes());
            }
            assertEquals(List.of(), Upload.list(spool.path()));
        }
    }

    @Test
    void failedDelete_isTriedAgain_ifAFormExceedsTheQuota() throws IOException {
        FaultyFileSystem files = prepare();
        try (SpoolDirectory spool = SpoolDirectory.builder(files.wrap(root.resolve("spool")))
                .keepFreeBytes(0)
                .maxSpoolBytes(2 << 20)
                .open()) {
            FormOptions options = FormOptions.builder(spool, budget).build();
            MultipartForm form =
                    new Upload().file("f", "f", "x".repeat(1 << 20)).read(options);
            files.failAt(0);
            form.close();
            assertEquals(1, spool.files());
            files.failAt(-1);
            PushedForm.create(Upload.BOUNDARY, options, 3 << 20).close();
            assertEquals(0, spool.files());
        }
    }
}
