package dev.sluice;

import dev.sluice.encode.ChunkInputStream;
import dev.sluice.encode.RandomBoundary;
import dev.sluice.legacy.LegacyFormats;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import java.io.InputStream;
import java.util.Iterator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A relay of a form: bytes of a client in, bytes for another server out. The parts are decoded, changed by a {@link Rule}, and encoded
 * with a new boundary. {@link Preset#STRICT} accepts the result, so that the other server finds the parts that the rule has seen.
 *
 * {@snippet file="RelayForm.java" region="relay"}
 *
 * <p>Feed a chunk, then call {@link #next()} until it returns null, as fast as the other server reads. The relay holds one chunk and one
 * header section. It has no threads, and only {@link #inputStream} does I/O. Content in base64 or quoted-printable is not decoded: a form
 * in which the rule keeps such content is rejected. If the form of the client is rejected or incomplete, {@link #next()} throws, and the
 * close-delimiter is never returned: abort the outgoing message.
 */
public final class FormRelay implements AutoCloseable {
    /**
     * A part as it is written.
     *
     * @param contentType null to write none
     * @param content replaces the content of the part, <em>transferred</em>; null to keep it
     */
    public record Part(
            String name,
            @Nullable String filename,
            @Nullable String contentType,
            @Nullable ByteBuf content) {
        /** {@return a part with the names, type and content of the client} */
        public static Part of(PartHead head) {
            return new Part(Objects.requireNonNull(head.name()), head.filename(), head.contentType(), null);
        }
    }

    /** A decision about each part. */
    @FunctionalInterface
    public interface Rule {
        /**
         * {@return the part to write, or null to drop it} Drop parts with an empty file name, which a browser sends for a file input
         * that was left empty: such a name is rejected.
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
    private Iterator<Part> added = List.<Part>of().iterator();

    /** Content of the current part that replaces the content of the client. */
    private @Nullable ByteBuf replacement;

    private boolean passing;
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
     * @param options what is accepted from the client
     * @param escaping the treatment of names that could be misread. If it rejects the name of a part that was not changed, the form is
     *     rejected
     * @param rule called once for each part
     * @throws MultipartException if {@code contentType} is not acceptable
     */
    public static FormRelay create(
            @Nullable String contentType, MultipartOptions options, NameEscaping escaping, Rule rule)
            throws MultipartException {
        MultipartDecoder decoder = MultipartDecoder.create(contentType, options);
        return new FormRelay(
                decoder,
                MultipartEncoder.create(Boundary.randomForm(RandomBoundary.next()), escaping, options.allocator()),
                rule);
    }

    /** {@return the value for the {@code Content-Type} header field of the outgoing message} */
    public String contentType() {
        return encoder.contentType();
    }

    /** Passes the next bytes of the client: as {@link MultipartDecoder#feed}. */
    public void feed(ByteBuf chunk) {
        decoder.feed(chunk);
    }

    /**
     * Declares the end of the input: as {@link MultipartDecoder#finish}.
     *
     * @param parts added after the parts of the client, with their content; <em>transferred</em>, even if this throws
     * @throws IllegalArgumentException if a part has no content
     * @throws IllegalStateException as {@link MultipartDecoder#finish}, and if it has been called before
     */
    public void finish(Part... parts) {
        List<Part> all = List.of(parts);
        try {
            if (all.stream().anyMatch(part -> part.content == null)) {
                throw new IllegalArgumentException("an added part has no content: pass a buffer, which may be empty");
            } else if (finished) {
                throw new IllegalStateException("finish() has been called: pass all added parts to one call");
            }
            decoder.finish();
        } catch (RuntimeException e) {
            all.forEach(part -> ReferenceCountUtil.release(part.content));
            throw e;
        }
        finished = true;
        added = all.iterator();
    }

    /**
     * {@return the next bytes to send, <em>transferred</em> to the caller, or null if all input has been read}
     *
     * @throws MultipartException if the form of the client is rejected
     * @throws IOException of the rule, unchanged
     * @throws IllegalArgumentException if the rule has returned a part that readers could misread
     */
    public @Nullable ByteBuf next() throws IOException {
        try {
            ByteBuf content = replacement;
            replacement = null;
            return content != null ? encoder.write(content) : relay();
        } catch (Throwable e) {
            close(); // or data of the rejected part would become part of the previous one
            throw e;
        }
    }

    /**
     * {@return a stream of the bytes to send, for a blocking client; close it} Each read reads from {@code in} what it needs, and throws if
     * the form of the client is rejected or incomplete. The client then aborts the request, because it has not seen the end of the stream.
     *
     * @param in the body of the client; not closed with the stream
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

    private @Nullable ByteBuf relay() throws IOException {
        for (; ; ) {
            switch (decoder.next()) {
                case NEED_INPUT -> {
                    return null;
                }
                case PART_BEGIN -> {
                    Part part = rule.apply(decoder.head());
                    passing = part != null && part.content == null;
                    if (passing
                            && LegacyFormats.transferDecoder(decoder.head().transferEncoding(), IOException::new)
                                    != null) {
                        // without the header, the other server would read the encoded bytes as the content
                        throw decoder.head()
                                .because(MultipartException.Reason.UNSUPPORTED_TRANSFER_ENCODING)
                                .build();
                    }
                    if (part != null) {
                        return begin(part, part.equals(Part.of(decoder.head())));
                    }
                }
                case DATA -> {
                    if (passing) {
                        return encoder.write(decoder.data().retain());
                    }
                }
                case END -> {
                    boolean first = !ended;
                    ended = !added.hasNext();
                    return !ended ? begin(added.next(), false) : first ? encoder.finish() : null;
                }
                default -> {} // PART_END
            }
        }
    }

    private ByteBuf begin(Part part, boolean unchanged) throws IOException {
        replacement = part.content;
        try {
            return encoder.beginPart(part.name, part.filename, part.contentType);
        } catch (IllegalArgumentException e) {
            if (!unchanged) {
                throw e;
            }
            throw MultipartException.because(MultipartException.Reason.MALFORMED_HEADER)
                    .part(decoder.partIndex(), part.name)
                    .saying(String.valueOf(e.getMessage()))
                    .cause(e)
                    .build();
        }
    }

    /** Releases all buffers. Idempotent. */
    @Override
    public void close() {
        decoder.close();
        ReferenceCountUtil.release(replacement);
        replacement = null;
        added.forEachRemaining(part -> ReferenceCountUtil.release(part.content));
    }
}
