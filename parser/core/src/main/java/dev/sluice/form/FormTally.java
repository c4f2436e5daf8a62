package dev.sluice.form;

import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.MultipartOptions;
import dev.sluice.PartHead;
import dev.sluice.ReportedDeviation;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Counts what a form has, for the limits that hold across nested bodies, and tells listener and metrics of it. */
final class FormTally {
    private static final int MAX_REPORTED = 100;

    private final MultipartOptions limits;
    private final FormOptions options;
    private final FormMemory memory;
    private final MultipartDecoder decoder;
    private final long expectedBytes;
    private final long started;
    private long lastProgress;
    private int endedPart = -1;
    private final List<ReportedDeviation> nestedDeviations = new ArrayList<>();
    private long nestedCount;
    private long begun;
    private long filesBegun;
    private int completed;
    private int files;
    private int spilledParts;
    private long spilledBytes;

    /** @param expectedBytes the size of the body as announced, or -1; for progress only */
    FormTally(FormOptions options, FormMemory memory, MultipartDecoder decoder, long expectedBytes) {
        this.options = options;
        this.memory = memory;
        this.decoder = decoder;
        this.limits = options.multipart();
        this.expectedBytes = expectedBytes;
        this.started = options.now();
        this.lastProgress = started - options.progressNanos;
        tell(options, FormMetrics::formStarted);
    }

    void nested(List<ReportedDeviation> deviations) {
        nestedCount += deviations.size();
        deviations.stream().limit(MAX_REPORTED - nestedDeviations.size()).forEach(nestedDeviations::add);
    }

    List<ReportedDeviation> deviations() {
        return Stream.concat(decoder.deviations().stream(), nestedDeviations.stream())
                .limit(MAX_REPORTED)
                .toList();
    }

    void fed(int count) {
        if (options.metrics != null) { // once per chunk: nothing is made for nobody
            tell(options, metrics -> metrics.bodyReceived(count));
        }
    }

    void count(PartHead head, long headerBytes) throws MultipartException {
        begun++;
        filesBegun += head.filename() == null ? 0 : 1;
        check(begun, limits.maxParts(), Reason.TOO_MANY_PARTS, head);
        check(filesBegun, limits.maxFiles(), Reason.TOO_MANY_FILES, head);
        check(headerBytes, limits.maxHeaderBytes(), Reason.HEADERS_TOO_LARGE, head);
    }

    private static void check(long value, long limit, Reason reason, PartHead head) throws MultipartException {
        if (value > limit) {
            throw head.because(reason).limit(limit).build();
        }
    }

    /** {@return the options for a nested body: what the form has left} */
    MultipartOptions left(long headerBytes) {
        return limits.toBuilder()
                .unlimitedBodyBytes()
                .maxParts(rest(limits.maxParts(), begun))
                .maxHeaderBytes(rest(limits.maxHeaderBytes(), headerBytes))
                .build();
    }

    private static long rest(long limit, long used) {
        return Math.max(Math.min(limit, Long.MAX_VALUE - 1) - used, 0);
    }

    void completed(PartHead head, @Nullable PartContent content) {
        completed++;
        files += head.filename() == null ? 0 : 1;
        if (content != null && !content.isInMemory()) {
            spilled(content.size());
        }
    }

    void spilled(long size) {
        spilledParts++;
        spilledBytes += size;
    }

    // ---- progress

    /** A chunk has been read: the listener hears of it, but not too often. */
    void advanced() {
        if (options.progress != null && options.now() - lastProgress >= options.progressNanos) {
            progressed(false);
        }
    }

    void partEnded() {
        endedPart = decoder.partIndex();
        progressed(false);
    }

    void formEnded() {
        progressed(true);
    }

    private void progressed(boolean ended) {
        ProgressListener listener = options.progress;
        if (listener != null) {
            lastProgress = options.now();
            int part = decoder.partIndex();
            boolean partEnded = part >= 0 && part == endedPart;
            listener.progressed(
                    new Progress(decoder.offset(), expectedBytes, part, decoder.partSize(), partEnded, ended));
        }
    }

    // ---- metrics

    /** Reports a form that was rejected at the head of its request. */
    static void rejected(FormOptions options, @Nullable Reason reason, FormSummary.Outcome outcome) {
        FormSummary summary = new FormSummary(outcome, reason, 0, 0, 0, 0, 0, 0, 0, List.of(), 0);
        tell(options, FormMetrics::formStarted);
        tell(options, metrics -> metrics.formEnded(summary));
    }

    void ended(FormSummary.Outcome outcome, @Nullable Reason reason) {
        tell(
                options,
                metrics -> metrics.formEnded(new FormSummary(
                        outcome,
                        reason,
                        decoder.offset(),
                        completed,
                        files,
                        spilledParts,
                        spilledBytes,
                        memory.peak(),
                        decoder.deviationCount() + nestedCount,
                        deviations(),
                        options.now() - started)));
    }

    private static void tell(FormOptions options, Consumer<FormMetrics> event) {
        FormMetrics metrics = options.metrics;
        if (metrics != null) {
            call(() -> event.accept(metrics));
        }
    }

    /** The form goes on as it does, whatever {@code foreign} makes of it; but nobody is to overlook that it is broken. */
    static void call(Runnable foreign) {
        try {
            foreign.run();
        } catch (Throwable e) {
            Thread thread = Thread.currentThread();
            try {
                thread.getUncaughtExceptionHandler().uncaughtException(thread, e);
            } catch (Throwable ignored) {
                // as the virtual machine does: there is nobody left to tell
            }
        }
    }
}
