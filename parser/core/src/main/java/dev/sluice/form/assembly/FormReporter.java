package dev.sluice.form.assembly;

import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.PartHead;
import dev.sluice.ReportedDeviation;
import dev.sluice.form.FormHead;
import dev.sluice.form.FormMetrics;
import dev.sluice.form.FormSummary;
import dev.sluice.form.Progress;
import dev.sluice.form.ProgressListener;
import dev.sluice.form.storage.FormMemory;
import dev.sluice.form.storage.StoredContent;
import dev.sluice.task.IsolatedCall;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The reports of one form: its progress, for the {@link ProgressListener}, and its start, bytes and summary, for the {@link FormMetrics}.
 *
 * <p>An exception of the listener fails the form. An exception of the metrics does not.
 */
public final class FormReporter {
    private static final int MAX_REPORTED = 100;

    private final FormContext context;
    private final FormMemory memory;
    private final MultipartDecoder decoder;
    private final FormHead head;
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
     * @param head the head of the request, for the progress and the summary
     */
    FormReporter(FormContext context, FormMemory memory, MultipartDecoder decoder, FormHead head) {
        this.context = context;
        this.memory = memory;
        this.decoder = decoder;
        this.head = head;
        this.started = context.now();
        this.lastProgress = started - context.progressNanos();
        report(context.metrics(), FormMetrics::formStarted);
    }

    // ---- progress

    /** Reports progress, unless the last report is too recent. */
    void chunkDecoded() {
        if (context.progress() != null && context.now() - lastProgress >= context.progressNanos()) {
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
        ProgressListener listener = context.progress();
        if (listener != null) {
            lastProgress = context.now();
            int part = decoder.partIndex();
            boolean partEnded = part >= 0 && part == endedPart;
            listener.progressed(
                    new Progress(decoder.offset(), head.contentLength(), part, decoder.partSize(), partEnded, ended));
        }
    }

    // ---- counts for the summary

    void partCompleted(PartHead head, @Nullable StoredContent content) {
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

    void nestedBodyEnded(NestedBody nested) {
        nestedDeviationCount += nested.decoder.deviationCount();
        nested.deviations().stream()
                .limit(MAX_REPORTED - nestedDeviations.size())
                .forEach(nestedDeviations::add);
    }

    /** {@return the first 100 deviations, of the body and then of its nested bodies} */
    List<ReportedDeviation> deviations() {
        return Stream.concat(decoder.deviations().stream(), nestedDeviations.stream())
                .limit(MAX_REPORTED)
                .toList();
    }

    // ---- metrics

    void bodyReceived(int bytes) {
        if (context.metrics() != null) { // avoids a lambda for each chunk
            report(context.metrics(), metrics -> metrics.bodyReceived(bytes));
        }
    }

    void formEnded(FormSummary.Outcome outcome, @Nullable Throwable failure) {
        report(
                context.metrics(),
                metrics -> metrics.formEnded(new EndedForm(
                        outcome,
                        reason(outcome, failure),
                        failure,
                        head.remoteAddress(),
                        decoder.offset(),
                        parts,
                        files,
                        spilledParts,
                        spilledBytes,
                        memory.peak(),
                        decoder.deviationCount() + nestedDeviationCount,
                        deviations(),
                        context.now() - started)));
    }

    /** Reports the start and the end of a form that was rejected because of its request headers. */
    public static void reportRejected(@Nullable FormMetrics metrics, FormHead head, @Nullable Throwable failure) {
        FormSummary.Outcome outcome = failure == null ? FormSummary.Outcome.REFUSED : outcome(failure);
        FormSummary summary = FormSummary.of(outcome, reason(outcome, failure), failure, head.remoteAddress());
        report(metrics, FormMetrics::formStarted);
        report(metrics, listener -> listener.formEnded(summary));
    }

    static FormSummary.Outcome outcome(Throwable failure) {
        return failure instanceof MultipartException known
                ? FormSummary.Outcome.valueOf(known.kind().name())
                : FormSummary.Outcome.FAILED;
    }

    private static @Nullable Reason reason(FormSummary.Outcome outcome, @Nullable Throwable failure) {
        return failure instanceof MultipartException known && outcome != FormSummary.Outcome.ABORTED
                ? known.reason()
                : null;
    }

    private static void report(@Nullable FormMetrics metrics, Consumer<FormMetrics> event) {
        if (metrics != null) {
            IsolatedCall.run(() -> event.accept(metrics));
        }
    }
}
