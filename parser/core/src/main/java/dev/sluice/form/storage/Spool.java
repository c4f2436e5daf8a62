package dev.sluice.form.storage;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.Setting;
import java.io.Closeable;
import java.io.IOException;
import java.nio.channels.WritableByteChannel;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The directory, the limits and the files of a {@link dev.sluice.form.SpoolDirectory}. Thread-safe. */
public final class Spool implements Closeable {
    /** The unit of the quota. */
    public static final int BLOCK = 4 << 10;

    private static final long CHECK_EVERY = 1 << 20;

    /** The default quota has room for this many forms of the largest size. */
    private static final int FORMS = 16;

    /** The number of failed deletions to repeat for each new file, and for each form that exceeds the quota. */
    private static final int MAX_RETRIES = 2;

    private final Path root;
    private final Supplier<String> names;
    private final boolean quotaIsSet;
    private final AtomicLong quota;
    private final long maxFiles;
    private final long keepFreeBytes;
    private final ReentrantLock directoryLock = new ReentrantLock();
    private final AtomicLong files = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    final AtomicLong written = new AtomicLong();
    private final AtomicLong failedDeletes = new AtomicLong();
    private final AtomicLong unchecked = new AtomicLong(CHECK_EVERY);
    private final Queue<SpoolFile> undeleted = new ConcurrentLinkedQueue<>();
    private final int swept;
    private volatile LockedDirectory current;
    private volatile boolean closed;
    private boolean removed;

    /**
     * Creates and locks the directory, and deletes the files of killed processes.
     *
     * @param names supplies the names of the directory and of the files
     * @param maxBytes the quota, or null to {@linkplain #fit derive} it from the limits of the forms
     */
    public Spool(Path root, Supplier<String> names, @Nullable Long maxBytes, long maxFiles, long keepFreeBytes)
            throws IOException {
        this.root = root;
        this.names = names;
        this.quotaIsSet = maxBytes != null;
        this.quota = new AtomicLong(maxBytes != null ? maxBytes : Setting.MAX_SPOOL_BYTES.formDefault());
        this.maxFiles = maxFiles;
        this.keepFreeBytes = keepFreeBytes;
        LockedDirectory made = LockedDirectory.create(root, names);
        this.current = made;
        try {
            LockedDirectory.Deletions deletions = LockedDirectory.sweep(root, made);
            this.swept = deletions.done;
            this.failedDeletes.set(deletions.failed);
        } catch (IOException | RuntimeException e) {
            try (made) {
                throw e;
            }
        }
    }

    /** {@return 128 random bits as a name} */
    public static String randomName() {
        return LockedDirectory.random(16);
    }

    // ---- the state, as SpoolDirectory documents it

    public Path path() {
        return current.directory;
    }

    public long files() {
        return files.get();
    }

    public long bytes() {
        return bytes.get();
    }

    public long writtenBytes() {
        return written.get();
    }

    public long maxBytes() {
        return quota.get();
    }

    public long maxFiles() {
        return maxFiles;
    }

    public int sweptFiles() {
        return swept;
    }

    public long failedDeletes() {
        return failedDeletes.get();
    }

    // ---- for forms

    /** Raises the quota so that forms of up to {@code maxBodyBytes} fit, unless the quota was set. */
    public void fit(long maxBodyBytes) {
        long wanted = maxBodyBytes > Long.MAX_VALUE / FORMS ? Long.MAX_VALUE : FORMS * maxBodyBytes;
        if (!quotaIsSet && wanted > quota.get()) {
            quota.accumulateAndGet(wanted, Math::max);
        }
    }

    /** {@return a new, empty file} */
    public SpoolFile create() throws IOException {
        retryDeletes();
        LockedDirectory directory = openDirectory();
        try {
            return create(directory);
        } catch (NoSuchFileException e) {
            restore(directory);
            return create(openDirectory());
        }
    }

    private SpoolFile create(LockedDirectory where) throws IOException {
        if (files.getAndUpdate(count -> count < maxFiles ? count + 1 : count) >= maxFiles) {
            throw MultipartException.because(Reason.TOO_MANY_SPOOL_FILES)
                    .limit(maxFiles)
                    .build();
        }
        long charged = 0;
        boolean made = false;
        try {
            reserve(BLOCK);
            charged = BLOCK;
            if (!where.isOwn(where.directory)) {
                throw new NoSuchFileException(where.directory.toString());
            }
            Path path = where.directory.resolve(names.get());
            WritableByteChannel channel = LockedDirectory.newFile(path);
            made = true;
            return new SpoolFile(this, path, channel);
        } finally {
            if (!made) {
                forget(charged);
            }
        }
    }

    private LockedDirectory openDirectory() throws MultipartException {
        if (closed) {
            throw MultipartException.because(Reason.UNAVAILABLE)
                    .saying("the server is shutting down: its spool directory is closed")
                    .build();
        }
        return current;
    }

    private void restore(LockedDirectory deleted) throws IOException {
        directoryLock.lock();
        try {
            if (openDirectory() == deleted && !deleted.restore()) {
                current = LockedDirectory.create(root, names);
                deleted.close();
            }
        } finally {
            directoryLock.unlock();
        }
    }

    void reserve(long count) throws IOException {
        for (; ; ) {
            long before = bytes.get();
            checkQuota(count, before);
            if (bytes.compareAndSet(before, before + count)) {
                break;
            }
        }
        try {
            checkFreeSpace(count);
        } catch (IOException e) {
            bytes.addAndGet(-count);
            throw e;
        }
    }

    private void checkQuota(long count, long used) throws MultipartException {
        long max = quota.get();
        if (count > max - used) {
            throw MultipartException.because(Reason.SPOOL_FULL).limit(max).build();
        }
    }

    /**
     * Checks that {@code count} bytes fit now, without reserving them. If {@code count} is less than 1 MiB, the free space is not checked.
     *
     * @throws MultipartException if the bytes do not fit
     */
    public void requireRoom(long count) throws IOException {
        if (count > quota.get() - bytes.get()) {
            retryDeletes(); // create() does it too, but a form that is rejected here creates no file
        }
        checkQuota(count, bytes.get());
        if (keepFreeBytes > 0 && count >= CHECK_EVERY) {
            checkUsable(count);
        }
    }

    /**
     * Checks the free space once per {@value #CHECK_EVERY} bytes of all forms, which is once per 256 small files, and always after
     * a failed check.
     */
    private void checkFreeSpace(long count) throws IOException {
        if (keepFreeBytes == 0 || unchecked.addAndGet(count) < CHECK_EVERY) {
            return;
        }
        checkUsable(count);
        unchecked.set(0);
    }

    private void checkUsable(long count) throws IOException {
        if (fileStore().getUsableSpace() - count < keepFreeBytes) {
            throw MultipartException.because(Reason.DISK_FULL)
                    .limit(keepFreeBytes)
                    .build();
        }
    }

    /** {@return the file system of the root, even if the root has been deleted} */
    private FileStore fileStore() throws IOException {
        Path path = root.toAbsolutePath();
        for (; ; ) {
            try {
                return Files.getFileStore(path);
            } catch (NoSuchFileException e) {
                path = path.getParent();
                if (path == null) {
                    throw e;
                }
            }
        }
    }

    /** Stops counting a deleted file. */
    void forget(long reserved) {
        files.decrementAndGet();
        bytes.addAndGet(-reserved);
    }

    void retryLater(SpoolFile file) {
        failedDeletes.incrementAndGet();
        undeleted.add(file);
    }

    /** Retries a few failed deletions. Retrying all of them could delay each new file. */
    private void retryDeletes() {
        SpoolFile file;
        for (int count = 0; count < MAX_RETRIES && (file = undeleted.poll()) != null; count++) {
            file.delete();
        }
    }

    /** Deletes the directory with all files in it. Idempotent; after an exception, another call tries again. */
    @Override
    public void close() throws IOException {
        directoryLock.lock();
        try {
            closed = true;
            if (!removed) {
                current.close();
                removed = true;
            }
        } finally {
            directoryLock.unlock();
        }
    }
}
