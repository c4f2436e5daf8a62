package dev.sluice.spring;

import dev.sluice.MultipartException;
import dev.sluice.servlet.MultipartRequestException;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.web.multipart.MaxUploadSizeExceededException;
import org.springframework.web.multipart.MultipartHttpServletRequest;
import org.springframework.web.multipart.support.StandardMultipartHttpServletRequest;
import org.springframework.web.multipart.support.StandardServletMultipartResolver;

/** Spring's resolver, except that it recognizes a form that is too large by the cause, not by the text of a message. */
final class SluiceMultipartResolver extends StandardServletMultipartResolver {
    private static final int TOO_LARGE = 413;

    /** A limit, because a chain of causes can be circular. */
    private static final int MAX_CAUSES = 32;

    private final boolean lazy;

    SluiceMultipartResolver(boolean lazy, boolean strict) {
        this.lazy = lazy;
        setStrictServletCompliance(strict);
    }

    /** {@return the exception that applications of Spring expect for the refusal} */
    static org.springframework.web.multipart.MultipartException toSpringException(MultipartRequestException refused) {
        if (refused.httpStatus() == TOO_LARGE) {
            return new MaxUploadSizeExceededException(
                    refused.getCause() instanceof MultipartException known ? known.limit() : -1, refused);
        }
        return new org.springframework.web.multipart.MultipartException("the form was refused", refused);
    }

    /** {@return the refusal in a chain of causes, or null} */
    static @Nullable MultipartRequestException findRefusal(Throwable failure) {
        Throwable cause = failure;
        for (int depth = 0; cause != null && depth < MAX_CAUSES; depth++, cause = cause.getCause()) {
            if (cause instanceof MultipartRequestException found) {
                return found;
            }
        }
        return null;
    }

    /** {@return whether the refusal or its cause, which {@code MultipartRequests} throws, is in a chain of causes} */
    static boolean isCausedBy(Throwable failure, MultipartRequestException refusal) {
        Throwable cause = failure;
        for (int depth = 0; cause != null && depth < MAX_CAUSES; depth++, cause = cause.getCause()) {
            if (cause == refusal || cause == refusal.getCause()) {
                return true;
            }
        }
        return false;
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
            MultipartRequestException refused = findRefusal(failure);
            if (refused == null) {
                super.handleParseFailure(failure);
                return;
            }
            throw toSpringException(refused);
        }
    }
}
