package dev.sluice;

import dev.sluice.encode.ChunkInputStream;
import dev.sluice.encode.RelayedHead;
import dev.sluice.header.TransferEncoding;
import dev.sluice.legacy.TransferDecoder;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A relay that forwards a form from a client to another server. The parts are decoded, changed by a {@link Rule}, and encoded with a new
 * boundary. {@link Preset#STRICT} accepts the result. Names that common servers are known to read differently are rejected or replaced.
 *
 * {@snippet file="RelayForm.java" region="relay"}
 *
 * <p><b>Media types.</b> If the {@link MultipartEncoder} rejects the media type of a part, the relay removes all parameters but the
 * charset. If the encoder rejects this type too, a file gets the type {@code application/octet-stream}, and a field is written without a
 * type and therefore without a charset. To reject such parts instead, decode the form of the client with {@code STRICT}. {@code STRICT}
 * accepts some types that the encoder rejects: a malformed type, {@code message/*}, {@code application/octet-stream} for a field, and an
 * unknown charset for a file. To reject these parts, use the rule. A {@code _charset_} field is forwarded even if its charset is unknown.
 *
 * <p>Feed a chunk, then call {@link #next()} until it returns null, only as fast as the other server reads. The relay holds one
 * chunk and one header section. It has no threads, and only {@link #inputStream} does I/O. Content in base64 or quoted-printable is
 * decoded, because many servers ignore the {@code Content-Transfer-Encoding} header. Content in an unknown encoding is forwarded unchanged
 * and without this header, so that all servers read the same bytes; {@code STRICT} rejects it. If the form of the client is rejected or
 * incomplete, {@link #next()} throws, and the close-delimiter is never returned: abort the outgoing message.
 */
public final class FormRelay implements AutoCloseable {
    /**
     * A part of the outgoing form.
     *
     * @param filename null for a field; empty for a file input that was left empty. Such a part has no content, and is written as browsers
     *     write it
     * @param contentType the media type, or null to write the part without a {@code Content-Type}
     * @param content the new content of the part, <em>transferred</em>; null to keep the content of the client
     */
    public record Part(
            String name,
            @Nullable String filename,
            @Nullable String contentType,
            @Nullable ByteBuf content) {
        /** {@return a part with the names, type and content that the client sent} */
        public static Part of(PartHead head) {
            return new Part(Objects.requireNonNullElse(head.name(), ""), head.filename(), head.contentType(), null);
        }

        private RelayedHead head(@Nullable PartHead client) {
            return new RelayedHead(name, filename, contentType, client);
        }
    }

    /** A decision about each part. */
    @FunctionalInterface
    public interface Rule {
        /**
         * {@return the part to write, or null to leave it out}
         *
         * @throws IOException to reject the form
         */
        @Nullable
        Part apply(PartHead head) throws IOException;
    }

    private static final int STREAM_CHUNK = 16 << 10;

    private final MultipartDecoder decoder;
    private final MultipartEncoder encoder;
    private final Rule rule;

    /** The parts to write after the parts of the client. */
    private final Queue<Part> added = new ArrayDeque<>();

    /** The bytes that {@link #next} returns before it reads more input. */
    private final Queue<ByteBuf> waiting = new ArrayDeque<>();

    /** The head of the current part, to be written before its first content or at its end; null once it has been written. */
    private @Nullable RelayedHead head;

    /** Whether the client's content of the current part is forwarded, neither skipped nor replaced by the rule. */
    private boolean passing;

    /** The decoder for the transfer encoding of the current part; null if it has none. */
    private @Nullable TransferDecoder transfer;

    private boolean finished;
    private boolean ended;

    private FormRelay(MultipartDecoder decoder, MultipartEncoder encoder, Rule rule) {
        this.decoder = decoder;
        this.encoder = encoder;
        this.rule = Objects.requireNonNull(rule, "rule");
    }

    /**
     * {@return a relay of one form}
     *
     * @param contentType the {@code Content-Type} of the client, or null if it has none
     * @param options the preset and the limits for the form of the client
     * @param escaping the treatment of names that could be misread. If a part that the rule has not changed could still be misread, the
     *     form is rejected
     * @param rule the decision about each part; called once for each
     * @throws MultipartException if {@code contentType} is not acceptable
     */
    public static FormRelay create(
            @Nullable String contentType, MultipartOptions options, NameEscaping escaping, Rule rule)
            throws MultipartException {
        MultipartDecoder decoder = MultipartDecoder.create(contentType, options);
        Boundary boundary = Boundary.random("multipart/form-data");
        return new FormRelay(decoder, MultipartEncoder.create(boundary, escaping, options.allocator()), rule);
    }

    /** {@return the value for the {@code Content-Type} header field of the outgoing message} */
    public String contentType() {
        return encoder.contentType();
    }

    /** Passes the next bytes of the client to the relay, like {@link MultipartDecoder#feed}. */
    public void feed(ByteBuf chunk) {
        decoder.feed(chunk);
    }

    /**
     * Declares the end of the input, like {@link MultipartDecoder#finish}.
     *
     * @param parts the parts to add after the parts of the client, with their content; <em>transferred</em>, even if this method throws
     * @throws IllegalArgumentException if a part has no content
     * @throws IllegalStateException as {@link MultipartDecoder#finish}, and if this method has been called before
     */
    public void finish(Part... parts) {
        try {
            if (Stream.of(parts).anyMatch(part -> part == null || part.content == null)) {
                throw new IllegalArgumentException("an added part has no content: pass a buffer, which may be empty");
            } else if (finished) {
                throw new IllegalStateException("finish() has been called: pass all added parts to one call");
            }
            decoder.finish();
        } catch (RuntimeException e) {
            Stream.of(parts).filter(Objects::nonNull).forEach(part -> ReferenceCountUtil.release(part.content));
            throw e;
        }
        finished = true;
        added.addAll(List.of(parts));
    }

    /**
     * {@return the next bytes to send, <em>transferred</em> to the caller, or null if all input has been read}
     *
     * @throws MultipartException if the form of the client is rejected
     * @throws IOException the exception of the rule, unchanged
     * @throws IllegalArgumentException if the rule has returned a part that parsers could misread
     * @throws IllegalStateException after a failure, and after {@link #close()}
     */
    public @Nullable ByteBuf next() throws IOException {
        try {
            while (waiting.isEmpty() && relay()) {}
            return waiting.poll();
        } catch (Throwable e) {
            close(); // a later call would add content of the rejected part to the previous part
            throw e;
        }
    }

    /**
     * {@return a stream of the bytes to send, for a blocking HTTP client; the caller closes it} It reads from {@code in} on demand, and
     * throws if the incoming form is rejected or incomplete. The HTTP client then aborts the request, because the stream has not ended.
     *
     * @param in the incoming body, which is not closed with the stream
     */
    public InputStream inputStream(InputStream in) {
        return new ChunkInputStream(
                () -> {
                    ByteBuf bytes;
                    while ((bytes = next()) == null && !finished) {
                        byte[] chunk = new byte[STREAM_CHUNK];
                        int count = in.read(chunk);
                        if (count < 0) {
                            finish();
                        } else {
                            feed(Unpooled.wrappedBuffer(chunk, 0, count));
                        }
                    }
                    return bytes;
                },
                this::close);
    }

    /** Relays the next event. {@return whether another may follow it} */
    private boolean relay() throws IOException {
        switch (decoder.next()) {
            case NEED_INPUT -> {
                return false;
            }
            case PART_BEGIN -> begin(decoder.head());
            case DATA -> {
                if (passing) {
                    writeContent(decoder.data());
                }
            }
            case END -> {
                end();
                return false;
            }
            default -> { // PART_END
                if (passing) {
                    write(transfer == null ? Unpooled.EMPTY_BUFFER : transfer.end(), true);
                }
            }
        }
        return true;
    }

    private void writeContent(ByteBuf data) throws IOException {
        if (transfer == null) {
            write(data.retain(), false);
            return;
        }
        do {
            write(transfer.decode(data), false);
        } while (data.isReadable()); // a second call throws, because the next byte is malformed
    }

    private void begin(PartHead client) throws IOException {
        transfer = TransferEncoding.decoder(client);
        Part part = rule.apply(client);
        ByteBuf content = part == null ? null : part.content;
        passing = part != null && content == null;
        head = part == null ? null : part.head(client);
        if (content != null) {
            write(content, true);
        }
    }

    private void end() throws IOException {
        if (ended) {
            return;
        }
        ended = true;
        for (Part part; (part = added.poll()) != null; ) {
            head = part.head(null);
            write(Objects.requireNonNull(part.content), true);
        }
        waiting.add(encoder.finish());
    }

    /**
     * Writes the next bytes of the current part, and its head before the first of them.
     *
     * @param content <em>transferred</em>; may be empty
     * @param last whether no more content of the part follows
     */
    private void write(ByteBuf content, boolean last) throws IOException {
        boolean hasContent = content.isReadable();
        if (head != null && (hasContent || last)) {
            try {
                waiting.add(head.begin(encoder, hasContent));
            } catch (Throwable e) {
                content.release();
                throw e;
            }
            head = null;
        }
        if (hasContent) {
            waiting.add(encoder.write(content));
        } else {
            content.release(); // an empty chunk would end a chunked message
        }
    }

    /** Releases all buffers. Idempotent. */
    @Override
    public void close() {
        decoder.close();
        waiting.forEach(ByteBuf::release);
        waiting.clear();
        added.forEach(part -> ReferenceCountUtil.release(part.content));
        added.clear();
    }
}
