package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.s3.Uploads.File;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import software.amazon.awssdk.core.SdkResponse;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.ChecksumType;
import software.amazon.awssdk.services.s3.model.CompleteMultipartUploadResponse;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;
import software.amazon.awssdk.services.s3.model.UploadPartResponse;

/** Stores that return checksums other than the ones sent. */
@ExtendWith(Weed.IsThere.class)
@Execution(ExecutionMode.CONCURRENT)
class ChecksumTest {
    private static final String OTHER = "AAAAAQ==";

    /** Changes the responses to one kind of request. */
    private static final class Changing<T extends SdkResponse> implements ExecutionInterceptor {
        private final Class<T> kind;
        private final UnaryOperator<T> change;
        private final int from;
        private final AtomicInteger responses = new AtomicInteger();

        Changing(Class<T> kind, UnaryOperator<T> change, int from) {
            this.kind = kind;
            this.change = change;
            this.from = from;
        }

        @Override
        public SdkResponse modifyResponse(Context.ModifyResponse context, ExecutionAttributes attributes) {
            SdkResponse response = context.response();
            return kind.isInstance(response) && responses.incrementAndGet() >= from
                    ? change.apply(kind.cast(response))
                    : response;
        }
    }

    private static void assertFails(Changing<?> changing) throws Exception {
        try (S3AsyncClient client = Weed.client(Weed.running().address(), changing);
                Bench bench = new Bench(store -> store.client(client).attempts(2), sinks -> sinks)) {
            Throwable failure = bench.failure(List.of(new File("a", 20 << 20), new File("b", 10)));
            assertTrue(changing.responses.get() >= changing.from, "no response was changed");
            String message = failure.getMessage();
            assertTrue(
                    message.matches("the stored bytes differ from the bytes sent: " + OTHER + "(-3)? instead of .*"),
                    message);
            bench.assertNothingLeftBut();
        }
    }

    @Test
    void piece_storedDifferently_failsTheForm() throws Exception {
        assertFails(new Changing<>(
                UploadPartResponse.class,
                response -> response.toBuilder().checksumCRC32(OTHER).build(),
                1));
    }

    @Test
    void largeObject_storedDifferently_failsTheForm() throws Exception {
        Changing<CompleteMultipartUploadResponse> changing = new Changing<>(
                CompleteMultipartUploadResponse.class,
                response -> response.toBuilder()
                        .checksumType(ChecksumType.FULL_OBJECT)
                        .checksumCRC32(OTHER)
                        .build(),
                1);
        assertFails(changing);
        assertEquals(1, changing.responses.get(), "the completed upload was completed again");
    }

    @Test
    void piecesOfALargeObject_storedDifferently_failTheForm() throws Exception {
        assertFails(new Changing<>(
                CompleteMultipartUploadResponse.class,
                response -> response.toBuilder()
                        .checksumType(ChecksumType.COMPOSITE)
                        .checksumCRC32(OTHER + "-3")
                        .build(),
                1));
    }

    @Test
    void smallObject_storedDifferently_failsTheForm() throws Exception {
        assertFails(new Changing<>(
                PutObjectResponse.class,
                response -> response.toBuilder().checksumCRC32(OTHER).build(),
                1));
    }
}
