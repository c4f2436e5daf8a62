package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.s3.Uploads.File;
import dev.sluice.testkit.CountingAllocator;
import dev.sluice.testkit.FaultProxy;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;

/** The store of a test: a proxy that injects faults in front of a real one, and a prefix that no other test uses. */
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
        this(builder -> builder, builder -> builder);
    }

    Bench(UnaryOperator<S3ObjectStore.Builder> ofStore, UnaryOperator<S3Sinks.Builder> ofSinks) throws Exception {
        this(Weed.BUCKET, Weed.running().address().getPort(), ofStore, ofSinks);
    }

    Bench(String bucket, int port, UnaryOperator<S3ObjectStore.Builder> ofStore, UnaryOperator<S3Sinks.Builder> ofSinks)
            throws Exception {
        this(bucket, new FaultProxy(port), 256 << 20, ofStore, ofSinks);
    }

    Bench(
            String bucket,
            FaultProxy proxy,
            long budgetBytes,
            UnaryOperator<S3ObjectStore.Builder> ofStore,
            UnaryOperator<S3Sinks.Builder> ofSinks)
            throws Exception {
        this.bucket = bucket;
        this.budget = MemoryBudget.of(budgetBytes);
        this.proxy = proxy;
        this.client = Weed.shared(proxy.port());
        this.store = ofStore.apply(S3ObjectStore.builder(bucket)
                        .endpoint(proxy.address())
                        .region("us-east-1")
                        .pathStyle(true)
                        .credentials(Weed.CREDENTIALS)
                        .pauseMillis(20)
                        .attemptTimeout(Duration.ofMinutes(2)))
                .build();
        this.sinks =
                ofSinks.apply(S3Sinks.builder(store, budget).prefix(prefix)).build();
        this.forms = Forms.of(FormOptions.inMemory(budget)
                .maxBodyBytes(1L << 40)
                .maxPartBytes(1L << 40)
                .build());
    }

    /** An age that every object exceeds. It is negative, because the times of the store are whole seconds. */
    private static final Duration LESS_THAN_ALL = Duration.ofSeconds(-2);

    /** A sweeper with its own sinks, like another process. It treats every form as old. */
    record Sweeper(S3Sinks sinks, Duration tombstoneAge) implements AutoCloseable {
        CompletableFuture<S3Sinks.Swept> sweep() {
            return new Sweep(sinks.protocol, LESS_THAN_ALL, tombstoneAge, InstantSource.system()).run();
        }

        @Override
        public void close() {
            sinks.store.close();
        }
    }

    /** {@return a sweeper that reaches the store without the proxy, and for which every tombstone is old} */
    Sweeper sweeper() {
        return sweeper(S3ObjectStore.builder(bucket).client(client).build(), LESS_THAN_ALL);
    }

    /** {@return a sweeper that reaches the store at {@code address}} */
    Sweeper sweeper(URI address) {
        return sweeper(store(address, bucket), CommitProtocol.TOMBSTONE_AGE);
    }

    private Sweeper sweeper(S3ObjectStore of, Duration tombstoneAge) {
        return new Sweeper(S3Sinks.builder(of, budget).prefix(prefix).build(), tombstoneAge);
    }

    static S3ObjectStore store(URI address) {
        return store(address, Weed.BUCKET);
    }

    private static S3ObjectStore store(URI address, String bucket) {
        return S3ObjectStore.builder(bucket)
                .endpoint(address)
                .region("us-east-1")
                .pathStyle(true)
                .credentials(Weed.CREDENTIALS)
                .build();
    }

    Uploads.Sending send(S3Form form, List<File> files) {
        return send(form, Uploads.body(files));
    }

    Uploads.Sending send(S3Form form, InputStream body) {
        return Uploads.send(forms, form.options(forms.options()), body, allocator);
    }

    /** Sends a form of these files, and checks that the store has the same bytes. */
    S3Form stored(List<File> files) throws Exception {
        S3Form form = sinks.newForm();
        send(form, files).form().get(5, TimeUnit.MINUTES).close();
        assertStored(form, files);
        return form;
    }

    /** {@return the reason for which a form has failed} */
    Throwable failure(Uploads.Sending sending) {
        return assertThrows(ExecutionException.class, () -> sending.form().get(5, TimeUnit.MINUTES))
                .getCause();
    }

    Throwable failure(List<File> files) {
        return failure(send(sinks.newForm(), files));
    }

    /** {@return the number of requests that match the pattern} */
    public long count(String pattern) {
        return proxy.requests().stream()
                .filter(request -> request.matches(pattern))
                .count();
    }

    HeadObjectResponse head(String key) {
        return client.headObject(request -> request.bucket(bucket).key(key)).join();
    }

    /** Reads a form by the documented rule: {@code form.json}, then the files that it lists. */
    public void assertStored(S3Form form, List<File> files) throws Exception {
        FormRecord record = FormRecord.parse(form.id(), get(prefix + form.id() + "/form.json"));
        assertTrue(record != null && record.isCommitted(), "no form");
        assertEquals(files.size(), record.files().size());
        for (int i = 0; i < files.size(); i++) {
            ObjectStore.Stored stored = record.files().get(i).stored();
            assertEquals(files.get(i).name(), record.files().get(i).filename());
            assertEquals(files.get(i).size(), stored.size());
            assertEquals(
                    files.get(i).sha256(),
                    HexFormat.of()
                            .formatHex(MessageDigest.getInstance("SHA-256").digest(get(stored.key()))));
        }
    }

    private byte[] get(String key) {
        return client.getObject(request -> request.bucket(bucket).key(key), AsyncResponseTransformer.toBytes())
                .join()
                .asByteArrayUnsafe();
    }

    /** {@return the objects of this test} */
    public List<String> keys() {
        List<String> keys = new ArrayList<>();
        client.listObjectsV2Paginator(request -> request.bucket(bucket).prefix(prefix))
                .contents()
                .subscribe(object -> keys.add(object.key()))
                .join();
        return keys;
    }

    void delete(String key) {
        client.deleteObject(request -> request.bucket(bucket).key(key)).join();
    }

    /** Asserts that no memory is charged and all buffers are released. */
    public void assertNothingHeld() throws Exception {
        sinks.whenIdle().get(5, TimeUnit.MINUTES);
        // The sender may still hold a chunk that was not requested.
        Weed.await(() -> {
            assertEquals(0, budget.used());
            assertEquals(List.of(), allocator.unreleased());
        });
    }

    /** Asserts that only these forms are left after a sweep. */
    public void assertNothingLeftBut(S3Form... forms) throws Exception {
        assertNothingHeld();
        Set<String> expected = new TreeSet<>();
        for (S3Form form : forms) {
            expected.add(prefix + form.id() + "/form.json");
            form.objects().forEach(object -> expected.add(object.stored().key()));
        }
        try (Sweeper sweeper = sweeper()) {
            Weed.await(() -> {
                sweeper.sweep().join();
                assertEquals(expected, new TreeSet<>(keys()));
            });
        }
        assertEquals(List.of(), uploads());
    }

    /** {@return the keys of unfinished uploads} */
    List<String> uploads() {
        return client.listMultipartUploads(request -> request.bucket(bucket)).join().uploads().stream()
                .map(upload -> upload.key())
                .filter(key -> key.startsWith(prefix))
                .toList();
    }

    @Override
    public void close() throws IOException {
        forms.close();
        proxy.close();
        Thread closing = new Thread(store::close, "close"); // takes two seconds
        closing.setDaemon(true);
        closing.start();
    }
}
