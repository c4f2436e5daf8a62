package dev.sluice.form;

import dev.sluice.MultipartException;
import dev.sluice.Setting;
import dev.sluice.form.storage.Spool;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The spool: temporary files in which uploads are stored until the application takes them. Create one spool per process, share it, and
 * close it at shutdown. Thread-safe.
 *
 * <p><b>Files.</b> In the directory given to {@link #open}, each spool creates its own directory ({@code rwx------}), with a lock file next
 * to it. Only this class creates files there ({@code rw-------}). It never writes to an existing file and follows no links. File names are
 * 128 random bits: client input never becomes part of a path. On file systems without POSIX attributes, the permissions are inherited from
 * the parent directory. If the directory is deleted, it is created again with the next file, under another name if its name is taken.
 *
 * <p><b>Clean-up.</b> The owner of a file deletes it, however the form ends. {@link #close()} deletes all files that are left. If a process
 * was killed, the next spool that opens in the same directory deletes the files of that process. This sweep relies on the lock files
 * ({@code sluice-*.lock}). It does not touch a directory that has no lock file, because the process of that directory may be alive. If a
 * cleaner of temporary files deletes the lock file of a spool, and the process is killed later, the files of that spool are never deleted.
 * Therefore choose a directory that is not cleaned, or exclude {@code sluice-*}.
 *
 * <p><b>Limits.</b> The spool limits the number of its files and their total size, in blocks of 4 KiB with at least one
 * per file. It also keeps some space of the file system free. A form that would exceed one of these limits fails with a
 * {@link MultipartException} (507) before the bytes are written.
 */
public final class SpoolDirectory implements Closeable {
    final Spool spool;

    private SpoolDirectory(Spool spool) {
        this.spool = spool;
    }

    /**
     * Opens a spool that holds at most 10,000 files and keeps 256 MiB of the disk free, and deletes the files of killed
     * processes. Its quota depends on the limits of the forms: see {@link Builder#maxSpoolBytes}.
     *
     * @param directory the parent directory, created if it does not exist. If it is on the file system to which the
     *     application moves the files, they are renamed and not copied
     * @throws IOException if the spool cannot be created or locked, or its parent directory cannot be listed
     */
    public static SpoolDirectory open(Path directory) throws IOException {
        return builder(directory).open();
    }

    /** {@return a builder of a spool in {@code directory}, with the defaults of {@link #open}} */
    public static Builder builder(Path directory) {
        return new Builder(directory);
    }

    /**
     * {@return the directory that this spool has created for its files} It changes if the directory and its lock file are deleted, or if
     * another user takes the name of a deleted directory.
     */
    public Path path() {
        return spool.path();
    }

    /** {@return the current number of files} */
    public long files() {
        return spool.files();
    }

    /** {@return the bytes that currently count against the quota, in whole blocks} */
    public long bytes() {
        return spool.bytes();
    }

    /** {@return the total number of bytes written so far} */
    public long writtenBytes() {
        return spool.writtenBytes();
    }

    /** {@return the quota in bytes, or {@link Long#MAX_VALUE} without one} See {@link Builder#maxSpoolBytes}. */
    public long maxSpoolBytes() {
        return spool.maxBytes();
    }

    /** {@return the maximum number of files at the same time} */
    public long maxSpoolFiles() {
        return spool.maxFiles();
    }

    /** {@return the number of files of killed processes that were deleted when this spool opened} */
    public int sweptFiles() {
        return spool.sweptFiles();
    }

    /**
     * {@return the number of failed attempts to delete a file} The spool tries again later. Until that succeeds, the file counts against
     * the quota. A file of a killed process does not count, and the next process that opens a spool in the same directory tries again to
     * delete it.
     */
    public long failedDeletes() {
        return spool.failedDeletes();
    }

    /**
     * Deletes the directory with all files in it, including detached ones. Forms that need a file later fail with {@code UNAVAILABLE}
     * (503). Idempotent.
     *
     * @throws IOException if a file could not be deleted; another call, or the next process with a spool in the same directory, tries
     *     again
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

    /** A builder of a spool. Each setter returns this builder. Not thread-safe. */
    public static final class Builder {
        private Path root;
        private @Nullable Long maxSpoolBytes; // null if the limits of the forms decide
        private long maxSpoolFiles = Setting.MAX_SPOOL_FILES.formDefault();
        private long keepFreeBytes = Setting.KEEP_FREE_BYTES.formDefault();
        private Supplier<String> names = Spool::randomName;

        private Builder(Path root) {
            this.root = Objects.requireNonNull(root, "directory");
        }

        /**
         * Limits the total size of all files to {@code value} bytes, 0 or more. Each file counts as whole blocks of 4
         * KiB, at least one. By default the quota is 16 times {@code maxBodyBytes}, but at least 1 GiB: {@link
         * FormOptions} with this spool and a larger {@code maxBodyBytes} raise it when they are built.
         */
        public Builder maxSpoolBytes(long value) {
            this.maxSpoolBytes = Setting.MAX_SPOOL_BYTES.check(value);
            return this;
        }

        /** Removes the limit {@link #maxSpoolBytes}. */
        public Builder unlimitedSpoolBytes() {
            this.maxSpoolBytes = Long.MAX_VALUE;
            return this;
        }

        /** Limits the number of files at the same time, 0 or more; 10,000 by default. */
        public Builder maxSpoolFiles(long value) {
            this.maxSpoolFiles = Setting.MAX_SPOOL_FILES.check(value);
            return this;
        }

        /** Removes the limit {@link #maxSpoolFiles}. */
        public Builder unlimitedSpoolFiles() {
            this.maxSpoolFiles = Long.MAX_VALUE;
            return this;
        }

        /**
         * Keeps {@code value} bytes of the file system free, 256 MiB by default. The free space is checked once per MiB
         * written, or per 256 small files, so slightly less may remain free.
         */
        public Builder keepFreeBytes(long value) {
            this.keepFreeBytes = Setting.KEEP_FREE_BYTES.check(value);
            return this;
        }

        Builder names(Supplier<String> value) {
            this.names = value;
            return this;
        }

        /** Sets a value of {@link Setting.Scope#SPOOL} given as text, like {@link dev.sluice.MultipartOptions.Builder#set}. */
        public Builder set(Setting setting, String text) {
            switch (setting) {
                case DIRECTORY -> root = Path.of((String) setting.parse(text));
                case MAX_SPOOL_BYTES -> maxSpoolBytes = (Long) setting.parse(text);
                case MAX_SPOOL_FILES -> maxSpoolFiles = (long) setting.parse(text);
                case KEEP_FREE_BYTES -> keepFreeBytes = (long) setting.parse(text);
                default -> throw new IllegalArgumentException(setting + " is not a setting of a spool");
            }
            return this;
        }

        /**
         * Opens the spool: creates and locks its directory, and deletes the files of killed processes.
         *
         * @return the spool
         * @throws IOException if the directory cannot be created, locked or listed
         */
        public SpoolDirectory open() throws IOException {
            return new SpoolDirectory(new Spool(root, names, maxSpoolBytes, maxSpoolFiles, keepFreeBytes));
        }
    }
}
