package dev.sluice.form;

import dev.sluice.MultipartException;
import dev.sluice.PartHead;
import io.netty.buffer.ByteBuf;
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
    /** Bytes, in memory or in a file: written by one thread, then read by any. */
    interface Storage extends AutoCloseable {
        /** Takes bytes from {@code data}. {@return false if there was no room for all of them} */
        boolean write(ByteBuf data) throws IOException;

        /** All have been written. */
        void complete() throws IOException;

        long size();

        /** {@return what is held while the bytes move or go} */
        ReentrantLock lock();

        InputStream read() throws IOException;

        /** Makes them a file of the application; there is nothing to close any more. */
        void moveTo(Path target, boolean replace) throws IOException;

        /** {@return the same bytes for a new owner, which may be this; the old one has nothing to close any more} */
        Storage detach() throws MultipartException;

        /** Gives back the memory, or deletes the file. */
        @Override
        void close();
    }

    private Storage storage; // changes only before anybody else has this

    /** Those of the file that were handed out and not closed; null while there was none. */
    private volatile @Nullable Set<InputStream> streams;

    /** What became of it, once it is nothing any more; set under the lock. */
    private volatile @Nullable String gone;

    PartContent(Storage storage) {
        this.storage = storage;
    }

    boolean write(ByteBuf data) throws IOException {
        return storage.write(data);
    }

    void complete() throws IOException {
        storage.complete();
    }

    /** {@return the size in bytes} */
    public long size() {
        return storage.size();
    }

    /** {@return whether it is in memory, not in a file} */
    public boolean isInMemory() {
        return storage instanceof MemoryContent;
    }

    /** {@return how much memory it would give back if it moved to a file; 0 where it may not, or is in one} */
    long evictable() {
        return storage instanceof MemoryContent memory ? memory.evictable() : 0;
    }

    /** Moves what is in memory to a file, which can be written on; while the form is put together, before anybody else has this. */
    void spill(FormMemory account, PartHead head) throws IOException {
        if (storage instanceof MemoryContent memory) {
            SpoolFile spilled = account.newFile(head);
            try {
                spilled.write(memory);
            } catch (IOException | RuntimeException | Error e) { // memory for the write, too
                try (spilled) {
                    throw e;
                }
            }
            storage = spilled;
            memory.close();
        }
    }

    /**
     * {@return a new stream over all bytes; as often as wanted, also side by side. Closing it early is polite, not a
     * duty}
     *
     * @throws IOException if the file cannot be opened
     * @throws IllegalStateException after {@link #moveTo} and {@link #close()}
     */
    public InputStream inputStream() throws IOException {
        if (isInMemory()) {
            checkHere();
            return storage.read();
        }
        storage.lock().lock();
        try {
            checkHere();
            InputStream stream = new OfFile(storage.read());
            Set<InputStream> open = streams;
            if (open == null) {
                open = ConcurrentHashMap.newKeySet();
                streams = open;
            }
            open.add(stream);
            return stream;
        } finally {
            storage.lock().unlock();
        }
    }

    /**
     * {@return all bytes: a new array}
     *
     * @throws IOException if the file cannot be read
     * @throws IllegalStateException after {@link #moveTo} and {@link #close()}
     * @throws ArithmeticException beyond 2 GiB
     */
    public byte[] bytes() throws IOException {
        Math.toIntExact(size());
        try (InputStream in = inputStream()) {
            return in.readAllBytes();
        }
    }

    /**
     * Makes this content the file {@code target}, which is there in full or not at all. Within one file system a file
     * is renamed; else, and from memory, it is written beside the target ({@code .sluice-*.part}) and then renamed. Its
     * permissions are {@code rw-------}. Close the streams first: some systems do not rename an open file, and those over
     * memory are at their end.
     *
     * @param target a path chosen by the application, never by the client
     * @param options none, or {@link StandardCopyOption#REPLACE_EXISTING}; without it an existing target is refused,
     *     atomically where the file system has hard links
     * @throws FileAlreadyExistsException if the target exists and is not to be replaced; the content stays as it is
     * @throws IOException if it cannot be moved; the content stays as it is
     * @throws IllegalStateException after {@link #moveTo} and {@link #close()}
     * @throws UnsupportedOperationException for any other option; the content stays as it is
     */
    public void moveTo(Path target, CopyOption... options) throws IOException {
        boolean replace = replaces(options);
        storage.lock().lock();
        try {
            checkHere();
            storage.moveTo(target, replace);
            gone = "was moved";
        } finally {
            storage.lock().unlock();
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
        storage.lock().lock();
        try {
            checkHere();
            PartContent successor = new PartContent(storage.detach());
            gone = "was detached";
            closeStreams();
            return successor;
        } finally {
            storage.lock().unlock();
        }
    }

    private void checkHere() {
        if (gone != null) {
            throw new IllegalStateException("the content of the part " + gone);
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
        storage.lock().lock();
        try {
            closeStreams();
            if (gone == null) {
                gone = "is closed";
                storage.close();
            }
        } finally {
            storage.lock().unlock();
        }
    }

    /** Reads the file; nothing once it is closed, or the content is. */
    private final class OfFile extends FilterInputStream {
        private volatile boolean over;

        OfFile(InputStream file) {
            super(file);
        }

        private InputStream open() throws IOException {
            if (over) {
                throw new IOException("the stream is closed");
            }
            return in;
        }

        @Override
        public int read() throws IOException {
            return open().read();
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            return open().read(target, offset, length);
        }

        @Override
        public long skip(long count) throws IOException {
            return open().skip(count);
        }

        @Override
        public void close() throws IOException {
            over = true;
            Objects.requireNonNull(streams).remove(this);
            super.close();
        }
    }
}
