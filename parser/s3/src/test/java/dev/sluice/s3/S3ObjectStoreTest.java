package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.FormOptions;
import dev.sluice.form.PartDecision;
import dev.sluice.form.StoreMetrics;
import dev.sluice.s3.Uploads.File;
import dev.sluice.testkit.FaultProxy.Fault;
import dev.sluice.testkit.ProofSize;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.BucketVersioningStatus;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.ListObjectVersionsResponse;

@ExtendWith(Weed.IsThere.class)
@Execution(ExecutionMode.CONCURRENT)
class S3ObjectStoreTest {
    private static final int MIB = 1 << 20;
    private static final List<File> FILES = List.of(new File("a", 9 * MIB), new File("b", 10), new File("c", 0));

    @Test
    void form_ofFilesOfAllSizes_isStoredWhole() throws Exception {
        try (Bench bench = new Bench()) {
            S3Form form = bench.stored(List.of(
                    new File("empty", 0),
                    new File("one byte", 1),
                    new File("more than is kept", 2 * MIB),
                    new File("exactly one segment", 8 * MIB),
                    new File("one more", 8 * MIB + 1),
                    new File("many", 30 * MIB + 12_345)));
            bench.assertNothingLeftBut(form);
        }
    }

    /** Of two conditional writes to the same key through two gateways, exactly one succeeds. */
    @Test
    @Tag("sized")
    void write_ofTwoWriters_hasOneWinner() throws Exception {
        try (Bench bench = new Bench();
                S3ObjectStore one = Bench.store(Weed.running().address());
                S3ObjectStore other = Bench.store(Weed.running().secondGateway())) {
            int keys = ProofSize.of("sluice.store.writers", 200, 1000);
            for (int i = 0; i < keys; i += 4) {
                List<CompletableFuture<Boolean>> winners = new ArrayList<>();
                for (int key = i; key < i + 4; key++) {
                    for (S3ObjectStore store : List.of(one, other)) {
                        winners.add(store.write(bench.prefix + key, new byte[] {(byte) winners.size()}, null)
                                .handle((written, failure) -> failure == null));
                    }
                }
                for (int key = 0; key < 4; key++) {
                    assertTrue(
                            winners.get(2 * key).get()
                                    ^ winners.get(2 * key + 1).get(),
                            "not exactly one winner of key " + (i + key));
                }
            }
        }
    }

    @Test
    void unprovenCommit_isSettledByReading() throws Exception {
        for (Fault fault : List.of(Fault.EMPTY_200, Fault.PRECONDITION_FAILED, Fault.NOT_FOUND)) {
            try (Bench bench = new Bench()) {
                bench.proxy.on(request -> request.matches("PUT .*/form.json"), 1, 1, fault);
                bench.assertNothingLeftBut(bench.stored(FILES));
                assertTrue(bench.count("GET .*/form.json") > 0);
            }
        }
    }

    @Test
    void busyStore_failsTheFormWithUnavailable() throws Exception {
        try (Bench bench = new Bench(store -> store.attempts(2), sinks -> sinks)) {
            bench.proxy.on(request -> request.matches("PUT .*partNumber=2&.*"), 1, 1000, Fault.BUSY);
            Throwable failure = bench.failure(FILES);
            assertTrue(
                    failure.getMessage().startsWith("the object store is too busy (UploadPart)"), failure::getMessage);
            bench.assertNothingLeftBut();
        }
    }

    /** A full store also rejects the tombstone, so the form cannot be cleaned up before the store has room again. */
    @Test
    void fullStore_failsTheForm_andALaterSweepRemovesIt() throws Exception {
        try (Bench bench = new Bench(store -> store.attempts(2), sinks -> sinks)) {
            bench.proxy.on(
                    request -> request.matches("PUT .*(partNumber=2&|form.json).*"), 1, 1000, Fault.SERVER_ERROR);
            Throwable failure = bench.failure(FILES);
            assertTrue(failure.getMessage().startsWith("UploadPart failed with status 500"), failure::getMessage);
            bench.sinks.whenIdle().get();
            assertEquals(1, bench.keys().size(), () -> "only the intent of the file: " + bench.keys());
            bench.assertNothingLeftBut();
        }
    }

    @Test
    void missingBucket_isReportedByTheProbe() throws Exception {
        try (Bench bench = new Bench("no-such-bucket", Weed.running().port(), store -> store, sinks -> sinks)) {
            Throwable failure = bench.failure(List.of(new File("a", 1)));
            assertInstanceOf(IOException.class, failure);
            assertTrue(failure.getMessage().contains("NoSuchBucket"), failure::getMessage);
        }
    }

    @Test
    void closedPort_isReportedByTheProbe_afterOneRetry() throws Exception {
        AtomicInteger retries = new AtomicInteger();
        StoreMetrics metrics = new StoreMetrics() {
            @Override
            public void retried(Cause cause) {
                retries.incrementAndGet();
            }
        };
        try (Socket closed = new Socket()) { // it refuses connections, and no other process can use its port
            closed.bind(new InetSocketAddress("127.0.0.1", 0));
            URI address = URI.create("http://127.0.0.1:" + closed.getLocalPort());
            try (Bench bench = new Bench(store -> store.endpoint(address).metrics(metrics), sinks -> sinks)) {
                String message = Uploads.failure(bench.sinks.probe()).getMessage();
                assertTrue(message.matches("the object store cannot be reached: .*refused.*"), message);
                assertEquals(1, retries.get());
            }
        }
    }

    @Test
    void nameAndType_ofTheClient_areNotTrusted() throws Exception {
        try (Bench bench = new Bench()) {
            S3Form form =
                    bench.stored(List.of(new File("../\u00E9 \u202E.html", 5), new File("x".repeat(3000), 9 * MIB)));
            String key = form.objects().get(0).stored().key();
            assertEquals(bench.prefix + form.id() + "/1", key);
            HeadObjectResponse head = bench.head(key);
            assertEquals("application/octet-stream", head.contentType());
            assertEquals("..%2F%C3%A9%20%E2%80%AE.html", head.metadata().get("filename"));
            HeadObjectResponse second =
                    bench.head(form.objects().get(1).stored().key());
            assertEquals("x".repeat(1024), second.metadata().get("filename"));
        }
    }

    @Test
    void types_areClaimedSniffedOrUnknown() throws Exception {
        assertEquals(List.of("image/png; a=b", "application/octet-stream"), types(sinks -> sinks));
        assertEquals(
                List.of("image/png; a=b", "test/1"), types(sinks -> sinks.sniff(4, first -> "test/" + first.length)));
    }

    private static List<String> types(UnaryOperator<S3Sinks.Builder> sniffing) throws Exception {
        try (Bench bench = new Bench(store -> store, sinks -> sniffing.apply(sinks.clientContentType()))) {
            S3Form form = bench.sinks.newForm();
            String part = "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\nContent-Type: ";
            String body = part + "image/png; a=b\r\n\r\nx\r\n" + part
                    + "image/png; name=\"\u00E9\u4E2D.png\"\r\n\r\nx\r\n--b--";
            Uploads.send(
                            bench.forms,
                            form.options(bench.forms.options()),
                            new ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8)),
                            bench.allocator)
                    .form()
                    .get()
                    .close();
            return form.objects().stream()
                    .map(object -> bench.head(object.stored().key()).contentType())
                    .toList();
        }
    }

    @Test
    void files_haveTheConfiguredTags() throws Exception {
        try (Bench bench = new Bench(store -> store.tags(Map.of("kind", "upload")), sinks -> sinks)) {
            for (S3Form.StoredPart part : bench.stored(FILES).objects()) {
                assertEquals(
                        "[Tag(Key=kind, Value=upload)]",
                        bench.client
                                .getObjectTagging(request -> request.bucket(bench.bucket)
                                        .key(part.stored().key()))
                                .join()
                                .tagSet()
                                .toString());
            }
        }
    }

    @Test
    void existingObject_underAChosenKey_isKeptOrReplaced() throws Exception {
        for (int size : new int[] {10, 9 * MIB}) {
            for (boolean onlyNew : new boolean[] {false, true}) {
                try (Bench bench = new Bench(store -> store, sinks -> onlyNew ? sinks.onlyNew() : sinks)) {
                    String key = bench.prefix + "fixed";
                    Uploads.Sending first = send(bench, key, size);
                    first.form().get().close();
                    Uploads.Sending second = send(bench, key, size + 1);
                    if (onlyNew) {
                        assertInstanceOf(FileAlreadyExistsException.class, bench.failure(second));
                    } else {
                        second.form().get().close();
                    }
                    assertEquals(onlyNew ? size : size + 1, bench.head(key).contentLength());
                }
            }
        }
    }

    private static Uploads.Sending send(Bench bench, String key, int size) {
        S3Form form = bench.sinks.newForm();
        FormOptions options = form.options(bench.forms.options()).toBuilder()
                .decider(part -> part.filename() == null
                        ? PartDecision.skip()
                        : PartDecision.to(form.sink(part, "text/plain", key)))
                .build();
        return Uploads.send(bench.forms, options, Uploads.body(List.of(new File("a", size))), bench.allocator);
    }

    /** In a bucket that keeps versions, no version and no delete marker of an ended or deleted form stays. */
    @Test
    void bucketWithVersions_keepsNothingOfEndedForms() throws Exception {
        String bucket = "versions";
        try (S3AsyncClient client = Weed.client(Weed.running().address())) {
            client.createBucket(request -> request.bucket(bucket)).join();
            client.putBucketVersioning(request -> request.bucket(bucket)
                            .versioningConfiguration(versions -> versions.status(BucketVersioningStatus.ENABLED)))
                    .join();
        }
        try (Bench bench = new Bench(bucket, Weed.running().port(), store -> store.attempts(2), sinks -> sinks)) {
            S3Form stored = bench.stored(FILES);
            bench.assertNothingLeftBut(stored);
            assertEquals(
                    FILES.size() + 1,
                    versions(bench).size(),
                    () -> versions(bench).toString());
            bench.proxy.on(request -> request.matches("PUT .*/[0-9a-f]{32}/3"), 1, 1000, Fault.FORBIDDEN);
            bench.failure(FILES);
            assertTrue(bench.sinks.delete(stored.id()).get());
            assertFalse(bench.sinks.delete(stored.id()).get());
            bench.assertNothingLeftBut();
            assertEquals(List.of(), versions(bench));
        }
    }

    private static List<String> versions(Bench bench) {
        ListObjectVersionsResponse found = bench.client
                .listObjectVersions(request -> request.bucket(bench.bucket).prefix(bench.prefix))
                .join();
        return Stream.concat(
                        found.versions().stream().map(version -> version.key()),
                        found.deleteMarkers().stream().map(mark -> "deleted " + mark.key()))
                .toList();
    }
}
