package dev.sluice.servlet;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * The form of a request could not be taken. The only exception that {@code getParts}, {@code getParameter} and what
 * belongs to them throw because of what the client sent, or for want of room; an {@link IllegalStateException}, as the
 * servlet specification says.
 *
 * <p>The cause is the {@link MultipartException}, whose status and message this has, or the {@link IOException} of a sink
 * or the disk, which is not for clients; a form with a method that is not allowed has none. If it leaves the filter chain, {@link SluiceFilter} answers it.
 */
public final class MultipartRequestException extends IllegalStateException {
    private static final long serialVersionUID = 1L;
    private static final int DEEPEST_CAUSE = 32;

    private final int httpStatus;
    private final boolean closesConnection;
    private final boolean clientGone;

    private MultipartRequestException(
            int httpStatus,
            @Nullable String message,
            @Nullable Throwable cause,
            boolean closesConnection,
            boolean clientGone) {
        super(message, cause);
        this.httpStatus = httpStatus;
        this.closesConnection = closesConnection;
        this.clientGone = clientGone;
    }

    /** {@return what to throw for trouble other than that of the connection} */
    static MultipartRequestException of(IOException cause, boolean closesConnection) {
        if (isOfContainer(cause)) {
            return of(
                    MultipartException.because(Reason.BODY_TOO_LARGE)
                            .saying("the size of the body exceeds the limit of the container")
                            .ownLimit(-1)
                            .cause(cause)
                            .build(),
                    closesConnection);
        }
        return cause instanceof MultipartException known
                ? new MultipartRequestException(known.httpStatus(), known.getMessage(), known, closesConnection, false)
                : new MultipartRequestException(500, "the form could not be stored", cause, closesConnection, false);
    }

    /** {@return what to throw for a form with another method than {@code allowed}} */
    static MultipartRequestException ofMethod(String allowed) {
        return new MultipartRequestException(405, "forms are taken with " + allowed, null, false, false);
    }

    /** {@return what to throw where the application is not set up as it has to be} */
    static MultipartRequestException ofSetUp(String what) {
        return new MultipartRequestException(
                500, "the form could not be read", new IllegalStateException(what), false, false);
    }

    /** {@return whether the container takes no body of that size: Undertow and WildFly, whose word for it this is} */
    static boolean isOfContainer(Throwable failure) {
        return failure.getClass().getSimpleName().equals("RequestTooBigException");
    }

    /** {@return the trouble of the connection, for methods that cannot throw it as it is} */
    static MultipartRequestException clientGone(IOException cause, boolean closesConnection) {
        return new MultipartRequestException(
                400, "the body could not be read to its end", cause, closesConnection, true);
    }

    /**
     * {@return the exception of this type in a chain of causes, or null}
     *
     * @param refusal of the request; found by its cause, too, which the methods of {@link MultipartRequests} throw
     */
    static @Nullable MultipartRequestException in(Throwable failure, @Nullable MultipartRequestException refusal) {
        Throwable unwrapped = refusal == null ? null : refusal.getCause();
        Throwable cause = failure;
        for (int depth = 0; cause != null && depth < DEEPEST_CAUSE; depth++) {
            if (cause instanceof MultipartRequestException found) {
                return found;
            } else if (cause == unwrapped) {
                return refusal;
            }
            cause = cause.getCause();
        }
        return null;
    }

    /** {@return an exception for the {@link MultipartException} in a chain of causes, or null if there is none} */
    static @Nullable MultipartRequestException ofReason(Throwable failure) {
        Throwable cause = failure;
        for (int depth = 0; cause != null && depth < DEEPEST_CAUSE; depth++, cause = cause.getCause()) {
            if (cause instanceof MultipartException known) {
                return of(known, false);
            }
        }
        return null;
    }

    /** {@return the {@link MultipartException} that {@code failure} wraps for the servlet API; else {@code failure}} */
    static Throwable unwrapped(Throwable failure) {
        return failure instanceof MultipartRequestException && failure.getCause() instanceof MultipartException refused
                ? refused
                : failure;
    }

    /** {@return the HTTP status to answer: 400, 405, 408, 413, 415, 500, 503, 507, or what the application refused with} */
    public int httpStatus() {
        return httpStatus;
    }

    /**
     * {@return whether the answer should have {@code Connection: close}, because the rest of the body is not read; never with
     * HTTP/2, which does not allow that header}
     */
    public boolean closesConnection() {
        return closesConnection;
    }

    boolean isClientGone() {
        return clientGone;
    }

    /** {@return whether the disk or a sink failed} */
    boolean isOfServer() {
        return !clientGone && getCause() instanceof IOException && !(getCause() instanceof MultipartException);
    }
}
