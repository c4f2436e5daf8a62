package dev.sluice.s3;

import java.io.IOException;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Thrown for two kinds of responses of the object store: incomplete ones, which leave the outcome of the request open, and ones that show
 * that the stored bytes differ from the bytes sent.
 */
final class ResponseException extends IOException {
    private static final long serialVersionUID = 1L;

    /** Whether the response shows that the stored bytes differ from the bytes sent. */
    final boolean isMismatch;

    private ResponseException(String message, boolean isMismatch) {
        super(message);
        this.isMismatch = isMismatch;
    }

    /** {@return an exception for an inconclusive response; the request can be repeated} */
    static ResponseException incomplete(String message) {
        return new ResponseException(message, false);
    }

    /** Throws if {@code stored}, the value in the response, differs from {@code sent}; null means that the response has no such value. */
    static void requireSame(Object sent, @Nullable Object stored) {
        if (stored != null && !stored.equals(sent)) {
            throw new CompletionException(new ResponseException(
                    "the stored bytes differ from the bytes sent: " + stored + " instead of " + sent, true));
        }
    }

    /** {@return {@code value}} Throws if it is null or empty, which means that the response does not have it. */
    static <T> T required(String what, @Nullable T value) {
        if (value == null || value.equals("")) {
            throw new CompletionException(incomplete("the response of the object store lacks " + what));
        }
        return value;
    }

    /** {@return {@code marker}, which begins the next page, or null after the last page} Throws if the response is incomplete. */
    static @Nullable String requireNext(@Nullable Boolean isTruncated, @Nullable String marker) {
        return required("IsTruncated", isTruncated) ? required("a marker", marker) : null;
    }
}
