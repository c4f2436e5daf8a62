package dev.sluice.s3;

import static dev.sluice.s3.ResponseException.requireNext;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.DeleteObjectsResponse;
import software.amazon.awssdk.services.s3.model.DeletedObject;
import software.amazon.awssdk.services.s3.model.ObjectIdentifier;

/**
 * The deletion of objects with all their versions. In a bucket with versioning, a delete marker hides all versions of a key. The versions
 * are deleted first, and the markers last, so that a deletion that fails half-way does not reveal an older version.
 */
record ObjectDeletion(S3AsyncClient client, String bucket, Retries retries) {
    /** Deletes up to 1,000 objects. {@return a future that completes if all were deleted or absent} */
    CompletableFuture<Void> delete(List<String> keys) {
        return request(keys.stream().map(key -> identifier(key, null)).toList())
                .thenCompose(response -> Futures.each(
                        response.deleted().stream()
                                .filter(deleted -> Boolean.TRUE.equals(deleted.deleteMarker()))
                                .map(DeletedObject::key)
                                .toList(),
                        this::deleteVersions));
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

    /** Deletes the versions of a key, and then its delete markers. */
    private CompletableFuture<Void> deleteVersions(String key) {
        return retries.trying("ListObjectVersions", () -> {
                    List<ObjectIdentifier> versions = new ArrayList<>();
                    List<ObjectIdentifier> markers = new ArrayList<>();
                    return client.listObjectVersionsPaginator(
                                    request -> request.bucket(bucket).prefix(key))
                            .subscribe(page -> {
                                requireNext(page.isTruncated(), page.nextKeyMarker());
                                page.versions().stream()
                                        .filter(version -> version.key().equals(key))
                                        .forEach(version -> versions.add(identifier(key, version.versionId())));
                                page.deleteMarkers().stream()
                                        .filter(marker -> marker.key().equals(key))
                                        .forEach(marker -> markers.add(identifier(key, marker.versionId())));
                            })
                            .thenApply(listed -> List.of(versions, markers));
                })
                .thenCompose(found -> Futures.inBatches(found.get(0), this::request)
                        .thenCompose(deleted -> Futures.inBatches(found.get(1), this::request)));
    }
}
