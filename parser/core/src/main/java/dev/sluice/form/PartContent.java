package dev.sluice.form;

import dev.sluice.MultipartException;
import dev.sluice.PartHead;
import java.io.Closeable;
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
    private @Nullable MemoryContent memory; // changes only before anybody else has this, as does file
    private @Nullable SpoolFile file;

    /** Those of the file that were handed out and not closed; null while there was none. */
    private volatile @Nullable Set<InputStream> streams;

    private final ReentrantLock lock;

    /** What became of it, once it is nothing any more; set under the lock. */
    private volatile @Nullable String gone;

    private PartContent(@Nullable MemoryContent memory, @Nullable SpoolFile file, ReentrantLock lock) {
        this.lock = lock;
        this.memory = memory;
        this.file = file;
    }

    static PartContent of(MemoryContent memory) {
        return new PartContent(memory, null, memory.lock());
    }

    static PartContent of(SpoolFile file) {
        return new PartContent(null, file, new ReentrantLock());
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

    /** {@return how much memory it would give back if it moved to a file; 0 where it may not, or is in one} */
    long evictable() {
        MemoryContent here = memory;
        return here == null ? 0 : here.evictable();
    }

    /** Moves what is in memory to a file; while the form is put together, before anybody else has this. */
    void spill(FormMemory account, PartHead head) throws IOException {
        MemoryContent here = Objects.requireNonNull(memory, "content is in memory");
        SpoolFile spilled = account.newFile(head);
        try {
            spilled.write(here);
            spilled.complete();
        } catch (IOException | RuntimeException | Error e) { // memory for the write, too
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
        if (memory != null) {
            checkHere();
            return new Stream(null);
        }
        lock.lock();
        try {
            checkHere();
            InputStream stream = new Stream(spooled().read());
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
        lock.lock();
        try {
            checkHere();
            MemoryContent here = memory;
            if (here != null) {
                AtomicFile.write(target, replace, here::writeTo);
            } else {
                spooled().moveTo(target, replace);
            }
            gone = "was moved";
            if (here != null) {
                here.release();
            }
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
            gone = "was detached";
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
        lock.lock();
        try {
            closeStreams();
            if (gone == null) {
                gone = "is closed";
                MemoryContent here = memory;
                if (here != null) {
                    here.release();
                } else {
                    spooled().close();
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Reads the file, or segment after segment; nothing once it is closed, or the content gone. */
    private final class Stream extends InputStream {
        private final @Nullable InputStream ofFile;
        private final byte[][] segments = memory == null ? MemoryContent.GONE : memory.segments();
        private final boolean recycled = memory != null && memory.isRecycled();
        private long left = memory == null ? 0 : memory.size();
        private int segment;
        private int index;
        private volatile boolean over;

        Stream(@Nullable InputStream ofFile) {
            this.ofFile = ofFile;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            Objects.checkFromIndexSize(offset, length, target.length);
            if (!recycled) {
                return copy(target, offset, length);
            }
            lock.lock(); // or somebody else has the segment while it is copied
            try {
                return copy(target, offset, length);
            } finally {
                lock.unlock();
            }
        }

        private int copy(byte[] target, int offset, int length) throws IOException {
            if (over || ofFile == null && (gone != null || segments == MemoryContent.GONE)) {
                throw new IOException("the stream is closed");
            } else if (ofFile != null) {
                return ofFile.read(target, offset, length);
            } else if (length == 0 || left == 0) {
                return length == 0 ? 0 : -1;
            }
            byte[] bytes = segments[segment];
            int count = (int) Math.min(Math.min(length, bytes.length - index), left);
            System.arraycopy(bytes, index, target, offset, count);
            left -= count;
            index += count;
            if (index == bytes.length) {
                segment++;
                index = 0;
            }
            return count;
        }

        @Override
        public int available() throws IOException {
            return ofFile != null ? ofFile.available() : (int) Math.min(left, Integer.MAX_VALUE);
        }

        @Override
        public void close() throws IOException {
            over = true;
            if (ofFile != null) {
                Objects.requireNonNull(streams).remove(this);
                ofFile.close();
            }
        }
    }
}
