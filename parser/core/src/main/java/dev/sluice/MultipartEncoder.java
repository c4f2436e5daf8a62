package dev.sluice;

import dev.sluice.encode.DelimiterCheck;
import dev.sluice.encode.HeadWriter;
import dev.sluice.header.Bytes;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An incremental encoder of {@code multipart} bodies: the counterpart of {@link MultipartDecoder}. Each call returns the bytes to send.
 *
 * {@snippet file="SendForm.java" region="encode"}
 *
 * <h2>Guarantees</h2>
 *
 * <ul>
 *   <li>{@link Preset#STRICT} reads every body completed with {@link #finish()} without a deviation. Common readers find the same parts in
 *       it, although some readers replace characters in names, or reject the body.
 *   <li>Content is not copied. {@link #write} returns the buffer that was passed to it.
 *   <li>{@link #write} fails if the content of a part contains the delimiter, even if the delimiter is split between buffers. With a
 *       {@linkplain Boundary#random random boundary}, this happens only if the content was copied from the body that is being written.
 *   <li>The encoder holds no buffers, so there is nothing to close.
 * </ul>
 *
 * <p><b>Threads.</b> Only one thread may use an encoder at a time. The encoder has no locks, does no I/O and never blocks.
 *
 * <p><b>Errors.</b> A name or header that readers could misread is rejected with an {@link IllegalArgumentException}. The call has no other
 * effect, so the caller can try again with another name. Content that contains the delimiter causes an {@link IOException}, and every later
 * call throws the same exception. Part of the body may already have been sent, so the message must be aborted. Calls in the wrong order
 * cause an {@link IllegalStateException}.
 */
public final class MultipartEncoder {
    /** A size that is sufficient for most delimiters with the header section after them, in bytes. */
    private static final int HEAD_SIZE = 256;

    private final Boundary boundary;
    private final NameEscaping escaping;
    private final ByteBufAllocator allocator;
    private final HeadWriter heads;
    private final DelimiterCheck check;

    private int partIndex = -1;
    private @Nullable String partName;

    /** Whether the current part is a file input that was left empty. */
    private boolean emptyInput;

    private boolean finished;
    private @Nullable IOException failure;

    private MultipartEncoder(Boundary boundary, NameEscaping escaping, ByteBufAllocator allocator) {
        this.boundary = Objects.requireNonNull(boundary, "boundary");
        this.escaping = Objects.requireNonNull(escaping, "escaping");
        this.allocator = Objects.requireNonNull(allocator, "allocator");
        this.heads = new HeadWriter(boundary);
        this.check = new DelimiterCheck(boundary.delimiter());
    }

    /** {@return an encoder of a form that has a random boundary and rejects unusual names} */
    public static MultipartEncoder create() {
        return create(Boundary.random("multipart/form-data"), NameEscaping.REJECT, ByteBufAllocator.DEFAULT);
    }

    /**
     * {@return an encoder of one body}
     *
     * @param boundary usually {@link Boundary#random}, because content must not contain it
     * @param escaping the treatment of unusual names in forms
     * @param allocator the allocator of buffers for header sections and delimiters
     * @throws IllegalArgumentException if {@code boundary}, which may be from a request, is not 1 to 70 {@code bchars} of RFC 2046
     */
    public static MultipartEncoder create(Boundary boundary, NameEscaping escaping, ByteBufAllocator allocator) {
        String value = boundary.value();
        if (value.length() > 70 || !value.chars().allMatch(c -> Bytes.isBoundary((char) c))) {
            throw new IllegalArgumentException(
                    "the boundary \"" + value + "\" is not 1 to 70 RFC 2046 bchars: use Boundary.random");
        }
        return new MultipartEncoder(boundary, escaping, allocator);
    }

    /** {@return the value for the {@code Content-Type} header field of the body} */
    public String contentType() {
        return boundary.contentType("");
    }

    /**
     * Ends the current part and begins a part of a form.
     *
     * @param name the name of the field
     * @param filename the file name, or null for a field
     * @param contentType the media type, or null to write none
     * @return the bytes to send before the content, <em>transferred</em> to the caller
     * @throws IllegalArgumentException if a reader could understand these values differently from the caller
     * @throws IllegalStateException if the body is not {@code multipart/form-data}, and after {@link #finish()}
     * @throws IOException if an earlier call failed; the same exception
     */
    public ByteBuf beginPart(String name, @Nullable String filename, @Nullable String contentType) throws IOException {
        return begin(name, out -> heads.form(out, name, filename, contentType, escaping));
    }

    /**
     * Ends the current part and writes the part that browsers send for a file input that was left empty: with an empty file name, the type
     * {@code application/octet-stream}, and no content. {@link #beginPart(String, String, String)} rejects an empty file name, because
     * readers treat content under an empty file name differently.
     *
     * @param name the name of the field
     * @return the bytes to send, <em>transferred</em> to the caller
     * @throws IllegalArgumentException if a reader could understand the name differently from the caller
     * @throws IllegalStateException as {@link #beginPart(String, String, String)}
     * @throws IOException if an earlier call failed; the same exception
     */
    public ByteBuf emptyFileInput(String name) throws IOException {
        ByteBuf head = begin(name, out -> heads.emptyFileInput(out, name, escaping));
        emptyInput = true;
        return head;
    }

    /**
     * Ends the current part and begins a part of a body other than a form, such as {@code multipart/related}.
     *
     * @param headers the header fields; may be empty
     * @return the bytes to send before the content, <em>transferred</em> to the caller
     * @throws IllegalArgumentException if a reader could understand the headers differently from the caller
     * @throws IllegalStateException if the body is {@code multipart/form-data}, and after {@link #finish()}
     * @throws IOException if an earlier call failed; the same exception
     */
    public ByteBuf beginPart(List<PartHead.Header> headers) throws IOException {
        return begin(null, out -> heads.section(out, headers));
    }

    private ByteBuf begin(@Nullable String name, Consumer<ByteBuf> head) throws IOException {
        ByteBuf bytes = written(head);
        partIndex++;
        partName = name;
        emptyInput = false;
        check.begin();
        return bytes;
    }

    private ByteBuf written(Consumer<ByteBuf> writer) throws IOException {
        checkUsable();
        ByteBuf bytes = allocator.heapBuffer(HEAD_SIZE);
        try {
            writer.accept(bytes);
        } catch (Throwable e) {
            bytes.release();
            throw e;
        }
        return bytes;
    }

    /**
     * Adds content to the current part.
     *
     * @param content <em>transferred</em>: released if this method throws; may be empty
     * @return {@code content}, unchanged and <em>transferred</em> back to the caller, to be sent
     * @throws IOException if the content of the part contains the delimiter, or if an earlier call failed
     * @throws IllegalStateException before the first part, for bytes after {@link #emptyFileInput}, and after {@link #finish()}
     */
    public ByteBuf write(ByteBuf content) throws IOException {
        try {
            checkUsable();
            if (partIndex < 0 || emptyInput && content.isReadable()) {
                throw new IllegalStateException("no part with content has begun: call beginPart() before write()");
            } else if (check.isIn(content)) {
                failure = delimiterIn(describe(partIndex, partName));
                throw failure;
            }
        } catch (Throwable e) {
            content.release();
            throw e;
        }
        return content;
    }

    static IOException delimiterIn(String part) {
        return new IOException(part + " contains the boundary of the body: send the body with a new boundary");
    }

    /** {@return a description of a part for error messages, such as {@code part 2 "photo"}} */
    static String describe(int index, @Nullable String name) {
        return "part " + index + (name == null ? "" : " \"" + MultipartException.shown(name) + '"');
    }

    /**
     * Ends the body.
     *
     * @return the close-delimiter, <em>transferred</em> to the caller
     * @throws IllegalStateException if this method has been called before
     * @throws IOException if an earlier call failed; the same exception
     */
    public ByteBuf finish() throws IOException {
        ByteBuf end = written(heads::end);
        finished = true;
        return end;
    }

    private void checkUsable() throws IOException {
        if (failure != null) {
            throw failure;
        } else if (finished) {
            throw new IllegalStateException("finish() has been called: create a new encoder for each body");
        }
    }
}
