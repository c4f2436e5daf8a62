package dev.sluice.form;

import dev.sluice.MultipartException;
import java.io.Closeable;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.CopyOption;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The body of one part, in memory or in a file of a {@link SpoolDirectory}. Whoever has it closes it: then the memory
 * is given back or the file deleted, and the streams it handed out are closed.
 *
 * <p>Thread-safe: a {@link #close()} beside a {@link #moveTo} waits until the file is where it belongs.
 */
public final class PartContent implements Closeable {
    private volatile @Nullable MemoryContent memory;
    private volatile @Nullable SpoolFile file;

    /** Those that were handed out and not closed; null while there was none. */
    private volatile @Nullable Set<InputStream> streams;

    private final ReentrantLock lock = new ReentrantLock();
    private boolean moved;
    private boolean detached;
    private boolean closed;

    private PartContent(@Nullable MemoryContent memory, @Nullable SpoolFile file) {
        this.memory = memory;
        this.file = file;
    }

    static PartContent of(MemoryContent memory) {
        return new PartContent(memory, null);
    }

    static PartContent of(SpoolFile file) {
        return new PartContent(null, file);
    }

    /** {@return the size in bytes} */
    public long size() {
        MemoryContent here = memory;
        return here != null ? here.size() : spooled().size();
    }

    /** {@return whether it is in memory, not in a file} */
    public boolean isInMemory() {
        return memory != null;
    }

    private SpoolFile spooled() {
        return Objects.requireNonNull(file, "content is in memory or in a file");
    }

    /** {@return whether it is in memory and has something to give} */
    boolean isEvictable() {
        MemoryContent here = memory;
        return here != null && here.isEvictable() && here.size() > 0;
    }

    /** Moves what is in memory to a file; while the form is put together, before anybody else has this. */
    void spill(SpoolDirectory spool) throws IOException {
        MemoryContent here = Objects.requireNonNull(memory, "content is in memory");
        SpoolFile spilled = spool.create();
        try {
            spilled.write(here);
            spilled.complete();
        } catch (IOException | RuntimeException e) {
            spilled.closeQuietly(e);
            throw e;
        }
        file = spilled;
        memory = null;
        here.release();
    }

    /**
     * {@return a new stream over all bytes; as often as wanted, also side by side. Closing it early is polite, not a
     * duty}
     *
     * @throws IOException if the file cannot be opened
     * @throws IllegalStateException after {@link #moveTo} and {@link #close()}
     */
    public InputStream inputStream() throws IOException {
        lock.lock();
        try {
            checkHere();
            MemoryContent here = memory;
            InputStream stream =
                    new Tracked(here != null ? here.open() : spooled().read());
            Set<InputStream> open = streams;
            if (open == null) {
                open = ConcurrentHashMap.newKeySet();
                streams = open;
            }
            open.add(stream);
            return stream;
        } finally {
            lock.unlock();
        }
    }

    /**
     * {@return all bytes: a new array}
     *
     * @throws IOException if the file cannot be read
     * @throws IllegalStateException after {@link #moveTo} and {@link #close()}
     * @throws ArithmeticException beyond 2 GiB
     */
    public byte[] toByteArray() throws IOException {
        Math.toIntExact(size());
        try (InputStream in = inputStream()) {
            return in.readAllBytes();
        }
    }

    /**
     * Makes this content the file {@code target}, which is there in full or not at all. Within one file system a file
     * is renamed; else, and from memory, it is written beside the target ({@code .sluice-*.part}) and then renamed. Its
     * permissions are {@code rw-------}. Close the streams first: some systems do not rename an open file.
     *
     * @param target a path chosen by the application, never by the peer
     * @param options none, or {@link StandardCopyOption#REPLACE_EXISTING}; without it an existing target is refused,
     *     atomically where the file system has hard links
     * @throws FileAlreadyExistsException if the target exists and is not to be replaced; the content stays as it is
     * @throws IOException if it cannot be moved; the content stays as it is
     * @throws IllegalStateException after {@link #moveTo} and {@link #close()}
     */
    public void moveTo(Path target, CopyOption... options) throws IOException {
        boolean replace = replaces(options);
        lock.lock();
        try {
            checkHere();
            MemoryContent here = memory;
            if (here != null) {
                AtomicFile.write(target, replace, here::writeTo);
                here.release();
            } else {
                spooled().moveTo(target, replace);
            }
            moved = true;
        } finally {
            lock.unlock();
        }
    }

    static boolean replaces(CopyOption[] options) {
        for (CopyOption option : options) {
            if (option != StandardCopyOption.REPLACE_EXISTING) {
                throw new UnsupportedOperationException("only REPLACE_EXISTING is supported");
            }
        }
        return options.length > 0;
    }

    /**
     * {@return the same content for a new owner, memory charged to another account; of threads that race one gets it.
     * This has nothing to close any more}
     */
    PartContent detach() throws MultipartException {
        lock.lock();
        try {
            checkHere();
            MemoryContent here = memory;
            PartContent successor = here != null ? of(here.chargedElsewhere()) : of(spooled());
            detached = true;
            closeStreams();
            if (here != null) {
                here.release();
            }
            return successor;
        } finally {
            lock.unlock();
        }
    }

    private void checkHere() {
        if (moved || detached || closed) {
            throw new IllegalStateException(
                    "the content of the part " + (moved ? "was moved" : detached ? "was detached" : "is closed"));
        }
    }

    private void closeStreams() {
        Set<InputStream> open = streams;
        for (InputStream stream : open == null ? Set.<InputStream>of() : open) {
            try {
                stream.close();
            } catch (IOException e) {
                // a stream that was only read has nothing to lose
            }
        }
    }

    /** Gives back the memory or deletes the file, unless it was moved; closes the streams. Idempotent. */
    @Override
    public void close() {
        lock.lock();
        try {
            closeStreams();
            if (!closed && !moved && !detached) {
                MemoryContent here = memory;
                if (here != null) {
                    here.release();
                } else {
                    spooled().close();
                }
            }
            closed = true;
        } finally {
            lock.unlock();
        }
    }

    /** Is closed with the content, and reads nothing then. */
    private final class Tracked extends FilterInputStream {
        private volatile boolean over;

        Tracked(InputStream in) {
            super(in);
        }

        private void checkOpen() throws IOException {
            if (over) {
                throw new IOException("the stream is closed");
            }
        }

        @Override
        public int read() throws IOException {
            checkOpen();
            return super.read();
        }

        @Override
        public int read(byte[] target, int index, int length) throws IOException {
            checkOpen();
            return super.read(target, index, length);
        }

        @Override
        public void close() throws IOException {
            over = true;
            Set<InputStream> open = streams;
            if (open != null) {
                open.remove(this);
            }
            super.close();
        }
    }
}
