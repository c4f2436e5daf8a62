package dev.sluice.form.storage;

import dev.sluice.buffer.ChannelOutput;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * One file in a spool. It is open while it is written, and its owner deletes it.
 *
 * <p>Its size counts against the quota in whole blocks, before the bytes are written and until it is deleted.
 */
public final class SpoolFile implements StoredContent.Storage {
    private final Spool spool;
    private final Path path;
    private final ReentrantLock lock = new ReentrantLock();
    private final AtomicBoolean forgotten = new AtomicBoolean();
    private @Nullable WritableByteChannel channel;
    private long size;
    private long charged = Spool.BLOCK;

    SpoolFile(Spool spool, Path path, WritableByteChannel channel) {
        this.spool = spool;
        this.path = path;
        this.channel = channel;
    }

    @Override
    public boolean write(ByteBuf data) throws IOException {
        reserve(data.readableBytes());
        ChannelOutput.writeFully(open(), data);
        return true;
    }

    void write(long count, AtomicFile.Content bytes) throws IOException {
        reserve(count);
        bytes.writeTo(open());
    }

    private void reserve(long count) throws IOException {
        long blocks = (size + count + Spool.BLOCK - 1) / Spool.BLOCK * Spool.BLOCK;
        if (blocks > charged) {
            spool.reserve(blocks - charged);
            charged = blocks;
        }
        size += count;
        spool.written.addAndGet(count);
    }

    private WritableByteChannel open() {
        if (channel == null) {
            throw new IllegalStateException("the file is complete");
        }
        return channel;
    }

    @Override
    public void complete() throws IOException {
        WritableByteChannel written = open();
        channel = null;
        written.close();
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public ReentrantLock lock() {
        return lock;
    }

    @Override
    public InputStream read() throws IOException {
        return Files.newInputStream(path, LinkOption.NOFOLLOW_LINKS);
    }

    @Override
    public void moveTo(Path target, boolean replace) throws IOException {
        AtomicFile.move(path, target, replace);
        delete();
    }

    @Override
    public SpoolFile detach() {
        return this;
    }

    /** Deletes the file. If that fails, the spool tries again later. Idempotent. */
    void delete() {
        if (forgotten.get()) {
            return;
        }
        try {
            Files.deleteIfExists(path);
            if (forgotten.compareAndSet(false, true)) {
                spool.forget(charged);
            }
        } catch (IOException e) {
            spool.retryLater(this);
        }
    }

    @Override
    public void close() {
        WritableByteChannel open = channel;
        channel = null;
        try {
            if (open != null) {
                open.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            delete();
        }
    }
}
