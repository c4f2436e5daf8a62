package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.Heads;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.PartHead;
import dev.sluice.form.storage.FormMemory;
import dev.sluice.form.storage.Spool;
import dev.sluice.form.storage.StoredContent;
import dev.sluice.testkit.FaultyFileSystem;
import dev.sluice.testkit.OpenFiles;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files of a spool: their location, permissions, limits and clean-up. */
class SpoolDirectoryTest {
    private static final MemoryBudget BUDGET = MemoryBudget.unlimited();

    private final PartHead head = Heads.of("form-data; name=f");

    @TempDir
    Path root;

    SpoolDirectoryTest() throws MultipartException {}

    private SpoolDirectory.Builder spool() {
        return SpoolDirectory.builder(root).keepFreeBytes(0);
    }

    private StoredContent content(SpoolDirectory spool) {
        FormMemory memory =
                new FormMemory(BUDGET, BUDGET.segments, 1L << 40, spool.spool, Long.MAX_VALUE, missing -> false);
        return StoredContent.movable(head, memory, Long.MAX_VALUE);
    }

    private PartContent store(SpoolDirectory spool, int size) throws IOException {
        ByteBuf data = Unpooled.wrappedBuffer(new byte[size]);
        StoredContent content = content(spool);
        try {
            content.moveToFile();
            content.write(data);
            content.complete();
        } catch (IOException e) {
            content.close();
            throw e;
        }
        return new PartContent(content);
    }

    @Test
    void quota_isExactAndReleased() throws IOException {
        int block = Spool.BLOCK;
        try (SpoolDirectory spool = spool().maxSpoolBytes(5 * block).open()) {
            PartContent some = store(spool, 2 * block + 1); // three blocks
            MultipartException full = assertThrows(MultipartException.class, () -> store(spool, 2 * block + 1));
            assertEquals(Reason.SPOOL_FULL, full.reason());
            assertEquals(507, full.httpStatus());
            assertEquals(3 * block, spool.bytes());
            assertEquals(1, spool.files());
            store(spool, 2 * block).close();
            try (PartContent one = store(spool, 1);
                    PartContent other = store(spool, 1)) {
                assertEquals(1, one.size());
                assertEquals(1, other.size());
                assertEquals(5 * block, spool.bytes());
                assertEquals(Reason.SPOOL_FULL, rejected(spool));
                assertEquals(3, spool.files());
            }
            some.close();
            store(spool, 5 * block).close();
            assertEquals(0, spool.bytes());
            assertEquals(0, spool.files());
            assertEquals(9 * block + 3, spool.writtenBytes());
        }
    }

    private Reason rejected(SpoolDirectory spool) {
        return assertThrows(MultipartException.class, () -> store(spool, 1)).reason();
    }

    @Test
    void maxSpoolFiles_exceeded_isRejected() throws IOException {
        try (SpoolDirectory spool =
                        spool().maxSpoolFiles(2).unlimitedSpoolBytes().open();
                PartContent one = store(spool, 1)) {
            store(spool, 1).close();
            try (PartContent two = store(spool, 1)) {
                assertEquals(Reason.TOO_MANY_SPOOL_FILES, rejected(spool));
                assertEquals(2, spool.files());
                assertEquals(2, one.size() + two.size());
            }
            store(spool, 1).close();
        }
        try (SpoolDirectory spool = spool().unlimitedSpoolFiles().open()) {
            store(spool, 1).close();
        }
    }

    @Test
    void freeSpace_isCheckedOncePerMebibyteOfBlocks() throws IOException {
        FaultyFileSystem files = new FaultyFileSystem(FileSystems.getDefault());
        try (SpoolDirectory spool = SpoolDirectory.builder(files.wrap(root.resolve("small")))
                .keepFreeBytes(1)
                .open()) {
            files.failAt(-1);
            for (int i = 0; i < 2 * 256 + 1; i++) {
                store(spool, 1).close();
            }
            assertEquals(3, files.calls().stream().filter("statfs"::equals).count());
        }
    }

    @Test
    void freeSpace_belowTheLimit_isRejected() throws IOException {
        long usable = Files.getFileStore(root).getUsableSpace();
        try (SpoolDirectory spool =
                spool().keepFreeBytes(2 * usable + (1L << 40)).open()) {
            for (int inMemory : new int[] {0, 5, 0, 5}) {
                try (StoredContent content = content(spool)) {
                    content.write(Unpooled.wrappedBuffer(new byte[inMemory]));
                    MultipartException full = assertThrows(MultipartException.class, () -> content.moveToFile());
                    assertEquals(Reason.DISK_FULL, full.reason());
                }
                assertEquals(0, spool.bytes());
                assertEquals(0, spool.writtenBytes());
                assertEquals(0, spool.files());
            }
        }
        try (SpoolDirectory spool = spool().keepFreeBytes(1).open()) {
            store(spool, 3 << 20).close();
        }
    }

    @Test
    void deletedDirectory_isCreatedAgain() throws IOException {
        for (boolean andLock : new boolean[] {false, true}) {
            try (SpoolDirectory spool = spool().open()) {
                Path before = spool.path();
                Files.delete(before);
                if (andLock) {
                    Files.delete(Path.of(before + ".lock"));
                }
                try (PartContent content = store(spool, 5)) {
                    assertEquals(andLock, !before.equals(spool.path()));
                    assertTrue(Files.exists(Path.of(spool.path() + ".lock")));
                    assertEquals(5, content.bytes().length);
                }
            }
            assertEquals(List.of(), Upload.list(root));
        }
    }

    /** If a cleaner deletes the directory, every user of the root can create something with its name. */
    @Test
    void directory_replacedByAnotherUser_isLeftAlone() throws IOException {
        Path outside = Files.createDirectory(root.resolve("outside"));
        Path kept = Files.writeString(outside.resolve("a"), "keep");
        FaultyFileSystem files = new FaultyFileSystem(FileSystems.getDefault());
        for (String event : List.of("link", "link, unused", "other owner")) {
            Path before;
            try (SpoolDirectory spool =
                    SpoolDirectory.builder(files.wrap(root)).keepFreeBytes(0).open()) {
                before = root.resolve(spool.path().getFileName().toString());
                if (event.equals("other owner")) {
                    files.foreign(before.getFileName().toString());
                } else {
                    Files.delete(before);
                    Files.createSymbolicLink(before, outside);
                }
                if (!event.equals("link, unused")) {
                    try (PartContent content = store(spool, 5)) {
                        assertEquals(5, content.bytes().length);
                        assertNotEquals(
                                before.getFileName().toString(),
                                spool.path().getFileName().toString());
                        assertEquals(List.of(), Upload.list(before));
                        assertEquals(List.of(kept), Upload.list(outside));
                    }
                }
            }
            assertTrue(Files.exists(before, LinkOption.NOFOLLOW_LINKS), event);
            assertTrue(Files.exists(kept), event);
            Files.delete(before);
            assertEquals(List.of(outside), Upload.list(root));
        }
    }

    @Test
    void fileDeletedByOthers_isNotAnError() throws IOException {
        try (SpoolDirectory spool = spool().open()) {
            PartContent content = store(spool, 5);
            Files.delete(Upload.list(spool.path()).get(0));
            assertThrows(IOException.class, content::inputStream);
            content.close();
            assertEquals(0, spool.files());
            assertEquals(0, spool.bytes());
        }
    }

    @Test
    void close_deletesRemainingFiles() throws IOException {
        SpoolDirectory spool = spool().open();
        store(spool, 5);
        spool.close();
        spool.close();
        assertEquals(List.of(), Upload.list(root));
        assertEquals(Reason.UNAVAILABLE, rejected(spool));
    }

    @Test
    void formsOpen_errorInTheOptions_deletesTheDirectory() throws IOException {
        Path own = root.resolve("own");
        assertThrows(
                StackOverflowError.class,
                () -> Forms.open(own, options -> {
                    throw new StackOverflowError("on purpose");
                }));
        assertEquals(List.of(), Upload.list(own));
    }

    @Test
    void failedClose_isTriedAgain() throws IOException {
        FaultyFileSystem files = new FaultyFileSystem(FileSystems.getDefault());
        SpoolDirectory spool =
                SpoolDirectory.builder(files.wrap(root)).keepFreeBytes(0).open();
        store(spool, 5);
        files.failAt(0);
        assertThrows(IOException.class, spool::close);
        assertNotEquals(List.of(), Upload.list(root));
        files.failAt(-1);
        spool.close();
        assertEquals(List.of(), Upload.list(root));
    }

    @Test
    void twoSpoolsOfOneProcess_doNotSweepEachOther() throws IOException {
        try (SpoolDirectory one = spool().open();
                PartContent content = store(one, 5);
                SpoolDirectory two = spool().open()) {
            assertNotEquals(one.path(), two.path());
            assertEquals(0, two.sweptFiles());
            assertEquals(5, content.bytes().length);
        }
    }

    @Test
    void open_sweepsAbandonedDirectoriesOnly() throws IOException {
        Path orphan = Files.createDirectory(root.resolve("sluice-1-2-dead"));
        Files.writeString(root.resolve("sluice-1-2-dead.lock"), "");
        Files.writeString(orphan.resolve("a"), "left");
        Files.writeString(orphan.resolve("b"), "left");
        Path loneLock = Files.writeString(root.resolve("sluice-1-3-dead.lock"), "");
        Path stranger = Files.writeString(root.resolve("report.txt"), "keep");
        Path outside = Files.createDirectory(root.resolve("outside"));
        Files.writeString(outside.resolve("c"), "keep");
        Path link = Files.createSymbolicLink(root.resolve("sluice-1-4-link"), outside);
        Files.writeString(root.resolve("sluice-1-4-link.lock"), "");
        Path unlocked = Files.createDirectory(root.resolve("sluice-1-5-cleaned"));
        Files.writeString(unlocked.resolve("d"), "keep");
        try (SpoolDirectory spool = spool().open()) {
            assertEquals(2, spool.sweptFiles());
            assertTrue(Files.exists(unlocked.resolve("d")));
            assertFalse(Files.exists(orphan));
            assertFalse(Files.exists(loneLock));
            assertTrue(Files.exists(stranger));
            assertTrue(Files.exists(outside.resolve("c")));
            assertTrue(Files.isSymbolicLink(link));
        }
    }

    @Test
    void sweep_fileThatCannotBeDeleted_isCounted() throws IOException {
        Path orphan = Files.createDirectory(root.resolve("sluice-1-2-dead"));
        Path lock = Files.writeString(root.resolve("sluice-1-2-dead.lock"), "");
        Files.writeString(orphan.resolve("a"), "left");
        Files.writeString(orphan.resolve("b"), "left");
        Files.writeString(Files.createDirectory(orphan.resolve("c")).resolve("d"), "not a file of a spool");
        try (SpoolDirectory spool = spool().open()) {
            assertEquals(2, spool.sweptFiles());
            assertEquals(1, spool.failedDeletes());
            assertTrue(Files.exists(lock), "no later process could sweep the directory");
        }
    }

    @Test
    void sweep_directoryThatCannotBeRead_staysForALaterProcess() throws IOException {
        Path orphan = Files.createDirectory(root.resolve("sluice-1-2-dead"));
        Path lock = Files.writeString(root.resolve("sluice-1-2-dead.lock"), "");
        FaultyFileSystem files = new FaultyFileSystem(FileSystems.getDefault());
        SpoolDirectory.Builder builder = SpoolDirectory.builder(files.wrap(root));
        files.unreadable("sluice-1-2-dead");
        try (SpoolDirectory spool = builder.open()) {
            assertEquals(0, spool.sweptFiles());
            assertTrue(Files.exists(orphan) && Files.exists(lock));
        }
        files.unreadable(root.getFileName().toString());
        assertThrows(IOException.class, builder::open);
    }

    @Test
    void filesOfDeadProcessWithTheSameId_areSwept() throws IOException {
        ProcessHandle process = ProcessHandle.current();
        for (long started :
                new long[] {0, process.info().startInstant().orElseThrow().toEpochMilli()}) {
            String name = "sluice-" + process.pid() + "-" + Long.toHexString(started) + "-dead";
            Path orphan = Files.createDirectory(root.resolve(name));
            Files.writeString(root.resolve(name + ".lock"), "");
            Files.writeString(orphan.resolve("a"), "left");
            try (SpoolDirectory spool = spool().open()) {
                assertEquals(1, spool.sweptFiles());
                assertFalse(Files.exists(orphan));
            }
        }
    }

    @Test
    void spoolOfAnotherClassLoader_belongsToTheSameProcess() throws Exception {
        List<URL> classPath = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            classPath.add(Path.of(entry).toUri().toURL());
        }
        try (SpoolDirectory spool = spool().open();
                PartContent content = store(spool, 5);
                URLClassLoader other =
                        new URLClassLoader(classPath.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            Class<?> copy = other.loadClass(SpoolDirectory.class.getName());
            assertNotEquals(SpoolDirectory.class, copy);
            try (Closeable second =
                    (Closeable) copy.getMethod("open", Path.class).invoke(null, root)) {
                String own = spool.path().getFileName().toString();
                String others = Path.of(copy.getMethod("path").invoke(second).toString())
                        .getFileName()
                        .toString();
                assertEquals(own.substring(0, own.lastIndexOf('-')), others.substring(0, others.lastIndexOf('-')));
                assertNotEquals(own, others);
            }
            assertEquals(5, content.bytes().length);
        }
    }

    @Test
    void freeSpace_isKnownAfterTheRootIsDeleted() throws IOException {
        Path directory = root.resolve("above").resolve("spool");
        try (SpoolDirectory spool =
                SpoolDirectory.builder(directory).keepFreeBytes(1).open()) {
            try (StoredContent content = content(spool)) {
                content.moveToFile();
                content.write(Unpooled.wrappedBuffer(new byte[1]));
                Files.delete(Upload.list(spool.path()).get(0));
                Files.delete(spool.path());
                Files.delete(Path.of(spool.path() + ".lock"));
                Files.delete(directory);
                Files.delete(directory.getParent());
                content.write(Unpooled.wrappedBuffer(new byte[1 << 20]));
                assertEquals((1 << 20) + Spool.BLOCK, spool.bytes());
            }
            assertEquals(0, spool.bytes());
            store(spool, 1 << 20).close();
        }
    }

    @Test
    void fileSystemWithoutPosixAndLinks_isSupported() throws IOException {
        FaultyFileSystem files = new FaultyFileSystem(FileSystems.getDefault());
        files.basicOnly();
        Path directory = files.wrap(root.resolve("fat"));
        try (SpoolDirectory spool =
                        SpoolDirectory.builder(directory).keepFreeBytes(0).open();
                PartContent content = store(spool, 5)) {
            content.moveTo(directory.resolve("moved"));
            assertEquals(5, Files.size(directory.resolve("moved")));
        }
        assertEquals(1, Upload.list(root.resolve("fat")).size());
    }

    @Test
    void open_directoryCannotBeCreated_failsAndLeavesNothingOpen() throws IOException {
        Path file = Files.writeString(root.resolve("file"), "");
        assertEquals(
                "the spool directory " + file + " cannot be created: not a directory",
                assertThrows(IOException.class, () -> SpoolDirectory.open(file)).getMessage());
        assertThrows(IOException.class, () -> SpoolDirectory.open(file.resolve("below")));
        FaultyFileSystem files = new FaultyFileSystem(FileSystems.getDefault());
        for (int call = 0; call < 6; call++) {
            files.failAt(call);
            Path directory = files.wrap(root.resolve("spool"));
            try {
                SpoolDirectory.open(directory).close();
            } catch (IOException e) {
                assertTrue(e.getMessage().contains("injected"), e.toString());
            }
            assertEquals(List.of(), OpenFiles.below(root));
            files.failAt(-1);
        }
    }

    @Test
    void create_fails_throwsIOExceptionAndCountsNoFile() throws IOException {
        FaultyFileSystem files = new FaultyFileSystem(FileSystems.getDefault());
        Path readOnly = files.wrap(root.resolve("other"));
        try (SpoolDirectory spool =
                SpoolDirectory.builder(readOnly).keepFreeBytes(0).open()) {
            for (int attempt = 0; attempt < 3; attempt++) {
                files.failAt(0);
                assertThrows(IOException.class, () -> store(spool, 1));
                assertEquals(0, spool.files());
            }
            files.failAt(-1);
            store(spool, 1).close();
        }
    }
}
