package dev.sluice.spring;

import dev.sluice.MultipartException;
import dev.sluice.servlet.MultipartRequestException;
import jakarta.servlet.http.HttpServletRequest;
import org.jspecify.annotations.Nullable;
import org.springframework.web.multipart.MaxUploadSizeExceededException;
import org.springframework.web.multipart.MultipartHttpServletRequest;
import org.springframework.web.multipart.support.StandardMultipartHttpServletRequest;
import org.springframework.web.multipart.support.StandardServletMultipartResolver;

/** Spring's resolver, which tells a form that is too large from others by what was refused, not by the words of a message. */
final class SluiceMultipartResolver extends StandardServletMultipartResolver {
    private static final int TOO_LARGE = 413;

    /** A chain of causes may be a circle. */
    private static final int DEEPEST_CAUSE = 32;

    private final boolean lazy;

    SluiceMultipartResolver(boolean lazy, boolean strict) {
        this.lazy = lazy;
        setStrictServletCompliance(strict);
    }

    /** {@return what Spring's applications know for it} */
    static org.springframework.web.multipart.MultipartException translated(MultipartRequestException refused) {
        if (refused.httpStatus() == TOO_LARGE) {
            return new MaxUploadSizeExceededException(
                    refused.getCause() instanceof MultipartException known ? known.limit() : -1, refused);
        }
        return new org.springframework.web.multipart.MultipartException("the form was refused", refused);
    }

    /** {@return the refusal in a chain of causes, or null} */
    static @Nullable MultipartRequestException refusal(Throwable failure) {
        Throwable cause = failure;
        for (int depth = 0; cause != null && depth < DEEPEST_CAUSE; depth++, cause = cause.getCause()) {
            if (cause instanceof MultipartRequestException found) {
                return found;
            }
        }
        return null;
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
            MultipartRequestException refused = refusal(failure);
            if (refused == null) {
                super.handleParseFailure(failure);
                return;
            }
            throw translated(refused);
        }
    }
}
