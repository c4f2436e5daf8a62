package dev.sluice.form;

import dev.sluice.MultipartException;
import dev.sluice.ReportedDeviation;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The outcome of one form, for {@link FormMetrics}. The {@code failure} can contain text from the client: its message has only the escaped
 * beginning of that text, without control characters, and {@link MultipartException#fieldName()} has all of it. Nothing else
 * contains text from the client.
 *
 * @param outcome how the form ended
 * @param reason the reason of the rejection; null if the form is complete, was aborted, or failed for a reason outside
 *     the library
 * @param failure the exception that ended the form: a {@link MultipartException} with the part, the field and the offset, or the original
 *     exception of a sink, a disk or the connection; null if the form is complete, or was rejected without an exception
 * @param remoteAddress the address of the client, if the adapter knows it, or null
 * @param bodyBytes the number of body bytes that were decoded
 * @param parts the number of complete parts
 * @param files the number of complete parts that have a file name
 * @param spilledParts the number of complete parts that were stored in a file of the spool
 * @param spilledBytes the total size of these parts, in bytes
 * @param peakMemoryBytes the largest number of bytes charged to the limit of the form at the same time
 * @param deviations the number of deviations that were accepted and reported
 * @param reported the first 100 of these deviations
 * @param nanos the time from the start of the form, before the first byte, to its end, in nanoseconds
 */
public record FormSummary(
        Outcome outcome,
        MultipartException.@Nullable Reason reason,
        @Nullable Throwable failure,
        @Nullable String remoteAddress,
        long bodyBytes,
        int parts,
        int files,
        int spilledParts,
        long spilledBytes,
        long peakMemoryBytes,
        long deviations,
        List<ReportedDeviation> reported,
        long nanos) {
    /** How a form ended. */
    public enum Outcome {
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
}
