package dev.sluice.netty;

import dev.sluice.BodyChunks;
import dev.sluice.MultipartBody;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.stream.ChunkedInput;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * An adapter that sends a {@link MultipartBody} through a {@code ChunkedWriteHandler}, as fast as the peer reads. It
 * works over HTTP/1.1, with or without TLS, and over HTTP/2:
 *
 * {@snippet file="dev/sluice/netty/MultipartInputTest.java" region="send"}
 *
 * <p>Like Netty's {@code ChunkedFile}, it reads the content on the event loop. Use it for content in memory and in
 * local files. An input can be sent once. For another attempt, create another input.
 */
public final class MultipartInput implements ChunkedInput<ByteBuf> {
    private final MultipartBody body;

    /** Null before the first chunk, because the allocator of the channel is unknown until then. */
    private @Nullable BodyChunks chunks;

    private long progress;

    /** @param body the body to send, which may be used again if it is {@linkplain MultipartBody#isReplayable() replayable} */
    public MultipartInput(MultipartBody body) {
        this.body = body;
    }

    @Override
    public @Nullable ByteBuf readChunk(ByteBufAllocator allocator) throws IOException {
        BodyChunks open = chunks == null ? body.chunks(allocator) : chunks;
        chunks = open;
        ByteBuf chunk = open.next();
        progress += chunk == null ? 0 : chunk.readableBytes();
        return chunk;
    }

    /** @deprecated Netty calls {@link #readChunk(ByteBufAllocator)} */
    @Deprecated
    @Override
    public @Nullable ByteBuf readChunk(ChannelHandlerContext ctx) throws IOException {
        return readChunk(ctx.alloc());
    }

    @Override
    public boolean isEndOfInput() {
        return chunks != null && chunks.isEnded();
    }

    /** {@return the length of the body, or -1 if it is unknown} */
    @Override
    public long length() {
        return body.contentLength().orElse(-1);
    }

    @Override
    public long progress() {
        return progress;
    }

    @Override
    public void close() throws IOException {
        if (chunks != null) {
            chunks.close();
        }
    }
}
