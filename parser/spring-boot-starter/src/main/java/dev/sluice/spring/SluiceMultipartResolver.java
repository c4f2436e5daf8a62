package dev.sluice.spring;

import dev.sluice.MultipartException;
import dev.sluice.servlet.MultipartRequestException;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import org.springframework.web.multipart.MaxUploadSizeExceededException;
import org.springframework.web.multipart.MultipartHttpServletRequest;
import org.springframework.web.multipart.support.StandardMultipartHttpServletRequest;
import org.springframework.web.multipart.support.StandardServletMultipartResolver;

/**
 * Spring's resolver, with two differences. It recognizes a form that is too large by the status of the rejection, not by
 * a message text. A Content-Disposition that only Sluice can parse gets 400, not 500.
 */
final class SluiceMultipartResolver extends StandardServletMultipartResolver {
    private static final int TOO_LARGE = 413;

    private final boolean lazy;

    SluiceMultipartResolver(boolean lazy, boolean strict) {
        this.lazy = lazy;
        setStrictServletCompliance(strict);
    }

    /** {@return the exception that Spring applications expect for the rejection} */
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
            if (rejected != null) {
                throw toSpringException(rejected);
            } else if (failure instanceof IllegalArgumentException && isFormAccepted()) {
                throw new org.springframework.web.multipart.MultipartException(
                        "the form was rejected",
                        MultipartException.because(MultipartException.Reason.MALFORMED_CONTENT_DISPOSITION)
                                .saying("the Content-Disposition of a part cannot be parsed by Spring")
                                .cause(failure)
                                .build());
            }
            super.handleParseFailure(failure);
        }

        /** {@return whether the failure comes from Spring's parser of part headers, and not from the form} */
        private boolean isFormAccepted() {
            try {
                getRequest().getParts();
                return true;
            } catch (IOException | ServletException | RuntimeException e) {
                return false;
            }
        }
    }
}
