package dev.sluice;

import dev.sluice.BodyChunks.Piece;
import dev.sluice.PartHead.Header;
import dev.sluice.buffer.ChannelOutput;
import dev.sluice.encode.ChunkInputStream;
import dev.sluice.encode.ChunkPublisher;
import dev.sluice.encode.HeadWriter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.http.HttpRequest;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A {@code multipart} body that can be sent: a description of its parts, whose content is read while the body is written. Immutable and
 * thread-safe.
 *
 * {@snippet file="SendForm.java" region="send"}
 *
 * <p>{@link Preset#STRICT} accepts every such body and reports no deviation, as described in {@link MultipartEncoder}. Names that readers
 * could misread are rejected when a part is added.
 *
 * <p><b>Length.</b> The length of the body is exact if the length of every part is known. If a part then has more or fewer bytes, for
 * example because a file grows while it is sent, writing fails before the close-delimiter with an {@link IOException} that names the part.
 *
 * <p><b>Replay.</b> A body may be written several times, even at the same time, unless a part was created from an {@link InputStream}. Such
 * a part can be sent only once: writing the body again throws an {@link IllegalStateException} before the first byte.
 *
 * <p>All methods that write a body block while they read its content. In addition to content in memory, they hold one chunk of at most
 * {@value BodyChunks#CHUNK_SIZE} bytes, or {@value BodyChunks#WRITTEN_CHUNK_SIZE} bytes in {@code writeTo}.
 */
public final class MultipartBody {
    /** An allocator of buffers that the garbage collector frees, because consumers of {@code ByteBuffer}s do not release them. */
    private static final ByteBufAllocator UNPOOLED = new UnpooledByteBufAllocator(false, true);

    final Boundary boundary;

    /** Whether the caller has set the boundary. If not, content in memory is not checked: the random boundary is secret until then. */
    final boolean chosenBoundary;

    final List<Piece> pieces;
    private final String contentType;
    private final OptionalLong contentLength;

    private MultipartBody(Builder builder) {
        boundary = builder.boundary;
        chosenBoundary = builder.chosenBoundary;
        pieces = List.copyOf(builder.pieces);
        contentType = boundary.contentType(builder.rootType);
        contentLength = length();
    }

    private OptionalLong length() {
        long length = 0;
        for (Piece piece : pieces) {
            if (piece.content().length() < 0) {
                return OptionalLong.empty();
            }
            length = Math.addExact(length, piece.content().length());
        }
        return OptionalLong.of(length);
    }

    /** {@return a builder of a form} */
    public static Builder builder() {
        return builder("form-data");
    }

    /**
     * {@return a builder of a body of another multipart type}
     *
     * @param subtype the subtype of the body, such as {@code mixed}, {@code related} or {@code byteranges}
     * @throws IllegalArgumentException if {@code subtype} is not valid
     */
    public static Builder builder(String subtype) {
        return new Builder(Boundary.random("multipart/" + subtype.toLowerCase(Locale.ROOT)));
    }

    /** {@return the value for the {@code Content-Type} header field of the message} */
    public String contentType() {
        return contentType;
    }

    /** {@return the exact number of bytes, or empty if the length of a part is unknown} */
    public OptionalLong contentLength() {
        return contentLength;
    }

    /** {@return whether the body may be written more than once} */
    public boolean isReplayable() {
        return pieces.stream().allMatch(piece -> piece.content().isReplayable());
    }

    /**
     * Writes the body.
     *
     * @param out the stream, which is not closed
     * @throws IOException if a part does not have its declared length or contains the boundary; exceptions thrown by the content of a part
     *     or by {@code out} are passed on unchanged
     */
    public void writeTo(OutputStream out) throws IOException {
        writeTo(chunk -> chunk.readBytes(out, chunk.readableBytes()));
    }

    /**
     * Writes the body.
     *
     * @param out a channel in blocking mode; not closed
     * @throws IllegalBlockingModeException if the channel is not in blocking mode
     * @throws IOException as {@link #writeTo(OutputStream)}
     */
    public void writeTo(WritableByteChannel out) throws IOException {
        ChannelOutput.requireBlocking(out);
        writeTo(chunk -> ChannelOutput.writeFully(out, chunk.nioBuffer()));
    }

    private interface Destination {
        void write(ByteBuf chunk) throws IOException;
    }

    private void writeTo(Destination out) throws IOException {
        try (BodyChunks chunks = new BodyChunks(this, ByteBufAllocator.DEFAULT, true, BodyChunks.WRITTEN_CHUNK_SIZE)) {
            for (ByteBuf chunk; (chunk = chunks.next()) != null; ) {
                try {
                    out.write(chunk);
                } finally {
                    chunk.release();
                }
            }
        }
    }

    /** {@return the body as a stream, which closes the content that it has opened} */
    public InputStream inputStream() {
        BodyChunks chunks = new BodyChunks(this, UNPOOLED, false, BodyChunks.CHUNK_SIZE);
        return new ChunkInputStream(chunks::next, chunks::close);
    }

    /**
     * {@return a publisher of the body, for {@code java.net.http} or any other {@code Flow.Subscriber<ByteBuffer>}} If the length is unknown,
     * the client sends the body in chunks. The content is read by the thread that requests it. For a redirect or a retry, the client
     * subscribes again; if the body is not {@linkplain #isReplayable() replayable}, the request then fails with an
     * {@link IllegalStateException}.
     */
    public HttpRequest.BodyPublisher publisher() {
        return new ChunkPublisher(
                contentLength.orElse(-1), () -> new BodyChunks(this, UNPOOLED, false, BodyChunks.CHUNK_SIZE));
    }

    /**
     * {@return the body as buffers, for other destinations}
     *
     * @param allocator the allocator of buffers for header sections, and for content that is read from files and streams
     * @throws IllegalStateException if a part can be sent only once and has been sent before
     */
    public BodyChunks chunks(ByteBufAllocator allocator) {
        return new BodyChunks(this, allocator, true, BodyChunks.CHUNK_SIZE);
    }

    /**
     * A builder of bodies. Parts are sent in the order in which they are added. Adding a part throws an {@link IllegalArgumentException}
     * if readers could misread a name, a media type or a header. Not thread-safe.
     */
    public static final class Builder {
        /** The maximum size in bytes of content in memory that is copied to {@link #heads}. */
        private static final int MAX_COPY = 1024;

        private final List<Piece> pieces = new ArrayList<>();
        private Boundary boundary;
        private boolean chosenBoundary;
        private HeadWriter writer;

        /** All delimiters, header sections and short contents after the last piece. */
        private final ByteBuf heads = UNPOOLED.heapBuffer(512);

        private NameEscaping escaping = NameEscaping.REJECT;
        private int parts;
        private boolean built;

        /** The {@code type} parameter of a {@code multipart/related} body: the media type of its first part (RFC 2387). */
        private String rootType = "";

        private Builder(Boundary boundary) {
            this.boundary = boundary;
            this.writer = new HeadWriter(boundary);
        }

        /** Escapes CR and LF in the names of all parts added later: {@link NameEscaping#BROWSER}. */
        public Builder browserEscaping() {
            escaping = NameEscaping.BROWSER;
            return this;
        }

        /** Replaces unusual characters in the names of all parts added later: {@link NameEscaping#REPLACE}. */
        public Builder replaceNames() {
            escaping = NameEscaping.REPLACE;
            return this;
        }

        /**
         * Sets the boundary, which is random by default. Use a fixed boundary only in tests: writing the body fails if content
         * contains the boundary, and anyone who knows the boundary can supply such content.
         *
         * @throws IllegalArgumentException if {@code value} is not a boundary of RFC 2046
         * @throws IllegalStateException if a part was added before
         */
        public Builder boundary(String value) {
            if (parts > 0 || built) {
                throw new IllegalStateException("a part has been added: set the boundary before the first part");
            }
            boundary = Boundary.of(value, boundary.mediaType());
            writer = new HeadWriter(boundary);
            chosenBoundary = true;
            return this;
        }

        /** Adds a field with text in UTF-8. */
        public Builder field(String name, String value) {
            return form(name, null, null, Content.of(value));
        }

        /** Adds a field with a media type, such as {@code application/json}. */
        public Builder field(String name, String contentType, Content content) {
            return form(name, null, contentType, content);
        }

        /**
         * Adds a file under its own file name, with the type {@code application/octet-stream}.
         *
         * @throws IOException if the size of the file cannot be read
         */
        public Builder file(String name, Path file) throws IOException {
            String filename =
                    Objects.requireNonNullElse(file.getFileName(), file).toString();
            return file(name, filename, "application/octet-stream", Content.of(file));
        }

        /** Adds a file. */
        public Builder file(String name, String filename, String contentType, Content content) {
            return form(name, Objects.requireNonNull(filename, "filename"), contentType, content);
        }

        /** Adds the part that browsers send for a file input that was left empty: it has an empty file name and no content. */
        public Builder emptyFileInput(String name) {
            checkNotBuilt();
            writer.emptyFileInput(heads, name, escaping);
            parts++;
            return this;
        }

        private Builder form(String name, @Nullable String filename, @Nullable String contentType, Content content) {
            checkNotBuilt();
            Objects.requireNonNull(content, "content");
            writer.form(heads, name, filename, contentType, escaping);
            return add(name, content);
        }

        /**
         * Adds a part of a body that is not a form. The {@code Content-Type} of a {@code multipart/related} body contains the type of its
         * first part. This type is rejected if parsers could take it for a boundary.
         *
         * @throws IllegalStateException if the body is a form
         */
        public Builder part(List<Header> headers, Content content) {
            checkNotBuilt();
            Objects.requireNonNull(content, "content");
            boolean isRoot = parts == 0 && boundary.mediaType().equals("multipart/related");
            String type = isRoot ? rootType(headers) : rootType;
            writer.section(heads, headers);
            rootType = type;
            return add(null, content);
        }

        private String rootType(List<Header> headers) {
            String parameter = "; type=\"" + HeadWriter.mediaType(headers) + '"';
            try {
                Boundary.anyMultipart(boundary.contentType(parameter), Preset.STRICT);
            } catch (MultipartException e) {
                throw new IllegalArgumentException(e.getMessage(), e);
            }
            return parameter;
        }

        private void checkNotBuilt() {
            if (built) {
                throw new IllegalStateException("build() has been called: create a new builder for each body");
            }
        }

        private Builder add(@Nullable String name, Content content) {
            byte[] small = chosenBoundary ? null : content.small(MAX_COPY);
            if (small == null) {
                addHeads();
                pieces.add(new Piece(content, MultipartEncoder.describe(parts, name)));
            } else {
                heads.writeBytes(small).markWriterIndex();
            }
            parts++;
            return this;
        }

        private void addHeads() {
            pieces.add(new Piece(Content.of(ByteBufUtil.getBytes(heads)), null));
            heads.clear().markWriterIndex();
        }

        /**
         * {@return the body} The builder cannot be used again: once the boundary is public, content added later could contain it.
         *
         * @throws ArithmeticException if the length of the body exceeds {@link Long#MAX_VALUE}
         */
        public MultipartBody build() {
            checkNotBuilt();
            writer.end(heads);
            addHeads();
            built = true;
            return new MultipartBody(this);
        }
    }
}
