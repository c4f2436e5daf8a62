package dev.sluice.form;

import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException.Reason;
import dev.sluice.PartHead;
import dev.sluice.ReportedDeviation;
import dev.sluice.task.IsolatedCall;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The reports of one form: its progress, for the {@link ProgressListener}, and its start and summary, for the {@link FormMetrics}.
 *
 * <p>An exception of the listener fails the form. An exception of the metrics does not.
 */
final class FormReporter {
    private static final int MAX_REPORTED = 100;

    private final FormOptions options;
    private final FormMemory memory;
    private final MultipartDecoder decoder;
    private final long expectedBytes;
    private final long started;
    private long lastProgress;
    private int endedPart = -1;
    private final List<ReportedDeviation> nestedDeviations = new ArrayList<>();
    private long nestedDeviationCount;
    private int parts;
    private int files;
    private int spilledParts;
    private long spilledBytes;

    /**
     * Reports the start of a form.
     *
     * @param expectedBytes the announced size of the body, or -1; only for the progress
     */
    FormReporter(FormOptions options, FormMemory memory, MultipartDecoder decoder, long expectedBytes) {
        this.options = options;
        this.memory = memory;
        this.decoder = decoder;
        this.expectedBytes = expectedBytes;
        this.started = options.now();
        this.lastProgress = started - options.progressNanos;
        report(options, FormMetrics::formStarted);
    }

    // ---- progress

    /** Reports progress, unless the last report is too recent. */
    void chunkDecoded() {
        if (options.progress != null && options.now() - lastProgress >= options.progressNanos) {
            reportProgress(false);
        }
    }

    void partEnded() {
        endedPart = decoder.partIndex();
        reportProgress(false);
    }

    void bodyEnded() {
        reportProgress(true);
    }

    private void reportProgress(boolean ended) {
        ProgressListener listener = options.progress;
        if (listener != null) {
            lastProgress = options.now();
            int part = decoder.partIndex();
            boolean partEnded = part >= 0 && part == endedPart;
            listener.progressed(
                    new Progress(decoder.offset(), expectedBytes, part, decoder.partSize(), partEnded, ended));
        }
    }

    // ---- counts for the summary

    void partCompleted(PartHead head, @Nullable PartContent content) {
        parts++;
        files += head.filename() == null ? 0 : 1;
        if (content != null && !content.isInMemory()) {
            partMovedToFile(content.size());
        }
    }

    void partMovedToFile(long size) {
        spilledParts++;
        spilledBytes += size;
    }

    void nestedBodyEnded(List<ReportedDeviation> deviations) {
        nestedDeviationCount += deviations.size();
        deviations.stream().limit(MAX_REPORTED - nestedDeviations.size()).forEach(nestedDeviations::add);
    }

    /** {@return the first deviations of the body and its nested bodies} */
    List<ReportedDeviation> deviations() {
        return Stream.concat(decoder.deviations().stream(), nestedDeviations.stream())
                .limit(MAX_REPORTED)
                .toList();
    }

    // ---- metrics

    void bodyReceived(int bytes) {
        if (options.metrics != null) { // avoids a lambda for each chunk
            report(options, metrics -> metrics.bodyReceived(bytes));
        }
    }

    void formEnded(FormSummary.Outcome outcome, @Nullable Reason reason) {
        report(
                options,
                metrics -> metrics.formEnded(new FormSummary(
                        outcome,
                        reason,
                        decoder.offset(),
                        parts,
                        files,
                        spilledParts,
                        spilledBytes,
                        memory.peak(),
                        decoder.deviationCount() + nestedDeviationCount,
                        deviations(),
                        options.now() - started)));
    }

    /** Reports the start and the end of a form that was rejected by the head of its request. */
    static void reportRejected(FormOptions options, @Nullable Reason reason, FormSummary.Outcome outcome) {
        FormSummary summary = new FormSummary(outcome, reason, 0, 0, 0, 0, 0, 0, 0, List.of(), 0);
        report(options, FormMetrics::formStarted);
        report(options, metrics -> metrics.formEnded(summary));
    }

    private static void report(FormOptions options, Consumer<FormMetrics> event) {
        FormMetrics metrics = options.metrics;
        if (metrics != null) {
            IsolatedCall.run(() -> event.accept(metrics));
        }
    }
}
