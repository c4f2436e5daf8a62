package dev.sluice.samples.upload;

import java.io.Closeable;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The directory of the stored files. A file is written under a random name with the suffix {@code .part} and gets its
 * own name when the whole request is in, so that no half-received file ever looks whole. Thread-safe.
 *
 * <p>The files of one upload get their names one after the other: a process that is killed meanwhile leaves some of
 * them, each whole (where the file system has no hard links, one may be left empty). Its part files are deleted when a
 * server next starts in the directory. Nothing is forced to the disk: a loss of power may cost or damage files that
 * were answered as stored.
 *
 * <p>One lock file per server tells the part files of those that live from those of the dead.
 */
final class UploadDirectory implements Closeable {
    private static final String PART_PREFIX = ".sluice-";
    private static final String PART_SUFFIX = ".part";
    private static final Duration ORPHAN_AGE = Duration.ofDays(1);
    private static final int MAX_NAME_BYTES = 180;
    private static final int NUMBERED_NAMES = 1000;

    private final Path directory;
    private final long keepFreeBytes;
    private final ReentrantLock ownerLock = new ReentrantLock();
    private final SecureRandom random = new SecureRandom();
    private final FileAttribute<?>[] privateDirectory;
    private final FileAttribute<?>[] privateFile;
    private PartOwner owner;

    private UploadDirectory(Path directory, long keepFreeBytes) throws IOException {
        this.directory = directory;
        this.keepFreeBytes = keepFreeBytes;
        boolean posix = directory.getFileSystem().supportedFileAttributeViews().contains("posix");
        this.privateDirectory = posix ? attribute("rwx------") : new FileAttribute<?>[0];
        this.privateFile = posix ? attribute("rw-------") : new FileAttribute<?>[0];
        create();
        this.owner = PartOwner.create(directory, random, privateFile);
    }

    private static FileAttribute<?>[] attribute(String permissions) {
        return new FileAttribute<?>[] {
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
        };
    }

    /**
     * Creates the directory where it is missing, and deletes what killed servers left in it.
     *
     * @param keepFreeBytes how much has to be free on the disk for a new file, in bytes
     */
    static UploadDirectory open(Path path, long keepFreeBytes) throws IOException {
        UploadDirectory directory = new UploadDirectory(path.toAbsolutePath().normalize(), keepFreeBytes);
        try {
            PartOwner.sweep(directory.directory);
            directory.sweepUnknown();
        } catch (IOException | RuntimeException e) {
            directory.close();
            throw e;
        }
        return directory;
    }

    /** Lets go of the directory; to be called when all part files are published or deleted. */
    @Override
    public void close() throws IOException {
        ownerLock.lock();
        try {
            owner.close();
        } finally {
            ownerLock.unlock();
        }
    }

    Path path() {
        return directory;
    }

    private void create() throws IOException {
        // A symbolic link to a directory is fine here: the operator chose it.
        if (!Files.isDirectory(directory)) {
            Files.createDirectories(directory, privateDirectory);
        }
    }

    /** Files whose lock file somebody has deleted: only their age tells that nobody writes them any more. */
    private void sweepUnknown() throws IOException {
        Instant oldest = Instant.now().minus(ORPHAN_AGE);
        try (DirectoryStream<Path> orphans = Files.newDirectoryStream(directory, PART_PREFIX + "*" + PART_SUFFIX)) {
            for (Path orphan : orphans) {
                if (!PartOwner.isKnown(orphan)
                        && Files.getLastModifiedTime(orphan).toInstant().isBefore(oldest)) {
                    Files.deleteIfExists(orphan);
                }
            }
        }
    }

    /**
     * {@return a new, empty, private file for the bytes of one part}
     *
     * @throws DiskFullException if too little is free on the disk
     */
    Path newPartFile() throws IOException {
        create();
        if (Files.getFileStore(directory).getUsableSpace() < keepFreeBytes) {
            throw new DiskFullException(keepFreeBytes);
        }
        try {
            // createFile opens with O_EXCL: a link that was planted under this name makes it fail.
            return Files.createFile(owner().newPart(random), privateFile);
        } catch (IOException e) {
            throw explained(e, 1);
        }
    }

    /**
     * {@return why writing failed: a {@link DiskFullException} where that is the reason, else {@code failure}}
     *
     * @param needed what was to be written, in bytes
     */
    IOException explained(IOException failure, long needed) throws IOException {
        // Others may have made room since, so that what is free now does not tell; the text is that of ENOSPC.
        boolean full = String.valueOf(failure.getMessage()).contains("No space left on device")
                || Files.getFileStore(directory).getUsableSpace() < needed;
        return full ? new DiskFullException(failure) : failure;
    }

    /** {@return the owner, a new one if somebody has deleted its lock file} */
    private PartOwner owner() throws IOException {
        ownerLock.lock();
        try {
            if (!owner.isThere()) {
                PartOwner gone = owner;
                owner = PartOwner.create(directory, random, privateFile);
                gone.close();
            }
            return owner;
        } finally {
            ownerLock.unlock();
        }
    }

    /**
     * Gives a finished file its name; never replaces a file that is there.
     *
     * @param safeName a safe base name, or an empty one
     * @return the file under its new name, which has a number where the plain name was taken
     */
    Path publish(Path partFile, String safeName) throws IOException {
        String name = safeName.isEmpty() ? "file" : safeName;
        int dot = name.lastIndexOf('.');
        boolean hasExtension = dot > 0 && name.length() - dot <= 16;
        String extension = hasExtension ? name.substring(dot) : "";
        String stem = shortened(hasExtension ? name.substring(0, dot) : name);
        for (int number = 0; number < NUMBERED_NAMES; number++) {
            Path target = resolve(stem + (number == 0 ? "" : "-" + number) + extension);
            if (rename(partFile, target)) {
                return target;
            }
        }
        Path target = resolve(stem + "-" + Long.toHexString(random.nextLong()) + extension);
        if (!rename(partFile, target)) {
            throw new FileAlreadyExistsException(target.toString());
        }
        return target;
    }

    private static String shortened(String stem) {
        String result = stem;
        while (result.getBytes(StandardCharsets.UTF_8).length > MAX_NAME_BYTES) {
            result = result.substring(0, result.offsetByCodePoints(result.length(), -1));
        }
        return result;
    }

    private Path resolve(String name) throws IOException {
        Path target;
        try {
            target = directory.resolve(name);
        } catch (InvalidPathException e) {
            // The file system's charset (the C locale's, say) lacks a character of the name.
            target = directory.resolve(ascii(name));
        }
        if (!directory.equals(target.getParent())) {
            throw new IOException("a stored file has to be directly in the upload directory");
        }
        return target;
    }

    private static String ascii(String name) {
        StringBuilder result = new StringBuilder();
        name.codePoints().forEach(c -> result.append(c < 0x7F ? (char) c : '_'));
        return result.toString();
    }

    /** Gives the file its name, atomically and not over another one. {@return whether the name was free} */
    private boolean rename(Path partFile, Path target) throws IOException {
        try {
            Files.createLink(target, partFile);
        } catch (FileAlreadyExistsException e) {
            return false;
        } catch (NoSuchFileException e) {
            throw e;
        } catch (UnsupportedOperationException | FileSystemException e) {
            // No hard links here, as on FAT.
            if (!reserve(target)) {
                return false;
            }
            moveOnto(partFile, target);
            return true;
        }
        try {
            Files.delete(partFile);
        } catch (IOException e) {
            Files.deleteIfExists(target);
            throw e;
        }
        return true;
    }

    /** Takes the name atomically, so that the move that follows can only replace this empty file. */
    private boolean reserve(Path target) throws IOException {
        try {
            Files.createFile(target, privateFile);
            return true;
        } catch (FileAlreadyExistsException e) {
            return false;
        }
    }

    private static void moveOnto(Path partFile, Path target) throws IOException {
        try {
            Files.move(partFile, target, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            Files.deleteIfExists(target);
            throw e;
        }
    }
}
