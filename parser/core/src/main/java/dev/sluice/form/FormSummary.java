package dev.sluice.form;

import dev.sluice.MultipartException;
import dev.sluice.ReportedDeviation;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What became of one form; nothing in it comes from the client but numbers.
 *
 * @param outcome how it ended
 * @param reason why it was not taken, or null where it was, or for a reason that is not the library's
 * @param bodyBytes bytes of the body that were read
 * @param parts parts that were complete
 * @param files those of them with a file name
 * @param spilledParts parts that went to a file of the spool
 * @param spilledBytes bytes that were kept in files of the spool when the form ended
 * @param peakMemoryBytes the most that was charged to the limit of the form at a time
 * @param deviations how many oddities were accepted and reported
 * @param reported the first 100 of these
 * @param nanos from its start, before the first byte, to its end
 */
public record FormSummary(
        Outcome outcome,
        MultipartException.@Nullable Reason reason,
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
        /** All of it was taken. */
        COMPLETED,
        /** It broke the grammar (400, 415). */
        MALFORMED,
        /** It ended too early (400). */
        TRUNCATED,
        /** It exceeded a limit (413). */
        LIMIT_EXCEEDED,
        /** The application refused it. */
        REFUSED,
        /** There was no memory or disk space for it (503, 507). */
        OVERLOADED,
        /** The client sent too slowly (408). */
        TOO_SLOW,
        /** A sink, the disk or the application failed. */
        FAILED,
        /** It was closed before its end. */
        ABORTED
    }
}
