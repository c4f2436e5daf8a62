package dev.sluice.s3;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.ListPartsResponse;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.Part;

/** What there is in a bucket, page by page. */
final class Listings {
    private final S3AsyncClient client;
    private final String bucket;
    private final Retries retries;
    private final Consumer<AwsRequestOverrideConfiguration.Builder> eachTime;

    /** @param eachTime what is set for each request */
    Listings(
            S3AsyncClient client,
            String bucket,
            Retries retries,
            Consumer<AwsRequestOverrideConfiguration.Builder> eachTime) {
        this.client = client;
        this.bucket = bucket;
        this.retries = retries;
        this.eachTime = eachTime;
    }

    /** {@return what is answered, or null where there is no such thing (404)} */
    static <T> CompletableFuture<@Nullable T> unlessGone(CompletableFuture<T> made) {
        return made.handle((answer, failure) -> {
            if (failure != null && !Retries.isStatus(failure, 404)) {
                throw new CompletionException(Retries.unwrap(failure));
            }
            return failure == null ? answer : null;
        });
    }

    CompletableFuture<ListPartsResponse> parts(ObjectStore.Upload upload, @Nullable Integer after) {
        return client.listParts(request -> request.bucket(bucket)
                .key(upload.key())
                .uploadId(upload.id())
                .partNumberMarker(after)
                .overrideConfiguration(eachTime));
    }

    CompletableFuture<List<ObjectStore.Upload>> idleUploads(String prefix, Instant limit) {
        List<ObjectStore.Upload> idle = new ArrayList<>(); // one answer after the other, so one thread at a time
        return uploads(prefix, upload -> !upload.initiated().isAfter(limit))
                .thenCompose(old -> all(old, upload -> {
                    ObjectStore.Upload found = new ObjectStore.Upload(upload.key(), upload.uploadId());
                    return isIdle(found, limit, null).thenAccept(isIdle -> {
                        if (isIdle) {
                            idle.add(found);
                        }
                    });
                }))
                .thenApply(done -> List.copyOf(idle));
    }

    private CompletableFuture<Boolean> isIdle(ObjectStore.Upload upload, Instant limit, @Nullable Integer after) {
        return retries.trying("ListParts", () -> unlessGone(parts(upload, after)))
                .thenCompose(page -> {
                    if (page == null
                            || page.parts().stream().map(Part::lastModified).anyMatch(limit::isBefore)) {
                        return CompletableFuture.completedFuture(false); // it has ended meanwhile, or goes on
                    }
                    return Boolean.TRUE.equals(page.isTruncated())
                            ? isIdle(upload, limit, page.nextPartNumberMarker())
                            : CompletableFuture.completedFuture(true);
                });
    }

    CompletableFuture<List<MultipartUpload>> uploads(String prefix, Predicate<MultipartUpload> which) {
        List<MultipartUpload> found = new ArrayList<>();
        return uploads(prefix, which, found, null, null).thenApply(done -> found);
    }

    private CompletableFuture<?> uploads(
            String prefix,
            Predicate<MultipartUpload> which,
            List<MultipartUpload> found,
            @Nullable String afterKey,
            @Nullable String afterId) {
        return retries.trying(
                        "ListMultipartUploads",
                        () -> client.listMultipartUploads(request -> request.bucket(bucket)
                                .prefix(prefix)
                                .keyMarker(afterKey)
                                .uploadIdMarker(afterId)
                                .overrideConfiguration(eachTime)))
                .thenCompose(page -> {
                    page.uploads().stream().filter(which).forEach(found::add);
                    return Boolean.TRUE.equals(page.isTruncated())
                            ? uploads(prefix, which, found, page.nextKeyMarker(), page.nextUploadIdMarker())
                            : CompletableFuture.completedFuture(null);
                });
    }

    CompletableFuture<List<String>> oldObjects(String prefix, Instant limit) {
        List<String> found = new ArrayList<>();
        return oldObjects(prefix, limit, found, null).thenApply(done -> List.copyOf(found));
    }

    private CompletableFuture<?> oldObjects(
            String prefix, Instant limit, List<String> found, @Nullable String continued) {
        return retries.trying(
                        "ListObjectsV2",
                        () -> client.listObjectsV2(request -> request.bucket(bucket)
                                .prefix(prefix)
                                .continuationToken(continued)
                                .overrideConfiguration(eachTime)))
                .thenCompose(page -> {
                    page.contents().stream()
                            .filter(object -> !object.lastModified().isAfter(limit))
                            .forEach(object -> found.add(object.key()));
                    return Boolean.TRUE.equals(page.isTruncated())
                            ? oldObjects(prefix, limit, found, page.nextContinuationToken())
                            : CompletableFuture.completedFuture(null);
                });
    }

    /** Takes {@code step} with each, one after the other, until one fails. */
    static <T> CompletableFuture<?> all(List<T> items, Function<T, CompletableFuture<?>> step) {
        CompletableFuture<?> done = CompletableFuture.completedFuture(null);
        for (T item : items) {
            done = done.thenCompose(before -> step.apply(item));
        }
        return done;
    }
}
