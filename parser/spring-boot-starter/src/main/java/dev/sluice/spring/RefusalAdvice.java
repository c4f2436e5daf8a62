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
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * An exception handler that answers refused forms, unless the application does so itself. The answer is a {@code
 * ProblemDetail} that names the limit, or the error page of the application if the client prefers HTML, as browsers do.
 */
@RestControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE)
final class RefusalAdvice {
    private static final Log LOG = LogFactory.getLog(RefusalAdvice.class);

    /** Answers the refusal. Spring also calls this for exceptions that have the refusal as their cause. */
    @ExceptionHandler
    @Nullable
    ResponseEntity<ProblemDetail> refused(
            MultipartRequestException refusal, HttpServletRequest request, HttpServletResponse response)
            throws IOException {
        if (ErrorPages.isPreferred(Collections.list(request.getHeaders(HttpHeaders.ACCEPT)))) {
            MultipartRequests.sendError(response, refusal);
            return null;
        }
        HttpStatusCode status = HttpStatusCode.valueOf(refusal.httpStatus());
        if (status.is5xxServerError()
                && !(refusal.getCause() instanceof MultipartException)) { // a failure of the disk or of a sink
            LOG.error("a form could not be received", refusal);
        }
        ProblemDetail problem = ProblemDetail.forStatusAndDetail(status, refusal.getMessage());
        if (refusal.getCause() instanceof MultipartException known) {
            problem.setProperty("reason", known.reason().name().toLowerCase(Locale.ROOT));
            Setting setting = known.setting();
            if (setting != null) {
                problem.setProperty("limit", setting.key());
            }
        }
        ResponseEntity.BodyBuilder answer = ResponseEntity.status(status);
        if (refusal.closesConnection()) {
            answer.header(HttpHeaders.CONNECTION, "close");
        }
        return answer.body(problem);
    }
}
