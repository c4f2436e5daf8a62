package dev.sluice.samples.upload;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;

/**
 * The directory of the stored files. A file is written under a random name with the suffix {@code .part} and gets its
 * own name when the whole request is in, so that no half-received upload ever looks whole. Thread-safe.
 */
final class UploadDirectory {
    private static final String PART_PREFIX = ".sluice-";
    private static final String PART_SUFFIX = ".part";
    private static final Duration ORPHAN_AGE = Duration.ofDays(1);
    private static final int MAX_NAME_BYTES = 180;
    private static final int NUMBERED_NAMES = 1000;

    private final Path directory;
    private final SecureRandom random = new SecureRandom();
    private final FileAttribute<?>[] privateDirectory;
    private final FileAttribute<?>[] privateFile;

    private UploadDirectory(Path directory) {
        this.directory = directory;
        boolean posix = directory.getFileSystem().supportedFileAttributeViews().contains("posix");
        this.privateDirectory = posix ? attribute("rwx------") : new FileAttribute<?>[0];
        this.privateFile = posix ? attribute("rw-------") : new FileAttribute<?>[0];
    }

    private static FileAttribute<?>[] attribute(String permissions) {
        return new FileAttribute<?>[] {
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
        };
    }

    /** Creates the directory where it is missing, and deletes what a killed server left in it more than a day ago. */
    static UploadDirectory open(Path path) throws IOException {
        UploadDirectory directory = new UploadDirectory(path.toAbsolutePath().normalize());
        directory.create();
        directory.sweep();
        return directory;
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

    private void sweep() throws IOException {
        Instant oldest = Instant.now().minus(ORPHAN_AGE);
        try (DirectoryStream<Path> orphans = Files.newDirectoryStream(directory, PART_PREFIX + "*" + PART_SUFFIX)) {
            for (Path orphan : orphans) {
                if (Files.getLastModifiedTime(orphan).toInstant().isBefore(oldest)) {
                    Files.deleteIfExists(orphan);
                }
            }
        }
    }

    /** {@return a new, empty, private file for the octets of one part} */
    Path newPartFile() throws IOException {
        create();
        byte[] name = new byte[16];
        random.nextBytes(name);
        // createFile opens with O_EXCL: a link that was planted under this name makes it fail.
        return Files.createFile(
                directory.resolve(PART_PREFIX + HexFormat.of().formatHex(name) + PART_SUFFIX), privateFile);
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
            if (reserve(target)) {
                return moveOnto(partFile, target);
            }
        }
        Path target = resolve(stem + "-" + Long.toHexString(random.nextLong()) + extension);
        if (!reserve(target)) {
            throw new FileAlreadyExistsException(target.toString());
        }
        return moveOnto(partFile, target);
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

    /** Takes the name atomically, so that the move that follows can only replace this empty file. */
    private boolean reserve(Path target) throws IOException {
        try {
            Files.createFile(target, privateFile);
            return true;
        } catch (FileAlreadyExistsException e) {
            return false;
        }
    }

    private static Path moveOnto(Path partFile, Path target) throws IOException {
        try {
            return Files.move(partFile, target, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            Files.deleteIfExists(target);
            throw e;
        }
    }
}
