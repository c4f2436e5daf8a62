package dev.sluice.s3;

import static dev.sluice.s3.ResponseException.requireSame;
import static dev.sluice.s3.ResponseException.required;

import dev.sluice.s3.ObjectStore.Stored;
import dev.sluice.s3.ObjectStore.Target;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.ChecksumMode;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;

/**
 * The check that the stored bytes of an object are the bytes sent. A matching checksum in the response proves it. If the response has
 * none, a second request asks for the checksum. If the store has none, a third request reads the object.
 */
record ObjectCheck(S3AsyncClient client, String bucket, Retries retries) {
    /** The stored object as described by the response to a request. */
    record Response(
            String etag, @Nullable String version, @Nullable String crc32) {}

    /**
     * {@return the object, if it is proved to be stored}
     *
     * @param composite the checksum of the checksums of the pieces, which the store may return instead of {@code crc32}
     * @param request the request that stores the object; cancelled with the result
     */
    CompletableFuture<Stored> stored(
            Target target, long size, String crc32, String composite, CompletableFuture<Response> request) {
        return Futures.compose(request, (response, failure) -> {
            if (failure instanceof ResponseException e && e.isMismatch) {
                return CompletableFuture.failedFuture(e);
            } else if (response == null || response.crc32 == null) {
                return lookAt(target, size, crc32, composite, failure);
            }
            requireSame(crc32, composite.equals(response.crc32) ? crc32 : response.crc32);
            return CompletableFuture.completedFuture(
                    new Stored(target.key(), response.etag, response.version, size, crc32));
        });
    }

    /** @param failure why the request failed, or null if its response has no checksum */
    private CompletableFuture<Stored> lookAt(
            Target target, long size, String crc32, String composite, @Nullable Throwable failure) {
        return Futures.compose(head(target), (found, problem) -> {
            if (problem != null && failure != null && problem != failure) {
                // If the store did not clearly reject the request, the object may be stored.
                // The failed check is then the reason.
                boolean isRejected = Retries.isPermanent(failure) || problem instanceof ResponseException;
                Throwable reason = isRejected ? failure : problem;
                reason.addSuppressed(isRejected ? problem : failure);
                return CompletableFuture.failedFuture(reason);
            } else if (problem != null) {
                return CompletableFuture.failedFuture(problem);
            } else if (found == null
                    || !Objects.equals(
                            target.metadata().get("form"), found.metadata().get("form"))) { // stored by another form
                return CompletableFuture.failedFuture(
                        failure == null || failure instanceof ResponseException
                                ? new IOException("the object is missing: " + target.key(), failure)
                                : failure);
            }
            requireSame(size, found.contentLength());
            String sum = found.checksumCRC32();
            CompletableFuture<String> known = sum == null
                    ? checksum(target.key(), found.eTag())
                    : CompletableFuture.completedFuture(composite.equals(sum) ? crc32 : sum);
            return Futures.compose(known, (stored, unread) -> {
                if (unread != null) {
                    return CompletableFuture.failedFuture(unread);
                }
                requireSame(crc32, stored);
                return CompletableFuture.completedFuture(
                        new Stored(target.key(), found.eTag(), found.versionId(), size, crc32));
            });
        });
    }

    private CompletableFuture<@Nullable HeadObjectResponse> head(Target target) {
        return retries.trying(
                "HeadObject",
                () -> S3ObjectStore.nullIfMissing(client.headObject(request ->
                                request.bucket(bucket).key(target.key()).checksumMode(ChecksumMode.ENABLED))
                        .thenApply(response -> {
                            required("an ETag", response.eTag());
                            required(
                                    "a length",
                                    response.sdkHttpResponse()
                                            .firstMatchingHeader("Content-Length")
                                            .orElse(null));
                            // With isNew, the key may hold an object of another application, which has no form.
                            if (!target.isNew() && target.metadata().containsKey("form")) {
                                required("the form", response.metadata().get("form"));
                            }
                            return response;
                        })));
    }

    /** Reads an object. {@return the checksum of its bytes} */
    private CompletableFuture<String> checksum(String key, String etag) {
        return retries.trying("GetObject", () -> {
            CRC32 crc = new CRC32();
            return client.getObject(
                            request -> request.bucket(bucket).key(key).ifMatch(etag),
                            AsyncResponseTransformer.toPublisher())
                    .thenCompose(content -> content.subscribe(crc::update))
                    .exceptionally(
                            failure -> { // the SDK does not convert failures of the body
                                throw Futures.unwrap(failure) instanceof SdkException e
                                        ? e
                                        : SdkClientException.create("the object could not be read", failure);
                            })
                    .thenApply(read -> Segment.base64(crc));
        });
    }
}
