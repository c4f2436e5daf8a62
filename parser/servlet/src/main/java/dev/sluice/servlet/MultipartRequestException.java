package dev.sluice.servlet;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import java.io.IOException;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The exception that {@code getParts}, {@code getParameter} and the related methods throw if a form is rejected or
 * cannot be stored. It is an {@link IllegalStateException}, as the servlet specification requires. If it leaves the
 * filter chain, {@link SluiceFilter} sends the error response.
 *
 * <p>The cause is a {@link MultipartException} with the same status and message, or the {@link IOException} of a sink,
 * the disk or the connection, whose message is not for clients. If the body was read before the filter, the cause is an
 * {@link IllegalStateException}. If the method is not allowed, the cause is null.
 */
public final class MultipartRequestException extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    /** The number of causes to examine, because a chain of causes can be circular. */
    private static final int MAX_CAUSES = 32;

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

    /** {@return the exception for any failure except a failed connection} */
    static MultipartRequestException of(IOException failure, boolean closesConnection) {
        IOException cause = translated(failure);
        return cause instanceof MultipartException known
                ? new MultipartRequestException(known.httpStatus(), known.getMessage(), known, closesConnection, false)
                : new MultipartRequestException(500, "the form could not be stored", cause, closesConnection, false);
    }

    /** {@return the exception for a form whose request method is not one of {@code allowed}} */
    static MultipartRequestException ofMethod(String allowed) {
        return new MultipartRequestException(405, "forms are accepted with " + allowed, null, false, false);
    }

    /** {@return the exception for a mistake in the set-up of the application} */
    static MultipartRequestException ofSetUp(String message) {
        return new MultipartRequestException(
                500, "the form could not be read", new IllegalStateException(message), false, false);
    }

    /** {@return the exception for a body that is too large for the container; any other exception unchanged} */
    static IOException translated(IOException failure) {
        return isContainerRejection(failure)
                ? MultipartException.because(Reason.BODY_TOO_LARGE)
                        .saying("the size of the body exceeds the limit of the container")
                        .ownLimit(-1)
                        .cause(failure)
                        .build()
                : failure;
    }

    /** {@return whether this is the exception with which Undertow and WildFly reject a body that is too large} */
    static boolean isContainerRejection(Throwable failure) {
        return failure.getClass().getSimpleName().equals("RequestTooBigException");
    }

    /** {@return the exception for a failed connection, for methods that cannot throw an {@link IOException}} */
    static MultipartRequestException clientGone(IOException cause, boolean closesConnection) {
        return new MultipartRequestException(
                400, "the body could not be read to its end", cause, closesConnection, true);
    }

    /**
     * {@return the exception of this type in a chain of causes, or null if there is none} For use in exception
     * handlers.
     *
     * @param rejection null, or the exception that rejected the form of the request. It is also returned if only its
     *     cause is in the chain, because the methods of {@link MultipartRequests} throw the cause
     */
    public static @Nullable MultipartRequestException in(
            Throwable failure, @Nullable MultipartRequestException rejection) {
        Throwable unwrapped = rejection == null ? null : rejection.getCause();
        Throwable found =
                firstCause(failure, cause -> cause instanceof MultipartRequestException || cause == unwrapped);
        return found instanceof MultipartRequestException known ? known : found == null ? null : rejection;
    }

    /** {@return {@link #in}, or an exception for the {@link MultipartException} in the chain of causes, or null} */
    static @Nullable MultipartRequestException of(
            Throwable failure, @Nullable MultipartRequestException rejection, boolean closesConnection) {
        MultipartRequestException known = in(failure, rejection);
        return known == null
                        && firstCause(failure, MultipartException.class::isInstance) instanceof MultipartException e
                ? of(e, closesConnection)
                : known;
    }

    private static @Nullable Throwable firstCause(Throwable failure, Predicate<Throwable> wanted) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
                .limit(MAX_CAUSES)
                .filter(wanted)
                .findFirst()
                .orElse(null);
    }

    /** {@return the {@link MultipartException} that {@code failure} wraps for the servlet API, or {@code failure} itself} */
    static Throwable unwrapped(Throwable failure) {
        return failure instanceof MultipartRequestException && failure.getCause() instanceof MultipartException rejected
                ? rejected
                : failure;
    }

    /** {@return the HTTP status for the response: 400, 405, 408, 413, 415, 500, 503, 507, or a status that the application chose} */
    public int httpStatus() {
        return httpStatus;
    }

    /**
     * {@return whether the response should have {@code Connection: close}, because the rest of the body is not read. Never
     * true with HTTP/2, which does not allow that header}
     */
    public boolean closesConnection() {
        return closesConnection;
    }

    boolean isClientGone() {
        return clientGone;
    }

    /** {@return whether the disk or a sink failed} */
    boolean isServerFailure() {
        return !clientGone && getCause() instanceof IOException && !(getCause() instanceof MultipartException);
    }
}
