package dev.sluice.s3;

import static dev.sluice.s3.Uploads.failure;
import static dev.sluice.s3.Uploads.get;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.reactivestreams.Subscription;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.core.async.SdkPublisher;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.AbortMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.AbortMultipartUploadResponse;
import software.amazon.awssdk.services.s3.model.CreateMultipartUploadRequest;
import software.amazon.awssdk.services.s3.model.CreateMultipartUploadResponse;
import software.amazon.awssdk.services.s3.model.DeleteMarkerEntry;
import software.amazon.awssdk.services.s3.model.DeleteObjectsRequest;
import software.amazon.awssdk.services.s3.model.DeleteObjectsResponse;
import software.amazon.awssdk.services.s3.model.DeletedObject;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectRequest;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.ListMultipartUploadsRequest;
import software.amazon.awssdk.services.s3.model.ListMultipartUploadsResponse;
import software.amazon.awssdk.services.s3.model.ListObjectVersionsRequest;
import software.amazon.awssdk.services.s3.model.ListObjectVersionsResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Request;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.ListPartsRequest;
import software.amazon.awssdk.services.s3.model.ListPartsResponse;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.ObjectVersion;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Error;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.S3Object;

/** Responses that are rare with real stores. */
class ResponseTest {
    private static final byte[] CONTENT = {1, 2, 3};

    /** A store with one key, which keeps versions and computes no checksums. */
    private static class Store implements S3AsyncClient {
        private static final HeadObjectResponse HEAD = head();

        private final List<String> deleted = new ArrayList<>();
        private final List<Integer> deletions = new ArrayList<>();
        private final List<S3Error> errors = new ArrayList<>();
        private byte[] read = CONTENT;
        private final List<String> uploadIds = new ArrayList<>(List.of("first", "", "third"));
        private ListObjectsV2Response listing = listing(true, false);
        private int aborts;
        private int reads;
        private int cutRead;
        private CompletableFuture<Void> cutTime = CompletableFuture.completedFuture(null);
        private int heads;
        private PutObjectRequest put;
        private CompletableFuture<PutObjectResponse> sent = CompletableFuture.completedFuture(
                PutObjectResponse.builder().eTag("tag").build());
        private CompletableFuture<HeadObjectResponse> headed = CompletableFuture.completedFuture(HEAD);

        private static ListObjectsV2Response listing(boolean hasDate, Boolean isTruncated) {
            SdkHttpResponse.Builder http = SdkHttpResponse.builder();
            if (hasDate) {
                http.putHeader("Date", "Sat, 28 Nov 2026 12:00:00 GMT");
            }
            ListObjectsV2Response.Builder response =
                    ListObjectsV2Response.builder().isTruncated(isTruncated);
            response.sdkHttpResponse(http.build());
            return response.build();
        }

        @Override
        public CompletableFuture<PutObjectResponse> putObject(
                Consumer<PutObjectRequest.Builder> request, AsyncRequestBody body) {
            PutObjectRequest.Builder made = PutObjectRequest.builder();
            request.accept(made);
            put = made.build();
            return sent;
        }

        private static HeadObjectResponse head() {
            HeadObjectResponse.Builder response = HeadObjectResponse.builder().eTag("tag");
            response.contentLength((long) CONTENT.length);
            response.sdkHttpResponse(SdkHttpResponse.builder()
                    .statusCode(200)
                    .putHeader("Content-Length", "3")
                    .build());
            return response.build();
        }

        @Override
        public CompletableFuture<HeadObjectResponse> headObject(Consumer<HeadObjectRequest.Builder> request) {
            heads++;
            return headed;
        }

        @Override
        public CompletableFuture<CreateMultipartUploadResponse> createMultipartUpload(
                Consumer<CreateMultipartUploadRequest.Builder> request) {
            return CompletableFuture.completedFuture(CreateMultipartUploadResponse.builder()
                    .uploadId(uploadIds.remove(0))
                    .build());
        }

        @Override
        public CompletableFuture<ListObjectsV2Response> listObjectsV2(Consumer<ListObjectsV2Request.Builder> request) {
            return CompletableFuture.completedFuture(listing);
        }

        /** Returns one upload on each page. */
        @Override
        public CompletableFuture<ListMultipartUploadsResponse> listMultipartUploads(
                ListMultipartUploadsRequest request) {
            String last = request.uploadIdMarker();
            assertEquals(last == null ? null : "key", request.keyMarker());
            int number = last == null ? 1 : Integer.parseInt(last) + 1;
            String key = number == 4 ? "key2" : "key";
            return CompletableFuture.completedFuture(ListMultipartUploadsResponse.builder()
                    .uploads(MultipartUpload.builder()
                            .key(key)
                            .uploadId(String.valueOf(number))
                            .build())
                    .isTruncated(number < 4)
                    .nextKeyMarker(key)
                    .nextUploadIdMarker(String.valueOf(number))
                    .build());
        }

        @Override
        public <T> CompletableFuture<T> getObject(
                Consumer<GetObjectRequest.Builder> request, AsyncResponseTransformer<GetObjectResponse, T> to) {
            reads++;
            CompletableFuture<T> made = to.prepare();
            to.onResponse(GetObjectResponse.builder().eTag("tag").build());
            to.onStream(reads == cutRead ? cut() : SdkPublisher.fromIterable(List.of(ByteBuffer.wrap(read))));
            return made;
        }

        /** {@return a body that ends too early} */
        private SdkPublisher<ByteBuffer> cut() {
            return SdkPublisher.adapt(reader -> {
                reader.onSubscribe(new Subscription() {
                    @Override
                    public void request(long count) {}

                    @Override
                    public void cancel() {}
                });
                cutTime.thenRun(() -> reader.onError(new IOException("the connection was closed")));
            });
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
            deletions.add(sent.build().delete().objects().size());
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
        public CompletableFuture<ListObjectVersionsResponse> listObjectVersions(ListObjectVersionsRequest request) {
            boolean isFirst = request.keyMarker() == null;
            ListObjectVersionsResponse.Builder page = isFirst
                    ? ListObjectVersionsResponse.builder()
                            .deleteMarkers(IntStream.range(0, 1001)
                                    .mapToObj(number -> DeleteMarkerEntry.builder()
                                            .key("key")
                                            .versionId("marker" + number)
                                            .build())
                                    .toList())
                            .versions(version("key", "new"))
                            .nextKeyMarker("key")
                            .nextVersionIdMarker("new")
                    : ListObjectVersionsResponse.builder().versions(version("key", "old"), version("key2", "other"));
            return CompletableFuture.completedFuture(page.isTruncated(isFirst).build());
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

    @Test
    void object_ofAStoreWithoutChecksums_isReadBack() throws Exception {
        ObjectStore.Target target = new ObjectStore.Target("key", "text/plain", Map.of(), false);
        assertEquals(3, store.put(target, Segment.of(CONTENT)).get().size());
        assertEquals(1, client.reads);
        client.read = new byte[] {1, 2, 4};
        ResponseException mismatch =
                assertInstanceOf(ResponseException.class, failure(store.put(target, Segment.of(CONTENT))));
        assertTrue(mismatch.isMismatch);
    }

    @Test
    void object_whoseReadIsCut_isReadAgain() throws Exception {
        client.cutRead = 1;
        get(store.put(new ObjectStore.Target("key", "text/plain", Map.of(), false), Segment.of(CONTENT)));
        assertEquals(2, client.reads);
    }

    @Test
    void versions_areDeletedBeforeTheMarkersThatHideThem() throws Exception {
        get(store.delete(List.of("key")));
        assertEquals(List.of("key null", "key new", "key old", "key marker0"), client.deleted.subList(0, 4));
        assertEquals(List.of(1, 2, 1000, 1), client.deletions);
    }

    @Test
    void deletion_failingForATransientReason_isRepeated() throws Exception {
        client.errors.add(S3Error.builder().key("key").code("InternalError").build());
        get(store.delete(List.of("key")));
        client.deleted.clear();
        client.errors.add(S3Error.builder().key("key").code("AccessDenied").build());
        assertTrue(failure(store.delete(List.of("key"))).getMessage().contains("AccessDenied"));
        assertEquals(List.of(), client.deleted);
    }

    /** A check with the status 200 finds an object of another application, which has no form. */
    @ParameterizedTest
    @CsvSource({
        "403 AccessDenied,       200,              PutObject failed with status 403 AccessDenied",
        "403 AccessDenied,       503 SlowDown,     PutObject failed with status 403 AccessDenied",
        "503 SlowDown,           200,              the object store is too busy (PutObject)",
        "503 SlowDown,           403 AccessDenied, HeadObject failed with status 403 AccessDenied",
        "412 PreconditionFailed, 503 SlowDown,     the object store is too busy (HeadObject)"
    })
    void object_whoseRequestAndCheckFail_isReportedByTheMoreExactOne(String sent, String check, String message) {
        ObjectStore.Target target = new ObjectStore.Target("key", "text/plain", Map.of("form", "id"), false);
        client.sent = CompletableFuture.failedFuture(response(sent));
        if (!check.equals("200")) {
            client.headed = CompletableFuture.failedFuture(response(check));
        }
        Throwable failure = failure(store.put(target, Segment.of(CONTENT)));
        assertEquals(message, failure.getMessage());
        assertEquals(1, failure.getSuppressed().length);
    }

    @Test
    void object_whoseRequestAndCheckFailWithTheSameException_isReportedByIt() {
        IOException broken = new IOException("broken");
        client.sent = CompletableFuture.failedFuture(broken);
        client.headed = CompletableFuture.failedFuture(broken);
        ObjectStore.Target target = new ObjectStore.Target("key", "text/plain", Map.of(), false);
        assertSame(broken, failure(store.put(target, Segment.of(CONTENT))));
    }

    @Test
    void encryption_setTwice_isTheLastOne() throws Exception {
        try (S3ObjectStore encrypting = S3ObjectStore.builder("bucket")
                .client(client)
                .encrypted("key")
                .encrypted()
                .build()) {
            get(encrypting.put(new ObjectStore.Target("key", "text/plain", Map.of(), false), Segment.of(CONTENT)));
            assertEquals("AES256", client.put.serverSideEncryptionAsString());
            assertNull(client.put.ssekmsKeyId());
        }
    }

    /** A response without an ID may have hidden another upload. */
    @Test
    void upload_createdByTheSecondAttempt_mayNotBeTheOnlyOne() throws Exception {
        ObjectStore.Target target = new ObjectStore.Target("key", "text/plain", Map.of(), false);
        assertEquals(new ObjectStore.Created("first", true), get(store.create(target)));
        assertEquals(new ObjectStore.Created("third", false), get(store.create(target)));
    }

    @Test
    void listing_withoutWhatASweepNeeds_isRejected() throws Exception {
        assertEquals(List.of(), get(store.list("", null)).objects());
        client.listing = Store.listing(false, false);
        assertTrue(failure(store.list("", null)).getMessage().endsWith("lacks a Date"));
        client.listing = Store.listing(true, false).toBuilder()
                .contents(S3Object.builder().key("key").build())
                .build();
        assertTrue(failure(store.list("", null)).getMessage().endsWith("lacks a LastModified"));
        client.listing = Store.listing(true, null);
        assertTrue(failure(store.list("", null)).getMessage().endsWith("lacks IsTruncated"));
        client.listing = Store.listing(true, true);
        assertTrue(failure(store.list("", null)).getMessage().endsWith("lacks a marker"));
    }

    @Test
    void uploads_ofAllPagesAreListed() throws Exception {
        List<ObjectStore.Upload> found = get(store.uploads("key"));
        assertEquals(
                List.of("1", "2", "3"),
                found.stream().map(ObjectStore.Upload::id).toList());
    }

    @Test
    void object_cancelledWhileItIsSent_isNotChecked() {
        ObjectStore.Target target = new ObjectStore.Target("key", "text/plain", Map.of(), false);
        client.sent = new CompletableFuture<>();
        store.put(target, Segment.of(CONTENT)).cancel(true);
        assertTrue(client.sent.isCancelled());
        assertEquals(0, client.heads);
    }

    @Test
    void object_cancelledDuringItsCheck_isNotRead() {
        ObjectStore.Target target = new ObjectStore.Target("key", "text/plain", Map.of(), false);
        client.headed = new CompletableFuture<>();
        CompletableFuture<ObjectStore.Stored> stored = store.put(target, Segment.of(CONTENT));
        assertEquals(1, client.heads);
        stored.cancel(true);
        client.headed.complete(Store.HEAD);
        assertEquals(0, client.reads);
    }

    /** Reading a large object again would take bandwidth and a connection for nothing. */
    @Test
    void object_cancelledWhileItIsRead_isNotReadAgain() throws Exception {
        ObjectStore.Target target = new ObjectStore.Target("key", "text/plain", Map.of(), false);
        client.cutRead = 1;
        client.cutTime = new CompletableFuture<>();
        CompletableFuture<ObjectStore.Stored> stored = store.put(target, Segment.of(CONTENT));
        assertEquals(1, client.reads);
        stored.cancel(true);
        client.cutTime.complete(null);
        store.after(Duration.ofMillis(50)).get(); // the pause before a second attempt is 1 ms
        assertEquals(1, client.reads);
    }

    @Test
    void upload_thatStaysAfterAborts_isReported() {
        Throwable failure = failure(store.abort(new ObjectStore.Upload("key", "id")));
        assertInstanceOf(IOException.class, failure);
        assertTrue(failure.getMessage().startsWith("the upload is still there"), failure::getMessage);
        assertEquals(4, client.aborts);
    }

    static Throwable response(String statusAndCode) {
        String[] of = statusAndCode.split(" ");
        return S3Exception.builder()
                .statusCode(Integer.parseInt(of[0]))
                .awsErrorDetails(AwsErrorDetails.builder().errorCode(of[1]).build())
                .build();
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
