package dev.sluice.bench.peer.bytebuf;

import dev.sluice.bench.peer.Tally;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpRequest;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.multipart.DefaultHttpDataFactory;
import io.netty.handler.codec.http.multipart.FileUpload;
import io.netty.handler.codec.http.multipart.HttpData;
import io.netty.handler.codec.http.multipart.HttpPostMultipartRequestDecoder;
import io.netty.handler.codec.http.multipart.InterfaceHttpData;
import io.netty.handler.codec.http.multipart.MemoryFileUpload;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

public final class NettyDecoding implements Decoding {
    private static final int MANY_FIELDS = 1_000_000;
    /** The default of Netty's decoder. */
    private static final int BUFFERED_BYTES = 1024;

    private final Tally tally;
    private final boolean keep;
    private final HttpPostMultipartRequestDecoder decoder;

    /**
     * @param keep true if file content stays in memory until the body ends, false if it is counted and released
     *     immediately
     */
    public NettyDecoding(String contentType, Tally tally, boolean keep) {
        this.tally = tally;
        this.keep = keep;
        DefaultHttpDataFactory factory = keep ? new DefaultHttpDataFactory(false) : new CountingFactory(tally);
        DefaultHttpRequest request = new DefaultHttpRequest(HttpVersion.HTTP_1_1, HttpMethod.POST, "/");
        request.headers().set(HttpHeaderNames.CONTENT_TYPE, contentType);
        decoder = new HttpPostMultipartRequestDecoder(
                factory, request, StandardCharsets.UTF_8, MANY_FIELDS, BUFFERED_BYTES);
    }

    @Override
    public void offer(ByteBuf chunk) {
        try {
            decoder.offer(new DefaultHttpContent(chunk));
        } finally {
            chunk.release();
        }
    }

    @Override
    public void finish() throws IOException {
        decoder.offer(LastHttpContent.EMPTY_LAST_CONTENT);
        for (InterfaceHttpData data : decoder.getBodyHttpDatas()) {
            FileUpload file = data instanceof FileUpload upload ? upload : null;
            // Without keep, the content of files has already been counted as it arrived.
            if (keep || file == null) {
                ByteBufChunks.add(tally, ((HttpData) data).getByteBuf());
                tally.endPart(data.getName(), file == null ? null : file.getFilename());
            }
        }
    }

    @Override
    public void close() {
        decoder.destroy();
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
            return new MemoryFileUpload(name, filename, contentType, transferEncoding, charset, size) {
                @Override
                public void addContent(ByteBuf content, boolean last) throws IOException {
                    ByteBufChunks.add(tally, content);
                    content.release();
                    if (last) {
                        setCompleted();
                        tally.endPart(getName(), getFilename());
                    }
                }
            };
        }
    }
}
