package dev.sluice.form;

import dev.sluice.Boundary;
import dev.sluice.Deviation;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.MultipartOptions;
import dev.sluice.PartHead;
import dev.sluice.buffer.Text;
import dev.sluice.task.IsolatedCall;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Puts a form together: bytes in, parts kept or brought to their sinks, a {@link MultipartForm} out. Never waits: where a
 * sink is not ready it stops, and is asked to go on.
 *
 * <p>Whatever throws, {@link #fail} then gives everything back. One thread at a time.
 */
final class FormAssembler {
    /** What is held for a part besides its header section, its names and its content. */
    static final int PART_OVERHEAD = 512;

    /** Below, a file takes as much of the disk as it gives room in memory, or more. */
    private static final int WORTH_A_FILE = SpoolDirectory.BLOCK;

    private final FormOptions options;
    private final MultipartOptions limits;
    private final MultipartDecoder decoder;
    /** What all of this is charged to. */
    final FormMemory memory;

    private final TextRules rules;
    private final FormLimits counts;
    private final FormReporter reporter;
    private final List<FormPart> parts = new ArrayList<>();
    private final List<SkippedPart> refused = new ArrayList<>();

    /** Those of the application, complete; the first {@link #published} of them are visible. */
    private final List<PartSink> sinks = new ArrayList<>(0);

    private int published;
    private @Nullable Readiness publishing;
    private @Nullable NestedBody nested;
    private boolean nestedHasMore;
    private @Nullable PartIntake intake;
    private boolean partEnds;
    private boolean finished;
    private boolean over;
    private long overhead;

    /** @param expected the size of the body as announced, or -1; for progress only */
    FormAssembler(Boundary boundary, FormOptions options, long expected) throws IOException {
        this.options = options;
        this.limits = options.multipart();
        this.decoder = MultipartDecoder.create(boundary, limits);
        this.memory = new FormMemory(options, this::evict);
        this.rules = new TextRules(limits.maxFieldBytes());
        this.counts = new FormLimits(limits);
        this.reporter = new FormReporter(options, memory, decoder, expected);
        try {
            memory.reserveForProcess(headerReserve());
        } catch (MultipartException e) {
            fail(e, false); // rejected, and reported to the metrics
            throw e;
        }
    }

    /** {@return the most that one header section takes: with no limit of its own it has that of all of them} */
    private long headerReserve() {
        return Math.min(limits.maxHeaderBytesPerPart(), limits.maxHeaderBytes());
    }

    /** @param chunk the next bytes of the body, <em>transferred</em>; all before have been {@linkplain #pump() read} */
    void feed(ByteBuf chunk) {
        reporter.bodyReceived(chunk.readableBytes());
        decoder.feed(chunk);
    }

    /** Goes on until all that was fed is read ({@link Readiness#READY}), or a sink is not ready. {@return it: call again} */
    Readiness pump() throws IOException {
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

    void chunkRead() {
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
                reporter.nestedBodyEnded(inner.deviations());
                inner.decoder.close();
                nested = null;
                memory.releaseForProcess(headerReserve());
                reporter.partEnded();
            }
        }
        return Readiness.READY;
    }

    private void beginPart() throws IOException {
        PartHead head = decoder.head();
        if (options.expandNested()) {
            nested = NestedBody.of(head, counts.remaining(head));
        }
        if (nested == null) {
            open(head);
        } else {
            count(head);
            memory.reserveForProcess(headerReserve());
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

    private PartIntake current() {
        return Objects.requireNonNull(intake, "a part has begun");
    }

    /** Memory is short: what has to be there goes before content that can be in a file, the largest first, if that is enough. */
    private boolean evict(long missing) throws IOException {
        if (!memory.hasRoomForFile()) {
            return false;
        }
        FormPart largest = null;
        long most = intake == null ? 0 : intake.evictable();
        long room = worthAFile(most);
        for (FormPart part : parts) {
            long held = part.content.evictable();
            room += worthAFile(held);
            if (held > most) {
                most = held;
                largest = part;
            }
        }
        if (room < missing || most < WORTH_A_FILE) {
            return false;
        }
        if (largest != null) {
            largest.content.spill(memory, largest.head());
            largest.content.complete();
            reporter.partMovedToFile(largest.size());
        } else if (intake != null) {
            intake.evict();
        }
        return true;
    }

    private static long worthAFile(long held) {
        return held < WORTH_A_FILE ? 0 : held;
    }

    /** The limits of the whole form hold across nested bodies, of which the decoders know nothing. */
    private void count(PartHead head) throws MultipartException {
        counts.count(head);
        // The decoder has judged the charset of every other part.
        String charset = nested != null && head.filename() == null ? head.contentTypeParameter("charset") : null;
        if (charset != null && Text.charset(charset) == null) {
            met(Deviation.UNKNOWN_CHARSET, head);
        }
    }

    private void met(Deviation kind, PartHead head) throws MultipartException {
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
        PartIntake opened = new PartIntake(options, memory, head);
        intake = opened;
        opened.decide();
    }

    private static long length(@Nullable String text) {
        return text == null ? 0 : text.length();
    }

    private Readiness endPart() throws IOException {
        PartIntake ended = current();
        Readiness ready = ended.end();
        if (ready != Readiness.READY) {
            return ready; // even if it is ready by now: the end goes on behind it
        }
        partEnds = false;
        PartContent content = ended.takeContent();
        PartSink sink = ended.takeSink();
        SkippedPart refusal = ended.refused();
        if (sink != null) {
            sinks.add(sink);
        }
        if (content != null) {
            parts.add(new FormPart(ended.head, content, rules));
        } else if (refusal != null) {
            refused.add(refusal);
        } else {
            memory.release(overhead);
        }
        byte[] charsetName = ended.charsetName();
        Deviation odd = charsetName == null ? null : rules.learnFrom(charsetName);
        if (odd != null) {
            met(odd, ended.head);
        }
        reporter.partCompleted(ended.head, content);
        intake = null;
        ended.close();
        if (nested == null) {
            reporter.partEnded();
        }
        return Readiness.READY;
    }

    // ---- ends

    /**
     * All has been fed and read: makes the form visible as a whole, part by part. {@return {@link Readiness#READY} if
     * there is a {@link #form()}, or a sink that was not ready: call again once it is}
     */
    Readiness finish() throws IOException {
        if (!finished) {
            finished = true;
            decoder.finish();
            pump(); // to its end: the last part has ended before, and its sink is ready
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

    /** {@return the form, which belongs to the caller} */
    MultipartForm form() {
        MultipartForm form = new MultipartForm(parts, refused, reporter.deviations(), decoder.offset(), memory);
        over = true;
        decoder.close();
        sinks.forEach(sink -> IsolatedCall.run(sink::close));
        memory.releaseForProcess(headerReserve());
        memory.settle();
        reporter.formEnded(FormSummary.Outcome.COMPLETED, null);
        return form;
    }

    /** {@return {@code failure}, with the part in which a sink or the memory failed: they do not know it} */
    Throwable located(Throwable failure) {
        if (intake == null || !(failure instanceof MultipartException known) || known.partIndex() >= 0) {
            return failure;
        }
        PartHead head = intake.head;
        return known.toBuilder().part(head.index(), head.name()).build();
    }

    /** Gives back all that is held, and notes what went wrong meanwhile beside {@code reason}. Idempotent. */
    void fail(Throwable reason, boolean aborted) {
        if (over) {
            return;
        }
        over = true;
        Reason known = !aborted && reason instanceof MultipartException e ? e.reason() : null;
        reporter.formEnded(aborted ? FormSummary.Outcome.ABORTED : FormSummary.Outcome.of(known), known);
        Readiness last = publishing;
        if (last != null && last.failure() == null) {
            PartSink maybe = sinks.get(published);
            undo(maybe::close, reason); // it becomes visible before this, or not at all
            if (last.isReady()) {
                undo(maybe::retract, reason);
            }
        }
        while (published > 0) {
            PartSink visible = sinks.get(--published);
            undo(visible::retract, reason);
        }
        if (nested != null) {
            nested.decoder.close();
        }
        if (intake != null) {
            undo(intake::close, reason);
        }
        for (PartSink sink : sinks) {
            undo(sink::close, reason);
        }
        undo(() -> parts.forEach(FormPart::delete), reason);
        decoder.close();
        memory.close();
    }

    private interface Undoing {
        void run() throws IOException;
    }

    private static void undo(Undoing step, Throwable reason) {
        try {
            step.run();
        } catch (Throwable e) {
            if (e != reason) { // a sink may throw one and the same again
                reason.addSuppressed(e);
            }
        }
    }
}
