package dev.sluice.s3;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.StoreMetrics;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** Which requests are made again, when, and what is said of those that failed in the end. */
final class Retries {
    /** Will not be better soon; the others are judged by their status. */
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
            "ConditionalRequestConflict");

    private final int attempts;
    private final long pauseMillis;
    private final Told told;

    /**
     * @param attempts how often a request is made at most
     * @param pauseMillis the longest pause before the second attempt
     * @param told which ones are made again
     */
    Retries(int attempts, long pauseMillis, Told told) {
        this.attempts = attempts;
        this.pauseMillis = pauseMillis;
        this.told = told;
    }

    /** {@return what {@code call} answers in the end; cancelling it cancels what is under way} */
    <T> CompletableFuture<T> trying(String what, Supplier<CompletableFuture<T>> call) {
        CompletableFuture<T> outcome = new CompletableFuture<>();
        attempt(what, call, outcome, 1, null);
        return outcome;
    }

    /** @param earlier the last conflict, if there was one: after it a store may not know an upload any more */
    private <T> void attempt(
            String what,
            Supplier<CompletableFuture<T>> call,
            CompletableFuture<T> outcome,
            int number,
            @Nullable Throwable earlier) {
        if (outcome.isDone()) {
            return;
        }
        CompletableFuture<T> answer;
        try {
            answer = call.get();
        } catch (RuntimeException | Error e) { // a class that is missing too: who waits would wait for ever
            answer = CompletableFuture.failedFuture(e);
        }
        CompletableFuture<T> running = answer;
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
                told.that(metrics -> metrics.retried(why(cause)));
                CompletableFuture.delayedExecutor(pause, TimeUnit.MILLISECONDS)
                        .execute(() -> attempt(what, call, outcome, number + 1, conflict));
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

    static boolean mayPass(Throwable failure) {
        if (failure instanceof S3Exception e) {
            return isBusy(e) || e.statusCode() >= 500 || PASSING.contains(code(e));
        }
        return failure instanceof SdkClientException || failure instanceof ChecksumException;
    }

    private static boolean isBusy(Throwable failure) {
        return failure instanceof S3Exception e
                && (e.statusCode() == 503 || e.statusCode() == 429 || BUSY.contains(code(e)));
    }

    private static StoreMetrics.Cause why(Throwable failure) {
        if (failure instanceof S3Exception e) {
            return switch (code(e)) {
                case "ExpiredToken", "ExpiredTokenException" -> StoreMetrics.Cause.CREDENTIALS;
                case "BadDigest", "IncompleteBody", "XAmzContentChecksumMismatch" -> StoreMetrics.Cause.DAMAGED;
                case "RequestTimeout" -> StoreMetrics.Cause.TIMEOUT;
                default ->
                    isBusy(e)
                            ? StoreMetrics.Cause.BUSY
                            : isStatus(e, 409) ? StoreMetrics.Cause.CONFLICT : StoreMetrics.Cause.SERVER;
            };
        } else if (failure instanceof ChecksumException) {
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
        Throwable cause = unwrap(failure);
        S3Exception e = cause instanceof S3Exception s3 ? s3 : cause.getCause() instanceof S3Exception s3 ? s3 : null;
        return e != null && e.statusCode() == status;
    }

    private static Throwable explained(String what, Throwable failure) {
        if (isBusy(failure) || isStatus(failure, 409)) {
            String why = isBusy(failure) ? "is too busy" : "was writing this key for another";
            return MultipartException.because(Reason.SINK_STALLED)
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
