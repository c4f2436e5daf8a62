package dev.sluice.form.storage;

import dev.sluice.MultipartException;
import dev.sluice.PartHead;
import io.netty.buffer.ByteBuf;
import java.io.Closeable;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of one part, in memory or in a file, and the open streams of that file. Content that is too large for memory, or for which
 * memory runs short, moves to a file if that is allowed.
 *
 * <p>The decoding thread writes it. After {@link #complete}, any thread may use it, as {@link dev.sluice.form.PartContent} documents.
 */
public final class StoredContent implements Closeable {
    private static final int MAX_ARRAY = Integer.MAX_VALUE - 8;

    /** The bytes of one part, in memory or in a file. Written by one thread, then read by any. */
    interface Storage extends AutoCloseable {
        /**
         * Writes the readable bytes of {@code data}.
         *
         * @return false if memory ran out before all bytes were written
         */
        boolean write(ByteBuf data) throws IOException;

        /** Marks the end of the content. */
        void complete() throws IOException;

        long size();

        /** {@return the lock for moving and releasing the bytes} */
        ReentrantLock lock();

        InputStream read() throws IOException;

        /** Moves the bytes to a file of the application. This storage is then closed. */
        void moveTo(Path target, boolean replace) throws IOException;

        /**
         * {@return a storage with the same bytes for a new owner} If the result is another storage, this one is closed.
         */
        Storage detach() throws MultipartException;

        /** Releases the memory or deletes the file. */
        @Override
        void close();
    }

    private final PartHead head;
    private final long maxBytesInMemory;
    private Storage storage; // changes only while the form is assembled

    /** Open streams of the file; null before the first one. */
    private volatile @Nullable Set<InputStream> streams;

    /**
     * The reason why this content is no longer available, for messages; null while it is available. Written under the
     * lock.
     */
    private volatile @Nullable String gone;

    StoredContent(PartHead head, Storage storage, long maxBytesInMemory) {
        this.head = head;
        this.storage = storage;
        this.maxBytesInMemory = maxBytesInMemory;
    }

    /** {@return empty content that stays in memory; if memory runs short, other parts move to files} */
    public static StoredContent inMemory(PartHead head, FormMemory memory) {
        return new StoredContent(head, new MemoryContent(memory, false), Long.MAX_VALUE);
    }

    /** {@return empty content that moves to a file if it exceeds {@code maxBytesInMemory} or memory runs short} */
    public static StoredContent movable(PartHead head, FormMemory memory, long maxBytesInMemory) {
        return new StoredContent(head, new MemoryContent(memory, true), maxBytesInMemory);
    }

    public PartHead head() {
        return head;
    }

    // ---- while the form is assembled

    /**
     * Writes the readable bytes of {@code data}.
     *
     * @throws MultipartException if there is no room for the bytes
     */
    public void write(ByteBuf data) throws IOException {
        boolean fits = !isInMemory() || data.readableBytes() <= maxBytesInMemory - size();
        if (!fits || !storage.write(data)) {
            moveToFile();
            storage.write(data);
        }
    }

    public void complete() throws IOException {
        storage.complete();
    }

    /**
     * {@return the number of bytes of memory that a move to a file would release; 0 if the content must stay in memory
     * or is in a file}
     */
    public long movableBytes() {
        return storage instanceof MemoryContent memory ? memory.movableBytes() : 0;
    }

    /**
     * Moves content from memory to a file, to which more bytes can be written.
     *
     * @throws MultipartException if the content must stay in memory; the exception names the limit at which the last reservation failed
     */
    public void moveToFile() throws IOException {
        if (storage instanceof MemoryContent memory) {
            storage = memory.moveToFile(head);
        }
    }

    // ---- at any time

    public long size() {
        return storage.size();
    }

    public boolean isInMemory() {
        return storage instanceof MemoryContent;
    }

    public InputStream inputStream() throws IOException {
        if (isInMemory()) {
            checkAvailable();
            return storage.read();
        }
        storage.lock().lock();
        try {
            checkAvailable();
            InputStream stream = new FileStream(storage.read());
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

    public byte[] bytes() throws IOException {
        if (size() > MAX_ARRAY) {
            throw new IOException("the content has " + size() + " bytes, too many for an array: read it as a stream");
        }
        try (InputStream in = inputStream()) {
            return in.readAllBytes();
        }
    }

    public long transferTo(OutputStream out) throws IOException {
        try (InputStream in = inputStream()) {
            return in.transferTo(out);
        }
    }

    /** Copies the content to a file of the application, atomically. */
    public void copyTo(Path target, boolean replace) throws IOException {
        checkAvailable();
        AtomicFile.write(target, replace, channel -> transferTo(Channels.newOutputStream(channel)));
    }

    /** Moves the content to a file of the application, atomically. This content need not be closed afterwards. */
    public void moveTo(Path target, boolean replace) throws IOException {
        storage.lock().lock();
        try {
            checkAvailable();
            storage.moveTo(target, replace);
            gone = "was moved";
        } finally {
            storage.lock().unlock();
        }
    }

    /**
     * {@return the same content for a new owner, with its memory charged to a new account} If several threads call this method, only one
     * call succeeds. This content need not be closed afterwards.
     */
    public StoredContent detach() throws MultipartException {
        storage.lock().lock();
        try {
            checkAvailable();
            StoredContent successor = new StoredContent(head, storage.detach(), maxBytesInMemory);
            gone = "was detached";
            closeStreams();
            return successor;
        } finally {
            storage.lock().unlock();
        }
    }

    private void checkAvailable() {
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
                // ignored: closing a stream for reading cannot lose data
            }
        }
    }

    /** Releases the memory or deletes the file, unless it was moved or detached, and closes all streams. Idempotent. */
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

    /** A stream over the file. Reading fails after the stream or the content is closed. */
    private final class FileStream extends FilterInputStream {
        private volatile boolean ended;

        FileStream(InputStream file) {
            super(file);
        }

        private InputStream open() throws IOException {
            if (ended) {
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
            ended = true;
            Objects.requireNonNull(streams).remove(this);
            super.close();
        }
    }
}
