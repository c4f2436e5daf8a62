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
 * Where uploads wait on disk. Make one per process, share it, close it at the end; thread-safe.
 *
 * <p>In the directory given to {@link #open} each spool creates a directory of its own ({@code rwx------}), with a lock file
 * beside it. Files in it are made by this class only ({@code rw-------}, new or not at all, no links followed), with
 * 128 random bits for a name: nothing the client sends becomes part of a path. A file is deleted by its owner, on every
 * path; those of a process that was killed are swept when the next spool opens in the same directory, those left at the
 * end by {@link #close()}. If the directory is deleted meanwhile, it is created again.
 *
 * <p>The sweep goes by the lock files ({@code sluice-*.lock}): a directory without one is left alone, because its owner
 * may live. Where a cleaner of temporary files removes the lock file of a spool whose process is killed later, the
 * files of that spool are therefore never swept: put spools where no cleaner goes, or make it spare {@code sluice-*}.
 *
 * <p>What is written is counted against a quota, in blocks of {@value #BLOCK} bytes and one at least for each file, as file
 * systems do; so are the files; and the file system is left some free space. Beyond any of them is a {@link
 * MultipartException} (507), before the bytes are written. On file systems without POSIX attributes the permissions are those
 * that the parent directory gives.
 */
public final class SpoolDirectory implements Closeable {
    static final int BLOCK = 4 << 10;

    private static final long CHECK_EVERY = 1 << 20;

    /** How many of the largest forms fit into a quota that is not set. */
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
     * Opens a spool that holds at most 10,000 files and keeps 256 MiB of the disk free, and deletes what killed processes left.
     * Its quota follows from the limits of the forms: see {@link Builder#maxSpoolBytes}.
     *
     * @param directory created if missing; best on the file system where the files go in the end, so that they are renamed,
     *     not copied
     * @throws IOException if it cannot be made, locked or listed
     */
    public static SpoolDirectory open(Path directory) throws IOException {
        return builder(directory).open();
    }

    /** {@return a builder of a spool in {@code directory}, as {@link #open}} */
    public static Builder builder(Path directory) {
        return new Builder(directory);
    }

    /** {@return the directory that this spool has made for its files; another one if it had to be made again} */
    public Path path() {
        return current.directory;
    }

    /** {@return how many files there are now} */
    public long files() {
        return files.get();
    }

    /** {@return the bytes that count against the quota now: whole blocks} */
    public long bytes() {
        return bytes.get();
    }

    /** {@return the bytes that were written in all} */
    public long writtenBytes() {
        return written.get();
    }

    /** {@return the quota, in bytes; {@link Long#MAX_VALUE} if unlimited. See {@link Builder#maxSpoolBytes}} */
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

    /** {@return how many files there may be at a time} */
    public long maxSpoolFiles() {
        return maxSpoolFiles;
    }

    /** {@return how many files of killed processes were swept when this spool opened} */
    public int sweptFiles() {
        return swept;
    }

    /**
     * {@return how often a file could not be deleted; each is tried again later, and counts against the quota until
     * then}
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
     * Asks the file system once per {@value #CHECK_EVERY} bytes charged to all requests, which is once per 256 small files, and
     * always after a refusal.
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

    /** {@return where the root is, or would be: something may have removed it since the file at hand was made} */
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

    /** A file is gone, by whatever name. */
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
     * Removes the directory and all files that are left in it, detached ones included; idempotent.
     *
     * @throws IOException if something could not be removed; another call tries again, and a later process that opens a
     *     spool there sweeps it
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

    /** {@return the directory, without what is in it} */
    @Override
    public String toString() {
        return "SpoolDirectory[" + path() + "]";
    }

    /** Collects settings; not thread-safe. */
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
         * {@return this builder; all files together have at most {@code value} bytes, 0 or more, each counted as whole blocks
         * of 4 KiB and one at least}. By default there is room for 16 forms of {@code maxBodyBytes}, and 1 GiB at least: building
         * {@link FormOptions} with this spool and a larger limit raises the quota
         */
        public Builder maxSpoolBytes(long value) {
            this.maxSpoolBytes = Setting.MAX_SPOOL_BYTES.check(value);
            return this;
        }

        /** {@return this builder, with {@link #maxSpoolBytes} off} */
        public Builder unlimitedSpoolBytes() {
            this.maxSpoolBytes = Long.MAX_VALUE;
            return this;
        }

        /** {@return this builder; there are at most {@code value} files at a time, 0 or more; 10,000 by default} */
        public Builder maxSpoolFiles(long value) {
            this.maxSpoolFiles = Setting.MAX_SPOOL_FILES.check(value);
            return this;
        }

        /** {@return this builder, with {@link #maxSpoolFiles} off} */
        public Builder unlimitedSpoolFiles() {
            this.maxSpoolFiles = Long.MAX_VALUE;
            return this;
        }

        /**
         * {@return this builder; {@code value} bytes of the file system are left free, 256 MiB by default. Looked at once per
         * MiB or 256 files written, so it may be exceeded by that much}
         */
        public Builder keepFreeBytes(long value) {
            this.keepFreeBytes = Setting.KEEP_FREE_BYTES.check(value);
            return this;
        }

        Builder names(Supplier<String> value) {
            this.names = value;
            return this;
        }

        /** {@return this builder, as of {@link dev.sluice.BodySettings#set}; for settings of {@link Setting.Scope#SPOOL}} */
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
         * {@return the spool, its directory made and locked, and what killed processes left swept}
         *
         * @throws IOException if the directory cannot be made, locked or listed
         */
        public SpoolDirectory open() throws IOException {
            return new SpoolDirectory(this);
        }
    }
}
