package dev.sluice.form;

import dev.sluice.MultipartException;
import dev.sluice.Setting;
import dev.sluice.form.storage.Spool;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
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
 * <p><b>Limits.</b> There are limits for the bytes, which count in blocks of 4 KiB, at least one for each file; for the
 * number of files; and for the space that the file system keeps free. A form that exceeds one of them fails with a {@link
 * MultipartException} (507) before the bytes are written.
 */
public final class SpoolDirectory implements Closeable {
    private static final long NOT_SET = -1;

    final Spool spool;

    private SpoolDirectory(Spool spool) {
        this.spool = spool;
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
        return spool.path();
    }

    /** {@return the number of files now} */
    public long files() {
        return spool.files();
    }

    /** {@return the bytes that count against the quota now: whole blocks} */
    public long bytes() {
        return spool.bytes();
    }

    /** {@return the bytes that were ever written} */
    public long writtenBytes() {
        return spool.writtenBytes();
    }

    /** {@return the quota in bytes, or {@link Long#MAX_VALUE} without one} See {@link Builder#maxSpoolBytes}. */
    public long maxSpoolBytes() {
        return spool.maxBytes();
    }

    /** {@return the largest number of files at the same time} */
    public long maxSpoolFiles() {
        return spool.maxFiles();
    }

    /** {@return how many files of killed processes were swept when this spool opened} */
    public int sweptFiles() {
        return spool.sweptFiles();
    }

    /**
     * {@return how often a file could not be deleted} It is tried again later. Until then the file counts against the quota.
     */
    public long failedDeletes() {
        return spool.failedDeletes();
    }

    /**
     * Deletes the directory with all files in it, including detached ones. Idempotent.
     *
     * @throws IOException if a file could not be deleted; another call tries again, as does a later spool in the same directory
     */
    @Override
    public void close() throws IOException {
        spool.close();
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
        private Supplier<String> names = Spool::randomName;

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

        /** {@return this builder, with a setting of {@link Setting.Scope#SPOOL} read from text as by {@link dev.sluice.MultipartOptions.Builder#set}} */
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
            Long quota = maxSpoolBytes == NOT_SET ? null : maxSpoolBytes;
            return new SpoolDirectory(new Spool(root, names, quota, maxSpoolFiles, keepFreeBytes));
        }
    }
}
