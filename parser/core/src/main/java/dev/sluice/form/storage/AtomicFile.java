package dev.sluice.form.storage;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.UUID;

/** The atomic creation of files: a target exists completely or not at all, even if the process is killed. */
final class AtomicFile {
    interface Content {
        void writeTo(WritableByteChannel channel) throws IOException;
    }

    private AtomicFile() {}

    /**
     * Moves a file to {@code target} by renaming, linking or copying it. The source may still exist afterwards; the caller
     * deletes it.
     */
    static void move(Path source, Path target, boolean replace) throws IOException {
        requireFree(target, replace);
        try {
            rename(source, target, replace);
        } catch (AtomicMoveNotSupportedException e) {
            write(target, replace, channel -> copy(source, channel));
        }
    }

    private static void copy(Path source, WritableByteChannel channel) throws IOException {
        try (InputStream in = Files.newInputStream(source, LinkOption.NOFOLLOW_LINKS)) {
            in.transferTo(Channels.newOutputStream(channel));
        }
    }

    /** Writes a temporary file next to the target, then renames or links it. */
    static void write(Path target, boolean replace, Content content) throws IOException {
        requireFree(target, replace);
        Path temporary = target.resolveSibling(".sluice-" + UUID.randomUUID() + ".part");
        boolean placed = false;
        try {
            try (WritableByteChannel channel = LockedDirectory.newFile(temporary)) {
                content.writeTo(channel);
            }
            rename(temporary, target, replace);
            placed = true;
            Files.deleteIfExists(temporary);
        } catch (Throwable e) {
            undo(placed ? target : temporary, e);
            undo(temporary, e);
            throw e;
        }
    }

    private static void undo(Path path, Throwable reason) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            reason.addSuppressed(e);
        }
    }

    private static void requireFree(Path target, boolean replace) throws FileAlreadyExistsException {
        if (!replace && Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
            throw new FileAlreadyExistsException(target.toString());
        }
    }

    /** A rename replaces an existing target. A link does not. */
    private static void rename(Path source, Path target, boolean replace) throws IOException {
        if (replace || !link(source, target)) {
            Files.move(source, target, StandardCopyOption.ATOMIC_MOVE);
        }
    }

    private static boolean link(Path source, Path target) throws IOException {
        try {
            Files.createLink(target, source);
            return true;
        } catch (FileAlreadyExistsException e) {
            throw e;
        } catch (UnsupportedOperationException | FileSystemException e) {
            return false; // the file system has no hard links: only requireFree protects the target
        }
    }
}
