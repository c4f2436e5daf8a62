package dev.sluice.s3;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.StoreMetrics;
import dev.sluice.form.StoreMetrics.Cause;
import dev.sluice.task.IsolatedCall;
import java.io.IOException;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.UnknownHostException;
import java.nio.file.FileAlreadyExistsException;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.s3.model.S3Exception;

/**
 * Retries failed requests, and creates the exceptions for requests whose last attempt fails. Thread-safe.
 *
 * <p>Until the store has responded for the first time, a request that fails without a response is made at most twice. The address, the
 * certificate or the credentials are probably wrong, and the start of the application must not wait for them. Requests that exceed their
 * time limit are retried as usual.
 */
final class Retries {
    private static final int MAX_FIRST_CONNECTIONS = 2;

    private final int attempts;
    private final long pauseMillis;
    private final Function<Duration, CompletableFuture<Void>> after;
    private final StoreMetrics metrics;
    private volatile boolean hasResponded;

    /**
     * @param attempts the maximum number of attempts for a request
     * @param pauseMillis the longest pause before the second attempt; if the store is busy, the longest pause is five times this value
     * @param after returns a future that completes after a delay
     */
    Retries(int attempts, long pauseMillis, Function<Duration, CompletableFuture<Void>> after, StoreMetrics metrics) {
        this.attempts = attempts;
        this.pauseMillis = pauseMillis;
        this.after = after;
        this.metrics = metrics;
    }

    /**
     * {@return the response of the first successful attempt, or the failure of the last one; cancelling it cancels the
     * current attempt}
     */
    <T> CompletableFuture<T> trying(String what, Supplier<CompletableFuture<T>> call) {
        CompletableFuture<T> outcome = new CompletableFuture<>();
        attempt(what, call, outcome, 1, null);
        return outcome;
    }

    /** @param earlier the last failure of an earlier attempt that {@link #moreExact} may prefer, or null */
    private <T> void attempt(
            String what,
            Supplier<CompletableFuture<T>> call,
            CompletableFuture<T> outcome,
            int number,
            @Nullable Throwable earlier) {
        if (outcome.isDone()) {
            return;
        }
        CompletableFuture<T> running = Futures.tryCall(call);
        outcome.whenComplete((value, failure) -> running.cancel(true));
        running.whenComplete((value, failure) -> {
            Throwable reason = failure == null ? null : Futures.unwrap(failure);
            if (reason == null || reason instanceof S3Exception) {
                hasResponded = true;
            }
            if (reason == null) {
                outcome.complete(value);
                return;
            }
            Cause cause = transientCause(reason);
            boolean isUnreachable = !hasResponded && cause == Cause.CONNECTION;
            if (cause == null || number >= (isUnreachable ? Math.min(attempts, MAX_FIRST_CONNECTIONS) : attempts)) {
                outcome.completeExceptionally(explained(what, moreExact(earlier, reason)));
                return;
            }
            Throwable kept = earlier != null && isStatus(earlier, 409) ? earlier : moreExact(earlier, reason);
            IsolatedCall.run(() -> metrics.retried(cause));
            long longest = (cause == Cause.BUSY ? 5 * pauseMillis : pauseMillis) << Math.min(number - 1, 6);
            long pause = longest / 2 + ThreadLocalRandom.current().nextLong(longest / 2 + 1);
            after.apply(Duration.ofMillis(pause)).whenComplete((passed, closed) -> {
                if (closed == null) {
                    attempt(what, call, outcome, number + 1, kept);
                } else {
                    outcome.completeExceptionally(Futures.unwrap(closed));
                }
            });
        });
    }

    /**
     * {@return the failure that says more about the problem} A conflict may make the store forget the upload, so that a later attempt fails
     * with 404. After a connection is refused, the SDK may not notice that the next one is refused as well, and report that it waited too
     * long for a connection.
     */
    private static Throwable moreExact(@Nullable Throwable earlier, Throwable last) {
        if (earlier == null) {
            return last;
        }
        boolean isForgotten = isStatus(earlier, 409) && isStatus(last, 404);
        boolean isUnnoticed = connectFailure(earlier) != null && rootCause(last) instanceof TimeoutException;
        return isForgotten || isUnnoticed ? earlier : last;
    }

    private static Throwable rootCause(Throwable failure) {
        Throwable cause = failure;
        while (cause.getCause() != null) {
            cause = cause.getCause();
        }
        return cause;
    }

    /** {@return the reason of an error if another attempt may succeed, otherwise null} */
    static @Nullable Cause transientCause(@Nullable String code) {
        return switch (Objects.toString(code, "")) {
            case "SlowDown", "ServiceUnavailable", "Throttling", "ThrottlingException", "RequestLimitExceeded" ->
                Cause.BUSY;
            case "RequestTimeout" -> Cause.TIMEOUT;
            case "ExpiredToken", "ExpiredTokenException" -> Cause.CREDENTIALS;
            case "OperationAborted", "ConditionalRequestConflict" -> Cause.CONFLICT;
            case "BadDigest", "IncompleteBody", "XAmzContentChecksumMismatch", "XAmzContentSHA256Mismatch" ->
                Cause.DAMAGED;
            case "InternalError", "RequestTimeTooSkewed" -> Cause.SERVER;
            default -> null;
        };
    }

    /** {@return the reason of a failure if another attempt may succeed, otherwise null} */
    static @Nullable Cause transientCause(Throwable failure) {
        if (failure instanceof S3Exception e) {
            Cause cause = e.statusCode() == 503 || e.statusCode() == 429 ? Cause.BUSY : transientCause(code(e));
            return cause == null && e.statusCode() >= 500 ? Cause.SERVER : cause;
        } else if (failure instanceof ResponseException) {
            return Cause.DAMAGED;
        } else if (failure instanceof ApiCallAttemptTimeoutException) {
            return Cause.TIMEOUT;
        }
        return failure instanceof SdkClientException ? Cause.CONNECTION : null;
    }

    /** {@return whether the store has rejected a request for a reason that stays the same} */
    static boolean isPermanent(Throwable failure) {
        S3Exception e = response(failure);
        return e != null
                && transientCause(e) == null
                && e.statusCode() != 404
                && e.statusCode() != 409
                && e.statusCode() != 412;
    }

    private static @Nullable S3Exception response(Throwable failure) {
        Throwable cause = Futures.unwrap(failure);
        return cause instanceof S3Exception s3 ? s3 : cause.getCause() instanceof S3Exception s3 ? s3 : null;
    }

    private static @Nullable String code(S3Exception e) {
        return e.awsErrorDetails() == null ? null : e.awsErrorDetails().errorCode();
    }

    static boolean isStatus(Throwable failure, int status) {
        S3Exception e = response(failure);
        return e != null && e.statusCode() == status;
    }

    /** {@return the problem of a store that cannot take an upload now, or null for other failures} */
    private static @Nullable String unavailability(Throwable failure) {
        if (transientCause(failure) == Cause.BUSY) {
            return "is too busy";
        } else if (failure instanceof ApiCallAttemptTimeoutException
                || rootCause(failure) instanceof TimeoutException) {
            return "does not respond in time"; // or all connections are in use for too long
        } else if (isStatus(failure, 409)) {
            return "is writing this key for another request";
        } else if (failure instanceof S3Exception e && "NoSuchUpload".equals(code(e))) {
            return "no longer has the upload: a sweep may have ended the form";
        }
        return null;
    }

    /** {@return why no connection was made, or null for other failures} */
    private static @Nullable String connectFailure(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof UnknownHostException) {
                return "unknown host " + cause.getMessage();
            } else if (cause instanceof ConnectException || cause instanceof NoRouteToHostException) {
                return cause.getMessage();
            }
        }
        return null;
    }

    static Throwable explained(String what, Throwable failure) {
        String why = unavailability(failure);
        if (why != null) {
            return MultipartException.because(Reason.UNAVAILABLE)
                    .saying("the object store " + why + " (" + what + ")")
                    .cause(failure)
                    .build();
        } else if (isStatus(failure, 412)) {
            FileAlreadyExistsException exists = new FileAlreadyExistsException("an object has this key");
            exists.initCause(failure);
            return exists;
        } else if (failure instanceof S3Exception e) {
            return new IOException(
                    what + " failed with status " + e.statusCode() + " " + Objects.toString(code(e), ""), e);
        }
        String unreachable = connectFailure(failure);
        if (unreachable != null) {
            return new IOException("the object store cannot be reached: " + unreachable, failure);
        }
        return failure instanceof IOException || failure instanceof CancellationException
                ? failure
                : new IOException(what + " failed: " + failure.getMessage(), failure);
    }
}
