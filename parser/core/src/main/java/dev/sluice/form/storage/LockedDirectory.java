package dev.sluice.form.storage;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.channels.WritableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The private directory of one spool. A file next to it is locked while the owner is alive.
 *
 * <p>The lock is acquired before the directory is created and released after it is deleted. A directory whose lock can be acquired is
 * therefore abandoned, and a later spool deletes it. The operating system releases the lock when the process dies, even if it is killed.
 *
 * <p>On POSIX, a process loses its locks on a file when it closes any channel to that file. The name of a lock file therefore starts with
 * an identifier of its process, so that a process recognizes its own lock files and never opens them again.
 *
 * <p>A directory without a lock file is left alone: a cleaner of temporary files may have deleted the lock file of a live spool. If a
 * cleaner deletes the directory, another user can create a directory or a link with its name. It is therefore checked before a file is
 * created in it, and before it is emptied.
 */
final class LockedDirectory implements Closeable {
    private static final String PREFIX_OF_ALL = "sluice-";
    private static final String LOCK = ".lock";
    private static final int ATTEMPTS = 16;
    private static final SecureRandom RANDOM = new SecureRandom();
    private static final FileAttribute<?>[] NO_ATTRIBUTES = {};
    private static final Set<OpenOption> NEW =
            Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);

    final Path directory;
    private final Path lockFile;
    private final FileChannel lock;

    /** The owner of the directory, set when it has been created; null on a file system without owners. */
    private @Nullable Object owner;

    private LockedDirectory(Path directory, Path lockFile) throws IOException {
        this.directory = directory;
        this.lockFile = lockFile;
        this.lock = FileChannel.open(lockFile, NEW, permissionAttributes(lockFile, "rw-------"));
    }

    /** {@return a new directory in {@code root}} Creates the root if it does not exist. */
    static LockedDirectory create(Path root, Supplier<String> names) throws IOException {
        makeRoot(root);
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Path directory = root.resolve(ThisProcess.PREFIX + names.get());
            LockedDirectory created = new LockedDirectory(directory, root.resolve(directory.getFileName() + LOCK));
            try {
                if (created.isLocked()) {
                    created.makeDirectory();
                    created.owner = owner(created.directory);
                    return created;
                }
            } catch (IOException | RuntimeException e) {
                try (created) {
                    throw e;
                }
            }
            created.lock.close();
        }
        throw new IOException("no lock could be acquired in the spool directory after " + ATTEMPTS + " attempts");
    }

    /**
     * Creates the root. If that fails, the message of the exception contains the cause, because the message of most file system exceptions
     * is only a path.
     */
    private static void makeRoot(Path root) throws IOException {
        try {
            Files.createDirectories(root, permissionAttributes(root, "rwx------"));
        } catch (FileSystemException e) {
            String wrong = e instanceof AccessDeniedException
                    ? "no permission"
                    : e instanceof FileAlreadyExistsException ? "not a directory" : e.getReason();
            throw new IOException(
                    "the spool directory " + root + " cannot be created: " + (wrong == null ? e.toString() : wrong), e);
        }
    }

    /** {@return whether the lock was acquired before a sweep of another process deleted the file} */
    private boolean isLocked() throws IOException {
        return lock.tryLock() != null && Files.exists(lockFile, LinkOption.NOFOLLOW_LINKS);
    }

    private void makeDirectory() throws IOException {
        Files.createDirectory(directory, permissionAttributes(directory, "rwx------"));
    }

    /**
     * Creates the directory again after something deleted it.
     *
     * @return false if a new directory is needed, because the lock file was deleted too, or another user has taken the name
     */
    boolean restore() throws IOException {
        if (!Files.exists(lockFile, LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        try {
            makeDirectory();
            return true;
        } catch (FileAlreadyExistsException e) {
            return isOwn(directory);
        }
    }

    /**
     * Deletes the directory with its files, then the lock file. If a file cannot be deleted, the lock file stays, so that a later
     * sweep tries again.
     */
    @Override
    public void close() throws IOException {
        try (lock) {
            if (isOwn(directory)) {
                empty(directory, new Deletions());
                Files.deleteIfExists(directory);
            }
        }
        Files.deleteIfExists(lockFile);
    }

    /** Counts the files that could be deleted, and those that could not. */
    static final class Deletions {
        int done;
        int failed;
    }

    /** Deletes the directories of dead processes that belong to the same user as {@code own}, and returns the numbers of files. */
    static Deletions sweep(Path root, LockedDirectory own) throws IOException {
        Deletions deletions = new Deletions();
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(root)) {
            for (Path lockFile : entries) {
                String name = lockFile.getFileName().toString();
                boolean foreign =
                        name.startsWith(PREFIX_OF_ALL) && name.endsWith(LOCK) && !name.startsWith(ThisProcess.PREFIX);
                if (foreign && own.hasSameOwner(lockFile)) {
                    Path directory = root.resolve(name.substring(0, name.length() - LOCK.length()));
                    sweepOne(directory, lockFile, own, deletions);
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return deletions;
    }

    private static void sweepOne(Path directory, Path lockFile, LockedDirectory own, Deletions deletions) {
        Set<OpenOption> options = Set.of(StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
        try (FileChannel channel = FileChannel.open(lockFile, options)) {
            FileLock held = channel.tryLock();
            if (held == null) {
                return; // the owner is alive
            }
            if (own.isOwn(directory)) {
                empty(directory, deletions);
                Files.delete(directory);
            }
            Files.deleteIfExists(lockFile);
        } catch (IOException | OverlappingFileLockException e) {
            // swept by another process, or not permitted: the next start tries again
        }
    }

    /** {@return whether {@code path} is a directory, not a link, and belongs to the owner of this directory} */
    boolean isOwn(Path path) throws IOException {
        try {
            return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
                            .isDirectory()
                    && Objects.equals(owner(path), owner);
        } catch (NoSuchFileException e) {
            return false;
        }
    }

    private boolean hasSameOwner(Path path) {
        try {
            return Objects.equals(owner(path), owner);
        } catch (IOException e) {
            return false; // deleted in the meantime
        }
    }

    private static @Nullable Object owner(Path path) throws IOException {
        Set<String> views = path.getFileSystem().supportedFileAttributeViews();
        // The ID, because finding the name of a user can be slow.
        String attribute = views.contains("unix") ? "unix:uid" : "owner:owner";
        return views.contains("owner") ? Files.getAttribute(path, attribute, LinkOption.NOFOLLOW_LINKS) : null;
    }

    /** Deletes as many files in {@code directory} as possible. */
    private static void empty(Path directory, Deletions deletions) throws IOException {
        IOException failure = null;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            for (Path file : files) {
                try {
                    deletions.done += Files.deleteIfExists(file) ? 1 : 0;
                } catch (IOException e) {
                    deletions.failed++;
                    failure = e;
                }
            }
        } catch (NoSuchFileException | NotDirectoryException e) {
            return; // deleted by another process
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        if (failure != null) {
            throw failure;
        }
    }

    /**
     * The prefix of the file names of this process. Its random token distinguishes processes with the same ID, which is often 1 in
     * containers. The token is a system property, because copies of this class in several class loaders share the locks of the process.
     */
    private static final class ThisProcess {
        private static final String TOKEN = "dev.sluice.form.process";
        static final String PREFIX = PREFIX_OF_ALL + ProcessHandle.current().pid() + "-"
                + System.getProperties().computeIfAbsent(TOKEN, key -> random(8)) + "-";

        private ThisProcess() {}
    }

    static String random(int bytes) {
        byte[] random = new byte[bytes];
        RANDOM.nextBytes(random);
        return HexFormat.of().formatHex(random);
    }

    /** {@return a channel to a new file that only its owner can read} */
    static WritableByteChannel newFile(Path path) throws IOException {
        return Files.newByteChannel(path, NEW, permissionAttributes(path, "rw-------"));
    }

    private static FileAttribute<?>[] permissionAttributes(Path path, String permissions) {
        return path.getFileSystem().supportedFileAttributeViews().contains("posix")
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
                }
                : NO_ATTRIBUTES;
    }
}
