package dev.sluice.samples.upload;

import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Who writes part files: their names start with the owner's, and the lock on the owner's file says that it lives. The
 * operating system lets go of the lock when the process dies, however it dies. Thread-safe.
 */
final class PartOwner implements Closeable {
    private static final Logger LOG = LoggerFactory.getLogger(PartOwner.class);
    private static final String PREFIX = ".sluice-";
    private static final String LOCK = ".lock";
    private static final String PART = ".part";
    private static final int ATTEMPTS = 16;

    /** On POSIX a process that merely opens and closes a file again loses its lock on it: these are not touched. */
    private static final Set<String> OF_THIS_PROCESS = ConcurrentHashMap.newKeySet();

    private final Path directory;
    private final String name;
    private final Path lockFile;
    private final FileChannel channel;

    private PartOwner(Path directory, String name, Path lockFile, FileChannel channel) {
        this.directory = directory;
        this.name = name;
        this.lockFile = lockFile;
        this.channel = channel;
    }

    /** {@return a new owner, its lock held} */
    static PartOwner create(Path directory, SecureRandom random, FileAttribute<?>[] privateFile) throws IOException {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            String name = PREFIX + hex(random, 8);
            OF_THIS_PROCESS.add(name);
            Path lockFile = directory.resolve(name + LOCK);
            Set<OpenOption> options =
                    Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
            PartOwner owner =
                    new PartOwner(directory, name, lockFile, FileChannel.open(lockFile, options, privateFile));
            // Between the two steps another process that starts may have taken the file for a dead one's.
            if (owner.channel.tryLock() != null && owner.isThere()) {
                return owner;
            }
            owner.close();
        }
        throw new IOException("no lock could be had in " + directory + " after " + ATTEMPTS + " attempts");
    }

    private static String hex(SecureRandom random, int bytes) {
        byte[] result = new byte[bytes];
        random.nextBytes(result);
        return HexFormat.of().formatHex(result);
    }

    /** {@return whether the lock file has not been deleted by somebody else} */
    boolean isThere() {
        return Files.exists(lockFile, LinkOption.NOFOLLOW_LINKS);
    }

    /** {@return a path for a new part file} */
    Path newPart(SecureRandom random) {
        return directory.resolve(name + "-" + hex(random, 16) + PART);
    }

    /** Deletes the lock file and lets go of the lock; to be called when there are no part files any more. */
    @Override
    public void close() throws IOException {
        try (channel) {
            Files.deleteIfExists(lockFile);
        }
    }

    /** Deletes the part files of owners that do not live any more. */
    static void sweep(Path directory) throws IOException {
        try (DirectoryStream<Path> locks = Files.newDirectoryStream(directory, PREFIX + "*" + LOCK)) {
            for (Path lockFile : locks) {
                String file = String.valueOf(lockFile.getFileName());
                String owner = file.substring(0, file.length() - LOCK.length());
                if (!OF_THIS_PROCESS.contains(owner)) {
                    sweep(directory, owner, lockFile);
                }
            }
        }
    }

    private static void sweep(Path directory, String owner, Path lockFile) {
        Set<OpenOption> options = Set.of(StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
        try (FileChannel channel = FileChannel.open(lockFile, options)) {
            if (channel.tryLock() == null) {
                return;
            }
            DirectoryStream.Filter<Path> ofOwner = path -> {
                String file = String.valueOf(path.getFileName());
                return file.startsWith(owner + "-") && file.endsWith(PART);
            };
            try (DirectoryStream<Path> orphans = Files.newDirectoryStream(directory, ofOwner)) {
                for (Path orphan : orphans) {
                    Files.deleteIfExists(orphan);
                }
            }
            Files.deleteIfExists(lockFile);
        } catch (NoSuchFileException | OverlappingFileLockException e) {
            LOG.debug("another server sweeps {}", lockFile, e);
        } catch (IOException e) {
            LOG.warn("what a killed server left could not be deleted: {}", lockFile, e);
        }
    }

    /** {@return whether the owner of a part file has a lock file, be it alive or not} */
    static boolean isKnown(Path partFile) {
        String file = String.valueOf(partFile.getFileName());
        int end = file.indexOf('-', PREFIX.length());
        return end > 0
                && Files.exists(partFile.resolveSibling(file.substring(0, end) + LOCK), LinkOption.NOFOLLOW_LINKS);
    }
}
