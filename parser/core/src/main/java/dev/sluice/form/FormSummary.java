package dev.sluice.form;

import dev.sluice.MultipartException;
import dev.sluice.ReportedDeviation;
import dev.sluice.form.assembly.EndedForm;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of one form, for {@link FormMetrics}. Only the library implements this interface, and a later release may add methods.
 *
 * <p>The {@link #failure()} can contain text from the client: its message has only the escaped beginning of that text, without control
 * characters, and {@link MultipartException#fieldName()} has all of it. The {@link #remoteAddress()} may come from a header of the request.
 * Nothing else contains text from the client.
 */
public interface FormSummary {
    /** How a form ended. */
    enum Outcome {
        /** The form is complete. */
        COMPLETED,
        /** The body violates the grammar, or its type is not supported (400, 415). */
        MALFORMED,
        /** The body ended too early (400). */
        TRUNCATED,
        /** The body exceeds a limit (413). */
        LIMIT_EXCEEDED,
        /** The application rejected the form. */
        REFUSED,
        /** The server has no memory, disk space or other capacity for the form (503, 507). */
        OVERLOADED,
        /** The client sent too slowly (408). */
        TOO_SLOW,
        /** A sink, the disk or the application failed. */
        FAILED,
        /** The form was aborted before its end, for example because the connection broke. */
        ABORTED
    }

    /** {@return a summary with all counts 0, to test a listener} */
    static FormSummary of(
            Outcome outcome,
            MultipartException.@Nullable Reason reason,
            @Nullable Throwable failure,
            @Nullable String remoteAddress) {
        return new EndedForm(outcome, reason, failure, remoteAddress, 0, 0, 0, 0, 0, 0, 0, List.of(), 0);
    }

    /** {@return how the form ended} */
    Outcome outcome();

    /** {@return the reason of the {@link #failure()}; null if the failure is not a {@link MultipartException}, or the form was aborted} */
    MultipartException.@Nullable Reason reason();

    /**
     * {@return the exception that ended the form} It is a {@link MultipartException} with the part, the field and the offset, or the
     * original exception of a sink, a disk or the connection. It is null if the form is complete, or was rejected without an exception.
     */
    @Nullable
    Throwable failure();

    /** {@return the address of the client, if the adapter knows it, or null} */
    @Nullable
    String remoteAddress();

    /** {@return the number of body bytes that were decoded} */
    long bodyBytes();

    /** {@return the number of complete parts} */
    int parts();

    /** {@return the number of complete parts that have a file name} */
    int files();

    /** {@return the number of complete parts that were stored in a file of the spool} */
    int spilledParts();

    /** {@return the total size of the parts that were stored in files of the spool, in bytes} */
    long spilledBytes();

    /** {@return the largest number of bytes that were charged to {@link FormOptions#maxInMemoryBytes()} at the same time} */
    long peakMemoryBytes();

    /** {@return the number of deviations from the standards that were accepted and reported} */
    long deviations();

    /** {@return the first 100 deviations that were accepted and reported, in the body first and then in its nested bodies} */
    List<ReportedDeviation> reported();

    /** {@return the time from the start of the form, before the first byte, to its end, in nanoseconds} */
    long nanos();
}
