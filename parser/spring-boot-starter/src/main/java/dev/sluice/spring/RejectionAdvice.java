package dev.sluice.spring;

import dev.sluice.MultipartException;
import dev.sluice.Setting;
import dev.sluice.servlet.MultipartRequestException;
import dev.sluice.servlet.MultipartRequests;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Collections;
import java.util.Locale;
import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.multipart.MultipartRequest;
import org.springframework.web.util.WebUtils;

/**
 * An exception handler for rejected forms, and for requests that are not forms although the controller needs one.
 * Handlers of the application come first. The response is a {@code ProblemDetail} that names the limit, or the error
 * page of the application if the client prefers HTML, as browsers do.
 */
@RestControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE)
final class RejectionAdvice {
    private static final Log LOG = LogFactory.getLog(RejectionAdvice.class);

    /** Returns the response to a rejected form. Spring also calls this for exceptions that have the rejection as their cause. */
    @ExceptionHandler
    @Nullable
    ResponseEntity<ProblemDetail> rejected(
            MultipartRequestException rejection, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        if (response.isCommitted()) {
            throw rejection; // the container cuts the response off, so that the client does not take it as complete
        } else if (isPagePreferred(request)) {
            MultipartRequests.sendError(response, rejection);
            return null;
        }
        HttpStatusCode status = HttpStatusCode.valueOf(rejection.httpStatus());
        if (status.is5xxServerError()
                && !(rejection.getCause() instanceof MultipartException)) { // a failure of the disk or of a sink
            LOG.error("a form could not be received", rejection);
        }
        return entity(status, response).body(problem(status, rejection.getMessage(), rejection.getCause()));
    }

    /** Replaces a Content-Type that the application has set, because Spring cannot write the problem as {@code text/html}. */
    private static ResponseEntity.BodyBuilder entity(HttpStatusCode status, HttpServletResponse response) {
        if (response.getContentType() != null) { // the charset replaces the charset of the application
            response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE + ";charset=UTF-8");
        }
        return ResponseEntity.status(status);
    }

    private static ProblemDetail problem(HttpStatusCode status, @Nullable String detail, @Nullable Throwable cause) {
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, detail);
        if (cause instanceof MultipartException known) {
            problem.setProperty("reason", known.reason().name().toLowerCase(Locale.ROOT));
            Setting setting = known.setting();
            if (setting != null) {
                problem.setProperty("limit", setting.key());
            }
        }
        return problem;
    }

    /**
     * Responds with 400 to a form whose parts Spring cannot parse, and with 415 to a request that is not a form, if the
     * controller needs a form. Without this handler, Spring would respond with 500, unless the mapping of the controller has
     * {@code consumes = "multipart/form-data"}.
     */
    @ExceptionHandler
    @Nullable
    ResponseEntity<ProblemDetail> failed(
            org.springframework.web.multipart.MultipartException failure,
            HttpServletRequest request,
            HttpServletResponse response)
            throws IOException {
        MultipartRequestException rejection = MultipartRequestException.in(failure, null);
        if (rejection != null) {
            return rejected(rejection, request, response);
        }
        MultipartException reason;
        if (response.isCommitted()) {
            throw failure;
        } else if (failure.getCause() instanceof MultipartException known) {
            reason = known;
        } else if (failure.getCause() == null && WebUtils.getNativeRequest(request, MultipartRequest.class) == null) {
            reason = MultipartException.because(MultipartException.Reason.UNSUPPORTED_MEDIA_TYPE)
                    .saying("the request is not a form: its Content-Type must be multipart/form-data")
                    .build();
            response.setHeader(HttpHeaders.ACCEPT, MediaType.MULTIPART_FORM_DATA_VALUE);
        } else {
            throw failure;
        }
        if (isPagePreferred(request)) {
            response.sendError(reason.httpStatus(), reason.getMessage());
            return null;
        }
        HttpStatusCode status = HttpStatusCode.valueOf(reason.httpStatus());
        return entity(status, response).body(problem(status, reason.getMessage(), reason));
    }

    private static boolean isPagePreferred(HttpServletRequest request) {
        return ErrorPages.isPreferred(Collections.list(request.getHeaders(HttpHeaders.ACCEPT)));
    }
}
