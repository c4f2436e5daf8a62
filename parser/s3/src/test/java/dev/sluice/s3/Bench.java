package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.s3.S3Form.StoredPart;
import dev.sluice.s3.Uploads.File;
import dev.sluice.testkit.CountingAllocator;
import dev.sluice.testkit.FaultProxy;
import java.io.IOException;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.S3Object;

/** The store of a test: the real one behind a proxy with faults, and a prefix of its own. */
public final class Bench implements AutoCloseable {
    private static final AtomicInteger TESTS = new AtomicInteger();

    final String prefix = "test" + ProcessHandle.current().pid() + '-' + TESTS.incrementAndGet() + '/';
    final String bucket;
    public final CountingAllocator allocator = new CountingAllocator();
    final FaultProxy proxy;
    final MemoryBudget budget;
    final S3ObjectStore store;
    public final S3Sinks sinks;
    public final Forms forms;
    final S3AsyncClient client;

    public Bench() throws Exception {
        this(MemoryBudget.of(256 << 20), builder -> builder, builder -> builder);
    }

    Bench(MemoryBudget budget, UnaryOperator<S3ObjectStore.Builder> ofStore, UnaryOperator<S3Sinks.Builder> ofSinks)
            throws Exception {
        this(Weed.BUCKET, budget, ofStore, ofSinks);
    }

    Bench(
            String bucket,
            MemoryBudget budget,
            UnaryOperator<S3ObjectStore.Builder> ofStore,
            UnaryOperator<S3Sinks.Builder> ofSinks)
            throws Exception {
        this.bucket = bucket;
        Weed weed = Weed.running();
        this.budget = budget;
        proxy = new FaultProxy(weed.port());
        client = weed.client;
        store = ofStore.apply(S3ObjectStore.builder(bucket)
                        .endpoint(proxy.address())
                        .region("us-east-1")
                        .pathStyle(true)
                        .credentials(Weed.CREDENTIALS)
                        .pauseMillis(20)
                        .attemptTimeout(Duration.ofMinutes(2)))
                .build();
        sinks = ofSinks.apply(S3Sinks.builder(store, budget).prefix(prefix)).build();
        forms = Forms.of(FormOptions.inMemory(budget)
                .maxBodyBytes(1L << 40)
                .maxPartBytes(1L << 40)
                .build());
    }

    /** {@return sinks to sweep with: all that is there is old} */
    S3Sinks impatient() {
        return S3Sinks.builder(store, budget)
                .prefix(prefix)
                .maxAge(Duration.ZERO)
                .build();
    }

    Uploads.Sending send(S3Form objects, List<File> files) {
        return Uploads.send(forms, objects.options(forms.options()), Uploads.body(files), allocator);
    }

    /** Sends a form of these files. {@return its objects, which are as they were sent} */
    S3Form stored(List<File> files) throws Exception {
        S3Form objects = sinks.newForm();
        send(objects, files).form().get(5, TimeUnit.MINUTES).close();
        assertStored(objects, files);
        assertNothingLeft();
        return objects;
    }

    /** {@return why a form failed, which has left nothing but maybe objects} */
    Throwable failure(Uploads.Sending sending) throws Exception {
        ExecutionException failure =
                assertThrows(ExecutionException.class, () -> sending.form().get(5, TimeUnit.MINUTES));
        assertNothingLeft();
        return failure.getCause();
    }

    Throwable failure(List<File> files) throws Exception {
        return failure(send(sinks.newForm(), files));
    }

    /** {@return how many requests there were of that pattern} */
    public long count(String pattern) {
        return proxy.requests().stream()
                .filter(request -> request.matches(pattern))
                .count();
    }

    /** {@return the number of different requests of that pattern: a retry is not counted again} */
    long distinct(String pattern) {
        return proxy.requests().stream()
                .filter(request -> request.matches(pattern))
                .distinct()
                .count();
    }

    HeadObjectResponse head(StoredPart part) {
        return client.headObject(
                        request -> request.bucket(bucket).key(part.stored().key()))
                .join();
    }

    public void assertStored(S3Form objects, List<File> files) throws Exception {
        List<StoredPart> stored = objects.objects();
        assertEquals(files.size(), stored.size());
        for (int i = 0; i < files.size(); i++) {
            File file = files.get(i);
            assertEquals(file.name(), stored.get(i).part().filename());
            assertEquals(file.size(), stored.get(i).stored().size());
            assertEquals(file.sha256(), sha256(stored.get(i).stored().key()), file.name());
        }
        assertEquals(files.size(), keys().size());
    }

    private String sha256(String key) throws Exception {
        byte[] bytes = client.getObject(request -> request.bucket(bucket).key(key), AsyncResponseTransformer.toBytes())
                .join()
                .asByteArrayUnsafe();
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    }

    /** {@return the objects of this test} */
    public List<String> keys() {
        return client.listObjectsV2(request -> request.bucket(bucket).prefix(prefix)).join().contents().stream()
                .map(S3Object::key)
                .toList();
    }

    List<MultipartUpload> uploads() {
        return client.listMultipartUploads(request -> request.bucket(bucket).prefix(prefix))
                .join()
                .uploads();
    }

    /** No upload in the store, nothing charged, no buffer held. */
    public void assertNothingLeft() throws Exception {
        sinks.whenIdle().get(5, TimeUnit.MINUTES);
        Weed.await(
                () -> { // who sends may hold a chunk that is no longer wanted
                    assertEquals(List.of(), uploads());
                    assertEquals(0, budget.used());
                    assertEquals(List.of(), allocator.unreleased());
                });
        assertTrue(budget.peak() <= budget.capacity(), "charged: " + budget.peak());
    }

    @Override
    public void close() throws IOException {
        forms.close();
        CompletableFuture.runAsync(store::close); // waits two seconds for its threads
        proxy.close();
    }
}
