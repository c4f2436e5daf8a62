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
 * Answers refused forms that no handler of the application takes: with a problem that names the limit, or with the error page of
 * the application if the client prefers HTML, as browsers do.
 */
@RestControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE)
final class RefusedForms {
    private static final Log LOG = LogFactory.getLog(RefusedForms.class);

    /** Also for Spring's exceptions with this one as their cause. */
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
                && !(refusal.getCause() instanceof MultipartException)) { // of the disk or of a sink
            LOG.error("a form was not taken", refusal);
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
