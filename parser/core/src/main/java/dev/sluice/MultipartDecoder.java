package dev.sluice;

import dev.sluice.MultipartException.Reason;
import dev.sluice.buffer.ChunkMemory;
import dev.sluice.buffer.Delimiter;
import dev.sluice.buffer.DelimiterSearch;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Takes a {@code multipart/*} body apart while it streams in: buffers in, events out (RFC 2046 section 5.1, RFC 7578).
 *
 * {@snippet file="PushLoop.java" region="push"}
 *
 * <p>At the end of the input: {@link #finish()}, then the same loop until {@link Event#END}, then {@link #close()}.
 *
 * <p><b>Promises.</b> Events, data, deviations and the error with its offset do not depend on how the body is cut into chunks.
 * File data is never copied: {@link #data()} is a slice of the chunk. The decoder holds one chunk and one header section, each
 * bounded, whatever the input; it does work linear in the bytes fed. Chunks are only read, between their reader and writer
 * index; any kind of buffer will do, heap buffers and direct buffers of one piece being searched fastest.
 *
 * <p><b>Threads.</b> One at a time; a decoder may move between threads if each hand-over is a happens-before. There are no locks
 * and nothing blocks.
 *
 * <p><b>Errors.</b> The client's fault is a {@link MultipartException} from {@link #next()}, after everything before the offending
 * byte has been handed out; it is thrown again by every later call. Misuse is an {@link IllegalStateException}. Always
 * {@link #close()}.
 *
 * <p><b>The grammar</b>, and what each state looks at:
 *
 * <pre>
 * body            = [preamble CRLF] dash-boundary line *(part delimiter line) close     RFC 2046 section 5.1.1
 * delimiter       = CRLF dash-boundary           dash-boundary = "--" boundary
 * line            = *LWSP CRLF                   close         = delimiter "--" *LWSP [CRLF epilogue]
 *
 * state           looks at          finds                    then                 emits
 * PREAMBLE        all bytes        delimiter                DELIMITER            -
 * BODY            all bytes        delimiter                DELIMITER            DATA (what is before it)
 * DELIMITER       one byte         "-"                      CLOSE_DASH
 *                                   blank                    PADDING
 *                                   CR                       DELIMITER_CR
 * PADDING         one byte         blank (up to 256)        PADDING
 *                                   CR                       DELIMITER_CR
 * DELIMITER_CR    one byte         LF                       PART                 PART_END of the part before
 * PART            nothing                                    HEADERS
 * HEADERS         bytes            blank line               BODY                 PART_BEGIN
 * CLOSE_DASH      one byte         "-"                      CLOSED               PART_END of the part before
 * CLOSED          one byte         blank (up to 256)        CLOSED
 *                                   CR                       CLOSED_CR
 *                                   end of input             ENDED                END
 * CLOSED_CR       one byte         LF                       EPILOGUE
 * EPILOGUE        all bytes        end of input             ENDED                END
 * </pre>
 *
 * <p>Whatever is not listed is an error at that byte, or, where the {@link Preset} accepts {@link Deviation#FALSE_DELIMITER}, makes
 * data of what looked like a delimiter. A dash-boundary behind a CR or LF alone is data to PREAMBLE and BODY, and a
 * {@link Deviation#LOOKALIKE_DELIMITER}. The search of PREAMBLE and BODY starts as if CRLF had been seen, so that the first
 * delimiter and that of an empty body need no CRLF of their own.
 */
public final class MultipartDecoder implements AutoCloseable {
    /** What {@link #next()} found. */
    public enum Event {
        /** All input is read: {@linkplain #feed feed} the next chunk, or {@link #finish()}. */
        NEED_INPUT,
        /** A part begins; its headers are complete. */
        PART_BEGIN,
        /** Some bytes of the part's body, at least one: {@link #data()}. */
        DATA,
        /** The part ended well: its closing delimiter has been read. */
        PART_END,
        /** The body ended well. Only after {@link #finish()}. */
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

    /** The bytes of a delimiter that are missing where it follows another line end: its CRLF. */
    private static final int OWN_LINE_END = 2;

    private static final long NONE = -1;
    private static final String USED_UP = "the decoder is closed: make one per body";
    private static final String UNREAD = "input is unread: call next() until NEED_INPUT before ";

    /** The bytes that a message shows of the beginning of a body. */
    private static final int SHOWN = 16;

    private final Delimiter delimiter;
    private final String boundary;
    private final MultipartOptions options;
    private final boolean acceptBareLf;
    private final boolean watchLookalikes;
    final Deviations deviations;
    final HeaderSection section;
    final PartRules rules;

    // What survives a call, which is what the proofs compare.
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

    /** What ended the decoding where it was not the body's fault: an allocator that had no memory. */
    private @Nullable Throwable broken;

    // The chunk being read.
    private final ChunkMemory chunk = new ChunkMemory();
    private int position;
    private int limit;
    private boolean beyondBodyLimit;

    // The event just handed out.
    private @Nullable ByteBuf constant;
    private @Nullable ByteBuf data;
    private int dataIndex;
    private int dataLength;
    private boolean headersReadable;
    private @Nullable PartHead head;
    private long steps;

    private MultipartDecoder(Boundary boundary, MultipartOptions options) {
        this.delimiter = boundary.delimiter();
        this.boundary = boundary.value();
        this.options = options;
        Preset preset = options.preset();
        this.acceptBareLf = preset.accepts(Deviation.BARE_LF);
        this.watchLookalikes =
                !preset.accepts(Deviation.LOOKALIKE_DELIMITER) || preset.reports(Deviation.LOOKALIKE_DELIMITER);
        this.deviations = new Deviations(preset, boundary.deviations());
        this.section = new HeaderSection(options, boundary, deviations);
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
     * @param options what is accepted
     * @throws MultipartException if the type is not {@code multipart/form-data} (415), or the boundary is missing or not
     *     acceptable
     */
    public static MultipartDecoder create(@Nullable String contentType, MultipartOptions options)
            throws MultipartException {
        return create(Boundary.formData(contentType, options.preset()), options);
    }

    /** {@return a decoder with the {@linkplain MultipartOptions#defaults() default options}} */
    public static MultipartDecoder create(Boundary boundary) {
        return create(boundary, MultipartOptions.defaults());
    }

    /**
     * {@return a decoder for one body; the rules of RFC 7578 apply to its parts if {@link Boundary#isFormData()}}
     *
     * @param boundary from the Content-Type of the body
     * @param options what is accepted
     */
    public static MultipartDecoder create(Boundary boundary, MultipartOptions options) {
        return new MultipartDecoder(
                Objects.requireNonNull(boundary, "boundary"), Objects.requireNonNull(options, "options"));
    }

    /**
     * Gives the decoder the next bytes of the body.
     *
     * <p>Until they are read, nobody else may use this buffer object: the NIO view that netty keeps in a direct buffer is
     * repositioned. To read a chunk in two places, feed a {@code retainedDuplicate()}.
     *
     * @param input <em>transferred</em>: the decoder owns one reference, even if this throws; reader and writer index stay as they
     *     are. May be empty. After a failure it is released, and {@link #next()} throws the failure again.
     * @throws IllegalStateException while the chunk before is not read to its end (call {@link #next()} until it says
     *     {@link Event#NEED_INPUT}), after {@link #finish()} and after {@link #close()}
     */
    public void feed(ByteBuf input) {
        Objects.requireNonNull(input, "input");
        if (state == State.RELEASED || finished || chunk.isOpen()) {
            input.release();
            throw misuse(finished ? "no input after finish(): make one decoder per body" : UNREAD + "feed()");
        }
        if (state == State.FAILED || !input.isReadable()) {
            input.release();
            return;
        }
        chunk.open(input);
        position = chunk.start();
        if (offset < SHOWN) {
            int known = (int) offset;
            chunk.copyTo(position, beginning, known, Math.min(SHOWN - known, chunk.end() - position));
        }
        long room = options.maxBodyBytes() - offset;
        beyondBodyLimit = chunk.end() - position > room;
        limit = beyondBodyLimit ? position + (int) room : chunk.end();
    }

    /**
     * Says that all input has been fed; {@link #next()} then ends with {@link Event#END}, or throws for a truncated body.
     *
     * @throws IllegalStateException while input is unread, and after {@link #close()}
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
     * Reads on to the next event. What the event before has lent is invalid from here on.
     *
     * @return what was found; {@link Event#NEED_INPUT} and {@link Event#END} again and again
     * @throws MultipartException if the body is not acceptable, and the same instance again from each further call;
     *     everything held has been released
     * @throws IllegalStateException after {@link #close()}
     * @throws Error or a RuntimeException, of the allocator or of a chunk of another make; as above, the same again and again
     */
    public Event next() throws MultipartException {
        data = null;
        constant = null;
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
        } catch (Refusal refused) {
            throw fail(refused);
        } catch (RuntimeException | Error e) {
            if (state != State.RELEASED && state != State.FAILED) { // what has been read of the chunk is not known
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
        } catch (RuntimeException again) { // a chunk that somebody else has released
            e.addSuppressed(again);
        }
    }

    private @Nullable Event read() throws MultipartException, Refusal {
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

    /** The states that look at nothing, and the others where there is nothing to look at. */
    private @Nullable Event readNothing() throws MultipartException, Refusal {
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

    private Event endOfChunk() throws Refusal {
        if (chunk.isOpen()) {
            offset = offsetOf(position);
            if (beyondBodyLimit) {
                throw new Refusal(Reason.BODY_TOO_LARGE, options.maxBodyBytes(), "");
            }
            chunk.close();
            position = 0;
            limit = 0;
        }
        return finished ? endOfInput() : Event.NEED_INPUT;
    }

    private Event endOfInput() throws Refusal {
        if (state == State.CLOSED_CR) {
            String detail = "the close-delimiter's line ends with a CR without an LF";
            deviations.require(Deviation.TEXT_AFTER_CLOSE_DELIMITER, -1, offset, detail);
        }
        if (state != State.CLOSED && state != State.CLOSED_CR && state != State.EPILOGUE) {
            throw new Refusal(Reason.TRUNCATED, offset, "");
        }
        if (state == State.CLOSED) {
            acceptPadding(-1, 2);
        }
        state = State.ENDED;
        section.close();
        return Event.END;
    }

    // ---- before the first delimiter

    private @Nullable Event preamble() throws Refusal {
        if (search.matched() > 0) {
            position = search.resume(chunk, position, limit);
            if (search.matched() == 0) {
                notPreambleYet();
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
            position += search.matched() - search.first();
        }
        if (search.isComplete()) {
            atDelimiter();
        }
        return null;
    }

    /** The byte at {@code position} is not that of a delimiter; at the very start it may still begin the one CRLF allowed there. */
    private void notPreambleYet() throws Refusal {
        if (offsetOf(position) == 0) {
            int at = search.find(chunk, position, position + 1);
            if (search.matched() > 0) {
                position = at + 1;
                return;
            }
            position = at;
            preambleAt = 0;
        } else if (preambleAt == NONE) {
            preambleAt = offsetOf(position);
        }
        // What has been seen so far is preamble, except that this byte may begin a delimiter.
        checkPreambleSize(offsetOf(position));
    }

    private void checkPreambleSize(long size) throws Refusal {
        if (size > options.maxPreambleBytes()) {
            throw options.preset().accepts(Deviation.PREAMBLE)
                    ? new Refusal(Reason.PREAMBLE_TOO_LARGE, options.maxPreambleBytes(), "")
                    : new Refusal(Reason.PREAMBLE, preambleAt, "");
        }
    }

    // ---- part bodies

    private @Nullable Event body() throws Refusal {
        if (search.matched() > 0) {
            position = search.resume(chunk, position, limit);
            if (search.matched() == 0) {
                return falseStart();
            }
            if (search.isComplete()) {
                atDelimiter();
            }
            return null;
        }
        if (search.isAtLookalike()) { // what is before it has been handed out
            if (partSize == options.maxPartBytes()) {
                throw partTooLarge();
            }
            passLookalike();
        }
        int start = position;
        int end = search.find(chunk, start, limit);
        position = end + search.matched() - search.first();
        if (search.isComplete()) {
            atDelimiter();
        }
        return end > start ? emit(null, start, end - start) : null;
    }

    /** The byte at {@code position} is the last one of a dash-boundary behind a CR or LF alone. One report per part is enough. */
    private void passLookalike() throws Refusal {
        String detail = "there is a delimiter after a bare CR or LF";
        deviations.require(Deviation.LOOKALIKE_DELIMITER, partIndex, offsetOf(position), detail);
        search.watch(false);
    }

    /** What the chunks before ended with was no delimiter: known text, given out again from the delimiter itself. */
    private @Nullable Event falseStart() throws Refusal {
        int from = search.falseFrom();
        int to = search.falseTo();
        return from == to ? null : emit(delimiter.text(from, to), 0, to - from);
    }

    /** Hands out data of {@code source}, or of the chunk where that is null, up to the limit of a part. */
    private Event emit(@Nullable ByteBuf source, int index, int length) throws Refusal {
        long room = options.maxPartBytes() - partSize;
        if (length > room) {
            if (room == 0) {
                throw partTooLarge();
            }
            state = State.BODY_FULL;
        }
        constant = source;
        dataIndex = index;
        dataLength = (int) Math.min(length, room);
        partSize += dataLength;
        return Event.DATA;
    }

    private Refusal partTooLarge() {
        return new Refusal(Reason.PART_TOO_LARGE, partOffset + options.maxPartBytes(), "");
    }

    // ---- the line of a delimiter

    private void atDelimiter() {
        delimiterAfterBareLf = search.first() == 1;
        delimiterAt = offsetOf(position) - (delimiter.length() - search.first());
        padding = 0;
        state = State.DELIMITER;
    }

    private @Nullable Event delimiterLine(byte b) throws Refusal {
        if (b == Bytes.CR) {
            state = State.DELIMITER_CR;
            if (limit - position > 1 && chunk.getByte(position + 1) == Bytes.LF) {
                advance();
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
        advance();
        return null;
    }

    /** Reports the padding of a line that has turned out to be sound; {@code dashes} stand before it. */
    private void acceptPadding(int part, int dashes) {
        if (padding > 0) {
            accept(Deviation.TRANSPORT_PADDING, part, delimiterAt + delimiter.length() - search.first() + dashes);
        }
    }

    private void pad(byte b) throws Refusal {
        if (!options.preset().accepts(Deviation.TRANSPORT_PADDING)) {
            throw new Refusal(Reason.MALFORMED_DELIMITER, offsetOf(position), "there is a blank after a delimiter");
        }
        if (options.preset().accepts(Deviation.FALSE_DELIMITER)) { // it may turn out to be data
            if (padding == paddingBytes.length) {
                paddingBytes = Arrays.copyOf(paddingBytes, Math.max(16, 2 * padding));
            }
            paddingBytes[padding] = b;
        }
        padding++;
    }

    private @Nullable Event delimiterCr(byte b) throws Refusal {
        return b == Bytes.LF ? delimiterComplete(false) : falseDelimiter("\r");
    }

    private @Nullable Event closeDash(byte b) throws Refusal {
        if (b != '-') {
            return falseDelimiter("-");
        }
        if (isAfterPreamble()) {
            String detail = "the close-delimiter comes first, after a preamble";
            deviations.require(Deviation.CLOSE_DELIMITER_AFTER_PREAMBLE, -1, offsetOf(position), detail);
        }
        return soundDelimiter(State.CLOSED);
    }

    private @Nullable Event delimiterComplete(boolean bareLf) throws Refusal {
        partAfterBareLf = bareLf;
        return soundDelimiter(State.PART);
    }

    private boolean isAfterPreamble() {
        return partIndex < 0 && preambleAt != NONE;
    }

    /** The line of the delimiter at hand is sound, as far as the byte at {@code position}: what came before is decided upon. */
    private @Nullable Event soundDelimiter(State then) throws Refusal {
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
        advance();
        partOpen = false;
        state = then;
        return endsPart ? Event.PART_END : null;
    }

    /** Decides on the part that ends with the byte at {@code position}. */
    private void checkPart() throws Refusal {
        long at = offsetOf(position);
        if (search.first() == OWN_LINE_END) {
            String detail = "a delimiter follows the header section of a part without a line end of its own";
            deviations.require(Deviation.SHARED_LINE_END, partIndex, at, detail);
        }
        long announced = rules.contentLength;
        if (announced >= 0 && announced != partSize) {
            String detail = "the size of the part is not its Content-Length";
            deviations.require(Deviation.PART_CONTENT_LENGTH, partIndex, at, detail);
        }
    }

    /** What looked like a delimiter is followed by the byte at {@code position}, which may not follow it. */
    private @Nullable Event falseDelimiter(String text) throws Refusal {
        long at = offsetOf(position);
        if (!accept(Deviation.FALSE_DELIMITER, partOpen ? partIndex : -1, at)) {
            throw followed("a delimiter", at);
        }
        int first = search.first();
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
        ByteBuf data = falseText(first, text);
        return emit(data, 0, data.readableBytes());
    }

    private Refusal followed(String what, long at) {
        byte b = chunk.getByte(position);
        boolean oneBlankTooMany = padding == MAX_PADDING && Bytes.isBlank(b);
        String detail = oneBlankTooMany
                ? "the padding after " + what + " exceeds the limit of " + MAX_PADDING + " bytes"
                : "unexpected byte after " + what;
        return new Refusal(Reason.MALFORMED_DELIMITER, at, detail, oneBlankTooMany ? null : Bytes.show(b));
    }

    /** {@return the delimiter from {@code first} on, its padding and {@code text}: all that is not in the chunk for sure} */
    private ByteBuf falseText(int first, String text) {
        byte[] bytes = new byte[delimiter.length() - first + padding + text.length()];
        return Unpooled.wrappedBuffer(bytes)
                .clear()
                .writeBytes(delimiter.text(first, delimiter.length()))
                .writeBytes(paddingBytes, 0, padding)
                .writeBytes(text.getBytes(StandardCharsets.US_ASCII));
    }

    // ---- header sections

    private @Nullable Event beginPart() throws Refusal {
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
            throw new Refusal(Reason.TOO_MANY_PARTS, begin - 1, "");
        }
        state = State.HEADERS;
        return position < limit ? headers(position) : null;
    }

    private @Nullable Event headers(int from) throws Refusal {
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

    private @Nullable Event closed(byte b) throws Refusal {
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
        advance();
        return null;
    }

    private @Nullable Event closedCr(byte b) throws Refusal {
        if (b != Bytes.LF) {
            return textAfterClose();
        }
        acceptPadding(-1, 2);
        advance();
        state = State.EPILOGUE;
        return null;
    }

    private @Nullable Event textAfterClose() throws Refusal {
        long at = offsetOf(position);
        if (!accept(Deviation.TEXT_AFTER_CLOSE_DELIMITER, -1, at)) {
            throw followed("the close-delimiter", at);
        }
        state = State.EPILOGUE;
        return null;
    }

    private @Nullable Event epilogue() throws Refusal {
        if (epilogueAt == NONE) {
            epilogueAt = offsetOf(position);
            deviations.require(Deviation.EPILOGUE, -1, epilogueAt, "");
        }
        if (offsetOf(limit) - epilogueAt > options.maxEpilogueBytes()) {
            throw new Refusal(Reason.EPILOGUE_TOO_LARGE, epilogueAt + options.maxEpilogueBytes(), "");
        }
        position = limit;
        steps++;
        return null;
    }

    // ---- common to all states

    private boolean accept(Deviation kind, int part, long at) {
        return deviations.accept(kind, part, at);
    }

    private void advance() {
        position++;
        steps++;
    }

    private long offsetOf(int index) {
        return offset + index - chunk.start();
    }

    /** The one way to fail: sticky, and nothing is held any more. */
    private MultipartException fail(Refusal refused) {
        Reason reason = refused.reason;
        long at = refused.offset;
        boolean afterClose = state == State.CLOSED || state == State.CLOSED_CR || state == State.EPILOGUE;
        int part = afterClose ? -1 : partIndex;
        MultipartException.Builder because = MultipartException.because(reason)
                .part(part, part >= 0 && section.isComplete() ? rules.names.knownName() : null)
                .at(at)
                .seen(refused.seen);
        if (!refused.detail.isEmpty()) {
            because.saying(refused.detail);
        } else if (state == State.PREAMBLE && reason != Reason.BODY_TOO_LARGE) {
            if (preambleAt != NONE) {
                findFault(because, reason, reason == Reason.TRUNCATED ? at : options.maxPreambleBytes());
            } else if (at == 0) {
                because.saying("the body is empty: nothing arrived, or something has already read it");
            }
        }
        if (reason.setting() != null) {
            because.limit(options.number(reason.setting()));
        }
        failure = because.build();
        state = State.FAILED;
        release();
        offset = at; // how far the search had looked ahead depends on the chunks
        return failure;
    }

    /**
     * Says of a body in which no delimiter was found whose fault that may be. Of the body it quotes what looks like another
     * delimiter, as far as that has nothing but the characters of a boundary, or one byte.
     */
    private void findFault(MultipartException.Builder because, Reason reason, long size) {
        String begins = new String(beginning, 0, (int) Math.min(size, SHOWN), StandardCharsets.ISO_8859_1);
        int shown = 0;
        while (shown < begins.length() && begins.charAt(shown) > ' ' && Bytes.isBoundary(begins.charAt(shown))) {
            shown++;
        }
        String limit =
                reason == Reason.PREAMBLE_TOO_LARGE ? "the size of the preamble exceeds the limit of # bytes: " : "";
        if (isBegin("----", begins)) {
            because.saying(limit + "the body has two dashes too many before its boundary");
        } else if (isBegin("", begins)) {
            because.saying(limit + "the body lacks the two dashes before its boundary");
        } else {
            String seen = begins.startsWith("--") ? begins.substring(0, shown) : Bytes.show(beginning[0]);
            because.saying(
                    limit + "the boundary of the Content-Type does not occur in the body, which begins with " + seen);
        }
    }

    private boolean isBegin(String dashes, String begins) {
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
        constant = null;
        dataLength = 0;
        headersReadable = false;
        section.close();
        chunk.close();
    }

    /** Releases everything held, at any moment; idempotent. What the last event has lent is invalid from here on. */
    @Override
    public void close() {
        if (state != State.RELEASED) {
            release();
            state = State.RELEASED;
        }
    }

    // ---- what the event before found

    /**
     * {@return the bytes of the last {@link Event#DATA}: <em>borrowed</em> until the next call of {@link #next()} or
     * {@link #close()}; retain it, or a slice of it, to keep it longer}
     *
     * <p>A retained slice keeps the whole chunk in memory: copy what is small and kept for long.
     *
     * @throws IllegalStateException if the last event was not {@link Event#DATA}
     */
    public ByteBuf data() {
        if (dataLength == 0) {
            throw new IllegalStateException("data() is for a DATA event, until the next call of next()");
        }
        if (data == null) {
            data = constant != null
                    ? constant.slice(dataIndex, dataLength)
                    : chunk.slice(dataIndex, dataLength, partIndex, partOffset + partSize - dataLength);
        }
        return data;
    }

    /**
     * {@return what is known of the part being read: a record that outlives it, made by the first call for a part}
     *
     * @throws IllegalStateException before the first {@link Event#PART_BEGIN} and once a part has been left
     */
    public PartHead head() {
        checkHeaders();
        PartHead made = head;
        if (made == null) {
            made = rules.head(partOffset);
            head = made;
        }
        return made;
    }

    /**
     * {@return the bytes of the header section, its blank line included: <em>borrowed</em> until the part is left by
     * {@link #next()}; retain it to keep it longer}
     *
     * @throws IllegalStateException as {@link #head()}
     */
    public ByteBuf rawHeaders() {
        checkHeaders();
        return section.slice();
    }

    /**
     * {@return the {@link PartHead#name()} of the part being read, without making a head of it}
     *
     * @throws IllegalStateException as {@link #head()}
     */
    public @Nullable String name() {
        checkHeaders();
        return head != null ? head.name() : rules.names.name();
    }

    /**
     * {@return the {@link PartHead#filename()} of the part being read, without making a head of it: never a path}
     *
     * @throws IllegalStateException as {@link #head()}
     */
    public @Nullable String filename() {
        checkHeaders();
        return head != null ? head.filename() : rules.names.filename();
    }

    /**
     * {@return the {@link PartHead#contentType()} of the part being read, without making a head of it}
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
                    "there is no part: headers are readable from PART_BEGIN until PART_END is left by next()");
        }
    }

    /** {@return the 0-based index of the part being read or read last, or -1 before the first} */
    public int partIndex() {
        return partIndex;
    }

    /** {@return the offset at which the body of the part being read starts, in bytes from the start of the multipart body} */
    public long partOffset() {
        return partOffset;
    }

    /** {@return the size of the part's body so far, in bytes, the last {@link #data()} included} */
    public long partSize() {
        return partSize;
    }

    /** {@return how many bytes of the multipart body have been read; after a failure, its {@link MultipartException#offset()}} */
    public long offset() {
        return chunk.isOpen() ? offsetOf(position) : offset;
    }

    /** {@return the deviations to be reported so far, those of the Content-Type first; at most 100; a copy} */
    public List<ReportedDeviation> deviations() {
        return deviations.list();
    }

    /** {@return how many deviations were to be reported so far, listed or not} */
    public long deviationCount() {
        return deviations.count;
    }

    /** Adds to the {@linkplain #deviations() deviations} what an API on top of the decoder met in the part being read. */
    public void report(Deviation kind) {
        accept(kind, partIndex, partOffset);
    }

    // ---- for the proof

    /** Units of work so far: bytes looked at one by one, and probes of the search. */
    long steps() {
        return steps + search.steps() + section.steps + rules.disposition.steps();
    }
}
