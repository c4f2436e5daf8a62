package dev.sluice.bench.peer.bytebuf;

import dev.sluice.bench.body.Body;
import dev.sluice.bench.peer.Memory;
import dev.sluice.bench.peer.Peer;
import dev.sluice.bench.peer.Tally;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.multipart.Attribute;
import io.netty.handler.codec.http.multipart.DefaultHttpDataFactory;
import io.netty.handler.codec.http.multipart.FileUpload;
import io.netty.handler.codec.http.multipart.HttpPostMultipartRequestDecoder;
import io.netty.handler.codec.http.multipart.InterfaceHttpData;
import io.netty.handler.codec.http.multipart.MemoryFileUpload;
import io.netty.util.ResourceLeakDetector;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Netty's decoder. Compiled once against 4.2 and linked a second time with 4.1. File content is either kept in memory or, as
 * Vert.x does it, dropped by an upload that only counts.
 */
public final class NettyPeer implements Peer {

    private static final int MANY_FIELDS = 1_000_000;
    /** The decoder's own default. */
    private static final int BUFFERED_BYTES = 1024;

    private final boolean keep;
    private final Body body;
    private final ByteBufChunks chunks;

    private NettyPeer(Body body, int chunkSize, Memory memory, boolean keep) {
        this.body = body;
        this.chunks = new ByteBufChunks(body.cut(chunkSize), memory);
        this.keep = keep;
    }

    /** File content stays in memory until the end of the body. */
    public static Peer keeping(Body body, int chunkSize, Memory memory) {
        return new NettyPeer(body, chunkSize, memory, true);
    }

    /** File content is counted and released at once. */
    public static Peer dropping(Body body, int chunkSize, Memory memory) {
        return new NettyPeer(body, chunkSize, memory, false);
    }

    @Override
    public void leakLevel(String level) {
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.valueOf(level));
    }

    @Override
    public void run(Tally tally) throws IOException {
        DefaultHttpDataFactory factory = keep ? new DefaultHttpDataFactory(false) : new CountingFactory(tally);
        DefaultHttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/");
        request.headers().set(HttpHeaderNames.CONTENT_TYPE, body.contentType());
        HttpPostMultipartRequestDecoder decoder = new HttpPostMultipartRequestDecoder(
                factory, request, StandardCharsets.UTF_8, MANY_FIELDS, BUFFERED_BYTES);
        try {
            int count = chunks.count();
            for (int i = 0; i < count; i++) {
                ByteBuf chunk = chunks.next(i);
                try {
                    decoder.offer(new DefaultHttpContent(chunk));
                } finally {
                    chunk.release();
                }
            }
            decoder.offer(LastHttpContent.EMPTY_LAST_CONTENT);
            for (InterfaceHttpData data : decoder.getBodyHttpDatas()) {
                tell(tally, data);
            }
        } finally {
            decoder.destroy();
        }
    }

    private static void tell(Tally tally, InterfaceHttpData data) throws IOException {
        if (data instanceof CountingUpload) {
            return;
        }
        if (data instanceof Attribute field) {
            ByteBufChunks.tell(tally, field.getByteBuf());
            tally.endPart(field.getName(), null);
        } else {
            FileUpload file = (FileUpload) data;
            ByteBufChunks.tell(tally, file.getByteBuf());
            tally.endPart(file.getName(), file.getFilename());
        }
    }

    @Override
    public void close() {
        chunks.close();
    }

    private static final class CountingFactory extends DefaultHttpDataFactory {

        private final Tally tally;

        CountingFactory(Tally tally) {
            super(false);
            this.tally = tally;
        }

        @Override
        public FileUpload createFileUpload(
                HttpRequest request,
                String name,
                String filename,
                String contentType,
                @Nullable String transferEncoding,
                Charset charset,
                long size) {
            return new CountingUpload(name, filename, contentType, transferEncoding, charset, size, tally);
        }
    }

    private static final class CountingUpload extends MemoryFileUpload {

        private final Tally tally;

        CountingUpload(
                String name,
                String filename,
                String contentType,
                @Nullable String transferEncoding,
                Charset charset,
                long size,
                Tally tally) {
            super(name, filename, contentType, transferEncoding, charset, size);
            this.tally = tally;
        }

        @Override
        public void addContent(ByteBuf content, boolean last) throws IOException {
            ByteBufChunks.tell(tally, content);
            content.release();
            if (last) {
                setCompleted();
                tally.endPart(getName(), getFilename());
            }
        }

        @Override
        public boolean equals(Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(this);
        }
    }
}
