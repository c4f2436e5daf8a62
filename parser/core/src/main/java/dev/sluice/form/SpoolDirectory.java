package dev.sluice.form;

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
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * The files in which uploads are stored until the application takes them. Create one per process, share it, and close it at the end.
 * Thread-safe.
 *
 * <p><b>Files.</b> In the directory given to {@link #open}, each spool creates a directory of its own ({@code rwx------}), with a
 * lock file next to it. Only this class creates files there ({@code rw-------}, never existing ones, no links followed). Their names
 * are 128 random bits: no input of the client becomes part of a path. On file systems without POSIX attributes, the permissions are
 * inherited from the parent directory. If the directory is deleted, the next file creates it again.
 *
 * <p><b>Clean-up.</b> The owner of a file deletes it, however the form ends. {@link #close()} deletes all files that are left. If the
 * process was killed, the next spool that opens in the same directory sweeps its files. The sweep relies on the lock files ({@code
 * sluice-*.lock}) and leaves a directory without one alone, because its process may be alive. If a cleaner of temporary files
 * deletes the lock file of a spool, and the process is killed later, the files of that spool are never deleted. Therefore choose a
 * directory that is not cleaned, or exclude {@code sluice-*}.
 *
 * <p><b>Limits.</b> There are limits for the bytes, which count in blocks of {@value #BLOCK}, at least one for each file; for the
 * number of files; and for the space that the file system keeps free. A form that exceeds one of them fails with a {@link
 * MultipartException} (507) before the bytes are written.
 */
public final class SpoolDirectory implements Closeable {
    static final int BLOCK = 4 << 10;

    private static final long CHECK_EVERY = 1 << 20;

    /** The default quota has room for this many forms of the largest size. */
    private static final int FORMS = 16;

    private static final long NOT_SET = -1;

    private final Path root;
    private final Supplier<String> names;
    private final boolean quotaIsSet;
    private final AtomicLong quota;
    private final long maxSpoolFiles;
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

    private SpoolDirectory(Builder builder) throws IOException {
        this.root = builder.root;
        this.names = builder.names;
        this.quotaIsSet = builder.maxSpoolBytes != NOT_SET;
        this.quota = new AtomicLong(quotaIsSet ? builder.maxSpoolBytes : Setting.MAX_SPOOL_BYTES.formDefault());
        this.maxSpoolFiles = builder.maxSpoolFiles;
        this.keepFreeBytes = builder.keepFreeBytes;
        LockedDirectory made = LockedDirectory.create(root, names);
        this.current = made;
        try {
            this.swept = LockedDirectory.sweep(root, made);
        } catch (IOException | RuntimeException e) {
            try (made) {
                throw e;
            }
        }
    }

    /**
     * Opens a spool that holds at most 10,000 files and keeps 256 MiB of the disk free, and deletes the files of killed processes.
     * Its quota depends on the limits of the forms: see {@link Builder#maxSpoolBytes}.
     *
     * @param directory created if it does not exist; best on the file system to which the application moves the files, so that
     *     they are renamed and not copied
     * @throws IOException if it cannot be created, locked or listed
     */
    public static SpoolDirectory open(Path directory) throws IOException {
        return builder(directory).open();
    }

    /** {@return a builder of a spool in {@code directory}, with the defaults of {@link #open}} */
    public static Builder builder(Path directory) {
        return new Builder(directory);
    }

    /** {@return the directory that this spool has created for its files; it changes if the directory and its lock file are deleted} */
    public Path path() {
        return current.directory;
    }

    /** {@return the number of files now} */
    public long files() {
        return files.get();
    }

    /** {@return the bytes that count against the quota now: whole blocks} */
    public long bytes() {
        return bytes.get();
    }

    /** {@return the bytes that were ever written} */
    public long writtenBytes() {
        return written.get();
    }

    /** {@return the quota in bytes, or {@link Long#MAX_VALUE} without one} See {@link Builder#maxSpoolBytes}. */
    public long maxSpoolBytes() {
        return quota.get();
    }

    /** Raises the quota for forms of up to {@code maxBodyBytes}, unless it was set. */
    void fit(long maxBodyBytes) {
        long wanted = maxBodyBytes > Long.MAX_VALUE / FORMS ? Long.MAX_VALUE : FORMS * maxBodyBytes;
        if (!quotaIsSet && wanted > quota.get()) {
            quota.accumulateAndGet(wanted, Math::max);
        }
    }

    /** {@return the largest number of files at the same time} */
    public long maxSpoolFiles() {
        return maxSpoolFiles;
    }

    /** {@return how many files of killed processes were swept when this spool opened} */
    public int sweptFiles() {
        return swept;
    }

    /**
     * {@return how often a file could not be deleted} It is tried again later. Until then the file counts against the quota.
     */
    public long failedDeletes() {
        return failedDeletes.get();
    }

    SpoolFile create() throws IOException {
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
        if (files.getAndUpdate(count -> count < maxSpoolFiles ? count + 1 : count) >= maxSpoolFiles) {
            throw MultipartException.because(Reason.TOO_MANY_SPOOL_FILES)
                    .limit(maxSpoolFiles)
                    .build();
        }
        long charged = 0;
        boolean made = false;
        try {
            reserve(BLOCK);
            charged = BLOCK;
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

    private LockedDirectory openDirectory() {
        if (closed) {
            throw new IllegalStateException("the spool directory is closed");
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
     * Checks that {@code count} bytes fit now, and reserves nothing.
     *
     * @throws MultipartException if they do not fit
     */
    void requireRoom(long count) throws IOException {
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

    /** {@return the file system of the root, which something may have deleted} */
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

    private void retryDeletes() {
        for (int count = undeleted.size(); count > 0; count--) {
            SpoolFile file = undeleted.poll();
            if (file != null) {
                file.delete();
            }
        }
    }

    /**
     * Deletes the directory with all files in it, including detached ones. Idempotent.
     *
     * @throws IOException if a file could not be deleted; another call tries again, as does a later spool in the same directory
     */
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

    /** {@return the path of the directory, without the names of files} */
    @Override
    public String toString() {
        return "SpoolDirectory[" + path() + "]";
    }

    /** Collects settings. Not thread-safe. */
    public static final class Builder {
        private Path root;
        private long maxSpoolBytes = NOT_SET;
        private long maxSpoolFiles = Setting.MAX_SPOOL_FILES.formDefault();
        private long keepFreeBytes = Setting.KEEP_FREE_BYTES.formDefault();
        private Supplier<String> names = () -> LockedDirectory.random(16);

        private Builder(Path root) {
            this.root = Objects.requireNonNull(root, "directory");
        }

        /**
         * Limits the bytes of all files together to {@code value}, 0 or more. Each file counts as whole blocks of 4 KiB, at least
         * one. By default there is room for 16 forms of {@code maxBodyBytes} and for at least 1 GiB: building {@link FormOptions}
         * with this spool and a larger limit raises the quota.
         *
         * @return this builder
         */
        public Builder maxSpoolBytes(long value) {
            this.maxSpoolBytes = Setting.MAX_SPOOL_BYTES.check(value);
            return this;
        }

        /** {@return this builder, with {@link #maxSpoolBytes} switched off} */
        public Builder unlimitedSpoolBytes() {
            this.maxSpoolBytes = Long.MAX_VALUE;
            return this;
        }

        /** {@return this builder; the spool holds at most {@code value} files at a time, 0 or more; 10,000 by default} */
        public Builder maxSpoolFiles(long value) {
            this.maxSpoolFiles = Setting.MAX_SPOOL_FILES.check(value);
            return this;
        }

        /** {@return this builder, with {@link #maxSpoolFiles} switched off} */
        public Builder unlimitedSpoolFiles() {
            this.maxSpoolFiles = Long.MAX_VALUE;
            return this;
        }

        /**
         * Keeps {@code value} bytes of the file system free, 256 MiB by default. Checked once per MiB or 256 files, so that up to
         * that much less may be free.
         *
         * @return this builder
         */
        public Builder keepFreeBytes(long value) {
            this.keepFreeBytes = Setting.KEEP_FREE_BYTES.check(value);
            return this;
        }

        Builder names(Supplier<String> value) {
            this.names = value;
            return this;
        }

        /** {@return this builder, with a setting of {@link Setting.Scope#SPOOL} read from text as by {@link dev.sluice.BodySettings#set}} */
        public Builder set(Setting setting, String text) {
            switch (setting) {
                case DIRECTORY -> root = Path.of((String) setting.parse(text));
                case MAX_SPOOL_BYTES -> maxSpoolBytes = (long) setting.parse(text);
                case MAX_SPOOL_FILES -> maxSpoolFiles = (long) setting.parse(text);
                case KEEP_FREE_BYTES -> keepFreeBytes = (long) setting.parse(text);
                default -> throw new IllegalArgumentException(setting + " is not a setting of a spool");
            }
            return this;
        }

        /**
         * {@return the spool, after its directory was created and locked and the files of killed processes were deleted}
         *
         * @throws IOException if the directory cannot be created, locked or listed
         */
        public SpoolDirectory open() throws IOException {
            return new SpoolDirectory(this);
        }
    }
}
