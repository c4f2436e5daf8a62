package dev.sluice.samples.report;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import java.util.Map;

/**
 * What a client is told that did wrong, or that met a server in trouble.
 *
 * @param status of the HTTP answer; not part of the JSON
 * @param reason a {@link MultipartException.Reason}, or a word for what is wrong around the body
 * @param kind a {@link MultipartException.Kind}, or {@code HTTP} or {@code STORAGE} for what is wrong around the body
 * @param offset of the offending byte of the multipart body, or -1
 * @param part 0-based index of the part at fault, or -1
 * @param message one sentence
 */
@JsonPropertyOrder({"reason", "kind", "offset", "part", "message"})
public record ErrorAnswer(@JsonIgnore int status, String reason, String kind, long offset, int part, String message) {

    /** {@return what is wrong with the body} */
    public static ErrorAnswer of(MultipartException e) {
        return new ErrorAnswer(
                e.httpStatus(),
                e.reason().name(),
                e.kind().name(),
                e.offset(),
                e.partIndex(),
                String.valueOf(e.getMessage()));
    }

    /** {@return why a form was not taken: its own fault, too little room, or trouble of the server} */
    public static ErrorAnswer of(Throwable failure) {
        if (failure instanceof MultipartException known) {
            return known.reason() == Reason.DISK_FULL ? diskFull() : of(known);
        }
        // Others may have made room since, so that what is free now does not tell; the text is that of ENOSPC.
        return String.valueOf(failure.getMessage()).contains("No space left on device") ? diskFull() : storage();
    }

    /** {@return a fault of the request around the body} */
    public static ErrorAnswer http(int status, String reason, String message) {
        return new ErrorAnswer(status, reason, "HTTP", -1, -1, message);
    }

    /** {@return trouble of the server's disk; the details go to the log, not to the client} */
    public static ErrorAnswer storage() {
        return stored(500, "STORAGE_FAILED", "the server could not store the upload; nothing of it was kept");
    }

    /** {@return the refusal of a file for which there is no room on the disk} */
    public static ErrorAnswer diskFull() {
        String message = "there is too little free space on the server's disk; nothing of the upload was kept";
        return stored(507, "DISK_FULL", message);
    }

    private static ErrorAnswer stored(int status, String reason, String message) {
        return new ErrorAnswer(status, reason, "STORAGE", -1, -1, message);
    }

    /** {@return a fault of the server itself; the details go to the log, not to the client} */
    public static ErrorAnswer internal() {
        return http(500, "INTERNAL_ERROR", "the server failed at this request");
    }

    /** {@return the fault of a connection that ended before the body that it announced} */
    public static ErrorAnswer cutOff(long received, int part) {
        return of(MultipartException.because(Reason.TRUNCATED)
                .saying("the connection ended before the request body did")
                .part(part, null)
                .at(received)
                .build());
    }

    /** {@return this as the whole answer} */
    public Map<String, ErrorAnswer> asAnswer() {
        return Map.of("error", this);
    }
}
