package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.UploadPartRequest;
import software.amazon.awssdk.services.s3.model.UploadPartResponse;

/** What becomes of requests that the client of the SDK was given. */
class RequestTest {
    private static final ObjectStore.Target TARGET =
            new ObjectStore.Target("key", "token", true, "text/plain", Map.of());

    private static CompletableFuture<ObjectStore.Piece> upload(Supplier<CompletableFuture<UploadPartResponse>> answer) {
        S3AsyncClient client = new S3AsyncClient() {
            @Override
            public CompletableFuture<UploadPartResponse> uploadPart(
                    Consumer<UploadPartRequest.Builder> request, AsyncRequestBody body) {
                return answer.get();
            }

            @Override
            public String serviceName() {
                return SERVICE_NAME;
            }

            @Override
            public void close() {}
        };
        return S3ObjectStore.builder("bucket")
                .client(client)
                .attempts(2)
                .pauseMillis(1)
                .build()
                .upload(TARGET, "id", 1, new Segment(0, () -> {}));
    }

    @Test
    void aPieceThatNobodyWantsAnyMoreIsNotSentOn() {
        CompletableFuture<UploadPartResponse> sent = new CompletableFuture<>();
        CompletableFuture<ObjectStore.Piece> piece = upload(() -> sent);
        piece.cancel(true);
        assertTrue(sent.isCancelled());
    }

    @Test
    void aClassThatIsMissingFailsTheRequest() {
        CompletableFuture<ObjectStore.Piece> piece = upload(() -> {
            throw new NoClassDefFoundError("io/netty/handler/codec/http2/Http2Frame");
        });
        ExecutionException failure = assertThrows(ExecutionException.class, () -> piece.get(10, TimeUnit.SECONDS));
        assertInstanceOf(NoClassDefFoundError.class, failure.getCause().getCause());
    }
}
