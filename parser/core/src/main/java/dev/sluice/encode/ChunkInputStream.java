package dev.sluice.encode;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A stream over the chunks of a body. After {@link Chunks#next} has thrown an {@link IOException}, each read throws the same exception. */
public final class ChunkInputStream extends InputStream {
    /** The source of the chunks. */
    public interface Chunks {
        /** {@return the next chunk, <em>transferred</em>; null at the end} */
        @Nullable
        ByteBuf next() throws IOException;
    }

    private final Chunks chunks;
    private final Closeable body;
    private ByteBuf chunk = Unpooled.EMPTY_BUFFER;
    private @Nullable IOException failure;
    private boolean closed;

    /** @param body the owner of the chunks, which is closed with this stream */
    public ChunkInputStream(Chunks chunks, Closeable body) {
        this.chunks = chunks;
        this.body = body;
    }

    @Override
    public int read() throws IOException {
        ByteBuf bytes = readable();
        return bytes == null ? -1 : bytes.readUnsignedByte();
    }

    @Override
    public int read(byte[] target, int offset, int length) throws IOException {
        Objects.checkFromIndexSize(offset, length, target.length);
        ByteBuf bytes = length == 0 ? Unpooled.EMPTY_BUFFER : readable();
        if (bytes == null) {
            return -1;
        }
        int count = Math.min(length, bytes.readableBytes());
        bytes.readBytes(target, offset, count);
        return count;
    }

    /** {@return at least one byte, or null at the end} */
    private @Nullable ByteBuf readable() throws IOException {
        if (closed) {
            throw new IOException("the stream is closed");
        }
        while (!chunk.isReadable()) {
            chunk.release();
            chunk = Unpooled.EMPTY_BUFFER;
            ByteBuf next = next();
            if (next == null) {
                return null;
            }
            chunk = next;
        }
        return chunk;
    }

    private @Nullable ByteBuf next() throws IOException {
        if (failure != null) {
            throw failure;
        }
        try {
            return chunks.next();
        } catch (IOException e) {
            failure = e;
            throw e;
        }
    }

    @Override
    public void close() throws IOException {
        closed = true;
        chunk.release();
        chunk = Unpooled.EMPTY_BUFFER;
        body.close();
    }
}
