package dev.sluice.s3;

import static dev.sluice.s3.ResponseException.requireSame;
import static dev.sluice.s3.ResponseException.required;

import dev.sluice.s3.ObjectStore.Stored;
import dev.sluice.s3.ObjectStore.Target;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
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
        CompletableFuture<Stored> proven = new CompletableFuture<>();
        proven.whenComplete((stored, failure) -> request.cancel(true));
        CompletableFuture<Stored> checked = request.thenApply(response -> {
                    requireSame(crc32, composite.equals(response.crc32) ? crc32 : response.crc32);
                    required("a checksum", response.crc32);
                    return new Stored(target.key(), response.etag, response.version, size, crc32);
                })
                .exceptionallyCompose(failure -> Retries.unwrap(failure) instanceof ResponseException e && e.isMismatch
                        ? CompletableFuture.failedFuture(failure)
                        : lookAt(target, size, crc32, composite, failure, proven));
        Retries.forward(checked, proven);
        return proven;
    }

    private CompletableFuture<Stored> lookAt(
            Target target,
            long size,
            String crc32,
            String composite,
            Throwable failure,
            CompletableFuture<Stored> proven) {
        return unlessDone(proven, () -> head(target)).thenCompose(found -> {
            boolean isSame = found != null
                    && Objects.equals(
                            target.metadata().get("form"), found.metadata().get("form"));
            if (!isSame) { // absent, or stored by another form
                return CompletableFuture.failedFuture(
                        Retries.unwrap(failure) instanceof ResponseException
                                ? new IOException("the object is missing: " + target.key(), failure)
                                : failure);
            }
            requireSame(size, found.contentLength());
            String sum = found.checksumCRC32();
            CompletableFuture<String> known = sum == null
                    ? unlessDone(proven, () -> checksum(target.key(), found.eTag()))
                    : CompletableFuture.completedFuture(composite.equals(sum) ? crc32 : sum);
            return known.thenApply(stored -> {
                requireSame(crc32, stored);
                return new Stored(target.key(), found.eTag(), found.versionId(), size, crc32);
            });
        });
    }

    /** Makes a request, which is cancelled with the result. {@return its response} */
    private static <T> CompletableFuture<T> unlessDone(
            CompletableFuture<Stored> proven, Supplier<CompletableFuture<T>> request) {
        if (proven.isDone()) {
            return CompletableFuture.failedFuture(new CancellationException());
        }
        CompletableFuture<T> made = request.get();
        proven.whenComplete((stored, failure) -> made.cancel(true));
        return made;
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
                            // With a condition, it may be an object of another application, which has no form.
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
                                throw Retries.unwrap(failure) instanceof SdkException e
                                        ? e
                                        : SdkClientException.create("the object could not be read", failure);
                            })
                    .thenApply(read -> Segment.base64(crc));
        });
    }
}
