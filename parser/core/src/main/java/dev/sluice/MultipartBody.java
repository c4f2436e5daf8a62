package dev.sluice;

import dev.sluice.PartHead.Header;
import dev.sluice.buffer.ChannelOutput;
import dev.sluice.encode.ChunkInputStream;
import dev.sluice.encode.ChunkPublisher;
import dev.sluice.encode.DelimiterCheck;
import dev.sluice.encode.HeadWriter;
import dev.sluice.encode.RandomBoundary;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
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
 * <p>All methods that write a body block while they read its content. They hold one chunk of at most {@value #CHUNK_SIZE} bytes.
 */
public final class MultipartBody {
    /**
     * The maximum size of an HTTP/2 frame, unless the server permits larger frames. A client would split a larger chunk and send the rest
     * of it in a short frame, and Tomcat closes a connection after two short frames.
     */
    private static final int CHUNK_SIZE = 16 * 1024;

    /** The size in bytes up to which content in memory is copied into {@code heads}. */
    private static final int MAX_COPY = 1024;

    /** An allocator of buffers that the garbage collector frees, because consumers of {@code ByteBuffer}s do not release them. */
    private static final ByteBufAllocator UNPOOLED = new UnpooledByteBufAllocator(false, true);

    /** Content that is not in {@code heads}. It is sent after the first {@code at} bytes of {@code heads}. */
    private record Insert(int at, int part, @Nullable String name, Content content) {
        String describe() {
            return MultipartEncoder.describe(part, name);
        }
    }

    private final Boundary boundary;

    /** Whether the caller has set the boundary. If not, content in memory cannot contain it and is not checked. */
    private final boolean chosenBoundary;

    /** All delimiters, header sections and short contents in memory. */
    private final byte[] heads;

    private final int headsSize;
    private final List<Insert> inserts;
    private final String contentType;
    private final OptionalLong contentLength;

    private MultipartBody(Builder builder, HeadWriter writer) {
        String rootType = builder.rootType == null ? "" : "; type=\"" + builder.rootType + '"';
        chosenBoundary = builder.chosenBoundary;
        boundary = builder.isForm() && !chosenBoundary
                ? Boundary.randomForm(builder.boundary)
                : Boundary.of(builder.boundary, builder.mediaType, rootType);
        heads = writer.array();
        headsSize = writer.size();
        inserts = List.copyOf(builder.inserts);
        contentType = boundary.contentType(rootType);
        contentLength = length();
    }

    private OptionalLong length() {
        long length = headsSize;
        for (Insert insert : inserts) {
            if (insert.content.length() < 0) {
                return OptionalLong.empty();
            }
            length = Math.addExact(length, insert.content.length());
        }
        return OptionalLong.of(length);
    }

    /** {@return a builder of a form} */
    public static Builder builder() {
        return new Builder("form-data");
    }

    /**
     * {@return a builder of a body of another multipart type}
     *
     * @param subtype the subtype of the body, such as {@code mixed}, {@code related} or {@code byteranges}
     */
    public static Builder builder(String subtype) {
        return new Builder(subtype);
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
        return inserts.stream().allMatch(insert -> insert.content.isReplayable());
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
        try (Chunks chunks = chunks(ByteBufAllocator.DEFAULT)) {
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
        Chunks chunks = new Chunks(UNPOOLED, false);
        return new ChunkInputStream(chunks::next, chunks::close);
    }

    /**
     * {@return the body for {@code java.net.http}, which is also a {@code Flow.Publisher<ByteBuffer>}} If the length is unknown, the client
     * sends the body in chunks. The content is read by the thread that requests it. For a redirect or a retry, the client subscribes again;
     * if the body is not {@linkplain #isReplayable() replayable}, the request then fails with an {@link IllegalStateException}.
     */
    public HttpRequest.BodyPublisher publisher() {
        return new ChunkPublisher(contentLength.orElse(-1), () -> new Chunks(UNPOOLED, false));
    }

    /**
     * {@return the body as buffers, for other destinations}
     *
     * @param allocator the allocator of buffers for header sections, and for content that is read from files and streams
     * @throws IllegalStateException if a part can be sent only once and has been sent before
     */
    public Chunks chunks(ByteBufAllocator allocator) {
        return new Chunks(allocator, true);
    }

    /** The buffers of a body that is being written. Close it even if an exception was thrown. Not thread-safe. */
    public final class Chunks implements AutoCloseable {
        private final ByteBufAllocator allocator;

        /** Whether buffers of the application are returned. Otherwise their bytes are copied. */
        private final boolean sharing;

        private final DelimiterCheck check = new DelimiterCheck(boundary.delimiter());
        private long remaining = contentLength.orElse(Long.MAX_VALUE);

        /** The number of bytes of the heads that have been returned. */
        private int at;

        private int opened;

        /** The content that follows the heads already returned. It is in {@code memory} or read from {@code stream}. */
        private @Nullable ByteBuf memory;

        private @Nullable InputStream stream;

        /** The number of bytes that the stream must still have, or less than 0 if it is unknown. */
        private long streamLeft;

        private boolean closed;

        private Chunks(ByteBufAllocator allocator, boolean sharing) {
            this.allocator = allocator;
            this.sharing = sharing;
            for (int i = 0; i < inserts.size(); i++) {
                if (!inserts.get(i).content.claim()) {
                    inserts.subList(0, i).forEach(claimed -> claimed.content.unclaim());
                    throw new IllegalStateException(
                            inserts.get(i).describe()
                                    + " can be sent only once, because it is a stream: pass a StreamSource, which opens a new one");
                }
            }
        }

        /**
         * {@return the next bytes of the body, <em>transferred</em> to the caller and not to be modified, or null at its end}
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
                ByteBuf next = memory;
                memory = null;
                if (next == null && !isEnded()) {
                    next = stream == null
                                    && (isLastOpened()
                                            || inserts.get(opened).content.isMemory(sharing))
                            ? nextHeads()
                            : nextChunk();
                }
                remaining -= next == null ? 0 : next.readableBytes();
                return next;
            } catch (Throwable e) {
                closed = true;
                throw e;
            }
        }

        /** {@return whether all bytes have been returned} */
        public boolean isEnded() {
            return at == headsSize;
        }

        private boolean isLastOpened() {
            return opened == inserts.size();
        }

        private int nextInsert() {
            return isLastOpened() ? headsSize : inserts.get(opened).at;
        }

        /** {@return the heads before content in memory or the end of the body, without a copy} */
        private ByteBuf nextHeads() throws IOException {
            int start = at;
            at = nextInsert();
            openNext();
            return Unpooled.wrappedBuffer(heads, start, at - start);
        }

        /** {@return a chunk filled with heads and with content from streams} */
        private ByteBuf nextChunk() throws IOException {
            int size = (int) Math.min(CHUNK_SIZE, remaining);
            ByteBuf chunk = allocator.heapBuffer(size, size);
            try {
                while (fill(chunk) || !chunk.isReadable()) {}
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
            InputStream in = stream;
            if (in != null) {
                return read(in, chunk);
            }
            int count = Math.min(chunk.writableBytes(), nextInsert() - at);
            chunk.writeBytes(heads, at, count);
            at += count;
            if (at < nextInsert()) {
                return false;
            }
            openNext();
            return memory == null && !isEnded();
        }

        private void openNext() throws IOException {
            if (isLastOpened()) {
                return;
            }
            Insert insert = inserts.get(opened++);
            check.begin();
            memory = insert.content.bytes(sharing);
            if (memory == null) {
                streamLeft = insert.content.length();
                stream = insert.content.open();
            } else if (chosenBoundary) {
                checkContent(memory);
            }
        }

        private void checkContent(ByteBuf content) throws IOException {
            if (check.isIn(content)) {
                throw MultipartEncoder.delimiterIn(current());
            }
        }

        /** {@return a description of the part whose content was opened last, for error messages} */
        private String current() {
            return inserts.get(opened - 1).describe();
        }

        /** Appends the bytes of a single read, so that a slow stream does not delay the bytes before it. */
        private boolean read(InputStream in, ByteBuf chunk) throws IOException {
            int most = (int) Math.min(chunk.writableBytes(), streamLeft < 0 ? Integer.MAX_VALUE : streamLeft);
            if (most == 0 && streamLeft != 0) {
                return false;
            }
            int count = streamLeft == 0 ? in.read() : chunk.writeBytes(in, most);
            if (count < 0 && streamLeft > 0 || count >= 0 && streamLeft == 0) {
                throw new IOException(current()
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
            return streamLeft == 0;
        }

        /** Releases the buffer that has not been returned, and closes the content that is being read. Idempotent. */
        @Override
        public void close() throws IOException {
            closed = true;
            if (memory != null) {
                memory.release();
                memory = null;
            }
            InputStream in = stream;
            stream = null;
            if (in != null) {
                in.close();
            }
        }
    }

    /**
     * A builder of bodies. Parts are sent in the order in which they are added. Adding a part throws an {@link IllegalArgumentException}
     * if readers could misread a name, a media type or a header. Not thread-safe.
     */
    public static final class Builder {
        private final String mediaType;
        private final List<Insert> inserts = new ArrayList<>();
        private NameEscaping escaping = NameEscaping.REJECT;
        private String boundary = RandomBoundary.next();
        private boolean chosenBoundary;

        /** Null before the first part. After it, the boundary cannot change. */
        private @Nullable HeadWriter writer;

        private int parts;
        private boolean built;

        /** The media type of the first part of a {@code multipart/related} body. RFC 2387 requires it in the Content-Type of the body. */
        private @Nullable String rootType;

        private Builder(String subtype) {
            this.mediaType = "multipart/" + subtype.toLowerCase(Locale.ROOT);
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
         * Sets the boundary, which is random by default. Use a fixed boundary only in tests: content that contains it makes the body fail,
         * and anyone who knows the boundary can supply such content.
         *
         * @throws IllegalStateException if a part was added before
         */
        public Builder boundary(String value) {
            if (writer != null || built) {
                throw new IllegalStateException("a part has been added: set the boundary before the first part");
            }
            boundary = Objects.requireNonNull(value, "value");
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
            formHeads().emptyFileInput(name, escaping);
            parts++;
            return this;
        }

        private Builder form(String name, @Nullable String filename, @Nullable String contentType, Content content) {
            Objects.requireNonNull(content, "content");
            formHeads().form(name, filename, contentType, escaping);
            return add(name, content);
        }

        private HeadWriter formHeads() {
            if (!isForm()) {
                throw new IllegalStateException("the body is not a form: call part(headers, content)");
            }
            return heads();
        }

        /**
         * Adds a part of a body that is not a form.
         *
         * @throws IllegalStateException if the body is a form
         */
        public Builder part(List<Header> headers, Content content) {
            if (isForm()) {
                throw new IllegalStateException("the body is a form: call field() or file()");
            }
            Objects.requireNonNull(content, "content");
            heads().section(mediaType, headers);
            if (parts == 0 && mediaType.equals("multipart/related")) {
                rootType = HeadWriter.mediaType(headers);
            }
            return add(null, content);
        }

        private boolean isForm() {
            return mediaType.equals("multipart/form-data");
        }

        private HeadWriter heads() {
            if (built) {
                throw new IllegalStateException("build() has been called: create a new builder for each body");
            }
            HeadWriter heads = writer == null ? new HeadWriter(boundary) : writer;
            writer = heads;
            return heads;
        }

        private Builder add(@Nullable String name, Content content) {
            byte[] small = chosenBoundary ? null : content.small(MAX_COPY);
            if (small == null) {
                inserts.add(new Insert(heads().size(), parts, name, content));
            } else {
                heads().content(small);
            }
            parts++;
            return this;
        }

        /**
         * {@return the body} The builder cannot be used again: once the boundary is public, content added later could contain it.
         *
         * @throws IllegalArgumentException if the subtype or the boundary is not valid
         * @throws ArithmeticException if the length of the body exceeds {@link Long#MAX_VALUE}
         */
        public MultipartBody build() {
            HeadWriter heads = heads();
            heads.end();
            built = true;
            return new MultipartBody(this, heads);
        }
    }
}
