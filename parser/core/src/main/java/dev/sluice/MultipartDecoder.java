package dev.sluice;

import dev.sluice.MultipartException.Reason;
import dev.sluice.buffer.ChunkMemory;
import dev.sluice.buffer.Delimiter;
import dev.sluice.buffer.DelimiterSearch;
import dev.sluice.header.Bytes;
import dev.sluice.header.Deviations;
import dev.sluice.header.HeaderSection;
import dev.sluice.header.PartRules;
import dev.sluice.header.Rejection;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An incremental decoder of {@code multipart} bodies (RFC 2046 section 5.1, RFC 7578). It reads buffers and returns events.
 *
 * {@snippet file="PushLoop.java" region="push"}
 *
 * <p>At the end of the input, call {@link #finish()}, run the same loop until {@link Event#END}, and call {@link #close()}.
 *
 * <h2>Guarantees</h2>
 *
 * <ul>
 *   <li>The parts, their content, the deviations, and the error with its offset do not depend on how the body is split into chunks. Only
 *       the {@link Event#NEED_INPUT} events and the division of the content into {@link Event#DATA} events depend on it.
 *   <li>File data is not copied. {@link #data()} is a slice of the chunk, except for text that looked like a delimiter and turned out to be
 *       data.
 *   <li>The decoder holds at most one chunk, and a header section of limited size. Its work is linear in the number of bytes fed.
 *   <li>Chunks are never modified. Only the bytes between the reader index and the writer index are read. Every kind of buffer is accepted.
 *       Heap buffers, and direct buffers over contiguous memory, are searched fastest.
 * </ul>
 *
 * <p><b>Threads.</b> Only one thread may use a decoder at a time. Another thread may take over if everything that the first
 * thread did with the decoder happens-before its own first call. The decoder has no locks and never blocks.
 *
 * <p><b>Errors.</b> {@link #next()} delivers everything before the offending byte, and then throws a {@link MultipartException}. Every
 * later call throws the same instance. Calls in the wrong order throw an {@link IllegalStateException}. Always call {@link #close()}.
 *
 * <h2>Grammar</h2>
 *
 * <pre>
 * body      = [preamble CRLF] dash-boundary *(line part delimiter) close     RFC 2046 section 5.1.1
 * delimiter = CRLF dash-boundary           dash-boundary = "--" boundary
 * line      = *LWSP CRLF                   close         = "--" *LWSP [CRLF epilogue]
 * </pre>
 *
 * <h2>States</h2>
 *
 * <pre>
 * state         reads       finds                      next state     event
 * PREAMBLE      a range     delimiter                  DELIMITER
 * BODY          a range     data                       BODY           DATA
 *                           data beyond the limit      BODY_FULL      DATA (as much as the limit allows)
 *                           delimiter                  DELIMITER
 * BODY_FULL     nothing                                FAILED
 * DELIMITER     one byte    "-"                        CLOSE_DASH
 *                           blank                      PADDING
 *                           CR                         DELIMITER_CR
 * PADDING       one byte    blank (up to 256)          PADDING
 *                           CR                         DELIMITER_CR
 * DELIMITER_CR  one byte    LF                         PART           PART_END of the previous part
 * PART          nothing                                HEADERS
 * HEADERS       a range     blank line                 BODY           PART_BEGIN
 * CLOSE_DASH    one byte    "-"                        CLOSED         PART_END of the previous part
 * CLOSED        one byte    blank (up to 256)          CLOSED
 *                           CR                         CLOSED_CR
 *                           end of input               ENDED          END
 * CLOSED_CR     one byte    LF                         EPILOGUE
 * EPILOGUE      a range     end of input               ENDED          END
 * </pre>
 *
 * <p>Any other byte is an error, and the next state is {@code FAILED}. The {@link Preset} may allow these exceptions:
 *
 * <ul>
 *   <li>With {@link Deviation#FALSE_DELIMITER}, DELIMITER, PADDING, DELIMITER_CR and CLOSE_DASH return to BODY or PREAMBLE, and the text
 *       that looked like a delimiter is data.
 *   <li>With {@link Deviation#TEXT_AFTER_CLOSE_DELIMITER}, any other byte in CLOSED and CLOSED_CR leads to EPILOGUE.
 *   <li>With {@link Deviation#CLOSE_DELIMITER_AFTER_PREAMBLE}, CLOSE_DASH accepts a body that has a preamble and no part.
 *   <li>With {@link Deviation#BARE_LF}, an LF is accepted in place of CRLF.
 * </ul>
 *
 * <p>In PREAMBLE and BODY, a dash-boundary after a bare CR, or after a bare LF that is not accepted, is data, and it counts as a
 * {@link Deviation#LOOKALIKE_DELIMITER}. The search starts as if CRLF had been read, because a delimiter at the start of the body or
 * directly after a header section needs no CRLF.
 *
 * <p>PART is a separate state because one delimiter can produce two events: PART_END, and then PART_BEGIN or an error.
 *
 * <h2>State between calls</h2>
 *
 * <p>A delimiter, a line or a header section may be split between chunks. The decoder keeps no bytes for this, except the header section
 * and the padding of a delimiter: {@link DelimiterSearch} keeps indices into the known text of the delimiter, and bytes that turn out to be
 * data are delivered from that text.
 */
public final class MultipartDecoder implements AutoCloseable {
    /** The result of {@link #next()}. */
    public enum Event {
        /** All input has been read: {@linkplain #feed feed} the next chunk, or call {@link #finish()}. */
        NEED_INPUT,
        /** A part begins, and its headers are complete. */
        PART_BEGIN,
        /** At least one byte of the part's body is available in {@link #data()}. */
        DATA,
        /** The part is complete: the delimiter after it has been read. */
        PART_END,
        /** The body is complete. This event occurs only after {@link #finish()}. */
        END
    }

    enum State {
        PREAMBLE,
        BODY,
        BODY_FULL,
        DELIMITER,
        PADDING,
        DELIMITER_CR,
        CLOSE_DASH,
        PART,
        HEADERS,
        CLOSED,
        CLOSED_CR,
        EPILOGUE,
        ENDED,
        FAILED,
        RELEASED
    }

    private static final int MAX_PADDING = 256;

    /** The index in the delimiter's text at which a match starts if the line end before the delimiter belongs to the header section. */
    private static final int AFTER_OWN_LINE_END = 2;

    private static final long NONE = -1;
    private static final String USED_UP = "the decoder is closed: create a new one for each body";
    private static final String UNREAD =
            "the previous chunk has not been read completely: call next() until NEED_INPUT before ";

    /** The number of bytes at the start of the body that are kept for the error message about a missing delimiter. */
    private static final int SHOWN = 16;

    private final Delimiter delimiter;
    private final String boundary;
    private final MultipartOptions options;
    private final boolean acceptBareLf;
    private final boolean watchLookalikes;
    final Deviations deviations;
    final HeaderSection section;
    final PartRules rules;

    // ---- state that influences the next call; see StateHash in the tests

    State state = State.PREAMBLE;
    final DelimiterSearch search;
    long offset;
    int partIndex = -1;
    boolean partOpen;
    long partOffset;
    long partSize;
    long preambleAt = NONE;
    long delimiterAt = NONE;
    boolean delimiterAfterBareLf;
    boolean partAfterBareLf;
    long epilogueAt = NONE;
    final byte[] beginning = new byte[SHOWN];
    int padding;
    byte[] paddingBytes = new byte[0];
    boolean finished;

    @Nullable
    MultipartException failure;

    /** The exception that ended decoding, if it is not a rejection of the body, such as an OutOfMemoryError of the allocator. */
    private @Nullable Throwable broken;

    // ---- the chunk being read

    private final ChunkMemory chunk = new ChunkMemory();
    private int position;
    private int limit;
    private boolean beyondBodyLimit;

    // ---- the current event

    /** The text of a delimiter that turned out to be data; null if the data is in the chunk. */
    private @Nullable ByteBuf delimiterText;

    private @Nullable ByteBuf data;
    private int dataIndex;
    private int dataLength;
    private boolean headersReadable;
    private @Nullable PartHead head;

    private MultipartDecoder(Boundary boundary, MultipartOptions options) {
        this.delimiter = boundary.delimiter();
        this.boundary = boundary.value();
        this.options = options;
        Preset preset = options.preset();
        this.acceptBareLf = preset.accepts(Deviation.BARE_LF);
        this.watchLookalikes =
                !preset.accepts(Deviation.LOOKALIKE_DELIMITER) || preset.reports(Deviation.LOOKALIKE_DELIMITER);
        this.deviations = new Deviations(preset, boundary.deviations());
        this.section = new HeaderSection(options, boundary.value(), boundary.isFormData(), deviations);
        this.rules = new PartRules(options, boundary.isFormData(), section, deviations);
        this.search = new DelimiterSearch(delimiter, acceptBareLf);
        startSearch();
    }

    private void startSearch() {
        search.prime();
        search.watch(watchLookalikes);
    }

    /** {@return a decoder of a form, with the {@linkplain MultipartOptions#defaults() default options}} */
    public static MultipartDecoder create(@Nullable String contentType) throws MultipartException {
        return create(contentType, MultipartOptions.defaults());
    }

    /**
     * {@return a decoder of a form} For other multipart types, pass {@link Boundary#anyMultipart(String, Preset)} to {@link
     * #create(Boundary, MultipartOptions)}.
     *
     * @param contentType the {@code Content-Type} of the body, or null if it has none
     * @param options the preset and the limits
     * @throws MultipartException if the type is not {@code multipart/form-data} (415), or the boundary is missing or not acceptable
     */
    public static MultipartDecoder create(@Nullable String contentType, MultipartOptions options)
            throws MultipartException {
        return create(Boundary.formData(contentType, options.preset()), options);
    }

    /** {@return a decoder for one body, with the {@linkplain MultipartOptions#defaults() default options}} */
    public static MultipartDecoder create(Boundary boundary) {
        return create(boundary, MultipartOptions.defaults());
    }

    /**
     * {@return a decoder for one body; the rules of RFC 7578 apply to its parts if {@link Boundary#isFormData()}}
     *
     * @param boundary the boundary from the Content-Type of the body, parsed with the same preset
     * @param options the preset and the limits
     */
    public static MultipartDecoder create(Boundary boundary, MultipartOptions options) {
        return new MultipartDecoder(
                Objects.requireNonNull(boundary, "boundary"), Objects.requireNonNull(options, "options"));
    }

    /**
     * Passes the next bytes of the body to the decoder.
     *
     * <p>Do not use the buffer object elsewhere until the chunk has been read, because the decoder changes the position of the NIO view
     * that Netty keeps in a direct buffer. To read the same bytes elsewhere, feed a {@code retainedDuplicate()}.
     *
     * @param input <em>transferred</em>: the decoder takes over one reference, even if this method throws. Its indices do not change. It
     *     may be empty. If the decoder has failed before, the buffer is released at once, and {@link #next()} throws the failure again
     * @throws IllegalStateException if the previous chunk has not been read completely (call {@link #next()} until it returns
     *     {@link Event#NEED_INPUT}), after {@link #finish()}, and after {@link #close()}
     */
    public void feed(ByteBuf input) {
        Objects.requireNonNull(input, "input");
        if (state == State.RELEASED || finished || chunk.isOpen()) {
            input.release();
            throw misuse(finished ? "finish() has been called: create a new decoder for each body" : UNREAD + "feed()");
        }
        if (state == State.FAILED || !input.isReadable()) {
            input.release();
            return;
        }
        chunk.open(input);
        position = chunk.start();
        long room = options.maxBodyBytes() - offset;
        beyondBodyLimit = chunk.end() - position > room;
        limit = beyondBodyLimit ? position + (int) room : chunk.end();
        if (offset < SHOWN) {
            int known = (int) offset;
            chunk.copyTo(position, beginning, known, Math.min(SHOWN - known, chunk.end() - position));
        }
    }

    /**
     * Declares the end of the input. After this call, {@link #next()} returns {@link Event#END}, or throws if the body is truncated.
     *
     * @throws IllegalStateException if the last chunk has not been read completely, and after {@link #close()}
     */
    public void finish() {
        if (state == State.RELEASED || chunk.isOpen()) {
            throw misuse(UNREAD + "finish()");
        }
        finished = true;
    }

    private IllegalStateException misuse(String message) {
        return new IllegalStateException(state == State.RELEASED ? USED_UP : message);
    }

    /**
     * Reads the input up to the next event. Everything borrowed from the previous event becomes invalid.
     *
     * @return the event; {@link Event#NEED_INPUT} and {@link Event#END} are returned again by the next call
     * @throws MultipartException if the body is not acceptable; all buffers have been released, and every later call throws the same
     *     instance
     * @throws IllegalStateException after {@link #close()}
     * @throws RuntimeException or an {@link Error}, if the allocator or the chunk throws it; every later call throws the same instance
     */
    public Event next() throws MultipartException {
        data = null;
        delimiterText = null;
        dataLength = 0;
        headersReadable &= partOpen;
        try {
            if (chunk.isOpen()) {
                chunk.refresh();
            }
            for (; ; ) {
                Event event = position < limit ? read() : readNothing();
                if (event != null) {
                    return event;
                }
            }
        } catch (Rejection rejection) {
            throw fail(rejection);
        } catch (RuntimeException | Error e) {
            // Decoding cannot continue, because the position in the chunk is unknown.
            if (state != State.RELEASED && state != State.FAILED) {
                broken = e;
                state = State.FAILED;
                releaseAfter(e);
            }
            throw e;
        }
    }

    private void releaseAfter(Throwable e) {
        try {
            release();
        } catch (RuntimeException again) { // for example because the application has released the chunk
            e.addSuppressed(again);
        }
    }

    private @Nullable Event read() throws MultipartException, Rejection {
        return switch (state) {
            case PREAMBLE -> preamble();
            case BODY -> body();
            case DELIMITER, PADDING -> delimiterLine(chunk.getByte(position));
            case DELIMITER_CR -> delimiterCr(chunk.getByte(position));
            case CLOSE_DASH -> closeDash(chunk.getByte(position));
            case HEADERS -> headers(position);
            case CLOSED -> closed(chunk.getByte(position));
            case CLOSED_CR -> closedCr(chunk.getByte(position));
            case EPILOGUE -> epilogue();
            case BODY_FULL, PART, ENDED, FAILED, RELEASED -> readNothing();
        };
    }

    /** Handles the end of the chunk, and the states that read no byte. */
    private @Nullable Event readNothing() throws MultipartException, Rejection {
        return switch (state) {
            case PART -> beginPart();
            case BODY_FULL -> throw partTooLarge();
            case ENDED -> Event.END;
            case FAILED -> throw failure();
            case RELEASED -> throw new IllegalStateException(USED_UP);
            default -> endOfChunk();
        };
    }

    private MultipartException failure() {
        if (broken instanceof Error error) {
            throw error;
        } else if (broken instanceof RuntimeException exception) {
            throw exception;
        }
        return Objects.requireNonNull(failure);
    }

    private Event endOfChunk() throws Rejection {
        if (chunk.isOpen()) {
            offset = offsetOf(position);
            if (beyondBodyLimit) {
                throw new Rejection(Reason.BODY_TOO_LARGE, options.maxBodyBytes(), "");
            }
            chunk.close();
            position = 0;
            limit = 0;
        }
        return finished ? endOfInput() : Event.NEED_INPUT;
    }

    private Event endOfInput() throws Rejection {
        if (state == State.CLOSED_CR) {
            String detail = "the line of the close-delimiter ends with a CR without an LF";
            deviations.require(Deviation.TEXT_AFTER_CLOSE_DELIMITER, -1, offset, detail);
        }
        if (state != State.CLOSED && state != State.CLOSED_CR && state != State.EPILOGUE) {
            throw new Rejection(Reason.TRUNCATED, offset, "");
        }
        if (state == State.CLOSED) {
            acceptPadding(-1, 2);
        }
        state = State.ENDED;
        section.close();
        return Event.END;
    }

    // ---- before the first delimiter

    private @Nullable Event preamble() throws Rejection {
        if (search.matchEnd() > 0) {
            position = search.resume(chunk, position, limit);
            if (search.matchEnd() == 0) {
                preambleMatchFailed();
                return null;
            }
        } else {
            position = search.find(chunk, position, limit);
            if (search.isAtLookalike()) {
                checkPreambleSize(offsetOf(position) + 1);
                passLookalike();
                return null;
            }
            checkPreambleSize(offsetOf(position));
            position += search.matchEnd() - search.matchStart();
        }
        if (search.isComplete()) {
            atDelimiter();
        }
        return null;
    }

    /**
     * Handles the byte at {@code position}, at which a match failed. If it is the first byte of the body, it may begin the one CRLF that is
     * allowed before the first delimiter.
     */
    private void preambleMatchFailed() throws Rejection {
        if (offsetOf(position) == 0) {
            int at = search.find(chunk, position, position + 1);
            if (search.matchEnd() > 0) {
                position = at + 1;
                return;
            }
            position = at;
            preambleAt = 0;
        } else if (preambleAt == NONE) {
            preambleAt = offsetOf(position);
        }
        // All bytes before this one are preamble. This one may begin a delimiter.
        checkPreambleSize(offsetOf(position));
    }

    private void checkPreambleSize(long size) throws Rejection {
        if (size > options.maxPreambleBytes()) {
            throw options.preset().accepts(Deviation.PREAMBLE)
                    ? new Rejection(Reason.PREAMBLE_TOO_LARGE, options.maxPreambleBytes(), "")
                    : new Rejection(Reason.PREAMBLE, preambleAt, "");
        }
    }

    // ---- part bodies

    private @Nullable Event body() throws Rejection {
        if (search.matchEnd() > 0) {
            position = search.resume(chunk, position, limit);
            if (search.matchEnd() == 0) {
                return deliverFailedMatch();
            }
            if (search.isComplete()) {
                atDelimiter();
            }
            return null;
        }
        if (search.isAtLookalike()) { // the data before the lookalike has been delivered
            if (partSize == options.maxPartBytes()) {
                throw partTooLarge();
            }
            passLookalike();
        }
        int start = position;
        int end = search.find(chunk, start, limit);
        position = end + search.matchEnd() - search.matchStart();
        if (search.isComplete()) {
            atDelimiter();
        }
        return end > start ? emit(null, start, end - start) : null;
    }

    /**
     * Reports or rejects the lookalike delimiter that ends at {@code position}. Later ones in the same part or preamble are not reported.
     */
    private void passLookalike() throws Rejection {
        String detail = "a delimiter follows a bare CR or LF";
        deviations.require(Deviation.LOOKALIKE_DELIMITER, partIndex, offsetOf(position), detail);
        search.watch(false);
    }

    /** Delivers the bytes that looked like the start of a delimiter. They may have been in previous chunks. */
    private @Nullable Event deliverFailedMatch() throws Rejection {
        int from = search.failedStart();
        int to = search.failedEnd();
        return from == to ? null : emit(delimiter.text(from, to), 0, to - from);
    }

    /** Delivers data from {@code source}, or from the chunk if {@code source} is null, up to the size limit of a part. */
    private Event emit(@Nullable ByteBuf source, int index, int length) throws Rejection {
        long room = options.maxPartBytes() - partSize;
        if (length > room) {
            if (room == 0) {
                throw partTooLarge();
            }
            state = State.BODY_FULL;
        }
        delimiterText = source;
        dataIndex = index;
        dataLength = (int) Math.min(length, room);
        partSize += dataLength;
        return Event.DATA;
    }

    private Rejection partTooLarge() {
        return new Rejection(Reason.PART_TOO_LARGE, partOffset + options.maxPartBytes(), "");
    }

    // ---- the line of a delimiter

    private void atDelimiter() {
        delimiterAfterBareLf = search.matchStart() == 1;
        delimiterAt = offsetOf(position) - (delimiter.length() - search.matchStart());
        padding = 0;
        state = State.DELIMITER;
    }

    private @Nullable Event delimiterLine(byte b) throws Rejection {
        if (b == Bytes.CR) {
            state = State.DELIMITER_CR;
            if (limit - position > 1 && chunk.getByte(position + 1) == Bytes.LF) {
                position++;
                return delimiterComplete(false);
            }
        } else if (Bytes.isBlank(b) && padding < MAX_PADDING) {
            pad(b);
            state = State.PADDING;
        } else if (b == '-' && state == State.DELIMITER) {
            state = State.CLOSE_DASH;
        } else if (b == Bytes.LF && acceptBareLf) {
            return delimiterComplete(true);
        } else {
            return falseDelimiter("");
        }
        position++;
        return null;
    }

    /** Reports the padding after a delimiter and {@code dashes} dashes. Called when the line is known to be a delimiter. */
    private void acceptPadding(int part, int dashes) {
        if (padding > 0) {
            accept(Deviation.TRANSPORT_PADDING, part, delimiterAt + delimiter.length() - search.matchStart() + dashes);
        }
    }

    private void pad(byte b) throws Rejection {
        if (!options.preset().accepts(Deviation.TRANSPORT_PADDING)) {
            throw new Rejection(Reason.MALFORMED_DELIMITER, offsetOf(position), "a blank follows a delimiter");
        }
        if (options.preset().accepts(Deviation.FALSE_DELIMITER)) { // the padding may turn out to be data
            if (padding == paddingBytes.length) {
                paddingBytes = Arrays.copyOf(paddingBytes, Math.max(16, 2 * padding));
            }
            paddingBytes[padding] = b;
        }
        padding++;
    }

    private @Nullable Event delimiterCr(byte b) throws Rejection {
        return b == Bytes.LF ? delimiterComplete(false) : falseDelimiter("\r");
    }

    private @Nullable Event closeDash(byte b) throws Rejection {
        if (b != '-') {
            return falseDelimiter("-");
        }
        if (isAfterPreamble()) {
            String detail = "the close-delimiter follows the preamble: the body has no part";
            deviations.require(Deviation.CLOSE_DELIMITER_AFTER_PREAMBLE, -1, offsetOf(position), detail);
        }
        return acceptDelimiter(State.CLOSED);
    }

    private @Nullable Event delimiterComplete(boolean bareLf) throws Rejection {
        partAfterBareLf = bareLf;
        return acceptDelimiter(State.PART);
    }

    private boolean isAfterPreamble() {
        return partIndex < 0 && preambleAt != NONE;
    }

    /** Ends the preamble or the part before a delimiter, whose line is valid up to the byte at {@code position}. */
    private @Nullable Event acceptDelimiter(State then) throws Rejection {
        if (isAfterPreamble()) {
            deviations.require(Deviation.PREAMBLE, -1, preambleAt, "");
        }
        if (delimiterAfterBareLf) {
            accept(Deviation.BARE_LF, partIndex, delimiterAt);
        }
        acceptPadding(partOpen ? partIndex : -1, 0);
        boolean endsPart = partOpen;
        if (endsPart) {
            checkPart();
        }
        position++;
        partOpen = false;
        state = then;
        return endsPart ? Event.PART_END : null;
    }

    /** Checks the part before a delimiter. Its deviations are reported at {@code position}, which is after the delimiter's text. */
    private void checkPart() throws Rejection {
        long at = offsetOf(position);
        if (search.matchStart() == AFTER_OWN_LINE_END) {
            String detail = "the header section is followed by a delimiter without a line end before it";
            deviations.require(Deviation.SHARED_LINE_END, partIndex, at, detail);
        }
        long announced = rules.contentLength();
        if (announced >= 0 && announced != partSize) {
            String detail = "the size of the part differs from its Content-Length";
            deviations.require(Deviation.PART_CONTENT_LENGTH, partIndex, at, detail);
        }
    }

    /**
     * Handles a byte at {@code position} that cannot follow a delimiter. If the preset accepts {@link Deviation#FALSE_DELIMITER}, the text
     * that looked like a delimiter is data or part of the preamble. Otherwise the body is rejected.
     */
    private @Nullable Event falseDelimiter(String text) throws Rejection {
        long at = offsetOf(position);
        if (!accept(Deviation.FALSE_DELIMITER, partOpen ? partIndex : -1, at)) {
            throw unexpectedByte("a delimiter", at);
        }
        int first = search.matchStart();
        if (text.equals("\r")) {
            search.resetAfterCr();
        } else {
            search.reset();
        }
        if (!partOpen) {
            preambleAt = preambleAt == NONE ? at : preambleAt;
            state = State.PREAMBLE;
            return null;
        }
        state = State.BODY;
        ByteBuf data = falseDelimiterText(first, text);
        return emit(data, 0, data.readableBytes());
    }

    private Rejection unexpectedByte(String after, long at) {
        byte b = chunk.getByte(position);
        boolean tooMuchPadding = padding == MAX_PADDING && Bytes.isBlank(b);
        String detail = tooMuchPadding
                ? "the padding after " + after + " exceeds the limit of " + MAX_PADDING + " bytes"
                : "unexpected byte after " + after;
        return new Rejection(Reason.MALFORMED_DELIMITER, at, detail, tooMuchPadding ? null : Bytes.show(b));
    }

    /**
     * {@return the delimiter starting at index {@code first}, its padding, and {@code text}; a copy, because they may have been in previous
     * chunks}
     */
    private ByteBuf falseDelimiterText(int first, String text) {
        byte[] bytes = new byte[delimiter.length() - first + padding + text.length()];
        return Unpooled.wrappedBuffer(bytes)
                .clear()
                .writeBytes(delimiter.text(first, delimiter.length()))
                .writeBytes(paddingBytes, 0, padding)
                .writeBytes(text.getBytes(StandardCharsets.US_ASCII));
    }

    // ---- header sections

    private @Nullable Event beginPart() throws Rejection {
        headersReadable = false;
        partIndex++;
        partSize = 0;
        long begin = offsetOf(position);
        partOffset = begin;
        if (partAfterBareLf) {
            accept(Deviation.BARE_LF, partIndex, begin - 1);
        }
        section.begin(partIndex, begin);
        if (partIndex >= options.maxParts()) {
            throw new Rejection(Reason.TOO_MANY_PARTS, begin - 1, "");
        }
        state = State.HEADERS;
        return position < limit ? headers(position) : null;
    }

    private @Nullable Event headers(int from) throws Rejection {
        position = section.read(chunk, from, limit);
        if (!section.isComplete()) {
            return null;
        }
        rules.check(partIndex);
        partOffset = offsetOf(position);
        partOpen = true;
        headersReadable = true;
        head = null;
        startSearch();
        state = State.BODY;
        return Event.PART_BEGIN;
    }

    // ---- after the close-delimiter

    private @Nullable Event closed(byte b) throws Rejection {
        if (b == Bytes.CR) {
            state = State.CLOSED_CR;
        } else if (Bytes.isBlank(b) && padding < MAX_PADDING) {
            pad(b);
        } else if (b == Bytes.LF && acceptBareLf) {
            acceptPadding(-1, 2);
            accept(Deviation.BARE_LF, -1, offsetOf(position));
            state = State.EPILOGUE;
        } else {
            return textAfterClose();
        }
        position++;
        return null;
    }

    private @Nullable Event closedCr(byte b) throws Rejection {
        if (b != Bytes.LF) {
            return textAfterClose();
        }
        acceptPadding(-1, 2);
        position++;
        state = State.EPILOGUE;
        return null;
    }

    private @Nullable Event textAfterClose() throws Rejection {
        long at = offsetOf(position);
        if (!accept(Deviation.TEXT_AFTER_CLOSE_DELIMITER, -1, at)) {
            throw unexpectedByte("the close-delimiter", at);
        }
        state = State.EPILOGUE;
        return null;
    }

    private @Nullable Event epilogue() throws Rejection {
        if (epilogueAt == NONE) {
            epilogueAt = offsetOf(position);
            deviations.require(Deviation.EPILOGUE, -1, epilogueAt, "");
        }
        if (offsetOf(limit) - epilogueAt > options.maxEpilogueBytes()) {
            throw new Rejection(Reason.EPILOGUE_TOO_LARGE, epilogueAt + options.maxEpilogueBytes(), "");
        }
        position = limit;
        return null;
    }

    // ---- used by all states

    private boolean accept(Deviation kind, int part, long at) {
        return deviations.accept(kind, part, at);
    }

    private long offsetOf(int index) {
        return offset + index - chunk.start();
    }

    /** Creates the exception for a rejection, and releases everything. */
    private MultipartException fail(Rejection rejection) {
        Reason reason = rejection.reason;
        long at = rejection.offset;
        boolean afterClose = state == State.CLOSED || state == State.CLOSED_CR || state == State.EPILOGUE;
        int part = afterClose ? -1 : partIndex;
        MultipartException.Builder because = MultipartException.because(reason)
                .part(part, part >= 0 && section.isComplete() ? rules.names().name() : null)
                .at(at)
                .seen(rejection.seen);
        if (!rejection.detail.isEmpty()) {
            because.saying(rejection.detail);
        } else if (state == State.PREAMBLE && reason != Reason.BODY_TOO_LARGE) {
            if (preambleAt != NONE) {
                explainMissingDelimiter(because, reason, reason == Reason.TRUNCATED ? at : options.maxPreambleBytes());
            } else if (at == 0) {
                because.saying("the body is empty: nothing arrived, or something has already read it");
            }
        }
        failure = because.limit(options.limit(reason)).build();
        state = State.FAILED;
        releaseAfter(failure);
        offset = at; // the position of the search would depend on the chunks
        return failure;
    }

    /**
     * Adds the likely cause to the message for a body without a delimiter. If the body begins with {@code --}, the message quotes these and
     * the boundary characters that follow. Otherwise it shows only the first byte.
     */
    private void explainMissingDelimiter(MultipartException.Builder because, Reason reason, long size) {
        String begins = new String(beginning, 0, (int) Math.min(size, SHOWN), StandardCharsets.ISO_8859_1);
        int shown = 0;
        while (shown < begins.length() && begins.charAt(shown) > ' ' && Bytes.isBoundary(begins.charAt(shown))) {
            shown++;
        }
        String limit =
                reason == Reason.PREAMBLE_TOO_LARGE ? "the size of the preamble exceeds the limit of # bytes: " : "";
        if (isBeginning("----", begins)) {
            because.saying(limit + "the body has two dashes too many before its boundary");
        } else if (isBeginning("", begins)) {
            because.saying(limit + "the body lacks the two dashes before its boundary");
        } else {
            String seen = begins.startsWith("--") ? begins.substring(0, shown) : Bytes.show(beginning[0]);
            because.saying(
                    limit + "the boundary of the Content-Type does not occur in the body, which begins with " + seen);
        }
    }

    private boolean isBeginning(String dashes, String begins) {
        return begins.startsWith(dashes + boundary)
                || begins.length() == SHOWN && (dashes + boundary).startsWith(begins);
    }

    private void release() {
        if (chunk.isOpen()) {
            offset = offsetOf(position);
        }
        position = 0;
        limit = 0;
        data = null;
        delimiterText = null;
        dataLength = 0;
        headersReadable = false;
        section.close();
        chunk.close();
    }

    /** Releases all buffers. Idempotent; may be called at any time. Everything borrowed from the last event becomes invalid. */
    @Override
    public void close() {
        if (state != State.RELEASED) {
            state = State.RELEASED;
            release();
        }
    }

    // ---- the current event

    /**
     * {@return the bytes of the last {@link Event#DATA}, <em>borrowed</em> until the next call to {@link #next()} or {@link #close()};
     * retain it, or a slice of it, to keep it longer}
     *
     * <p>A retained slice keeps the whole chunk in memory. Copy small data that is kept for a long time.
     *
     * @throws IllegalStateException if the last event was not {@link Event#DATA}
     */
    public ByteBuf data() {
        if (dataLength == 0) {
            throw new IllegalStateException(
                    "data() is available only after a DATA event, until the next call to next()");
        }
        if (data == null) {
            data = delimiterText != null
                    ? delimiterText.slice(dataIndex, dataLength)
                    : chunk.slice(dataIndex, dataLength, partIndex, partOffset + partSize - dataLength);
        }
        return data;
    }

    /**
     * {@return the head of the current part, created by the first call; it may be kept longer than the part}
     *
     * @throws IllegalStateException before the first {@link Event#PART_BEGIN}, after the call to {@link #next()} that follows
     *     {@link Event#PART_END}, and after a failure
     */
    public PartHead head() {
        checkHeaders();
        PartHead made = head;
        if (made == null) {
            made = new PartHead(partIndex, partOffset, rules.names(), section);
            head = made;
        }
        return made;
    }

    /**
     * {@return the bytes of the header section with its blank line, <em>borrowed</em> until the call to {@link #next()} after
     * {@link Event#PART_END}; retain it to keep it longer}
     *
     * @throws IllegalStateException as {@link #head()}
     */
    public ByteBuf rawHeaders() {
        checkHeaders();
        return section.slice();
    }

    /**
     * {@return the {@link PartHead#name()} of the current part, without creating a head}
     *
     * @throws IllegalStateException as {@link #head()}
     */
    public @Nullable String name() {
        checkHeaders();
        return head != null ? head.name() : rules.names().name();
    }

    /**
     * {@return the {@link PartHead#filename()} of the current part, without creating a head; never use it as a path}
     *
     * @throws IllegalStateException as {@link #head()}
     */
    public @Nullable String filename() {
        checkHeaders();
        return head != null ? head.filename() : rules.names().filename();
    }

    /**
     * {@return the {@link PartHead#contentType()} of the current part, without creating a head}
     *
     * @throws IllegalStateException as {@link #head()}
     */
    public @Nullable String contentType() {
        checkHeaders();
        return rules.contentType();
    }

    private void checkHeaders() {
        if (!headersReadable) {
            throw new IllegalStateException(
                    "no part is being read: headers are available from PART_BEGIN until the call to next() after PART_END");
        }
    }

    /** {@return the 0-based index of the current or last part; -1 before the first} */
    public int partIndex() {
        return partIndex;
    }

    /** {@return the offset in the multipart body at which the body of the current part starts} */
    public long partOffset() {
        return partOffset;
    }

    /** {@return the number of bytes of the part's body that have been delivered, including the last {@link #data()}} */
    public long partSize() {
        return partSize;
    }

    /** {@return the number of bytes of the multipart body read so far; after a failure, its {@link MultipartException#offset()}} */
    public long offset() {
        return chunk.isOpen() ? offsetOf(position) : offset;
    }

    /**
     * {@return a copy of the deviations reported so far, at most 100, beginning with the deviations of the
     * Content-Type}
     */
    public List<ReportedDeviation> deviations() {
        return deviations.list();
    }

    /** {@return the number of deviations reported so far, including those that {@link #deviations()} omits} */
    public long deviationCount() {
        return deviations.count();
    }

    /** Reports a deviation in the current part. For code that reads the content, such as {@link MultipartReader}. */
    public void report(Deviation kind) {
        accept(kind, partIndex, partOffset);
    }
}
