package dev.sluice.form;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.channels.WritableByteChannel;
import java.nio.file.AccessDeniedException;
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
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Set;
import java.util.function.Supplier;

/**
 * The private directory of one spool, and the lock file beside it that tells others that its owner lives.
 *
 * <p>The lock is taken before the directory is made and let go after it is gone, so a directory without a held lock has
 * no owner. The operating system lets go of the lock when the process dies, however it dies. Locks belong to processes,
 * and on POSIX a process that merely closes another channel of the same file loses them: names therefore start with the
 * process, and a process never opens the lock files of its own.
 */
final class SpoolHome implements Closeable {
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

    private SpoolHome(Path directory, Path lockFile) throws IOException {
        this.directory = directory;
        this.lockFile = lockFile;
        this.lock = FileChannel.open(lockFile, NEW, privately(lockFile, "rw-------"));
    }

    /** {@return a new home in {@code root}, which is made if need be} */
    static SpoolHome create(Path root, Supplier<String> names) throws IOException {
        makeRoot(root);
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            Path directory = root.resolve(ThisProcess.PREFIX + names.get());
            SpoolHome home = new SpoolHome(directory, root.resolve(directory.getFileName() + LOCK));
            try {
                if (home.isLocked()) {
                    home.makeDirectory();
                    return home;
                }
            } catch (IOException | RuntimeException e) {
                try (home) {
                    throw e;
                }
            }
            home.lock.close();
        }
        throw new IOException("no lock could be had in the spool directory after " + ATTEMPTS + " attempts");
    }

    /** The messages of a file system are a path as a rule, and no word of what is wrong with it. */
    private static void makeRoot(Path root) throws IOException {
        try {
            Files.createDirectories(root, privately(root, "rwx------"));
        } catch (FileSystemException e) {
            String wrong = e instanceof AccessDeniedException
                    ? "no permission"
                    : e instanceof FileAlreadyExistsException ? "not a directory" : e.getReason();
            throw new IOException(
                    "the spool directory " + root + " cannot be made: " + (wrong == null ? e.toString() : wrong), e);
        }
    }

    /** {@return whether the lock is held, and no sweeper was faster} */
    private boolean isLocked() throws IOException {
        return lock.tryLock() != null && Files.exists(lockFile, LinkOption.NOFOLLOW_LINKS);
    }

    private void makeDirectory() throws IOException {
        Files.createDirectory(directory, privately(directory, "rwx------"));
    }

    /** Makes the directory again if something removed it. {@return false if the lock file is gone too: a new home is needed} */
    boolean restore() throws IOException {
        if (!Files.exists(lockFile, LinkOption.NOFOLLOW_LINKS)) {
            return false;
        }
        try {
            makeDirectory();
        } catch (FileAlreadyExistsException e) {
            if (!Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS)) {
                throw e;
            }
        }
        return true;
    }

    /**
     * Removes the directory with what is left in it, then the lock; what cannot be removed keeps its lock file, for the
     * next sweep.
     */
    @Override
    public void close() throws IOException {
        try (lock) {
            empty(directory);
            Files.deleteIfExists(directory);
        }
        Files.deleteIfExists(lockFile);
    }

    /** Removes the homes of processes that are gone, if they have the owner of {@code own}. {@return how many files that were} */
    static int sweep(Path root, SpoolHome own) throws IOException {
        int removed = 0;
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(root)) {
            for (Path lockFile : entries) {
                String name = lockFile.getFileName().toString();
                boolean foreign =
                        name.startsWith(PREFIX_OF_ALL) && name.endsWith(LOCK) && !name.startsWith(ThisProcess.PREFIX);
                if (foreign && hasOwnerOf(lockFile, own.lockFile)) {
                    Path directory = root.resolve(name.substring(0, name.length() - LOCK.length()));
                    removed += sweepOne(directory, lockFile, own);
                }
            }
        }
        return removed;
    }

    private static int sweepOne(Path directory, Path lockFile, SpoolHome own) {
        Set<OpenOption> options = Set.of(StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
        int removed = 0;
        try (FileChannel channel = FileChannel.open(lockFile, options)) {
            FileLock held = channel.tryLock();
            if (held == null) {
                return 0; // its owner lives
            }
            if (Files.isDirectory(directory, LinkOption.NOFOLLOW_LINKS) && hasOwnerOf(directory, own.directory)) {
                removed = empty(directory);
                Files.delete(directory);
            }
            Files.deleteIfExists(lockFile);
        } catch (IOException | OverlappingFileLockException e) {
            return removed; // another sweeper, or not ours to remove: the next start tries again
        }
        return removed;
    }

    private static boolean hasOwnerOf(Path path, Path other) {
        try {
            return !path.getFileSystem().supportedFileAttributeViews().contains("owner")
                    || Files.getOwner(path, LinkOption.NOFOLLOW_LINKS)
                            .equals(Files.getOwner(other, LinkOption.NOFOLLOW_LINKS));
        } catch (IOException e) {
            return false; // gone meanwhile
        }
    }

    /** Removes the files in {@code directory}, as many as can be; there are no directories in it. {@return how many} */
    private static int empty(Path directory) throws IOException {
        int removed = 0;
        IOException failure = null;
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            for (Path file : files) {
                try {
                    removed += Files.deleteIfExists(file) ? 1 : 0;
                } catch (IOException e) {
                    failure = e;
                }
            }
        } catch (NoSuchFileException | NotDirectoryException e) {
            return removed; // somebody was here before
        }
        if (failure != null) {
            throw failure;
        }
        return removed;
    }

    /**
     * Distinguishes processes, also those with the same id: in a container it is always 1. The token is a system
     * property, because class loaders that each have this class share the process and its locks.
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

    /** {@return a file that was not there, to be written, for its owner alone} */
    static WritableByteChannel newFile(Path path) throws IOException {
        return Files.newByteChannel(path, NEW, privately(path, "rw-------"));
    }

    private static FileAttribute<?>[] privately(Path path, String permissions) {
        return path.getFileSystem().supportedFileAttributeViews().contains("posix")
                ? new FileAttribute<?>[] {
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
                }
                : NO_ATTRIBUTES;
    }
}
