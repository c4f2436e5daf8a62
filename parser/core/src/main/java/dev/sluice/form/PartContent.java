package dev.sluice.form;

import dev.sluice.MultipartException;
import dev.sluice.PartHead;
import io.netty.buffer.ByteBuf;
import java.io.Closeable;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
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
 * The content of one part, in memory or in a file of a {@link SpoolDirectory}. {@link FormPart#detach()} returns one that
 * outlives its form.
 *
 * <p>The owner closes it. That releases its memory or deletes its file, and closes its streams. After {@link #moveTo} there is
 * nothing to close, but closing has no effect and is allowed.
 *
 * <p>Thread-safe: {@link #close()} waits for a {@link #moveTo} in another thread.
 */
public final class PartContent implements Closeable {
    private static final int MAX_ARRAY = Integer.MAX_VALUE - 8;

    /** The bytes of a content, in memory or in a file. Written by one thread, then read by any. */
    interface Storage extends AutoCloseable {
        /** Reads bytes from {@code data}. {@return false if memory is short, so that some bytes are left} */
        boolean write(ByteBuf data) throws IOException;

        /** Marks the end of the content. */
        void complete() throws IOException;

        long size();

        /** {@return the lock for moving and releasing the bytes} */
        ReentrantLock lock();

        InputStream read() throws IOException;

        /** Moves the bytes to a file of the application. This storage is then closed. */
        void moveTo(Path target, boolean replace) throws IOException;

        /** {@return a storage with the same bytes for a new owner, possibly this one; any other is then closed} */
        Storage detach() throws MultipartException;

        /** Releases the memory or deletes the file. */
        @Override
        void close();
    }

    private Storage storage; // changes only while the form is assembled

    /** Open streams of the file; null before the first one. */
    private volatile @Nullable Set<InputStream> streams;

    /** Why this content is no longer available, for messages, or null. Guarded by the lock. */
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

    /** {@return whether the content is in memory, not in a file} */
    public boolean isInMemory() {
        return storage instanceof MemoryContent;
    }

    /** {@return how much memory a move to a file would release; 0 if it must stay in memory or is in a file} */
    long movableBytes() {
        return storage instanceof MemoryContent memory ? memory.movableBytes() : 0;
    }

    /** Moves content from memory to a file, to which more can be written. Only while the form is assembled. */
    void moveToFile(FormMemory account, PartHead head) throws IOException {
        if (storage instanceof MemoryContent memory) {
            SpoolFile spilled = account.newFile(head);
            try {
                spilled.write(memory);
            } catch (IOException | RuntimeException | Error e) { // an Error, too: writing allocates memory
                try (spilled) {
                    throw e;
                }
            }
            storage = spilled;
            memory.close();
        }
    }

    /**
     * {@return a new stream of all bytes} There may be several at a time. Closing a stream is optional: {@link #close()} closes
     * all of them.
     *
     * @throws IOException if the file cannot be opened
     * @throws IllegalStateException after {@link #moveTo} or {@link #close()}
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
     * {@return all bytes, in a new array of {@link #size()} bytes} The array counts towards no limit.
     *
     * @throws IOException if the file cannot be read, or the content does not fit into an array (2 GiB)
     * @throws IllegalStateException after {@link #moveTo} or {@link #close()}
     */
    public byte[] bytes() throws IOException {
        if (size() > MAX_ARRAY) {
            throw new IOException("the content has " + size() + " bytes, too many for an array: read it as a stream");
        }
        try (InputStream in = inputStream()) {
            return in.readAllBytes();
        }
    }

    /**
     * Writes all bytes to {@code out}, which is neither flushed nor closed.
     *
     * @return the number of bytes written, {@link #size()}
     * @throws IOException if the file cannot be read or {@code out} cannot be written; some bytes may have been written
     * @throws IllegalStateException after {@link #moveTo} or {@link #close()}
     */
    public long transferTo(OutputStream out) throws IOException {
        try (InputStream in = inputStream()) {
            return in.transferTo(out);
        }
    }

    /**
     * Moves the content to the file {@code target}, atomically: no incomplete file is ever visible. The file belongs to the
     * application. Its permissions are {@code rw-------}.
     *
     * <p>Within one file system, a file is renamed. Otherwise, and from memory, the content is written to a temporary file
     * next to the target ({@code .sluice-*.part}), which is then renamed. Close all streams of the content first: some systems
     * do not rename an open file, and streams of content in memory end.
     *
     * @param target a path chosen by the application, never by the client
     * @param options none, or {@link StandardCopyOption#REPLACE_EXISTING}. Without it, an existing target is never replaced;
     *     on file systems without hard links, another process may create the target at the same moment and lose it
     * @throws FileAlreadyExistsException if the target exists and must not be replaced; the content is unchanged
     * @throws IOException if the content cannot be moved; it is unchanged
     * @throws IllegalStateException after {@link #moveTo} or {@link #close()}
     * @throws UnsupportedOperationException for any other option; the content is unchanged
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

    /** Releases the memory or deletes the file, unless it was moved, and closes all streams. Idempotent. */
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
