package dev.sluice.s3;

import static dev.sluice.s3.Uploads.failure;
import static dev.sluice.s3.Uploads.get;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.form.StoreMetrics;
import io.netty.buffer.Unpooled;
import java.net.ConnectException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.zip.CRC32;
import javax.net.ssl.SSLHandshakeException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.exception.ApiCallAttemptTimeoutException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.UploadPartRequest;
import software.amazon.awssdk.services.s3.model.UploadPartResponse;

/** Requests to the client of the SDK. */
class RequestTest {
    private static final ObjectStore.Target TARGET = new ObjectStore.Target("key", "text/plain", Map.of(), false);

    private static CompletableFuture<ObjectStore.Piece> upload(
            Supplier<CompletableFuture<UploadPartResponse>> response) {
        return upload(2, response);
    }

    private static CompletableFuture<ObjectStore.Piece> upload(
            int attempts, Supplier<CompletableFuture<UploadPartResponse>> response) {
        return store(attempts, response).upload(TARGET, "id", 1, Segment.of(new byte[0]));
    }

    private static S3ObjectStore store(int attempts, Supplier<CompletableFuture<UploadPartResponse>> response) {
        return store(attempts, body -> response.get());
    }

    private static S3ObjectStore store(
            int attempts, Function<AsyncRequestBody, CompletableFuture<UploadPartResponse>> response) {
        S3AsyncClient client = new S3AsyncClient() {
            @Override
            public CompletableFuture<UploadPartResponse> uploadPart(
                    Consumer<UploadPartRequest.Builder> request, AsyncRequestBody body) {
                return response.apply(body);
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
                .attempts(attempts)
                .pauseMillis(1)
                .build();
    }

    @Test
    void largeBodies_areSentFourAtATimeAtFirst() {
        AtomicInteger made = new AtomicInteger();
        S3ObjectStore store = store(1, () -> {
            made.incrementAndGet();
            return new CompletableFuture<>();
        });
        for (int number = 1; number <= 10; number++) {
            var unused = store.upload(TARGET, "id", number, Segment.of(new byte[SegmentMemory.SMALL + 1]));
        }
        assertEquals(4, made.get());
        store.close();
    }

    @Test
    void cancelledTimer_isRemoved() {
        S3ObjectStore store = store(1, CompletableFuture::new);
        store.after(Duration.ofMinutes(5)).cancel(false);
        assertTrue(((ScheduledThreadPoolExecutor) store.executor()).getQueue().isEmpty());
        store.close();
    }

    @Test
    void cancelledPiece_cancelsTheRequest() {
        CompletableFuture<UploadPartResponse> sent = new CompletableFuture<>();
        CompletableFuture<ObjectStore.Piece> piece = upload(() -> sent);
        piece.cancel(true);
        assertTrue(sent.isCancelled());
    }

    @Test
    void requestCancelledDuringAPause_isNotRepeated() {
        CompletableFuture<Void> pause = new CompletableFuture<>();
        AtomicInteger calls = new AtomicInteger();
        Retries retries = new Retries(2, 1, delay -> pause, StoreMetrics.NONE);
        CompletableFuture<Void> outcome = retries.trying("Put", () -> {
            calls.incrementAndGet();
            return CompletableFuture.failedFuture(ResponseException.incomplete("damaged"));
        });
        outcome.cancel(true);
        pause.complete(null);
        assertEquals(1, calls.get());
    }

    @Test
    void settingsBelowTheirMinimum_areRejected() {
        S3ObjectStore.Builder settings = S3ObjectStore.builder("bucket");
        assertThrows(IllegalArgumentException.class, () -> settings.attempts(0));
        assertThrows(IllegalArgumentException.class, () -> settings.pauseMillis(0));
        for (Duration tooShort : List.of(Duration.ofNanos(999_999), Duration.ofDays(-30))) {
            assertThrows(IllegalArgumentException.class, () -> settings.attemptTimeout(tooShort));
        }
    }

    /** The client of the SDK may send the last buffers of a body after the request was cancelled. */
    @Test
    void cancelledPiece_keepsItsBytes() {
        byte[] memory = new byte[200_000];
        new Random(1).nextBytes(memory);
        byte[] content = memory.clone();
        Segment segment = new Segment(new AtomicLong(), freed -> {});
        segment.lease(8 << 20);
        segment.add(Unpooled.wrappedBuffer(memory), new CRC32());
        List<ByteBuffer> queued = new ArrayList<>();
        S3ObjectStore store = store(1, body -> {
            var unused = body.subscribe(
                    buffer -> { // requests the next buffer afterwards
                        segment.release();
                        Arrays.fill(memory, (byte) 9); // another form uses the memory
                        queued.add(buffer);
                    });
            return new CompletableFuture<>();
        });
        store.upload(TARGET, "id", 1, segment).cancel(true);
        assertTrue(queued.size() > 1);
        assertEquals(Unpooled.wrappedBuffer(content), Unpooled.wrappedBuffer(queued.toArray(ByteBuffer[]::new)));
        store.close();
    }

    @Test
    void missingClass_failsTheRequest() {
        CompletableFuture<ObjectStore.Piece> piece = upload(() -> {
            throw new NoClassDefFoundError("io/netty/handler/codec/http2/Http2Frame");
        });
        Throwable failure = failure(piece);
        assertInstanceOf(NoClassDefFoundError.class, failure.getCause());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 5})
    void request_failingEachTime_isMadeAsOftenAsConfigured(int attempts) {
        AtomicInteger made = new AtomicInteger();
        CompletableFuture<ObjectStore.Piece> piece = upload(attempts, () -> {
            made.incrementAndGet();
            return CompletableFuture.failedFuture(
                    S3Exception.builder().statusCode(500).build());
        });
        Throwable failure = failure(piece);
        assertInstanceOf(S3Exception.class, failure.getCause());
        assertEquals(attempts, made.get());
    }

    @Test
    void request_timingOutEachTime_failsWithUnavailable() {
        CompletableFuture<ObjectStore.Piece> piece =
                upload(() -> CompletableFuture.failedFuture(ApiCallAttemptTimeoutException.create(100)));
        Throwable failure = failure(piece);
        MultipartException late = assertInstanceOf(MultipartException.class, failure);
        assertEquals(503, late.httpStatus());
        assertEquals("the object store does not respond in time (UploadPart)", late.getMessage());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "403 RequestTimeTooSkewed",
                "403 ExpiredToken",
                "400 XAmzContentSHA256Mismatch",
                "409 ConditionalRequestConflict",
                "503 SlowDown",
                "lost connection"
            })
    void transientFailure_isRetried(String failure) throws Exception {
        AtomicInteger made = new AtomicInteger();
        UploadPartResponse response = UploadPartResponse.builder().eTag("tag").build();
        ObjectStore.Piece piece = get(upload(2, () -> {
            if (made.incrementAndGet() > 1) {
                return CompletableFuture.completedFuture(response);
            }
            return CompletableFuture.failedFuture(
                    failure.startsWith("lost") ? SdkClientException.create(failure) : ResponseTest.response(failure));
        }));
        assertEquals("tag", piece.tag());
        assertEquals(2, made.get());
    }

    /** Before the first response, the address is probably wrong. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void refusedConnection_isRetriedOnce_orAsConfiguredAfterAResponse(boolean hasResponded) {
        AtomicInteger made = new AtomicInteger();
        ConnectException refused = new ConnectException("Connection refused: /127.0.0.1:1");
        CompletableFuture<ObjectStore.Piece> piece = upload(5, () -> {
            boolean isAnswered = hasResponded && made.get() == 0;
            made.incrementAndGet();
            return CompletableFuture.failedFuture(
                    isAnswered
                            ? S3Exception.builder().statusCode(500).build()
                            : SdkClientException.create("failed", refused));
        });
        assertEquals(
                "the object store cannot be reached: Connection refused: /127.0.0.1:1",
                failure(piece).getMessage());
        assertEquals(hasResponded ? 5 : 2, made.get());
    }

    @Test
    void missingCredentials_areLookedForTwice() {
        AtomicInteger made = new AtomicInteger();
        failure(upload(5, () -> {
            made.incrementAndGet();
            return CompletableFuture.failedFuture(SdkClientException.create("Unable to load credentials"));
        }));
        assertEquals(2, made.get());
    }

    /** After a refused connection, the SDK may miss the next refusal and time out. After a conflict, the store may forget the upload. */
    @ParameterizedTest
    @CsvSource({
        "refused late,                   the object store cannot be reached: Connection refused: /127.0.0.1:1",
        "refused handshake,              UploadPart failed: failed",
        "error refused late late late,   the object store cannot be reached: Connection refused: /127.0.0.1:1",
        "conflict gone,                  the object store is writing this key for another request (UploadPart)",
        "late late,                      the object store does not respond in time (UploadPart)",
        "conflict refused late late gone, the object store is writing this key for another request (UploadPart)"
    })
    void failures_theMostExactIsReported(String failures, String message) {
        Map<String, Throwable> all = Map.of(
                "refused",
                        SdkClientException.create("failed", new ConnectException("Connection refused: /127.0.0.1:1")),
                "late", SdkClientException.create("failed", new TimeoutException("Acquire operation took too long")),
                "handshake", SdkClientException.create("failed", new SSLHandshakeException("no trusted certificate")),
                "error", S3Exception.builder().statusCode(500).build(),
                "conflict", ResponseTest.response("409 OperationAborted"),
                "gone", S3Exception.builder().statusCode(404).build());
        Iterator<String> next = List.of(failures.split(" ")).iterator();
        CompletableFuture<ObjectStore.Piece> piece =
                upload(5, () -> CompletableFuture.failedFuture(all.get(next.next())));
        assertEquals(message, failure(piece).getMessage());
        assertFalse(next.hasNext());
    }

    @ParameterizedTest
    @CsvSource({"500, 100", "503, 500", "429, 500"})
    void pause_doubles_andIsLongerIfTheStoreIsBusy(int status, long longest) {
        List<Long> pauses = new ArrayList<>();
        Function<Duration, CompletableFuture<Void>> after = pause -> {
            pauses.add(pause.toMillis());
            return CompletableFuture.completedFuture(null);
        };
        var unused = new Retries(4, 100, after, StoreMetrics.NONE)
                .trying(
                        "UploadPart",
                        () -> CompletableFuture.failedFuture(
                                S3Exception.builder().statusCode(status).build()));
        assertEquals(3, pauses.size());
        for (int i = 0; i < 3; i++) {
            long most = longest << i;
            assertTrue(pauses.get(i) >= most / 2 && pauses.get(i) <= most, pauses::toString);
        }
    }

    @Test
    void responseWithoutETag_isRetried() {
        AtomicInteger made = new AtomicInteger();
        CompletableFuture<ObjectStore.Piece> piece = upload(3, () -> {
            made.incrementAndGet();
            return CompletableFuture.completedFuture(
                    UploadPartResponse.builder().build());
        });
        Throwable failure = failure(piece);
        assertEquals("the response of the object store lacks an ETag", failure.getMessage());
        assertEquals(3, made.get());
    }
}
