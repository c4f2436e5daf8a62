package dev.sluice;

import dev.sluice.MultipartDecoder.Event;
import dev.sluice.MultipartException.Reason;
import dev.sluice.buffer.ChannelOutput;
import dev.sluice.header.SafeFilename;
import dev.sluice.header.TransferEncoding;
import dev.sluice.legacy.TransferDecoder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.IllegalBlockingModeException;
import java.nio.channels.ReadableByteChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A blocking reader of {@code multipart} bodies. It reads a stream or channel part by part.
 *
 * {@snippet file="PushLoop.java" region="pull"}
 *
 * <p>The reader holds one chunk of {@value #CHUNK_SIZE} bytes and one header section. It accepts the same bodies as
 * {@link MultipartDecoder}, with the same limits and errors. Only one thread may use it at a time. It holds no locks while it blocks, so a
 * blocked virtual thread unmounts.
 */
public final class MultipartReader implements AutoCloseable {
    private static final int CHUNK_SIZE = 32 * 1024;

    /** The length of the largest array that every JVM supports. */
    private static final int MAX_ARRAY = Integer.MAX_VALUE - 8;

    private interface Source {
        /**
         * Appends some bytes to the chunk.
         *
         * @return a negative number at the end
         */
        int read(ByteBuf chunk) throws IOException;
    }

    private final MultipartOptions options;
    private final MultipartDecoder decoder;
    private final Source source;
    /** Whether chunks are outside of the heap. This is faster for channels; streams can only read into arrays. */
    private final boolean direct;

    private @Nullable ByteBuf chunk;
    private @Nullable Part current;
    private boolean ended;
    private boolean closed;

    private MultipartReader(Source source, boolean direct, Boundary boundary, MultipartOptions options) {
        this.source = source;
        this.direct = direct;
        this.options = options;
        this.decoder = MultipartDecoder.create(boundary, options);
    }

    /** {@return a reader of a form, with the {@linkplain MultipartOptions#defaults() default options}} */
    public static MultipartReader create(InputStream in, @Nullable String contentType) throws MultipartException {
        return create(in, contentType, MultipartOptions.defaults());
    }

    /**
     * {@return a reader of a form} For other multipart types, pass {@link Boundary#anyMultipart(String, Preset)} to {@link
     * #create(InputStream, Boundary, MultipartOptions)}.
     *
     * @param in the body; read to its end, not closed
     * @param contentType the {@code Content-Type} of the body, or null if it has none
     * @param options the preset and the limits
     * @throws MultipartException if the type is not {@code multipart/form-data} (415), or the boundary is missing or not acceptable
     */
    public static MultipartReader create(InputStream in, @Nullable String contentType, MultipartOptions options)
            throws MultipartException {
        return create(in, Boundary.formData(contentType, options.preset()), options);
    }

    /** {@return a reader with the {@linkplain MultipartOptions#defaults() default options}} */
    public static MultipartReader create(InputStream in, Boundary boundary) {
        return create(in, boundary, MultipartOptions.defaults());
    }

    /**
     * {@return a reader of a body with this boundary; the rules of RFC 7578 apply to its parts if {@link Boundary#isFormData()}}
     *
     * @param in the body; read to its end, not closed
     * @param boundary the boundary from the {@code Content-Type} of the body: {@link Boundary#formData} for forms,
     *     {@link Boundary#anyMultipart} for other types
     * @param options the preset and the limits
     */
    public static MultipartReader create(InputStream in, Boundary boundary, MultipartOptions options) {
        Objects.requireNonNull(in, "in");
        return new MultipartReader(chunk -> chunk.writeBytes(in, chunk.writableBytes()), false, boundary, options);
    }

    /** {@return a reader with the {@linkplain MultipartOptions#defaults() default options}} */
    public static MultipartReader create(ReadableByteChannel in, Boundary boundary) {
        return create(in, boundary, MultipartOptions.defaults());
    }

    /**
     * {@return a reader like {@link #create(InputStream, Boundary, MultipartOptions)}}
     *
     * @param in the body, which is read to its end and not closed. The channel must be in blocking mode: if a read returns
     *     no bytes, {@link IllegalBlockingModeException} is thrown
     */
    public static MultipartReader create(ReadableByteChannel in, Boundary boundary, MultipartOptions options) {
        Objects.requireNonNull(in, "in");
        return new MultipartReader(chunk -> read(in, chunk), true, boundary, options);
    }

    private static int read(ReadableByteChannel in, ByteBuf chunk) throws IOException {
        int count = in.read(chunk.internalNioBuffer(chunk.writerIndex(), chunk.writableBytes()));
        if (count == 0) {
            throw new IllegalBlockingModeException(); // retrying would be a busy loop
        }
        chunk.writerIndex(chunk.writerIndex() + Math.max(count, 0));
        return count;
    }

    /**
     * Skips the rest of the current part and reads the head of the next one.
     *
     * @return the part, or null at the end of the body
     * @throws MultipartException if the body is not acceptable
     * @throws IOException the exception of the source, unchanged
     * @throws IllegalStateException after {@link #close()}
     */
    public @Nullable Part nextPart() throws IOException {
        checkOpen();
        current = null;
        while (!ended) {
            Event event = advance();
            if (event == Event.PART_BEGIN) {
                current = new Part();
                return current;
            }
            ended = event == Event.END;
        }
        return null;
    }

    /** {@return the next event other than {@link Event#NEED_INPUT}} */
    private Event advance() throws IOException {
        for (; ; ) {
            Event event = decoder.next();
            if (event != Event.NEED_INPUT) {
                return event;
            }
            ByteBuf filled = refill();
            if (source.read(filled) < 0) {
                decoder.finish();
            } else if (filled.isReadable()) {
                decoder.feed(filled.retain());
            }
        }
    }

    /** {@return an empty chunk: the previous one, unless the application has retained a slice of it} */
    private ByteBuf refill() {
        ByteBuf free = chunk;
        if (free != null && free.refCnt() > 1) {
            free.release();
            chunk = null;
            free = null;
        }
        if (free == null) {
            ByteBufAllocator allocator = options.allocator();
            free = direct
                    ? allocator.directBuffer(CHUNK_SIZE, CHUNK_SIZE)
                    : allocator.heapBuffer(CHUNK_SIZE, CHUNK_SIZE);
            chunk = free;
        }
        return free.clear();
    }

    /** {@return the deviations reported so far; see {@link MultipartDecoder#deviations()}} */
    public List<ReportedDeviation> deviations() {
        return decoder.deviations();
    }

    /** {@return the number of deviations reported so far; see {@link MultipartDecoder#deviationCount()}} */
    public long deviationCount() {
        return decoder.deviationCount();
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the reader is closed: create a new one for each body");
        }
    }

    /** Releases all buffers. Idempotent. The source is neither closed nor read to its end. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            current = null;
            decoder.close();
            if (chunk != null) {
                chunk.release();
                chunk = null;
            }
        }
    }

    /**
     * The current part, valid until the next call to {@link MultipartReader#nextPart()}. Its body can be read once, with
     * {@link #inputStream()}, {@link #text()}, {@code transferTo} or {@link #nextData()}.
     */
    public final class Part {
        private final int index = decoder.partIndex();
        private final @Nullable String name = decoder.name();
        private final @Nullable String filename = decoder.filename();
        /** Created on first use, because the name is often sufficient. */
        private @Nullable PartHead head;

        private boolean taken;
        private boolean byChunks;
        private boolean ended;

        /** Unread data of the last event; borrowed until the next call to the decoder. */
        private @Nullable ByteBuf data;

        private Part() {}

        /** {@return the 0-based index of the part} */
        public int index() {
            return index;
        }

        /**
         * {@return the head of the part, which may be kept longer than the part}
         *
         * @throws IllegalStateException if this method is called for the first time after the next call to {@link
         *     MultipartReader#nextPart()} or after a failure
         */
        public PartHead head() {
            PartHead made = head;
            if (made == null) {
                checkCurrent();
                made = decoder.head();
                head = made;
            }
            return made;
        }

        /** {@return the {@link PartHead#name()}} */
        public @Nullable String name() {
            return name;
        }

        /** {@return the {@link PartHead#filename()}; never use it as a path} */
        public @Nullable String filename() {
            return filename;
        }

        /** {@return the {@link PartHead#safeFilename()}} */
        public @Nullable String safeFilename() {
            return filename == null ? null : SafeFilename.of(filename);
        }

        /**
         * {@return the {@link PartHead#contentType()}}
         *
         * @throws IllegalStateException as {@link #head()}
         */
        public @Nullable String contentType() {
            if (head != null) {
                return head.contentType();
            }
            checkCurrent();
            return decoder.contentType();
        }

        /**
         * {@return the body as a stream} A transfer encoding is decoded if {@link MultipartOptions#decodeTransferEncodings()} is set.
         * Closing the stream skips the rest.
         *
         * @throws IllegalStateException if the body has been read before, even partly
         */
        public InputStream inputStream() {
            return body();
        }

        private BodyStream body() {
            checkNotTaken();
            taken = true;
            return new BodyStream(transferDecoder());
        }

        /** {@return a decoder for the transfer encoding, or null if the body needs none} */
        private @Nullable TransferDecoder transferDecoder() {
            return options.decodeTransferEncodings() ? TransferEncoding.decoder(head()) : null;
        }

        /**
         * {@return the whole body as text} It is decoded with the {@code charset} of the part's Content-Type, or with UTF-8 if there is
         * none. An unknown charset is {@link Deviation#UNKNOWN_CHARSET}; if the preset accepts it, UTF-8 is used. Malformed bytes become
         * U+FFFD (RFC 7578 section 4.5). A {@code _charset_} field is ignored, because it may come after this part.
         *
         * @throws MultipartException if the body has more than {@link MultipartOptions#maxFieldBytes()} bytes (the next part can still be
         *     read), if its charset is unknown, or if the body is rejected
         * @throws IOException the exception of the source, unchanged
         * @throws IllegalStateException if the body has been read before, even partly
         */
        public String text() throws IOException {
            checkNotTaken();
            Charset charset = charset();
            long max = options.maxFieldBytes();
            byte[] text;
            boolean more;
            try (InputStream in = inputStream()) {
                text = in.readNBytes((int) Math.min(max, MAX_ARRAY));
                more = in.read() >= 0;
            }
            if (more) {
                long at = decoder.partOffset() + (transferDecoder() == null ? text.length : 0);
                throw because(Reason.FIELD_TOO_LARGE, at).limit(text.length).build();
            }
            return new String(text, charset);
        }

        private MultipartException.Builder because(Reason reason, long at) {
            return MultipartException.because(reason).part(index, name).at(at);
        }

        private Charset charset() throws MultipartException {
            boolean named = contentType() != null && head().contentTypeParameter("charset") != null;
            Charset charset = named ? head().charset() : StandardCharsets.UTF_8;
            if (charset != null) {
                return charset;
            }
            if (!options.preset().accepts(Deviation.UNKNOWN_CHARSET)) {
                throw because(Deviation.UNKNOWN_CHARSET.reason(), decoder.partOffset())
                        .saying("the charset of a part read as text is unknown")
                        .build();
            }
            decoder.report(Deviation.UNKNOWN_CHARSET);
            return StandardCharsets.UTF_8;
        }

        /**
         * Writes the bytes of {@link #inputStream()} to a stream.
         *
         * @return the number of bytes written
         * @throws IllegalStateException if the body has been read before, even partly
         */
        public long transferTo(OutputStream out) throws IOException {
            try (InputStream in = inputStream()) {
                return in.transferTo(out);
            }
        }

        /**
         * Writes the bytes of {@link #inputStream()} to a channel. This class copies nothing if no transfer encoding is decoded.
         *
         * @param out a channel in blocking mode
         * @return the number of bytes written
         * @throws IllegalBlockingModeException if the channel is not in blocking mode; the body can still be read
         * @throws IOException the exception of the source or the channel, unchanged; also if the channel accepts no bytes
         * @throws IllegalStateException if the body has been read before, even partly
         */
        public long transferTo(WritableByteChannel out) throws IOException {
            ChannelOutput.requireBlocking(out);
            BodyStream body = body();
            long count = 0;
            for (ByteBuf bytes; (bytes = body.next()) != null; ) {
                count += ChannelOutput.writeFully(out, bytes.nioBuffer());
                bytes.skipBytes(bytes.readableBytes());
            }
            return count;
        }

        /**
         * {@return the next bytes of the body as sent, at least one, or null at its end} The buffer is <em>borrowed</em> until the next
         * call to this method, to {@link MultipartReader#nextPart()} or to {@link MultipartReader#close()}; retain it to keep it longer.
         * This method cannot be combined with the other methods that read the body.
         *
         * @throws MultipartException if the body is not acceptable
         * @throws IOException the exception of the source, unchanged
         * @throws IllegalStateException after the next call to {@link MultipartReader#nextPart()}, or if the body has been read in another
         *     way
         */
        public @Nullable ByteBuf nextData() throws IOException {
            checkCurrent();
            if (taken && !byChunks) {
                throw new IllegalStateException("the body of part " + index + " is already being read in another way");
            }
            taken = true;
            byChunks = true;
            data = null; // the application may change the indices of the buffer
            return readable();
        }

        private void checkNotTaken() {
            checkCurrent();
            if (taken) {
                throw new IllegalStateException(
                        "the body of part " + index + " has been read before, and can be read only once");
            }
        }

        private void checkCurrent() {
            checkOpen();
            if (current != this) {
                throw new IllegalStateException(
                        "part " + index + " has ended: read it before the next call to nextPart()");
            }
        }

        /** {@return at least one byte of the body, or null at its end} */
        private @Nullable ByteBuf readable() throws IOException {
            while (!ended && (data == null || !data.isReadable())) {
                data = null;
                Event event = advance();
                if (event == Event.DATA) {
                    data = decoder.data();
                } else {
                    ended = true; // PART_END, the only other event within a part
                }
            }
            return data;
        }

        /** The body as a stream, after transfer decoding. */
        private final class BodyStream extends InputStream {
            private final @Nullable TransferDecoder transfer;

            /** Decoded bytes that have not been read yet. */
            private ByteBuf decoded = Unpooled.EMPTY_BUFFER;

            private boolean decodedAll;
            private @Nullable IOException malformed;
            private boolean closed;

            BodyStream(@Nullable TransferDecoder transfer) {
                this.transfer = transfer;
            }

            @Override
            public int read() throws IOException {
                ByteBuf bytes = next();
                return bytes == null ? -1 : bytes.readUnsignedByte();
            }

            @Override
            public int read(byte[] target, int offset, int length) throws IOException {
                Objects.checkFromIndexSize(offset, length, target.length);
                ByteBuf bytes = length == 0 ? null : next();
                if (bytes == null) {
                    return length == 0 ? 0 : -1;
                }
                int count = Math.min(length, bytes.readableBytes());
                bytes.readBytes(target, offset, count);
                return count;
            }

            @Override
            public int available() {
                ByteBuf bytes = transfer == null ? data : decoded;
                return closed || current != Part.this || bytes == null ? 0 : bytes.readableBytes();
            }

            /** {@return at least one byte, or null at the end} */
            private @Nullable ByteBuf next() throws IOException {
                if (closed) {
                    throw new IOException("the stream is closed");
                }
                checkCurrent();
                return transfer == null ? readable() : decodedBy(transfer);
            }

            /** {@return at least one byte, or null at the end} After malformed bytes, each call throws the same exception. */
            private @Nullable ByteBuf decodedBy(TransferDecoder transfer) throws IOException {
                if (malformed != null) {
                    throw malformed;
                }
                while (!decoded.isReadable() && !decodedAll) {
                    ByteBuf bytes = readable();
                    decodedAll = bytes == null;
                    try {
                        decoded = bytes == null ? transfer.end() : transfer.decode(bytes);
                    } catch (IOException e) {
                        malformed = e;
                        throw e;
                    }
                }
                return decoded.isReadable() ? decoded : null;
            }

            @Override
            public void close() {
                closed = true;
            }
        }
    }
}
