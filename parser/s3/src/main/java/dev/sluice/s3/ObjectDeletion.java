package dev.sluice.s3;

import static dev.sluice.s3.ResponseException.required;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.DeleteObjectsResponse;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;

/**
 * The deletion of objects with all their versions. In a bucket with versioning, a delete marker hides all versions of a key. The versions
 * are deleted first, and the markers last, so that a deletion that fails half-way does not reveal an older version.
 */
record ObjectDeletion(S3AsyncClient client, String bucket, Retries retries) {
    /** The number of objects that one request can delete. */
    private static final int BATCH = 1000;

    /** Deletes up to 1,000 objects. {@return a future that completes if all were deleted or absent} */
    CompletableFuture<Void> delete(List<String> keys) {
        List<ObjectIdentifier> objects =
                keys.stream().map(key -> identifier(key, null)).toList();
        return request(objects).thenCompose(response -> {
            List<String> marked = response.deleted().stream()
                    .filter(deleted -> Boolean.TRUE.equals(deleted.deleteMarker()))
                    .map(deleted -> deleted.key())
                    .toList();
            return inTurn(marked, key -> deleteVersions(key, null, null, new ArrayList<>()));
        });
    }

    private static ObjectIdentifier identifier(String key, @Nullable String version) {
        return ObjectIdentifier.builder().key(key).versionId(version).build();
    }

    private CompletableFuture<DeleteObjectsResponse> request(List<ObjectIdentifier> objects) {
        return retries.trying(
                "DeleteObjects",
                () -> client.deleteObjects(request -> request.bucket(bucket).delete(these -> these.objects(objects)))
                        .thenApply(response -> {
                            if (response.deleted().size() < objects.size()) {
                                String message = "objects could not be deleted: " + response.errors();
                                boolean mayPass = response.errors().stream()
                                        .allMatch(error -> Retries.transientCause(error.code()) != null);
                                throw new CompletionException(
                                        mayPass ? ResponseException.incomplete(message) : new IOException(message));
                            }
                            return response;
                        }));
    }

    private CompletableFuture<Void> deleteAll(List<ObjectIdentifier> objects) {
        List<List<ObjectIdentifier>> batches = new ArrayList<>();
        for (int at = 0; at < objects.size(); at += BATCH) {
            batches.add(objects.subList(at, Math.min(at + BATCH, objects.size())));
        }
        return inTurn(batches, batch -> request(batch).thenAccept(response -> {}));
    }

    /**
     * Deletes the versions of a key, starting at one page of the list of versions, and then the delete markers of the key.
     *
     * @param nextKey the start of the page, or null for the first one
     * @param markers the list that collects the markers
     */
    private CompletableFuture<Void> deleteVersions(
            String key, @Nullable String nextKey, @Nullable String nextVersion, List<ObjectIdentifier> markers) {
        return retries.trying(
                        "ListObjectVersions",
                        () -> client.listObjectVersions(request -> request.bucket(bucket)
                                        .prefix(key)
                                        .keyMarker(nextKey)
                                        .versionIdMarker(nextVersion))
                                .thenApply(page -> {
                                    required("IsTruncated", page.isTruncated());
                                    return page;
                                }))
                .thenCompose(page -> {
                    List<ObjectIdentifier> versions = page.versions().stream()
                            .filter(version -> version.key().equals(key))
                            .map(version -> identifier(key, version.versionId()))
                            .toList();
                    page.deleteMarkers().stream()
                            .filter(marker -> marker.key().equals(key))
                            .forEach(marker -> markers.add(identifier(key, marker.versionId())));
                    return deleteAll(versions)
                            .thenCompose(deleted -> page.isTruncated() && key.equals(page.nextKeyMarker())
                                    ? deleteVersions(key, page.nextKeyMarker(), page.nextVersionIdMarker(), markers)
                                    : deleteAll(markers));
                });
    }

    private static <T> CompletableFuture<Void> inTurn(List<T> items, Function<T, CompletableFuture<Void>> step) {
        CompletableFuture<Void> done = CommitProtocol.DONE;
        for (T item : items) {
            done = done.thenCompose(before -> step.apply(item));
        }
        return done;
    }
}
