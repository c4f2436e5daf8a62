package dev.sluice.spring;

import dev.sluice.MultipartException;
import dev.sluice.servlet.MultipartRequestException;
import jakarta.servlet.http.HttpServletRequest;
import org.springframework.web.multipart.MaxUploadSizeExceededException;
import org.springframework.web.multipart.MultipartHttpServletRequest;
import org.springframework.web.multipart.support.StandardMultipartHttpServletRequest;
import org.springframework.web.multipart.support.StandardServletMultipartResolver;

/**
 * Spring's resolver, except that it recognizes a form that is too large by the status of the rejection, not by a message
 * text.
 */
final class SluiceMultipartResolver extends StandardServletMultipartResolver {
    private static final int TOO_LARGE = 413;

    private final boolean lazy;

    SluiceMultipartResolver(boolean lazy, boolean strict) {
        this.lazy = lazy;
        setStrictServletCompliance(strict);
    }

    /** {@return the exception that applications of Spring expect for the rejection} */
    static org.springframework.web.multipart.MultipartException toSpringException(MultipartRequestException rejected) {
        if (rejected.httpStatus() == TOO_LARGE) {
            return new MaxUploadSizeExceededException(
                    rejected.getCause() instanceof MultipartException known ? known.limit() : -1, rejected);
        }
        return new org.springframework.web.multipart.MultipartException("the form was rejected", rejected);
    }

    @Override
    public MultipartHttpServletRequest resolveMultipart(HttpServletRequest request) {
        return new Resolved(request, lazy);
    }

    private static final class Resolved extends StandardMultipartHttpServletRequest {
        Resolved(HttpServletRequest request, boolean lazy) {
            super(request, lazy);
        }

        @Override
        protected void handleParseFailure(Throwable failure) {
            MultipartRequestException rejected = MultipartRequestException.in(failure, null);
            if (rejected == null) {
                super.handleParseFailure(failure);
                return;
            }
            throw toSpringException(rejected);
        }
    }
}
