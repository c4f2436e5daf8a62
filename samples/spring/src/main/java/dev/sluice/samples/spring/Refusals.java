package dev.sluice.samples.spring;

import dev.sluice.servlet.MultipartRequestException;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.ProblemDetail;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.multipart.MaxUploadSizeExceededException;
import org.springframework.web.multipart.MultipartException;

/** Answers uploads that are refused before a controller sees them. */
@RestControllerAdvice
public class Refusals {
    /**
     * The body, a part of it or their number is beyond a limit (413): the message names it. Spring goes by the words of
     * a message, and those of a full disk (507) or a full memory (503) are much the same; the cause knows better.
     */
    @ExceptionHandler(MaxUploadSizeExceededException.class)
    public ProblemDetail tooLarge(MaxUploadSizeExceededException refusal) {
        return problem(413, refusal);
    }

    /** The body is malformed (400), or the client too slow (408). */
    @ExceptionHandler(MultipartException.class)
    public ProblemDetail refused(MultipartException refusal) {
        return problem(400, refusal);
    }

    private static ProblemDetail problem(int statusOtherwise, MultipartException refusal) {
        int status =
                refusal.getCause() instanceof MultipartRequestException known ? known.httpStatus() : statusOtherwise;
        return ProblemDetail.forStatusAndDetail(
                HttpStatusCode.valueOf(status), refusal.getMostSpecificCause().getMessage());
    }
}
