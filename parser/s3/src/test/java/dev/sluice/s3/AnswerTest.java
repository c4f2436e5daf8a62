package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.core.async.SdkPublisher;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.AbortMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.AbortMultipartUploadResponse;
import software.amazon.awssdk.services.s3.model.DeleteMarkerEntry;
import software.amazon.awssdk.services.s3.model.DeleteObjectsRequest;
import software.amazon.awssdk.services.s3.model.DeleteObjectsResponse;
import software.amazon.awssdk.services.s3.model.DeletedObject;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectRequest;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.ListObjectVersionsRequest;
import software.amazon.awssdk.services.s3.model.ListObjectVersionsResponse;
import software.amazon.awssdk.services.s3.model.ListPartsRequest;
import software.amazon.awssdk.services.s3.model.ListPartsResponse;
import software.amazon.awssdk.services.s3.model.ObjectVersion;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Error;

/** Answers that real stores give rarely. */
class AnswerTest {
    private static final byte[] CONTENT = {1, 2, 3};

    /** A store of one key, in a bucket with versions, without checksums. */
    private static class Store implements S3AsyncClient {
        private final List<String> deleted = new ArrayList<>();
        private final List<S3Error> errors = new ArrayList<>();
        private byte[] read = CONTENT;
        private int aborts;
        private int reads;

        @Override
        public CompletableFuture<PutObjectResponse> putObject(
                Consumer<PutObjectRequest.Builder> request, AsyncRequestBody body) {
            return CompletableFuture.completedFuture(
                    PutObjectResponse.builder().eTag("tag").build());
        }

        @Override
        public CompletableFuture<HeadObjectResponse> headObject(Consumer<HeadObjectRequest.Builder> request) {
            HeadObjectResponse.Builder answer = HeadObjectResponse.builder().eTag("tag");
            answer.contentLength((long) CONTENT.length);
            answer.sdkHttpResponse(SdkHttpResponse.builder()
                    .statusCode(200)
                    .putHeader("Content-Length", "3")
                    .build());
            return CompletableFuture.completedFuture(answer.build());
        }

        @Override
        public <T> CompletableFuture<T> getObject(
                Consumer<GetObjectRequest.Builder> request, AsyncResponseTransformer<GetObjectResponse, T> to) {
            reads++;
            CompletableFuture<T> made = to.prepare();
            to.onResponse(GetObjectResponse.builder().eTag("tag").build());
            to.onStream(SdkPublisher.fromIterable(List.of(ByteBuffer.wrap(read))));
            return made;
        }

        @Override
        public CompletableFuture<AbortMultipartUploadResponse> abortMultipartUpload(
                Consumer<AbortMultipartUploadRequest.Builder> request) {
            aborts++;
            return CompletableFuture.completedFuture(
                    AbortMultipartUploadResponse.builder().build());
        }

        @Override
        public CompletableFuture<ListPartsResponse> listParts(Consumer<ListPartsRequest.Builder> request) {
            return CompletableFuture.completedFuture(ListPartsResponse.builder().build());
        }

        @Override
        public CompletableFuture<DeleteObjectsResponse> deleteObjects(Consumer<DeleteObjectsRequest.Builder> request) {
            if (!errors.isEmpty()) {
                return CompletableFuture.completedFuture(
                        DeleteObjectsResponse.builder().errors(errors.remove(0)).build());
            }
            DeleteObjectsRequest.Builder sent = DeleteObjectsRequest.builder();
            request.accept(sent);
            return CompletableFuture.completedFuture(DeleteObjectsResponse.builder()
                    .deleted(sent.build().delete().objects().stream()
                            .map(object -> {
                                deleted.add(object.key() + ' ' + object.versionId());
                                return DeletedObject.builder()
                                        .key(object.key())
                                        .deleteMarker(object.versionId() == null)
                                        .build();
                            })
                            .toList())
                    .build());
        }

        @Override
        public CompletableFuture<ListObjectVersionsResponse> listObjectVersions(
                Consumer<ListObjectVersionsRequest.Builder> request) {
            ListObjectVersionsRequest.Builder sent = ListObjectVersionsRequest.builder();
            request.accept(sent);
            boolean isFirst = sent.build().keyMarker() == null;
            ListObjectVersionsResponse.Builder page = isFirst
                    ? ListObjectVersionsResponse.builder()
                            .deleteMarkers(DeleteMarkerEntry.builder()
                                    .key("key")
                                    .versionId("marker")
                                    .build())
                            .versions(version("key", "new"))
                            .nextKeyMarker("key")
                            .nextVersionIdMarker("new")
                    : ListObjectVersionsResponse.builder()
                            .versions(version("key", "old"), version("key2", "other"))
                            .nextKeyMarker("key2")
                            .nextVersionIdMarker("other");
            return CompletableFuture.completedFuture(page.isTruncated(true).build());
        }

        private static ObjectVersion version(String key, String id) {
            return ObjectVersion.builder().key(key).versionId(id).build();
        }

        @Override
        public String serviceName() {
            return SERVICE_NAME;
        }

        @Override
        public void close() {}
    }

    private final Store client = new Store();
    private final S3ObjectStore store = S3ObjectStore.builder("bucket")
            .client(client)
            .attempts(3)
            .pauseMillis(1)
            .build();

    private static Throwable failure(CompletableFuture<?> future) {
        return assertThrows(ExecutionException.class, () -> future.get(1, TimeUnit.MINUTES))
                .getCause();
    }

    @Test
    void object_ofAStoreWithoutChecksums_isReadBack() throws Exception {
        ObjectStore.Target target = new ObjectStore.Target("key", "text/plain", Map.of(), false);
        assertEquals(3, store.put(target, Segment.of(CONTENT)).get().size());
        assertEquals(1, client.reads);
        client.read = new byte[] {1, 2, 4};
        AnswerException mismatch =
                assertInstanceOf(AnswerException.class, failure(store.put(target, Segment.of(CONTENT))));
        assertTrue(mismatch.isMismatch);
    }

    @Test
    void versions_areDeletedBeforeTheMarkersThatHideThem() throws Exception {
        store.delete(List.of("key")).get(1, TimeUnit.MINUTES);
        assertEquals(List.of("key null", "key new", "key old", "key marker"), client.deleted);
    }

    @Test
    void deletion_failingForAPassingReason_isRepeated() throws Exception {
        client.errors.add(S3Error.builder().key("key").code("InternalError").build());
        store.delete(List.of("key")).get(1, TimeUnit.MINUTES);
        client.deleted.clear();
        client.errors.add(S3Error.builder().key("key").code("AccessDenied").build());
        assertTrue(failure(store.delete(List.of("key"))).getMessage().contains("AccessDenied"));
        assertEquals(List.of(), client.deleted);
    }

    @Test
    void upload_thatStaysAfterAborts_isReported() {
        Throwable failure = failure(store.abort(new ObjectStore.Upload("key", "id")));
        assertInstanceOf(IOException.class, failure);
        assertTrue(failure.getMessage().startsWith("the upload is still there"), failure::getMessage);
        assertEquals(4, client.aborts);
    }

    @Test
    void retry_afterTheStoreWasClosed_fails() {
        client.errors.add(S3Error.builder().key("key").code("InternalError").build());
        store.close();
        assertEquals(
                "the object store was closed",
                failure(store.delete(List.of("key"))).getMessage());
    }
}
