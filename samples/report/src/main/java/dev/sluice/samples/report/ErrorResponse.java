package dev.sluice.samples.report;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import java.util.Map;

/**
 * The error in a response: a client error or a server problem.
 *
 * @param status the status of the HTTP response; not part of the JSON
 * @param reason a {@link MultipartException.Reason}, or a code of this application if the problem is outside the body
 * @param kind a {@link MultipartException.Kind}, or {@code HTTP} or {@code STORAGE} if the problem is outside the body
 * @param offset the offset of the offending byte in the multipart body, or -1
 * @param part the 0-based index of the offending part, or -1
 * @param message the message, one sentence
 */
@JsonPropertyOrder({"reason", "kind", "offset", "part", "message"})
public record ErrorResponse(@JsonIgnore int status, String reason, String kind, long offset, int part, String message) {

    public static ErrorResponse of(MultipartException e) {
        return new ErrorResponse(
                e.httpStatus(),
                e.reason().name(),
                e.kind().name(),
                e.offset(),
                e.partIndex(),
                String.valueOf(e.getMessage()));
    }

    /** {@return the error for a form that was rejected, did not fit on the disk, or could not be stored} */
    public static ErrorResponse of(Throwable failure) {
        if (failure instanceof MultipartException known) {
            return known.reason() == Reason.DISK_FULL ? diskFull() : of(known);
        }
        // Free space is not measured, because some may have been freed since. The string below is the message of the
        // operating system for ENOSPC.
        return String.valueOf(failure.getMessage()).contains("No space left on device") ? diskFull() : storage();
    }

    /** {@return the error for a problem in the request, but not in its body} */
    public static ErrorResponse http(int status, String reason, String message) {
        return new ErrorResponse(status, reason, "HTTP", -1, -1, message);
    }

    /** {@return the error for a storage failure; the details go to the log, not to the client} */
    public static ErrorResponse storage() {
        return stored(500, "STORAGE_FAILED", "the server could not store the upload, and kept nothing of it");
    }

    /** {@return the error for a file that does not fit on the disk} */
    public static ErrorResponse diskFull() {
        String message = "the server's disk has too little free space; nothing of the upload was kept";
        return stored(507, "DISK_FULL", message);
    }

    private static ErrorResponse stored(int status, String reason, String message) {
        return new ErrorResponse(status, reason, "STORAGE", -1, -1, message);
    }

    /** {@return the error for an internal failure; the details go to the log, not to the client} */
    public static ErrorResponse internal() {
        return http(500, "INTERNAL_ERROR", "the server failed to handle the request");
    }

    public Map<String, ErrorResponse> asResponse() {
        return Map.of("error", this);
    }
}
