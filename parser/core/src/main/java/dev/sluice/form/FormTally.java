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

/** Counts what a form has: for the limits that hold across nested bodies, and for the metrics. */
final class FormTally {
    private static final int MAX_REPORTED = 100;

    private final MultipartOptions limits;
    private final FormOptions options;
    private final long started;
    private final List<ReportedDeviation> nestedDeviations = new ArrayList<>();
    private long nestedCount;
    private long begun;
    private long filesBegun;
    private int completed;
    private int files;
    private int spilledParts;
    private long spilledBytes;

    FormTally(FormOptions options) {
        this.options = options;
        this.limits = options.multipart();
        this.started = options.now();
        tell(FormMetrics::formStarted);
    }

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
        if (options.metrics() != null) { // once per chunk: nothing is made for nobody
            tell(metrics -> metrics.bodyReceived(count));
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

    void failed(Throwable failure, FormMemory memory, MultipartDecoder decoder) {
        Reason reason = failure instanceof MultipartException e ? e.reason() : null;
        ended(FormSummary.Outcome.of(reason), reason, memory, decoder);
    }

    void ended(FormSummary.Outcome outcome, @Nullable Reason reason, FormMemory memory, MultipartDecoder decoder) {
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
                deviations(decoder),
                options.now() - started)));
    }

    private void tell(Consumer<FormMetrics> event) {
        FormMetrics metrics = options.metrics();
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
