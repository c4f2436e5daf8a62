package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.ListMultipartUploadsRequest;
import software.amazon.awssdk.services.s3.model.ListMultipartUploadsResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Request;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.ListPartsRequest;
import software.amazon.awssdk.services.s3.model.ListPartsResponse;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.Part;
import software.amazon.awssdk.services.s3.model.S3Object;

/** Listings that the store answers in two pages. */
class ListingsTest {
    private static final Instant LIMIT = Instant.parse("2026-01-02T00:00:00Z");
    private static final Instant OLD = LIMIT.minusSeconds(1);
    private static final Instant YOUNG = LIMIT.plusSeconds(1);

    /** Two entries for each listing, one on each page. The second page answers only the marker of the first. */
    private static final class PagedClient implements S3AsyncClient {
        private Instant secondUpload = OLD;
        private Instant secondPart = OLD;
        private Instant secondObject = OLD;

        private static boolean isSecond(Object marker, Object expected) {
            if (marker != null) {
                assertEquals(expected, marker);
            }
            return marker != null;
        }

        @Override
        public CompletableFuture<ListMultipartUploadsResponse> listMultipartUploads(
                ListMultipartUploadsRequest request) {
            boolean second = isSecond(request.keyMarker(), "a");
            isSecond(request.uploadIdMarker(), "id-a");
            String key = second ? "b" : "a";
            return CompletableFuture.completedFuture(ListMultipartUploadsResponse.builder()
                    .isTruncated(!second)
                    .nextKeyMarker("a")
                    .nextUploadIdMarker("id-a")
                    .uploads(MultipartUpload.builder()
                            .key(key)
                            .uploadId("id-" + key)
                            .initiated(second ? secondUpload : OLD)
                            .build())
                    .build());
        }

        @Override
        public CompletableFuture<ListPartsResponse> listParts(ListPartsRequest request) {
            boolean second = isSecond(request.partNumberMarker(), 1000);
            return CompletableFuture.completedFuture(ListPartsResponse.builder()
                    .isTruncated(!second)
                    .nextPartNumberMarker(1000)
                    .parts(Part.builder()
                            .lastModified(second && request.key().equals("a") ? secondPart : OLD)
                            .build())
                    .build());
        }

        @Override
        public CompletableFuture<ListObjectsV2Response> listObjectsV2(ListObjectsV2Request request) {
            boolean second = isSecond(request.continuationToken(), "next");
            return CompletableFuture.completedFuture(ListObjectsV2Response.builder()
                    .isTruncated(!second)
                    .nextContinuationToken("next")
                    .contents(S3Object.builder()
                            .key(second ? "b" : "a")
                            .lastModified(second ? secondObject : OLD)
                            .build())
                    .build());
        }

        @Override
        public String serviceName() {
            return SERVICE_NAME;
        }

        @Override
        public void close() {}
    }

    private final PagedClient client = new PagedClient();
    private final ObjectStore store =
            S3ObjectStore.builder("bucket").client(client).build();

    private List<String> idleUploads() throws Exception {
        return store.idleUploads("", LIMIT).get(1, TimeUnit.MINUTES).stream()
                .map(ObjectStore.Upload::id)
                .toList();
    }

    @Test
    void idleUploads_ofBothPages_areFound() throws Exception {
        assertEquals(List.of("id-a", "id-b"), idleUploads());
    }

    @Test
    void upload_startedRecently_isNotIdleOnTheSecondPage() throws Exception {
        client.secondUpload = YOUNG;
        assertEquals(List.of("id-a"), idleUploads());
    }

    @Test
    void upload_withARecentPieceOnTheSecondPage_isNotIdle() throws Exception {
        client.secondPart = YOUNG;
        assertEquals(List.of("id-b"), idleUploads());
    }

    @Test
    void oldObjects_ofBothPages_areFound() throws Exception {
        assertEquals(List.of("a", "b"), store.oldObjects("", LIMIT).get(1, TimeUnit.MINUTES));
    }

    @Test
    void object_storedRecently_isNotOldOnTheSecondPage() throws Exception {
        client.secondObject = YOUNG;
        assertEquals(List.of("a"), store.oldObjects("", LIMIT).get(1, TimeUnit.MINUTES));
    }
}
