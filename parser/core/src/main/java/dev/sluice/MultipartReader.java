package dev.sluice;

import dev.sluice.MultipartDecoder.Event;
import dev.sluice.MultipartException.Reason;
import dev.sluice.transfer.ChannelOutput;
import dev.sluice.transfer.TransferDecoder;
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
 * Reads a {@code multipart/*} body from a stream or channel, part by part; blocks while the source does.
 *
 * {@snippet file="PushLoop.java" region="pull"}
 *
 * <p>Holds one chunk of {@value #CHUNK_SIZE} bytes and one header section, whatever the body. What is accepted, the limits and the
 * errors are those of {@link MultipartDecoder}. One thread at a time; no locks are held while blocking, so that virtual threads
 * unmount.
 */
public final class MultipartReader implements AutoCloseable {
    private static final int CHUNK_SIZE = 32 * 1024;

    private static final int ENCODED_AT_A_TIME = 8 * 1024;

    /** What every JVM can allocate as an array. */
    private static final int MAX_ARRAY = Integer.MAX_VALUE - 8;

    private interface Source {
        /** Reads some bytes behind the writer index. {@return less than 0 at the end} */
        int read(ByteBuf chunk) throws IOException;
    }

    private final MultipartOptions options;
    private final MultipartDecoder decoder;
    private final Source source;
    /** Channels read best into memory outside the heap, streams into arrays. */
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
     * @param options what is accepted
     * @throws MultipartException if the type is not {@code multipart/form-data} (415), or the boundary is missing or not
     *     acceptable
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
     * @param boundary from the {@code Content-Type} of the body: {@link Boundary#formData} for forms, {@link
     *     Boundary#anyMultipart} for other types
     * @param options what is accepted
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
     * {@return a reader of a body with this boundary; the rules of RFC 7578 apply to its parts if {@link Boundary#isFormData()}}
     *
     * @param in the body; a channel in blocking mode, otherwise reading throws {@link IllegalBlockingModeException}; read to its
     *     end, not closed
     * @param boundary from the {@code Content-Type} of the body: {@link Boundary#formData} for forms, {@link
     *     Boundary#anyMultipart} for other types
     * @param options what is accepted
     */
    public static MultipartReader create(ReadableByteChannel in, Boundary boundary, MultipartOptions options) {
        Objects.requireNonNull(in, "in");
        return new MultipartReader(chunk -> read(in, chunk), true, boundary, options);
    }

    private static int read(ReadableByteChannel in, ByteBuf chunk) throws IOException {
        int count = in.read(chunk.internalNioBuffer(chunk.writerIndex(), chunk.writableBytes()));
        if (count == 0) {
            throw new IllegalBlockingModeException(); // it would have to be asked again and again
        }
        chunk.writerIndex(chunk.writerIndex() + Math.max(count, 0));
        return count;
    }

    /**
     * Goes on to the next part; what is left of the part before is skipped.
     *
     * @return the part, or null at the end of the body
     * @throws MultipartException if the body is not acceptable
     * @throws IOException of the source, as it comes
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

    /** {@return the next event that is not a request for input} */
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

    /** {@return an empty chunk: the one before, unless a consumer kept a slice of it} */
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

    /** {@return the deviations to be reported so far, as {@link MultipartDecoder#deviations()}} */
    public List<ReportedDeviation> deviations() {
        return decoder.deviations();
    }

    /** {@return how many deviations were to be reported so far, as {@link MultipartDecoder#deviationCount()}} */
    public long deviationCount() {
        return decoder.deviationCount();
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("the reader is closed: make one per body");
        }
    }

    /** Releases what is held; idempotent. The source is not closed, and not read to its end. */
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
     * One part, until the next call of {@link MultipartReader#nextPart()}. Its body can be read once, by one of
     * {@link #inputStream()}, {@link #text()} and {@code transferTo}.
     */
    public final class Part {
        private final int index = decoder.partIndex();
        private final @Nullable String name = decoder.name();
        private final @Nullable String filename = decoder.filename();
        /** Copied when they are asked for: many a part is told by its name alone. */
        private @Nullable PartHead head;

        private boolean taken;
        private boolean byChunks;
        private boolean ended;

        /** Bytes of the body handed out by the decoder and not read yet; borrowed until it is asked for more. */
        private @Nullable ByteBuf data;

        private Part() {}

        /** {@return the 0-based index of the part} */
        public int index() {
            return index;
        }

        /**
         * {@return what is known of the part; it outlives the part}
         *
         * @throws IllegalStateException where it is asked for first when the next part has been, or the body has failed
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

        /** {@return the {@link PartHead#filename()}: never a path} */
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
         * {@return the body as a stream; closing it skips the rest. A transfer encoding is undone where {@link
         * MultipartOptions#decodeTransferEncodings()} says so}
         *
         * @throws IllegalStateException if the body has been asked for before
         */
        public InputStream inputStream() {
            return body();
        }

        private BodyStream body() {
            checkNotTaken();
            taken = true;
            return new BodyStream(transferDecoder());
        }

        /** {@return what undoes the transfer encoding, or null where there is nothing to undo} */
        private @Nullable TransferDecoder transferDecoder() {
            return options.decodeTransferEncodings()
                    ? TransferDecoder.of(head().transferEncoding(), this::malformed)
                    : null;
        }

        /**
         * {@return the whole body as text, in the {@code charset} of the part's Content-Type, else in UTF-8; malformed bytes as
         * U+FFFD (RFC 7578 section 4.5). An unknown charset is reported and read as UTF-8. A {@code _charset_} field is not
         * regarded: it may come later}
         *
         * @throws MultipartException if it has more than {@link MultipartOptions#maxFieldBytes()} bytes; the reader can go on with the
         *     next part all the same
         * @throws IOException of the source, as it comes
         * @throws IllegalStateException if the body has been asked for before
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

        private MultipartException malformed(String what) {
            return because(Reason.MALFORMED_TRANSFER_ENCODING, decoder.partOffset())
                    .saying("the body of a part " + what)
                    .build();
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
         * Writes the body, as {@link #inputStream()} gives it.
         *
         * @return the number of bytes written
         * @throws IllegalStateException if the body has been asked for before
         */
        public long transferTo(OutputStream out) throws IOException {
            try (InputStream in = inputStream()) {
                return in.transferTo(out);
            }
        }

        /**
         * Writes the body, as {@link #inputStream()} gives it; straight from the chunks where no transfer encoding is undone.
         *
         * @param out a channel in blocking mode
         * @return the number of bytes written
         * @throws IllegalBlockingModeException if the channel is not in blocking mode: the body is as it was
         * @throws IOException of the source or the channel, as it comes, or if the channel takes no bytes
         * @throws IllegalStateException if the body has been asked for before
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
         * {@return the next bytes of the body as they came, at least one, or null at its end: <em>borrowed</em> until the next call
         * of this method, of {@link MultipartReader#nextPart()} or of {@link MultipartReader#close()}, after which the memory is
         * filled again; to be retained to be kept. Mixes with no other way of reading the body}
         *
         * @throws MultipartException if the body is not acceptable
         * @throws IOException of the source, as it comes
         * @throws IllegalStateException once the next part has been asked for
         */
        public @Nullable ByteBuf nextData() throws IOException {
            checkCurrent();
            if (taken && !byChunks) {
                throw new IllegalStateException(
                        "the body of part " + index + " is being read in another way: it streams in once");
            }
            taken = true;
            byChunks = true;
            data = null; // the indices of what was lent are the consumer's
            return readable();
        }

        private void checkNotTaken() {
            checkCurrent();
            if (taken) {
                throw new IllegalStateException(
                        "the body of part " + index + " has been read before: it streams in once");
            }
        }

        private void checkCurrent() {
            checkOpen();
            if (current != this) {
                throw new IllegalStateException(
                        "part " + index + " is over: read a part before the next call of nextPart()");
            }
        }

        /** {@return some bytes of the body, at least one, or null at its end} */
        private @Nullable ByteBuf readable() throws IOException {
            checkCurrent();
            while (!ended && (data == null || !data.isReadable())) {
                data = null;
                Event event = advance();
                if (event == Event.DATA) {
                    data = decoder.data();
                } else {
                    ended = true; // PART_END: nothing else follows data
                }
            }
            return data;
        }

        /** The body, its transfer encoding undone where there is something to undo. */
        private final class BodyStream extends InputStream {
            private final @Nullable TransferDecoder transfer;

            /** What became of the encoded bytes that were at hand, and is not read yet. */
            private final ByteBuf decoded;

            private boolean decodedEnd;
            private @Nullable IOException malformed;
            private boolean closed;

            BodyStream(@Nullable TransferDecoder transfer) {
                this.transfer = transfer;
                this.decoded = transfer == null
                        ? Unpooled.EMPTY_BUFFER
                        : Unpooled.wrappedBuffer(new byte[TransferDecoder.mostFrom(ENCODED_AT_A_TIME)])
                                .clear();
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

            /** {@return some bytes, at least one, or null at the end} */
            private @Nullable ByteBuf next() throws IOException {
                if (closed) {
                    throw new IOException("the stream is closed");
                }
                return transfer == null ? readable() : decoded(transfer);
            }

            private @Nullable ByteBuf decoded(TransferDecoder decoder) throws IOException {
                while (!decoded.isReadable() && !decodedEnd && malformed == null) {
                    ByteBuf encoded = readable();
                    int count = encoded == null ? 0 : Math.min(encoded.readableBytes(), ENCODED_AT_A_TIME);
                    byte[] memory = decoded.clear().array();
                    try {
                        int size = encoded == null
                                ? decoder.end(memory)
                                : decoder.decode(encoded.readSlice(count), memory);
                        decoded.writerIndex(size);
                    } catch (IOException e) {
                        malformed = e;
                    }
                    decodedEnd = encoded == null;
                }
                if (malformed != null) {
                    throw malformed;
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
