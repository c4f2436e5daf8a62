package dev.sluice;

import dev.sluice.encode.DelimiterCheck;
import dev.sluice.task.IsolatedCall;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The buffers of a {@link MultipartBody} that is being written. Close it even if an exception was thrown. Not thread-safe.
 *
 * <p>A body is a list of pieces. A piece is the content of one part, or the delimiters and header sections between two contents. Short
 * contents belong to the piece of the delimiters around them, unless the caller has chosen the boundary: each content must then be searched
 * for the boundary. A chunk has up to 16 KiB. Content in memory is not copied: its chunks are slices. Content from a stream is read into
 * chunks that also contain the delimiters and header sections around it, so that few chunks are short. If the last such chunk has been
 * released, the next one is the same buffer.
 */
public final class BodyChunks implements AutoCloseable {
    /**
     * The maximum size of an HTTP/2 frame, unless the server permits larger frames. A client would split a larger chunk and send the rest
     * of it in a short frame, and Tomcat closes a connection after a few short frames. Before each write, the channels of the JDK and of
     * Netty copy a whole heap buffer to direct memory, so even content in memory must be split.
     */
    static final int CHUNK_SIZE = 16 * 1024;

    /** The size of chunks that are written to a stream or channel, which needs fewer system calls for larger chunks. */
    static final int WRITTEN_CHUNK_SIZE = 4 * CHUNK_SIZE;

    /** @param part a description of the part for error messages; null for delimiters, header sections and short contents */
    record Piece(Content content, @Nullable String part) {}

    private final List<Piece> pieces;
    private final ByteBufAllocator allocator;

    /** Whether buffers of the application are returned. Otherwise their bytes are copied. */
    private final boolean sharing;

    /** The maximum size of a chunk. */
    private final int chunkSize;

    /** Whether content in memory could contain the delimiter. */
    private final boolean checksMemory;

    private final DelimiterCheck check;

    /** The number of bytes of the body that have not been returned; {@link Long#MAX_VALUE} if it is unknown. */
    private long remaining;

    private int opened;

    /** The unwritten rest of the piece that was opened last: {@code memory} or {@code stream}; both are null if nothing is left. */
    private @Nullable ByteBuf memory;

    private @Nullable InputStream stream;

    /** The number of declared bytes that have not been read from the stream, or less than 0 if no length is declared. */
    private long streamLeft;

    /**
     * The last chunk that was filled. It is filled again once its receiver has released it, because its memory is probably still in the
     * processor's cache.
     */
    private ByteBuf reusable = Unpooled.EMPTY_BUFFER;

    private boolean ended;

    private boolean closed;

    BodyChunks(MultipartBody body, ByteBufAllocator allocator, boolean sharing, int chunkSize) {
        this.pieces = body.pieces;
        this.allocator = allocator;
        this.sharing = sharing;
        this.chunkSize = chunkSize;
        this.checksMemory = body.chosenBoundary;
        this.check = new DelimiterCheck(body.boundary.delimiter());
        this.remaining = body.contentLength().orElse(Long.MAX_VALUE);
        for (int i = 0; i < pieces.size(); i++) {
            if (!pieces.get(i).content.claim()) {
                pieces.subList(0, i).forEach(claimed -> claimed.content.unclaim());
                throw new IllegalStateException(pieces.get(i).part
                        + " can be sent only once, because it is a stream: pass a StreamSource, which opens a new one");
            }
        }
    }

    /**
     * {@return the next bytes of the body, <em>transferred</em> to the caller, which must not modify them; null at its end} A buffer that
     * the caller has released may be returned again with other bytes.
     *
     * @throws IOException if a part does not have its declared length or contains the boundary; exceptions thrown by the content of a
     *     part are passed on unchanged. After any exception, abort the HTTP message
     * @throws IllegalStateException after a failure, and after {@link #close()}
     */
    public @Nullable ByteBuf next() throws IOException {
        if (closed) {
            throw new IllegalStateException("the body is closed, or has failed: start again with chunks()");
        }
        try {
            open();
            ByteBuf next = memory;
            if (next == null || isBeforeStream()) {
                next = ended ? null : nextChunk();
            } else if (next.readableBytes() > chunkSize) {
                next = next.readRetainedSlice(chunkSize);
            } else {
                memory = null;
            }
            remaining -= next == null ? 0 : next.readableBytes();
            ended = opened == pieces.size() && memory == null; // the last piece, the close-delimiter, is not a stream
            if (ended) {
                releaseReusable();
            }
            return next;
        } catch (Throwable e) {
            closed = true;
            releaseReusable();
            throw e;
        }
    }

    /** {@return whether all bytes have been returned} */
    public boolean isEnded() {
        return ended;
    }

    private boolean isBeforeStream() {
        return opened < pieces.size() && !pieces.get(opened).content.isMemory(sharing);
    }

    /** If the current piece has been written, opens the next piece that is not empty. */
    private void open() throws IOException {
        while (memory == null && stream == null && opened < pieces.size()) {
            Piece piece = pieces.get(opened++);
            check.begin();
            ByteBuf bytes = piece.content.bytes(sharing);
            if (bytes == null) {
                streamLeft = piece.content.length();
                stream = piece.content.open();
            } else if (bytes.isReadable()) {
                memory = bytes;
                if (checksMemory && piece.part != null) {
                    checkContent(bytes);
                }
            } else {
                bytes.release();
            }
        }
    }

    /** {@return a chunk filled with content from streams and with the bytes around it} */
    private ByteBuf nextChunk() throws IOException {
        if (reusable.capacity() == 0 || reusable.refCnt() > 1) {
            releaseReusable();
            int size = (int) Math.min(chunkSize, remaining);
            reusable = allocator.heapBuffer(size, size);
        }
        ByteBuf chunk = reusable.retain().clear();
        try {
            while (chunk.isWritable() && (fill(chunk) || !chunk.isReadable())) {}
        } catch (Throwable e) {
            chunk.release();
            throw e;
        }
        return chunk;
    }

    /**
     * Appends some bytes.
     *
     * @return whether more bytes can be appended without waiting for a slow stream
     */
    private boolean fill(ByteBuf chunk) throws IOException {
        open();
        InputStream in = stream;
        ByteBuf bytes = memory;
        if (in != null) {
            return read(in, chunk);
        } else if (bytes == null || current().part != null) {
            return false;
        }
        chunk.writeBytes(bytes, Math.min(chunk.writableBytes(), bytes.readableBytes()));
        if (!bytes.isReadable()) {
            memory = null;
            bytes.release();
        }
        return true;
    }

    private Piece current() {
        return pieces.get(opened - 1);
    }

    private void checkContent(ByteBuf content) throws IOException {
        if (check.isIn(content)) {
            throw MultipartEncoder.delimiterIn(String.valueOf(current().part));
        }
    }

    /** Appends the bytes of a single read. Returns false if another read may wait for a slow stream: the bytes in the chunk come first. */
    private boolean read(InputStream in, ByteBuf chunk) throws IOException {
        int most = (int) Math.min(chunk.writableBytes(), streamLeft < 0 ? Integer.MAX_VALUE : streamLeft);
        int count = most == 0 ? in.read() : chunk.writeBytes(in, most);
        if (count < 0 && streamLeft > 0 || count >= 0 && streamLeft == 0) {
            throw new IOException(current().part
                    + (count < 0
                            ? " ended " + streamLeft + " bytes before its declared length"
                            : " has more bytes than declared")
                    + ": it changed while it was sent, or its length is wrong");
        } else if (count < 0) {
            stream = null;
            in.close();
            return true;
        }
        checkContent(chunk.slice(chunk.writerIndex() - count, count));
        streamLeft -= streamLeft < 0 ? 0 : count;
        return streamLeft == 0 || chunk.isWritable() && hasMore(in);
    }

    private static boolean hasMore(InputStream in) {
        try {
            return in.available() > 1; // 1 may mean "unknown", for example in a decompressing stream
        } catch (IOException e) {
            return false; // thrown for a named pipe before JDK 25
        }
    }

    /** Releases all buffers of this object, and closes the stream being read and all streams that can be read only once. Idempotent. */
    @Override
    public void close() throws IOException {
        closed = true;
        InputStream in = stream;
        stream = null;
        try (in) {
            if (memory != null) {
                memory.release();
                memory = null;
            }
            releaseReusable();
        } finally {
            while (opened < pieces.size()) {
                IsolatedCall.run(pieces.get(opened++).content::discard);
            }
        }
    }

    private void releaseReusable() {
        ByteBuf released = reusable;
        reusable = Unpooled.EMPTY_BUFFER;
        released.release();
    }
}
