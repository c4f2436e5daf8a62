package dev.sluice.fuzz;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import dev.sluice.form.PartSink;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.testkit.FaultyFileSystem;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A file system that fails on request, with two spools and a directory for the application's files. */
final class Disk {
    private static final long SMALL_QUOTA = 2 * 4096;
    private static final int NO_FAULT = -1;
    private static @Nullable Disk idle;

    private final FaultyFileSystem files = new FaultyFileSystem(Jimfs.newFileSystem(Configuration.unix().toBuilder()
            .setAttributeViews("basic", "owner", "posix")
            .setMaxSize(1 << 20)
            .setBlockSize(256)
            .build()));
    private final Path targets = files.getPath("/targets");
    private final SpoolDirectory large;
    private final SpoolDirectory small;

    /** The value of {@link FaultyFileSystem#uses()} when the directories were last empty. */
    private long usesWhenEmpty;

    private Disk() throws IOException {
        Files.createDirectories(targets);
        large = SpoolDirectory.builder(files.getPath("/large")).keepFreeBytes(0).open();
        small = SpoolDirectory.builder(files.getPath("/small"))
                .keepFreeBytes(0)
                .maxSpoolBytes(SMALL_QUOTA)
                .open();
        usesWhenEmpty = files.uses();
    }

    /** {@return the disk that was {@linkplain #giveBack() returned}, or a new one} */
    static Disk take() throws IOException {
        Disk taken = idle == null ? new Disk() : idle;
        idle = null;
        return taken;
    }

    /** Keeps the disk for the next run. Call this method only after a run without an unexpected failure. */
    void giveBack() {
        idle = this;
    }

    /** {@return a spool; the small one has a quota of two blocks} */
    SpoolDirectory spool(boolean isSmall) {
        return isSmall ? small : large;
    }

    Path targets() {
        return targets;
    }

    /**
     * Enables faults from now on.
     *
     * @param call 128 plus the number of calls that succeed before one fails; less than 128 for no failing call
     * @param space 192 plus a quarter of the free bytes; less than 192 for no limit. If its lowest three bits are 1, a
     *     write stores at most three bytes
     */
    void faults(int call, int space) {
        files.faults(
                call < 128 ? NO_FAULT : call - 128,
                space < 192 ? Long.MAX_VALUE : (space - 192) * 4L,
                (space & 7) == 1 ? 3 : Integer.MAX_VALUE);
    }

    void noFaults() {
        files.noFaults();
    }

    boolean hasFailed() {
        return files.hasFailed();
    }

    /** {@return whether no file can exist, so that the directories need not be listed, which is slow} */
    private boolean isUnused() {
        return files.uses() == usesWhenEmpty;
    }

    /** Deletes all targets and returns their contents by name. */
    Map<String, byte[]> takeTargets() throws IOException {
        if (isUnused()) {
            return Map.of();
        }
        Map<String, byte[]> taken = new TreeMap<>();
        for (Path target : list(targets)) {
            taken.put(target.getFileName().toString(), Files.readAllBytes(target));
            Files.delete(target);
        }
        return taken;
    }

    /**
     * {@return a description of open or leftover files in {@code spool}, or an empty string; requires that faults are
     * disabled}
     */
    String left(SpoolDirectory spool) throws IOException {
        if (files.open() != 0) {
            return files.open() + " files are open";
        }
        if (spool.files() > 0) {
            if (!files.hasFailed()) {
                return "files are left although no deletion failed";
            }
            try (PartSink retry = PartSink.toFile(spool, targets().resolve("never"))) {
                retry.write(Unpooled.wrappedBuffer(new byte[1]));
            }
        }
        if (spool.files() != 0 || spool.bytes() != 0) {
            return spool.files() + " files of " + spool.bytes() + " bytes are left";
        }
        if (isUnused()) {
            return "";
        }
        usesWhenEmpty = files.uses();
        return list(spool.path()).isEmpty() ? "" : "the spool is not empty";
    }

    private static List<Path> list(Path directory) throws IOException {
        try (Stream<Path> paths = Files.list(directory)) {
            return paths.toList();
        }
    }
}
