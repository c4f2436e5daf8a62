package dev.sluice.form;

import dev.sluice.Limits;
import dev.sluice.MultipartDecoder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.ReportedDeviation;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Counts what a form has: for the limits that hold across nested bodies, and for the metrics. */
final class FormTally {
    private static final int MAX_REPORTED = 100;

    private final Limits limits;
    private final FormOptions options;
    private final long started;
    private final List<ReportedDeviation> nestedDeviations = new ArrayList<>();
    private long nestedCount;
    private long fedBytes;
    private long begun;
    private long filesBegun;
    private int completed;
    private int files;
    private int spilledParts;
    private long spilledBytes;

    FormTally(FormOptions options) {
        this.options = options;
        this.limits = options.multipart().limits();
        this.started = options.now();
        tell(FormMetrics::formStarted);
    }

    /** Takes what was met in a nested body. */
    void nested(List<ReportedDeviation> deviations) {
        nestedCount += deviations.size();
        deviations.stream().limit(MAX_REPORTED - nestedDeviations.size()).forEach(nestedDeviations::add);
    }

    List<ReportedDeviation> deviations(MultipartDecoder decoder) {
        return Stream.concat(decoder.deviations().stream(), nestedDeviations.stream())
                .limit(MAX_REPORTED)
                .toList();
    }

    void fed(int count) {
        fedBytes += count;
        if (options.metrics() != null) { // once per chunk: nothing is made for nobody
            tell(metrics -> metrics.bodyReceived(count));
        }
    }

    long fedBytes() {
        return fedBytes;
    }

    /** Counts a part that begins. */
    void count(PartHead head, long headerBytes) throws MultipartException {
        begun++;
        filesBegun += head.filename() == null ? 0 : 1;
        check(begun, limits.maxParts(), Reason.TOO_MANY_PARTS, "the count of parts", "maxParts", head);
        check(filesBegun, limits.maxFiles(), Reason.TOO_MANY_FILES, "the count of files", "maxFiles", head);
        check(
                headerBytes,
                limits.maxHeaderBytes(),
                Reason.HEADERS_TOO_LARGE,
                "the size of all header sections",
                "maxHeaderBytes",
                head);
    }

    private static void check(long value, long limit, Reason reason, String what, String setting, PartHead head)
            throws MultipartException {
        if (value > limit) {
            throw MultipartException.of(
                    reason,
                    head.offset(),
                    head.index(),
                    what + " exceeds the limit of " + limit + " (" + setting + "; part " + head.index() + ", offset "
                            + head.offset() + ")");
        }
    }

    /** {@return the limits for a nested body: what the form has left} */
    Limits left(long headerBytes) {
        return limits.toBuilder()
                .unlimitedBodyBytes()
                .maxParts(Math.max(limits.maxParts() - begun, 0))
                .maxHeaderBytes(Math.max(limits.maxHeaderBytes() - headerBytes, 0))
                .build();
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

    void failed(Throwable reason, RequestMemory memory, MultipartDecoder decoder) {
        if (reason instanceof MultipartException e) {
            FormSummary.Outcome outcome = switch (e.kind()) {
                case MALFORMED -> FormSummary.Outcome.MALFORMED;
                case TRUNCATED -> FormSummary.Outcome.TRUNCATED;
                case LIMIT_EXCEEDED -> FormSummary.Outcome.LIMIT_EXCEEDED;
            };
            ended(outcome, e.reason(), memory, decoder);
        } else if (reason instanceof PartRefusedException) {
            ended(FormSummary.Outcome.REFUSED, null, memory, decoder);
        } else {
            boolean overloaded = reason instanceof CapacityException;
            ended(overloaded ? FormSummary.Outcome.OVERLOADED : FormSummary.Outcome.FAILED, null, memory, decoder);
        }
    }

    void ended(FormSummary.Outcome outcome, @Nullable Reason reason, RequestMemory memory, MultipartDecoder decoder) {
        tell(metrics -> metrics.formEnded(new FormSummary(
                outcome,
                reason,
                decoder.offset(),
                completed,
                files,
                spilledParts,
                spilledBytes,
                memory.peak(),
                decoder.deviationCount() + nestedCount,
                options.now() - started)));
    }

    /** The form goes on as it does, whatever the hook makes of it; but nobody is to overlook that it is broken. */
    private void tell(Consumer<FormMetrics> event) {
        FormMetrics metrics = options.metrics();
        if (metrics == null) {
            return;
        }
        try {
            event.accept(metrics);
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
