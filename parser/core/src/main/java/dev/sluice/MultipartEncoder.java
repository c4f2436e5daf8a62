package dev.sluice;

import dev.sluice.buffer.ChunkMemory;
import dev.sluice.buffer.DelimiterSearch;
import dev.sluice.encode.HeaderSections;
import dev.sluice.header.Bytes;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An incremental encoder of {@code multipart} bodies: the counterpart of {@link MultipartDecoder}. Each call returns the bytes to send.
 *
 * {@snippet file="SendForm.java" region="encode"}
 *
 * <h2>Guarantees</h2>
 *
 * <ul>
 *   <li>{@link Preset#STRICT} accepts every complete body without a deviation, so that all readers find the same parts.
 *   <li>Content is not copied. {@link #write} returns the buffer that it was given.
 *   <li>Content that contains the boundary as a delimiter fails the body, wherever it is split. With a {@linkplain Boundary#random
 *       random boundary}, this happens only if the content was made from the body itself.
 *   <li>The encoder holds no buffers, so there is nothing to close.
 * </ul>
 *
 * <p><b>Threads.</b> An encoder is used by one thread at a time. It has no locks, does no I/O and never blocks.
 *
 * <p><b>Errors.</b> A name or header that readers could misread is an {@link IllegalArgumentException}. It writes nothing and changes
 * nothing, so that the caller can pass another name. Content with a delimiter is an {@link IOException}, which every later call throws
 * again: bytes of the body may have been sent already, so the message must be aborted. Calls in the wrong order are an
 * {@link IllegalStateException}.
 */
public final class MultipartEncoder {
    private static final byte[] CLOSE = {'-', '-', '\r', '\n'};

    private final Boundary boundary;
    private final NameEscaping escaping;
    private final ByteBufAllocator allocator;
    private final DelimiterSearch search;
    private final ChunkMemory memory = new ChunkMemory();

    /** {@code CRLF "--" boundary CRLF}, which begins each part but the first. */
    private final byte[] delimiter;

    private int partIndex = -1;
    private @Nullable String partName;
    private boolean finished;
    private @Nullable IOException failure;

    private MultipartEncoder(Boundary boundary, NameEscaping escaping, ByteBufAllocator allocator) {
        this.boundary = Objects.requireNonNull(boundary, "boundary");
        this.escaping = Objects.requireNonNull(escaping, "escaping");
        this.allocator = Objects.requireNonNull(allocator, "allocator");
        this.search = new DelimiterSearch(boundary.delimiter(), false);
        this.delimiter = ("\r\n--" + boundary.value() + "\r\n").getBytes(StandardCharsets.US_ASCII);
    }

    /** {@return an encoder of a form with a random boundary, which rejects unusual names} */
    public static MultipartEncoder create() {
        return create(Boundary.random("multipart/form-data"), NameEscaping.REJECT, ByteBufAllocator.DEFAULT);
    }

    /**
     * {@return an encoder of one body}
     *
     * @param boundary usually {@link Boundary#random}, because content must not contain it
     * @param escaping the treatment of unusual names in forms
     * @param allocator for header sections and delimiters
     */
    public static MultipartEncoder create(Boundary boundary, NameEscaping escaping, ByteBufAllocator allocator) {
        return new MultipartEncoder(boundary, escaping, allocator);
    }

    /** {@return the value for the {@code Content-Type} header field of the body} */
    public String contentType() {
        String value = boundary.value();
        boolean token = value.chars().allMatch(c -> Bytes.isToken((char) c));
        return boundary.mediaType() + "; boundary=" + (token ? value : '"' + value + '"');
    }

    /**
     * Ends the current part and begins a part of a form.
     *
     * @param name the name of the field
     * @param filename the file name, or null for a field
     * @param contentType the media type, or null to write none
     * @return the bytes to send before the content, <em>transferred</em> to the caller
     * @throws IllegalArgumentException if readers could read something else than was passed
     * @throws IllegalStateException if the body is not {@code multipart/form-data}, and after {@link #finish()}
     * @throws IOException the failure of an earlier call
     */
    public ByteBuf beginPart(String name, @Nullable String filename, @Nullable String contentType) throws IOException {
        if (!boundary.isFormData()) {
            throw new IllegalStateException("the body is not a form: call beginPart(headers)");
        }
        Objects.requireNonNull(name, "name");
        return begin(HeaderSections.form(name, filename, contentType, escaping), name);
    }

    /**
     * Ends the current part and begins a part of a body other than a form, such as {@code multipart/related}.
     *
     * @param headers the header fields, which may be none
     * @return the bytes to send before the content, <em>transferred</em> to the caller
     * @throws IllegalArgumentException if readers could read something else than was passed
     * @throws IllegalStateException if the body is {@code multipart/form-data}, and after {@link #finish()}
     * @throws IOException the failure of an earlier call
     */
    public ByteBuf beginPart(List<PartHead.Header> headers) throws IOException {
        if (boundary.isFormData()) {
            throw new IllegalStateException("the body is a form: call beginPart(name, filename, contentType)");
        }
        return begin(HeaderSections.section(boundary.mediaType(), headers), null);
    }

    private ByteBuf begin(byte[] section, @Nullable String name) throws IOException {
        ByteBuf out = allocator.heapBuffer(delimiter.length + section.length);
        try {
            begin(section, name, out);
        } catch (Throwable e) {
            out.release();
            throw e;
        }
        return out;
    }

    /** Appends the delimiter and a header section. */
    void begin(byte[] section, @Nullable String name, ByteBuf out) throws IOException {
        checkUsable();
        int start = partIndex < 0 ? 2 : 0; // the body starts with the dashes
        out.writeBytes(delimiter, start, delimiter.length - start).writeBytes(section);
        partIndex++;
        partName = name;
        search.prime();
        search.watch(true);
    }

    /**
     * Adds content to the current part.
     *
     * @param content <em>transferred</em>: released if this method throws; may be empty
     * @return {@code content}, unchanged and <em>transferred</em> back to the caller, to be sent
     * @throws IOException if the content of the part contains the delimiter, or the failure of an earlier call
     * @throws IllegalStateException before the first part, and after {@link #finish()}
     */
    public ByteBuf write(ByteBuf content) throws IOException {
        try {
            check(content);
        } catch (Throwable e) {
            content.release();
            throw e;
        }
        return content;
    }

    /** Searches content (<em>borrowed</em>) of the current part for the delimiter. */
    void check(ByteBuf content) throws IOException {
        checkUsable();
        if (partIndex < 0) {
            throw new IllegalStateException("no part has begun: call beginPart() before write()");
        }
        memory.open(content.retain());
        try {
            for (int at = memory.start(); at < memory.end(); ) {
                if (search.matchEnd() > 0) {
                    at = search.resume(memory, at, memory.end());
                } else {
                    at = search.find(memory, at, memory.end()) + search.matchEnd() - search.matchStart();
                }
                if (search.isComplete() || search.isAtLookalike()) {
                    failure = new IOException(
                            describePart() + " contains the boundary of the body: send the body with a new boundary");
                    throw failure;
                }
            }
        } finally {
            memory.close();
        }
    }

    /** {@return the current part, for messages} */
    String describePart() {
        return describe(partIndex, partName);
    }

    static String describe(int index, @Nullable String name) {
        return "part " + index + (name == null ? "" : " \"" + MultipartException.shown(name) + '"');
    }

    /**
     * Ends the body.
     *
     * @return the close-delimiter, <em>transferred</em> to the caller
     * @throws IllegalStateException if it has been called before
     * @throws IOException the failure of an earlier call
     */
    public ByteBuf finish() throws IOException {
        checkUsable();
        ByteBuf out = allocator.heapBuffer(delimiter.length + 2);
        finish(out);
        return out;
    }

    /** Appends the close-delimiter. */
    void finish(ByteBuf out) throws IOException {
        checkUsable();
        int start = partIndex < 0 ? 2 : 0;
        out.writeBytes(delimiter, start, delimiter.length - 2 - start).writeBytes(CLOSE);
        finished = true;
    }

    private void checkUsable() throws IOException {
        if (failure != null) {
            throw failure;
        } else if (finished) {
            throw new IllegalStateException("finish() has been called: create a new encoder for each body");
        }
    }
}
