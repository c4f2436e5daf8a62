package dev.sluice.spring;

import java.net.ConnectException;
import java.net.UnknownHostException;
import java.util.Objects;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** The reason why the object store cannot be used. It stops the start of the application, or is reported as its health. */
final class StoreStartException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private static final int MAX_CAUSES = 32;

    private final String action;

    /** @param action the advice in Boot's failure report */
    StoreStartException(String message, String action, @Nullable Throwable cause) {
        super(message, cause);
        this.action = action;
    }

    /**
     * {@return an explanation of a failed check}
     *
     * @param address the store, as {@link S3Properties#address} describes it
     */
    static StoreStartException of(String address, Throwable failure) {
        String start = "Files cannot be stored in " + address + ": ";
        S3Exception response = cause(failure, S3Exception.class);
        if (response != null) {
            String code = response.awsErrorDetails() == null
                    ? ""
                    : Objects.toString(response.awsErrorDetails().errorCode(), "");
            if (code.equals("NoSuchBucket")) {
                return new StoreStartException(
                        start + "the bucket does not exist.",
                        "Create the bucket, or correct sluice.s3.bucket.",
                        failure);
            } else if (response.statusCode() == 401 || response.statusCode() == 403) {
                return new StoreStartException(
                        start + "the store rejects the credentials (" + response.statusCode() + ' ' + code + ").",
                        "Check sluice.s3.access-key and sluice.s3.secret-key, or the credentials that the AWS SDK finds"
                                + " in the environment, and their permissions for the bucket.",
                        failure);
            }
        }
        if (cause(failure, ConnectException.class) != null || cause(failure, UnknownHostException.class) != null) {
            return new StoreStartException(
                    start + "it cannot be reached.", "Start the store, or correct sluice.s3.endpoint.", failure);
        } else if (cause(failure, TimeoutException.class) != null) {
            return new StoreStartException(
                    start + "it does not respond.", "Check the store, and sluice.s3.endpoint.", failure);
        }
        String reason = firstLine(failure);
        if (reason.contains("Unable to load credentials")) { // followed by a line for each place that was searched
            return new StoreStartException(
                    start + "credentials are missing.",
                    "Set sluice.s3.access-key and sluice.s3.secret-key, or provide credentials where the AWS SDK looks"
                            + " for them, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
                    failure);
        }
        return new StoreStartException(
                start + reason + '.',
                "Check the properties sluice.s3.*, and whether the store supports conditional writes.",
                failure);
    }

    static <T extends Throwable> @Nullable T cause(Throwable failure, Class<T> type) {
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
                .limit(MAX_CAUSES)
                .filter(type::isInstance)
                .map(type::cast)
                .findFirst()
                .orElse(null);
    }

    private static String firstLine(Throwable failure) {
        String message = Objects.toString(failure.getMessage(), failure.toString());
        return message.lines().findFirst().orElse(message);
    }

    /** Boot's report of the exception: what happened and what to do, without a stack trace. */
    static final class Analyzer extends AbstractFailureAnalyzer<StoreStartException> {
        @Override
        protected FailureAnalysis analyze(Throwable root, StoreStartException failure) {
            return new FailureAnalysis(failure.getMessage(), failure.action, failure);
        }
    }
}
