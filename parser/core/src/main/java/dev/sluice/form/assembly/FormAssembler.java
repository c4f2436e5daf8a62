package dev.sluice.form.assembly;

import dev.sluice.Boundary;
import dev.sluice.Deviation;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.MultipartOptions;
import dev.sluice.PartHead;
import dev.sluice.buffer.Text;
import dev.sluice.form.FormHead;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormSummary;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import dev.sluice.form.SkippedPart;
import dev.sluice.form.storage.FormMemory;
import dev.sluice.form.storage.Spool;
import dev.sluice.form.storage.StoredContent;
import dev.sluice.task.IsolatedCall;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The assembler of one form. It decodes chunks, sends each part to its {@link PartDestination}, enforces the limits,
 * and builds the {@link AssembledForm}.
 *
 * <p>It never waits for a sink. If a sink is not ready, {@link #pump} and {@link #finish} return its readiness, and the caller repeats the
 * call later. After an exception, the caller must call {@link #fail}, which releases everything. Used by one thread at a time.
 */
public final class FormAssembler {
    /** The number of bytes charged for a part in addition to its header section, names and content. */
    static final int PART_OVERHEAD = 512;

    /** The maximum number of bytes around a boundary: two line ends, two dashes, and transport padding. */
    private static final int AROUND_BOUNDARY = 6 + 256;

    /** The minimum size of content that is moved to a file to release memory. Smaller content would take more space on disk. */
    private static final int MIN_BYTES_TO_MOVE = Spool.BLOCK;

    private final FormContext context;
    private final MultipartOptions limits;
    private final MultipartDecoder decoder;
    public final FormMemory memory;

    private final TextRules rules;
    private final FormLimits counts;
    private final FormReporter reporter;
    private final List<StoredContent> parts = new ArrayList<>();
    private final List<SkippedPart> skipped = new ArrayList<>();

    /** The sinks of the complete parts, in order; the first {@link #published} of them are visible. */
    private final List<PartSink> sinks = new ArrayList<>(0);

    private int published;
    private @Nullable Readiness publishing;
    private @Nullable NestedBody nested;
    private boolean nestedHasMore;
    private @Nullable PartDestination destination;
    private boolean partEnds;
    private boolean finished;
    private boolean ended;
    private long overhead;

    /**
     * Creates the assembler of a form, or rejects its request head. Every rejection is reported to the metrics.
     *
     * @throws IOException if the form is rejected
     */
    public static FormAssembler open(FormHead head, FormContext context) throws IOException {
        Boundary boundary;
        try {
            boundary = checkHead(head, context);
        } catch (IOException e) {
            FormReporter.reportRejected(context.metrics(), head, e);
            throw e;
        }
        return new FormAssembler(boundary, context, head);
    }

    private static Boundary checkHead(FormHead head, FormContext context) throws IOException {
        MultipartOptions limits = context.options().multipart();
        long expected = head.contentLength();
        long max = limits.maxBodyBytes();
        if (expected > max) { // rejected before it is read; a body of unknown length is counted while it arrives
            throw MultipartException.because(Reason.BODY_TOO_LARGE)
                    .limit(max)
                    .at(max)
                    .seen("Content-Length " + expected)
                    .build();
        }
        Boundary boundary = head.boundary(limits.preset());
        Spool spool = context.spool();
        if (spool != null) {
            spool.requireRoom(minBytesOnDisk(expected, boundary, context));
        }
        return boundary;
    }

    /**
     * {@return the minimum number of bytes that a body of {@code length} bytes writes to the spool; 0 if it is unknown} The result is also
     * 0 if there is a decider, which may send all parts to sinks, or if transfer encodings or nested bodies are decoded, because the
     * decoded content may be much smaller than the body. Otherwise, at most {@code maxInMemoryBytes} stay in memory, and the rest goes to
     * the spool, except delimiters, preamble and epilogue. Each part is charged an overhead, which bounds the number of parts and of
     * delimiters.
     */
    private static long minBytesOnDisk(long length, Boundary boundary, FormContext context) {
        FormOptions options = context.options();
        MultipartOptions limits = options.multipart();
        long rest = length - options.maxInMemoryBytes();
        if (rest <= 0 || context.decider() != null || options.expandNested() || limits.decodeTransferEncodings()) {
            return 0;
        }
        long parts = Math.min(limits.maxParts(), options.maxInMemoryBytes() / PART_OVERHEAD);
        long delimiters = (parts + 1) * (boundary.value().length() + AROUND_BOUNDARY);
        return Math.max(rest - delimiters - limits.maxPreambleBytes() - limits.maxEpilogueBytes(), 0);
    }

    private FormAssembler(Boundary boundary, FormContext context, FormHead head) throws IOException {
        this.context = context;
        FormOptions options = context.options();
        this.limits = options.multipart();
        this.decoder = MultipartDecoder.create(boundary, limits);
        this.memory = new FormMemory(
                options.memory(),
                context.segments(),
                options.maxInMemoryBytes(),
                context.spool(),
                options.maxFilesOnDisk(),
                this::moveLargestToFile);
        this.rules = new TextRules(limits.maxFieldBytes());
        this.counts = new FormLimits(limits);
        this.reporter = new FormReporter(context, memory, decoder, head);
        try {
            memory.reserveFromBudget(headerReserve());
        } catch (MultipartException e) {
            fail(e, false); // also reports the rejection to the metrics
            throw e;
        }
    }

    /**
     * {@return the maximum size of one header section: the limit per part, or the limit of the form if that is lower}
     */
    private long headerReserve() {
        return Math.min(limits.maxHeaderBytesPerPart(), limits.maxHeaderBytes());
    }

    /**
     * Passes the next bytes of the body to the decoder. {@link #pump()} must have read all earlier bytes.
     *
     * @param chunk <em>transferred</em>
     */
    public void feed(ByteBuf chunk) {
        reporter.bodyReceived(chunk.readableBytes());
        decoder.feed(chunk);
    }

    /**
     * Decodes the chunk.
     *
     * @return {@link Readiness#READY} at the end of the chunk, or a readiness to wait for before the next call
     */
    public Readiness pump() throws IOException {
        for (; ; ) {
            Readiness sink = Readiness.READY;
            if (partEnds) {
                sink = endPart();
            } else if (nested != null && nestedHasMore) {
                sink = next(nested);
            } else {
                switch (decoder.next()) {
                    case PART_BEGIN -> beginPart();
                    case DATA -> sink = data(decoder.data());
                    case PART_END -> leavePart();
                    case NEED_INPUT, END -> {
                        return Readiness.READY;
                    }
                }
            }
            if (!sink.checkReady()) {
                return sink;
            }
        }
    }

    public void chunkRead() {
        reporter.chunkDecoded();
    }

    private Readiness next(NestedBody inner) throws IOException {
        switch (inner.next()) {
            case PART_BEGIN -> open(inner.head());
            case DATA -> {
                return current().write(inner.decoder.data());
            }
            case PART_END -> partEnds = true;
            case NEED_INPUT -> nestedHasMore = false;
            case END -> {
                reporter.nestedBodyEnded(inner);
                inner.decoder.close();
                nested = null;
                memory.releaseToBudget(headerReserve());
                reporter.partEnded();
            }
        }
        return Readiness.READY;
    }

    private void beginPart() throws IOException {
        PartHead head = decoder.head();
        if (context.options().expandNested()) {
            nested = NestedBody.of(head, counts);
        }
        if (nested == null) {
            open(head);
        } else {
            count(head);
            memory.reserveFromBudget(headerReserve());
        }
    }

    private Readiness data(ByteBuf data) throws IOException {
        if (nested == null) {
            return current().write(data);
        }
        nested.decoder.feed(data.retain());
        nestedHasMore = true;
        return Readiness.READY;
    }

    private void leavePart() {
        if (nested == null) {
            partEnds = true;
        } else {
            nested.decoder.finish();
            nestedHasMore = true;
        }
    }

    private PartDestination current() {
        return Objects.requireNonNull(destination, "no part has begun");
    }

    /**
     * Moves the largest part to a file, if moving all parts would release at least {@code missing} bytes.
     *
     * @return whether a part was moved
     */
    private boolean moveLargestToFile(long missing) throws IOException {
        if (!memory.hasRoomForFile()) {
            return false;
        }
        StoredContent largest = null;
        long most = destination == null ? 0 : destination.movableBytes();
        long room = movable(most); // the bytes that moving every part would release
        for (StoredContent part : parts) {
            long held = part.movableBytes();
            room += movable(held);
            if (held > most) {
                most = held;
                largest = part;
            }
        }
        if (room < missing || most < MIN_BYTES_TO_MOVE) {
            return false;
        }
        if (largest != null) {
            largest.moveToFile();
            largest.complete();
            reporter.partMovedToFile(largest.size());
        } else if (destination != null) {
            destination.moveToFile();
        }
        return true;
    }

    private static long movable(long held) {
        return held < MIN_BYTES_TO_MOVE ? 0 : held;
    }

    /** Counts a part against the limits of the whole form, which the decoders of nested bodies do not enforce. */
    private void count(PartHead head) throws MultipartException {
        counts.count(head);
        // The decoder has checked the charset of all other parts.
        String charset = nested != null && head.filename() == null ? head.contentTypeParameter("charset") : null;
        if (charset != null && Text.charset(charset) == null) {
            reportDeviation(Deviation.UNKNOWN_CHARSET, head);
        }
    }

    private void reportDeviation(Deviation kind, PartHead head) throws MultipartException {
        if (!limits.preset().accepts(kind)) {
            throw head.because(kind.reason()).build();
        }
        decoder.report(kind);
    }

    private void open(PartHead head) throws IOException {
        count(head);
        long names = length(head.name()) + length(head.filename());
        overhead = PART_OVERHEAD + head.headerBytes() + names * Character.BYTES;
        memory.reserve(overhead, head);
        PartDestination opened = new PartDestination(context, memory, head);
        destination = opened;
        opened.decide();
    }

    private static long length(@Nullable String text) {
        return text == null ? 0 : text.length();
    }

    private Readiness endPart() throws IOException {
        PartDestination ended = current();
        Readiness ready = ended.end();
        if (ready != Readiness.READY) {
            return ready; // even if it is ready by now: end() may have more steps
        }
        partEnds = false;
        StoredContent content = ended.takeContent();
        PartSink sink = ended.takeSink();
        SkippedPart skip = ended.skipped();
        if (sink != null) {
            sinks.add(sink);
        }
        if (content != null) {
            parts.add(content);
        } else if (skip != null) {
            skipped.add(skip);
        } else {
            memory.release(overhead);
        }
        byte[] charsetName = ended.charsetField();
        Deviation deviation = charsetName == null ? null : rules.setFormCharset(charsetName);
        if (deviation != null) {
            reportDeviation(deviation, ended.head);
        }
        reporter.partCompleted(ended.head, content);
        destination = null;
        ended.close();
        if (nested == null) {
            reporter.partEnded();
        }
        return Readiness.READY;
    }

    // ---- the end of the form

    /**
     * Ends the body after its last byte, and publishes the sinks in order.
     *
     * @return {@link Readiness#READY} if the {@link #form} is complete, or a readiness to wait for before the next call
     */
    public Readiness finish() throws IOException {
        if (!finished) {
            finished = true;
            decoder.finish();
            pump(); // never waits: the last part has ended and its sink is ready
            reporter.bodyEnded();
        }
        while (published < sinks.size()) {
            Readiness ready = publishing;
            if (ready == null) {
                ready = sinks.get(published).publish();
                publishing = ready;
            }
            if (!ready.checkReady()) {
                return ready;
            }
            publishing = null;
            published++;
        }
        return Readiness.READY;
    }

    /** {@return the complete form} It belongs to this assembler until {@link #handOver}. */
    public AssembledForm form() {
        return new AssembledForm(parts, rules, skipped, reporter.deviations(), decoder.offset(), memory);
    }

    /** Releases everything except the {@link #form}, which is <em>transferred</em> to the caller. */
    public void handOver() {
        ended = true;
        decoder.close();
        sinks.forEach(sink -> IsolatedCall.run(sink::close));
        memory.releaseToBudget(headerReserve());
        memory.releaseAhead();
        reporter.formEnded(FormSummary.Outcome.COMPLETED, null);
    }

    /** {@return {@code failure}, with the current part added if it does not name a part} */
    public Throwable located(Throwable failure) {
        if (destination == null || !(failure instanceof MultipartException known) || known.partIndex() >= 0) {
            return failure;
        }
        PartHead head = destination.head;
        return known.toBuilder().part(head.index(), head.name()).build();
    }

    /** Releases everything. Exceptions of the clean-up are added to {@code reason}. Idempotent. */
    public void fail(Throwable reason, boolean aborted) {
        if (ended) {
            return;
        }
        ended = true;
        if (nested != null) {
            reporter.nestedBodyEnded(nested);
        }
        Readiness last = publishing;
        if (last != null) {
            PartSink sink = sinks.get(published);
            if (!last.isReady()) {
                undo(sink::close, reason); // a closed sink does not become visible later
            }
            if (last.isReady() && last.failure() == null) {
                undo(sink::retract, reason);
            }
        }
        while (published > 0) {
            PartSink visible = sinks.get(--published);
            undo(visible::retract, reason);
        }
        if (nested != null) {
            undo(nested.decoder::close, reason);
        }
        if (destination != null) {
            undo(destination::close, reason);
        }
        for (PartSink sink : sinks) {
            undo(sink::close, reason);
        }
        for (StoredContent part : parts) {
            undo(part::close, reason);
        }
        undo(decoder::close, reason);
        memory.close();
        FormSummary.Outcome outcome = FormReporter.outcome(reason);
        boolean disconnected = aborted
                && !(reason instanceof Error)
                && (outcome == FormSummary.Outcome.FAILED || outcome == FormSummary.Outcome.TRUNCATED);
        reporter.formEnded(disconnected ? FormSummary.Outcome.ABORTED : outcome, reason);
    }

    private interface Undoing {
        void run() throws IOException;
    }

    private static void undo(Undoing step, Throwable reason) {
        try {
            step.run();
        } catch (Throwable e) {
            if (e != reason) { // addSuppressed rejects the exception itself, which a sink may throw twice
                reason.addSuppressed(e);
            }
        }
    }
}
