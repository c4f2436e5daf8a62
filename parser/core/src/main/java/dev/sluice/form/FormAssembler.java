package dev.sluice.form;

import dev.sluice.Boundary;
import dev.sluice.Deviation;
import dev.sluice.Limits;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import io.netty.buffer.ByteBuf;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Puts a form together from a body that streams in: buffers in, a {@link MultipartForm} out.
 *
 * <pre>{@code
 * try (FormAssembler assembler = FormAssembler.create(boundary, options)) {
 *     while ((chunk = nextChunk()) != null) {
 *         assembler.feed(chunk);               // transferred
 *     }
 *     return assembler.finish();               // the form belongs to the caller
 * }
 * }</pre>
 *
 * <p>Never waits for input: use it from a {@code ReadListener} or a channel handler as well as from a blocking loop.
 * Sinks are called within {@link #feed}, and those that write files block as files do: not on an event loop.
 *
 * <p>Whatever {@code feed} or {@code finish} throws, all that was held has then been given back, and {@link #ending()}
 * tells what to do with the connection. {@link #close()} aborts at any moment between two calls. One thread at a time.
 */
public final class FormAssembler implements Closeable {
    private static final int CHUNK_SIZE = 32 << 10;
    private static final int PART_OVERHEAD = 512;

    /** The places of a header field within its section. */
    private static final int FIELD_OVERHEAD = 4 * Integer.BYTES;

    private enum State {
        RECEIVING,
        COMPLETE,
        FAILED,
        CLOSED
    }

    private final FormOptions options;
    private final Limits limits;
    private final MultipartDecoder decoder;
    private final RequestMemory memory;
    private final ProgressMeter progress;
    private final TextRules rules;
    private final FormTally tally;
    private final List<FormPart> parts = new ArrayList<>();
    private final List<RefusedPart> refused = new ArrayList<>();
    private State state = State.RECEIVING;
    private @Nullable NestedBody nested;
    private @Nullable PartIntake intake;
    private long overhead;
    private long headerBytes;
    private long expected = -1;

    private FormAssembler(Boundary boundary, FormOptions options, RequestMemory memory) {
        this.options = options;
        this.limits = options.multipart().limits();
        this.decoder = MultipartDecoder.create(boundary, options.multipart());
        this.memory = memory;
        this.progress = options.progressMeter();
        this.rules = new TextRules(limits.maxFieldBytes());
        this.tally = new FormTally(options);
        memory.evictor(this::evict);
    }

    /**
     * {@return an assembler for one form}
     *
     * @param boundary from the Content-Type of the body
     * @throws MultipartException if the body is not {@code multipart/form-data} (415)
     * @throws CapacityException if the process has no memory for another form now
     */
    public static FormAssembler create(Boundary boundary, FormOptions options) throws IOException {
        if (!boundary.isFormData()) {
            throw MultipartException.of(
                    Reason.UNSUPPORTED_MEDIA_TYPE, -1, -1, "the Content-Type is not multipart/form-data");
        }
        RequestMemory memory = new RequestMemory(options.memory(), options.maxInMemoryBytes());
        FormAssembler assembler = new FormAssembler(boundary, options, memory);
        try {
            memory.reserveForProcess(assembler.limits.maxHeaderBytesPerPart());
        } catch (CapacityException e) {
            assembler.fail(e); // refused, but not overlooked by the metrics
            throw e;
        }
        return assembler;
    }

    /**
     * Says how large the body will be; for {@link Progress} and {@link #ending()} only, never for limits.
     *
     * @param bytes the Content-Length, or -1 if unknown
     * @return this assembler
     */
    public FormAssembler expectedBytes(long bytes) {
        this.expected = Math.max(bytes, -1);
        return this;
    }

    /**
     * Takes the next bytes of the body, all of them.
     *
     * @param chunk <em>transferred</em>, even if this throws; reader and writer index stay as they are
     * @throws MultipartException if the body is not acceptable
     * @throws CapacityException if there is no room for it now
     * @throws PartRefusedException if the application refused it
     * @throws IOException of a sink or of the disk, as it comes
     * @throws IllegalStateException after the end, a failure or {@link #close()}
     */
    public void feed(ByteBuf chunk) throws IOException {
        if (state != State.RECEIVING) {
            chunk.release();
            throw misuse();
        }
        tally.fed(chunk.readableBytes());
        try {
            decoder.feed(chunk);
            pump();
            progress.advanced(decoder, expected);
        } catch (Throwable e) {
            fail(e);
            throw e;
        }
    }

    /**
     * Says that all of the body has been fed.
     *
     * @return the form; it belongs to the caller, who closes it
     * @throws MultipartException if the body was truncated
     * @throws IOException as {@link #feed}
     * @throws IllegalStateException after the end, a failure or {@link #close()}
     */
    public MultipartForm finish() throws IOException {
        if (state != State.RECEIVING) {
            throw misuse();
        }
        try {
            decoder.finish();
            pump();
            progress.formEnded(decoder, expected);
            MultipartForm form = new MultipartForm(parts, refused, tally.deviations(decoder), decoder.offset(), memory);
            decoder.close();
            memory.releaseForProcess(limits.maxHeaderBytesPerPart());
            state = State.COMPLETE;
            tally.ended(FormSummary.Outcome.COMPLETED, null, memory, decoder);
            return form;
        } catch (Throwable e) {
            fail(e);
            throw e;
        }
    }

    /**
     * Feeds all that {@code in} has, and finishes; blocks while {@code in} does.
     *
     * @param in the rest of the body; not closed
     * @return the form; it belongs to the caller, who closes it
     * @throws IOException as {@link #feed}, and of the stream
     */
    public MultipartForm readAll(InputStream in) throws IOException {
        if (state != State.RECEIVING) {
            throw misuse();
        }
        ByteBuf chunk = null;
        try {
            memory.reserveForProcess(CHUNK_SIZE);
            chunk = options.multipart().allocator().heapBuffer(CHUNK_SIZE, CHUNK_SIZE);
            while (chunk.writeBytes(in, CHUNK_SIZE) >= 0) {
                feed(chunk.retain());
                if (chunk.refCnt() > 1) { // a sink kept some of it
                    chunk.release();
                    chunk = null;
                    chunk = options.multipart().allocator().heapBuffer(CHUNK_SIZE, CHUNK_SIZE);
                }
                chunk.clear();
            }
            memory.releaseForProcess(CHUNK_SIZE);
            return finish();
        } catch (Throwable e) {
            fail(e);
            throw e;
        } finally {
            if (chunk != null) {
                chunk.release();
            }
        }
    }

    private IllegalStateException misuse() {
        return new IllegalStateException("the form is " + state + ": make one assembler per body");
    }

    // ---- events

    private void pump() throws IOException {
        for (; ; ) {
            switch (decoder.next()) {
                case PART_BEGIN -> beginPart();
                case DATA -> data(decoder.data());
                case PART_END -> {
                    endPart();
                    progress.partEnded(decoder, expected);
                }
                case NEED_INPUT, END -> {
                    return;
                }
            }
        }
    }

    private void beginPart() throws IOException {
        String name = Objects.requireNonNull(decoder.name(), "form-data parts have names");
        PartHead head =
                new PartHead(decoder.partIndex(), decoder.partOffset(), name, decoder.filename(), decoder.headers());
        int size = decoder.rawHeaders().readableBytes();
        if (options.expandsNested()) {
            nested = NestedBody.of(head, options, tally.left(headerBytes + size));
        }
        if (nested == null) {
            open(head, size);
        } else {
            count(head, size);
            memory.reserveForProcess(limits.maxHeaderBytesPerPart());
        }
    }

    private void data(ByteBuf data) throws IOException {
        if (nested != null) {
            nested.feed(data.retain());
            pump(nested);
        } else if (intake != null) {
            intake.chain().write(data);
        }
    }

    private void endPart() throws IOException {
        if (nested != null) {
            nested.finish();
            pump(nested);
            tally.nested(nested.deviations());
            nested.close();
            nested = null;
            memory.releaseForProcess(limits.maxHeaderBytesPerPart());
        } else {
            complete();
        }
    }

    private void pump(NestedBody inner) throws IOException {
        for (; ; ) {
            switch (inner.next()) {
                case PART_BEGIN -> open(inner.head(), inner.headerBytes());
                case DATA -> {
                    if (intake != null) {
                        intake.chain().write(inner.data());
                    }
                }
                case PART_END -> complete();
                case NEED_INPUT, END -> {
                    return;
                }
            }
        }
    }

    // ---- parts

    /** Memory is short: what has to be there goes before content that can be in a file. */
    private boolean evict() throws IOException {
        SpoolDirectory spool = options.spool();
        if (spool != null) {
            for (FormPart part : parts) {
                if (part.giveWay(spool)) {
                    tally.spilled(part.size());
                    return true;
                }
            }
        }
        return false;
    }

    /** The limits of the whole form hold across nested bodies, of which the decoders know nothing. */
    private void count(PartHead head, int size) throws MultipartException {
        headerBytes += size;
        tally.count(head, headerBytes);
        String charset = head.filename() == null ? head.headers().contentTypeParameter("charset") : null;
        if (charset != null && !TextRules.isKnown(charset)) {
            decoder.report(Deviation.UNKNOWN_CHARSET);
        }
    }

    private void open(PartHead head, int size) throws IOException {
        count(head, size);
        String filename = Objects.requireNonNullElse(head.filename(), "");
        long names = (long) head.name().length() + filename.length();
        overhead = PART_OVERHEAD + size + (long) FIELD_OVERHEAD * head.headers().count() + names * Character.BYTES;
        if (!memory.tryHard(overhead)) {
            throw memory.refusal(head.offset(), head.index());
        }
        PartIntake opened = new PartIntake(options, memory, head);
        intake = opened;
        opened.decide();
    }

    private void complete() throws IOException {
        PartIntake ended = Objects.requireNonNull(intake, "a part ends that began");
        ended.chain().complete();
        PartContent content = ended.takeContent();
        RefusedPart refusal = ended.refused();
        if (content != null) {
            FormPart part = new FormPart(ended.head(), content, rules);
            parts.add(part);
            if (!rules.learnFrom(part)) {
                decoder.report(Deviation.UNKNOWN_CHARSET);
            }
        } else if (refusal != null) {
            refused.add(refusal);
        } else {
            memory.release(overhead);
        }
        tally.completed(ended.head(), content);
        intake = null;
        ended.close();
    }

    // ---- ends

    /**
     * {@return what to do with the connection now: after the end, a failure or {@link #close()}; before, what a refusal
     * now would mean}
     */
    public ConnectionEnding ending() {
        long left = state == State.COMPLETE ? 0 : expected < 0 ? -1 : Math.max(expected - tally.fedBytes(), 0);
        return ConnectionEnding.of(left, options.maxDrainBytes());
    }

    private void fail(Throwable reason) {
        if (state != State.RECEIVING) {
            return;
        }
        state = State.FAILED;
        tally.failed(reason, memory, decoder);
        try {
            release();
        } catch (Throwable e) {
            if (e != reason) { // a sink may throw one and the same again
                reason.addSuppressed(e);
            }
        }
    }

    /** Gives back all that is held, whatever single steps throw. */
    private void release() throws IOException {
        PartIntake open = intake;
        intake = null;
        try (memory;
                decoder) {
            if (nested != null) {
                nested.close();
            }
            try {
                if (open != null) {
                    open.chain().close();
                }
            } finally {
                MultipartForm.closeAll(parts);
            }
        }
    }

    /**
     * Aborts the form unless it is complete: everything held is given back. A form that was {@linkplain #finish()
     * handed out} is not touched. Idempotent.
     *
     * @throws IOException of a sink that was aborted
     */
    @Override
    public void close() throws IOException {
        if (state == State.RECEIVING) {
            state = State.CLOSED;
            tally.ended(FormSummary.Outcome.ABORTED, null, memory, decoder);
            release();
        }
    }
}
