package dev.sluice.s3;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.StoreMetrics;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** Retries failed requests, and creates the exceptions for requests whose last attempt fails. */
final class Retries {
    /** The error codes of an overloaded store, in addition to the statuses 503 and 429. */
    private static final Set<String> BUSY =
            Set.of("SlowDown", "ServiceUnavailable", "Throttling", "ThrottlingException", "RequestLimitExceeded");

    private static final Set<String> PASSING = Set.of(
            "InternalError",
            "RequestTimeout",
            "BadDigest",
            "IncompleteBody",
            "XAmzContentChecksumMismatch",
            "ExpiredToken",
            "ExpiredTokenException",
            "OperationAborted",
            "RequestTimeTooSkewed",
            "XAmzContentSHA256Mismatch",
            "ConditionalRequestConflict");

    private final int attempts;
    private final long pauseMillis;
    private final Function<Duration, CompletableFuture<Void>> after;
    private final StoreEvents events;

    /**
     * @param attempts the maximum number of attempts for a request
     * @param pauseMillis the longest pause before the second attempt, or a fifth of it if the store is busy
     * @param after returns a future that completes after a delay
     */
    Retries(int attempts, long pauseMillis, Function<Duration, CompletableFuture<Void>> after, StoreEvents events) {
        this.attempts = attempts;
        this.pauseMillis = pauseMillis;
        this.after = after;
        this.events = events;
    }

    /**
     * {@return the answer of the first successful attempt, or the failure of the last one; cancelling it cancels the
     * current attempt}
     */
    <T> CompletableFuture<T> trying(String what, Supplier<CompletableFuture<T>> call) {
        CompletableFuture<T> outcome = new CompletableFuture<>();
        attempt(what, call, outcome, 1, null);
        return outcome;
    }

    /** {@return the answer to {@code call}; a failed future if it throws} */
    static <T> CompletableFuture<T> made(Supplier<CompletableFuture<T>> call) {
        try {
            return call.get();
        } catch (RuntimeException | Error e) { // also NoClassDefFoundError: the future must complete
            return CompletableFuture.failedFuture(e);
        }
    }

    /** Completes {@code outcome} as {@code made} completes, and cancels {@code made} together with {@code outcome}. */
    static <T> void pass(CompletableFuture<T> made, CompletableFuture<T> outcome) {
        outcome.whenComplete((value, failure) -> made.cancel(true));
        made.whenComplete((value, failure) -> {
            if (failure == null) {
                outcome.complete(value);
            } else {
                outcome.completeExceptionally(unwrap(failure));
            }
        });
    }

    /**
     * @param earlier the last conflict (409), or null. If the last attempt fails with 404 after a conflict, the conflict is the
     *     reason: the store may have forgotten the upload because of it
     */
    private <T> void attempt(
            String what,
            Supplier<CompletableFuture<T>> call,
            CompletableFuture<T> outcome,
            int number,
            @Nullable Throwable earlier) {
        if (outcome.isDone()) {
            return;
        }
        CompletableFuture<T> running = made(call);
        outcome.whenComplete((value, failure) -> running.cancel(true));
        running.whenComplete((value, failure) -> {
            if (failure == null) {
                outcome.complete(value);
                return;
            }
            Throwable cause = unwrap(failure);
            Throwable conflict = isStatus(cause, 409) ? cause : earlier;
            long pause = pause(cause, number);
            if (pause < 0) {
                Throwable reason = conflict != null && isStatus(cause, 404) ? conflict : cause;
                outcome.completeExceptionally(explained(what, reason));
            } else {
                events.report(metrics -> metrics.retried(why(cause)));
                after.apply(Duration.ofMillis(pause)).whenComplete((passed, closed) -> {
                    if (closed == null) {
                        attempt(what, call, outcome, number + 1, conflict);
                    } else {
                        outcome.completeExceptionally(unwrap(closed));
                    }
                });
            }
        });
    }

    /** {@return how long to wait before another attempt, in milliseconds, or -1 for none} */
    private long pause(Throwable failure, int number) {
        if (number >= attempts || !mayPass(failure)) {
            return -1;
        }
        long longest = (isBusy(failure) ? 5 * pauseMillis : pauseMillis) << Math.min(number - 1, 6);
        return longest / 2 + ThreadLocalRandom.current().nextLong(longest / 2 + 1);
    }

    /** {@return whether an error with this code is transient, so that another attempt may succeed} */
    static boolean mayPass(String code) {
        return PASSING.contains(code) || BUSY.contains(code);
    }

    static boolean mayPass(Throwable failure) {
        if (failure instanceof S3Exception e) {
            return isBusy(e) || e.statusCode() >= 500 || PASSING.contains(code(e));
        }
        return failure instanceof SdkClientException || failure instanceof AnswerException;
    }

    /** {@return whether repeating a conditional write cannot help} */
    static boolean isHopeless(Throwable failure) {
        S3Exception e = answer(failure);
        return e != null && !mayPass(e) && e.statusCode() != 404 && e.statusCode() != 409 && e.statusCode() != 412;
    }

    private static @Nullable S3Exception answer(Throwable failure) {
        Throwable cause = unwrap(failure);
        return cause instanceof S3Exception s3 ? s3 : cause.getCause() instanceof S3Exception s3 ? s3 : null;
    }

    static boolean isBusy(Throwable failure) {
        return failure instanceof S3Exception e
                && (e.statusCode() == 503 || e.statusCode() == 429 || BUSY.contains(code(e)));
    }

    private static StoreMetrics.Cause why(Throwable failure) {
        if (failure instanceof S3Exception e) {
            return switch (code(e)) {
                case "ExpiredToken", "ExpiredTokenException" -> StoreMetrics.Cause.CREDENTIALS;
                case "BadDigest", "IncompleteBody", "XAmzContentChecksumMismatch", "XAmzContentSHA256Mismatch" ->
                    StoreMetrics.Cause.DAMAGED;
                case "RequestTimeout" -> StoreMetrics.Cause.TIMEOUT;
                default ->
                    isBusy(e)
                            ? StoreMetrics.Cause.BUSY
                            : isStatus(e, 409) ? StoreMetrics.Cause.CONFLICT : StoreMetrics.Cause.SERVER;
            };
        } else if (failure instanceof AnswerException) {
            return StoreMetrics.Cause.DAMAGED;
        }
        return failure instanceof ApiCallAttemptTimeoutException
                ? StoreMetrics.Cause.TIMEOUT
                : StoreMetrics.Cause.CONNECTION;
    }

    private static String code(S3Exception e) {
        return e.awsErrorDetails() == null
                ? ""
                : Objects.toString(e.awsErrorDetails().errorCode(), "");
    }

    static boolean isStatus(Throwable failure, int status) {
        S3Exception e = answer(failure);
        return e != null && e.statusCode() == status;
    }

    static Throwable explained(String what, Throwable failure) {
        boolean isLate = failure instanceof ApiCallAttemptTimeoutException;
        if (isBusy(failure) || isLate || isStatus(failure, 409)) {
            String why = isBusy(failure)
                    ? "is too busy"
                    : isLate ? "does not answer in time" : "is writing this key for another request";
            return MultipartException.because(Reason.UNAVAILABLE)
                    .saying("the object store " + why + " (" + what + ")")
                    .cause(failure)
                    .build();
        } else if (isStatus(failure, 412)) {
            FileAlreadyExistsException exists = new FileAlreadyExistsException("an object has this key");
            exists.initCause(failure);
            return exists;
        } else if (failure instanceof S3Exception e) {
            return new IOException(what + " was answered with " + e.statusCode() + " " + code(e), e);
        }
        return failure instanceof IOException || failure instanceof CancellationException
                ? failure
                : new IOException(what + " failed: " + failure.getMessage(), failure);
    }

    static Throwable unwrap(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }
}
