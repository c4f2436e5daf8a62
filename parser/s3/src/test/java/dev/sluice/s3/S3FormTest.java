package dev.sluice.s3;

import static dev.sluice.s3.Uploads.get;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.PartHead;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormPart;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import dev.sluice.form.StoreMetrics;
import dev.sluice.s3.Uploads.File;
import dev.sluice.testkit.CountingAllocator;
import io.netty.buffer.ByteBuf;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Forms in a store in memory. */
@Execution(ExecutionMode.CONCURRENT)
class S3FormTest {
    private static final int MIB = 1 << 20;

    /** The time after which a test that hangs fails. */
    private static final int MINUTES = 2;

    /** Responds on its own thread. Chosen requests fail, throw, or get an empty response without being carried out. */
    private static final class SlowNetwork implements MemoryStore.Network {
        private final ScheduledExecutorService thread = new ScheduledThreadPoolExecutor(1);
        private volatile String failing = "none";
        private volatile String forged = "none";
        private volatile String throwing = "none";

        @Override
        public <T> CompletableFuture<T> send(String name, Supplier<T> work) {
            if (name.startsWith(throwing)) {
                throw new NoClassDefFoundError(name);
            }
            return CompletableFuture.supplyAsync(
                    () -> {
                        if (name.startsWith(failing)) {
                            throw new IllegalStateException(name + " was cut off");
                        }
                        if (name.startsWith(forged)) {
                            return null;
                        }
                        try {
                            return work.get();
                        } catch (IllegalStateException e) {
                            throw new CompletionException(e.getCause() == null ? e : e.getCause());
                        }
                    },
                    thread);
        }

        @Override
        public CompletableFuture<Void> after(Duration delay) {
            CompletableFuture<Void> passed = new CompletableFuture<>();
            thread.schedule(() -> passed.complete(null), delay.toMillis(), TimeUnit.MILLISECONDS);
            return passed;
        }

        @Override
        public Executor executor() {
            return thread;
        }
    }

    private final MemoryStore.Bucket bucket = new MemoryStore.Bucket();
    private final SlowNetwork network = new SlowNetwork();
    private final MemoryStore store = new MemoryStore(bucket, network);
    private final CountingAllocator allocator = new CountingAllocator();
    private final MemoryBudget budget = MemoryBudget.of(64 * MIB);
    private S3Sinks sinks = builder(budget).build();
    private final Forms forms = Forms.of(FormOptions.inMemory(budget)
            .maxBodyBytes(1L << 30)
            .maxPartBytes(1L << 30)
            .build());

    private S3Sinks.Builder builder(MemoryBudget of) {
        return S3Sinks.builder(store, of).prefix("test/").segmentBytes(5 * MIB).maxWait(Duration.ofMinutes(MINUTES));
    }

    @AfterEach
    void close() throws Exception {
        get(sinks.whenIdle());
        // The form releases its memory on another thread, so this may take a moment.
        Weed.await(() -> {
            assertEquals(0, budget.used());
            assertEquals(List.of(), allocator.unreleased());
        });
        assertEquals(Set.of(), bucket.uploads.keySet());
        forms.close();
        network.thread.shutdownNow(); // the timers of commits may be scheduled
    }

    private Uploads.Sending send(S3Form form, InputStream body) {
        return Uploads.send(forms, form.options(forms.options()), body, allocator);
    }

    private Uploads.Sending send(S3Form form, Function<PartHead, PartSink> sink, InputStream body) {
        FormOptions options = form.options(forms.options()).toBuilder()
                .decider(part -> part.filename() == null ? PartDecision.skip() : PartDecision.to(sink.apply(part)))
                .build();
        return Uploads.send(forms, options, body, allocator);
    }

    private void sweepLater(Duration later) throws Exception {
        bucket.now = bucket.now.plus(later);
        get(sinks.sweep());
    }

    private S3Form stored(File... files) throws Exception {
        S3Form form = sinks.newForm();
        send(form, Uploads.body(List.of(files))).succeed();
        assertStored(form.id(), files);
        return form;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void inputLeftEmpty_isNotStored_butContentWithoutNameIs(boolean sniffs) throws Exception {
        sinks = (sniffs ? builder(budget).sniff(4, first -> "test/" + first.length) : builder(budget)).build();
        S3Form form = sinks.newForm();
        String part = "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"%s\"\r\n\r\n%s\r\n";
        String body = part.formatted("", "") + part.formatted("", "text") + part.formatted("empty", "") + "--b--";
        MultipartForm received = get(send(form, new ByteArrayInputStream(body.getBytes(StandardCharsets.US_ASCII)))
                .form());
        assertEquals(
                List.of(true), received.parts().stream().map(FormPart::isEmpty).toList());
        received.close();
        assertEquals(
                List.of(4L, 0L),
                form.objects().stream().map(object -> object.stored().size()).toList());
    }

    @Test
    void typeOfTheClient_thatIsTooLong_isNotUsed() throws Exception {
        sinks = builder(budget).clientContentType().build();
        S3Form form = sinks.newForm();
        String longest = "text/" + "x".repeat(251);
        String part =
                "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\nContent-Type: %s\r\n\r\nx\r\n";
        String body = part.formatted(longest) + part.formatted(longest + "x") + "--b--";
        send(form, new ByteArrayInputStream(body.getBytes(StandardCharsets.US_ASCII)))
                .succeed();
        assertEquals(
                List.of(longest, "application/octet-stream"),
                get(sinks.find(form.id())).orElseThrow().files().stream()
                        .map(FormRecord.File::contentType)
                        .toList());
    }

    /** Reads a form by the documented rule, from its identifier. */
    private void assertStored(String id, File... files) throws Exception {
        FormRecord record = get(sinks.find(id)).orElseThrow();
        assertEquals(files.length, record.files().size());
        for (int i = 0; i < files.length; i++) {
            FormRecord.File stored = record.files().get(i);
            assertEquals(files[i].name(), stored.filename());
            assertEquals(files[i].size(), stored.stored().size());
            try (InputStream content = files[i].content()) {
                assertArrayEquals(
                        content.readAllBytes(),
                        bucket.objects.get(stored.stored().key()).bytes());
            }
        }
    }

    /** {@return the keys of a form other than {@code form.json}} */
    private List<String> files(S3Form form) {
        return bucket.keys().stream()
                .filter(key -> key.startsWith("test/" + form.id()) && !key.endsWith("form.json"))
                .toList();
    }

    private List<String> intents() {
        return bucket.keys().stream()
                .filter(key -> key.startsWith("test/.open/"))
                .toList();
    }

    @Test
    void form_ofFilesOfAllSizes_isStoredWhole() throws Exception {
        File[] files = {
            new File("empty", 0),
            new File("small", 10_000),
            new File("beyond small", 100_000),
            new File("exactly a segment", 5 * MIB),
            new File("one more", 5 * MIB + 1),
            new File("\\\u00E9\uD83D\uDE00", 12 * MIB + 1)
        };
        S3Form form = stored(files);
        assertEquals(files.length, files(form).size());
        assertEquals(files.length, form.objects().size());
        get(sinks.whenIdle());
        assertEquals(List.of(), intents());
    }

    @Test
    void smallForm_makesThreeRequests() throws Exception {
        get(sinks.probe());
        store.requests.clear();
        S3Form form = stored(new File("a", 10 << 10));
        String open = "test/.open/" + form.id() + "/1";
        assertEquals(
                List.of("put " + open, "put test/" + form.id() + "/1", "write test/" + form.id() + "/form.json"),
                List.copyOf(store.requests).subList(0, 3));
        get(sinks.whenIdle());
        assertEquals("delete [" + open + "]", store.requests.get(store.requests.size() - 1), "the last request");
    }

    @Test
    void form_withoutFiles_isNotStored() throws Exception {
        S3Form form = sinks.newForm();
        send(form, Uploads.body(List.of())).succeed();
        assertEquals(Set.of(), bucket.keys());
        assertTrue(get(sinks.find(form.id())).isEmpty());
    }

    @Test
    void form_truncatedAnywhere_leavesATombstoneAtMost() throws Exception {
        byte[] body =
                Uploads.body(List.of(new File("a", 6 * MIB), new File("b", 10))).readAllBytes();
        for (int length : new int[] {20, 150, 4 * MIB, 6 * MIB, body.length - 3}) {
            S3Form form = sinks.newForm();
            Uploads.Sending sending = send(form, new ByteArrayInputStream(body, 0, length));
            assertEquals(Reason.TRUNCATED, ((MultipartException) sending.failure()).reason());
            get(sinks.whenIdle());
            assertEquals(List.of(), files(form));
            assertTrue(get(sinks.find(form.id())).isEmpty());
        }
    }

    @Test
    void request_failing_failsTheForm() throws Exception {
        for (String request : List.of("put test/.open", "create", "upload", "complete", "write test/", "put test/")) {
            sinks = builder(budget).build();
            get(sinks.probe());
            network.failing = request;
            S3Form form = sinks.newForm();
            send(form, Uploads.body(List.of(new File("a", 6 * MIB), new File("b", 10))))
                    .failure();
            network.failing = "none";
            get(sinks.whenIdle());
            assertTrue(get(sinks.find(form.id())).isEmpty(), request);
            sweepLater(Duration.ofDays(2));
            assertEquals(List.of(), files(form), request);
        }
    }

    @Test
    void tombstone_notReadBack_deletesNothing() throws Exception {
        get(sinks.probe());
        network.forged = "write";
        byte[] body =
                Uploads.body(List.of(new File("a", 100_000), new File("b", 10))).readAllBytes();
        S3Form form = sinks.newForm();
        PipedInputStream rest = new PipedInputStream();
        PipedOutputStream client = new PipedOutputStream(rest);
        Uploads.Sending sending =
                send(form, new SequenceInputStream(new ByteArrayInputStream(body, 0, body.length - 3), rest));
        Weed.await(() -> assertEquals(1, files(form).size()));
        client.close();
        sending.failure();
        get(sinks.whenIdle());
        network.forged = "none";
        assertEquals(1, files(form).size());
        sweepLater(Duration.ofDays(2));
        assertEquals(List.of(), files(form));
    }

    @Test
    void otherSink_failingToPublish_preventsTheCommit() throws Exception {
        S3Form form = sinks.newForm();
        PartSink failing = new PartSink() {
            @Override
            public Readiness write(ByteBuf data) {
                return Readiness.READY;
            }

            @Override
            public Readiness complete() {
                return Readiness.READY;
            }

            @Override
            public Readiness publish() throws IOException {
                throw new IOException("the disk is full");
            }

            @Override
            public void close() {}
        };
        InputStream body = Uploads.body(List.of(new File("a", 10), new File("last", 10)));
        Uploads.Sending sending = send(form, part -> "last".equals(part.filename()) ? failing : form.sink(part), body);
        assertEquals("the disk is full", sending.failure().getMessage());
        assertTrue(get(sinks.find(form.id())).isEmpty());
    }

    @Test
    void form_withoutTheAdmissionOfTheStore_isRejected() {
        S3Form form = sinks.newForm();
        FormOptions options = forms.options().toBuilder().decider(form).build();
        Throwable failure = Uploads.send(forms, options, Uploads.body(List.of(new File("a", 1))), allocator)
                .failure();
        assertInstanceOf(IllegalStateException.class, failure);
    }

    @Test
    void form_usedTwice_isRejectedAtOnce() throws Exception {
        S3Form form = sinks.newForm();
        byte[] body = Uploads.body(List.of(new File("a", 10))).readAllBytes();
        PipedInputStream rest = new PipedInputStream();
        PipedOutputStream client = new PipedOutputStream(rest);
        Uploads.Sending first = send(form, new SequenceInputStream(new ByteArrayInputStream(body, 0, 100), rest));
        Throwable second = send(form, new ByteArrayInputStream(body)).failure();
        assertInstanceOf(IllegalStateException.class, second);
        assertTrue(second.getMessage().contains("call S3Sinks.newForm()"), second::getMessage);
        client.write(body, 100, body.length - 100);
        client.close();
        first.succeed();
        assertStored(form.id(), new File("a", 10));
        get(sinks.whenIdle());
        assertInstanceOf(
                IllegalStateException.class,
                send(form, new ByteArrayInputStream(body)).failure(),
                "after its end");
    }

    private Uploads.Sending sendTwoCopies(S3Sinks to) {
        S3Form form = to.newForm();
        return send(
                form,
                part -> PartSink.tee(form.sink(part), form.sink(part)),
                Uploads.body(List.of(new File("a", 6 * MIB))));
    }

    @Test
    void twoCopiesOfAFile_withMemoryForOne_failAtOnce() throws Exception {
        MemoryBudget least = MemoryBudget.of(8 * MIB);
        S3Sinks few = builder(least).build();
        List<Uploads.Sending> sending = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            sending.add(sendTwoCopies(few));
        }
        for (Uploads.Sending each : sending) {
            MultipartException failure = assertInstanceOf(MultipartException.class, each.failure());
            assertEquals(Reason.MEMORY_FULL, failure.reason());
            assertTrue(failure.getMessage().contains("two files of the form"), failure::getMessage);
        }
        get(few.whenIdle());
        assertEquals(0, least.used());
        sendTwoCopies(sinks).succeed(); // with memory for both
    }

    @Test
    void store_throwing_failsTheForm() throws Exception {
        for (String request : List.of("list", "put test/.open", "create", "upload", "complete", "write", "put test/")) {
            sinks = builder(budget).build();
            network.throwing = request;
            S3Form form = sinks.newForm();
            send(form, Uploads.body(List.of(new File("a", 6 * MIB), new File("b", 10))))
                    .failure();
            network.throwing = "none";
            get(sinks.whenIdle());
            sweepLater(Duration.ofDays(2));
            assertEquals(List.of(), files(form), request);
        }
    }

    @Test
    void form_deleted_isGoneAndItsFilesAreDeleted() throws Exception {
        File[] files = new File[7]; // more than a page of a listing
        Arrays.setAll(files, i -> new File("file" + i, i == 1 ? 6 * MIB : 10));
        S3Form form = stored(files);
        assertTrue(get(sinks.delete(form.id())));
        assertTrue(get(sinks.find(form.id())).isEmpty());
        assertEquals(List.of(), files(form));
        assertFalse(get(sinks.delete(form.id())));
    }

    @Test
    void damagedRecord_isNeitherFoundNorSweptNorDeleted() throws Exception {
        S3Form form = stored(new File("a", 10));
        get(sinks.whenIdle());
        String key = "test/" + form.id() + "/form.json";
        byte[] json = bucket.objects.get(key).bytes();
        for (byte[] damaged : List.of(new byte[0], Arrays.copyOf(json, json.length - 1), changed(json))) {
            bucket.objects.put(key, new ObjectStore.Content(damaged, "etag", bucket.now, bucket.now));
            bucket.objects.put(
                    "test/.open/" + form.id() + "/1",
                    new ObjectStore.Content(new byte[0], "e", bucket.now, bucket.now));
            bucket.now = bucket.now.plus(Duration.ofDays(30));
            assertThrows(ExecutionException.class, sinks.find(form.id())::get);
            assertThrows(ExecutionException.class, sinks.sweep()::get);
            assertThrows(ExecutionException.class, sinks.delete(form.id())::get);
            assertArrayEquals(damaged, bucket.objects.get(key).bytes());
            assertEquals(1, files(form).size());
        }
        bucket.objects.clear();
    }

    private static byte[] changed(byte[] json) {
        byte[] changed = json.clone();
        changed[json.length / 2] ^= 1;
        return changed;
    }

    @Test
    void store_ignoringACondition_isRejected() throws Exception {
        bucket.ignoresIfNoneMatch = true;
        Throwable rejection =
                send(sinks.newForm(), Uploads.body(List.of(new File("a", 10)))).failure();
        assertTrue(rejection.getMessage().contains("ignores the header If-None-Match"), rejection::getMessage);
        bucket.ignoresIfNoneMatch = false;
        bucket.ignoresIfMatch = true;
        rejection =
                send(sinks.newForm(), Uploads.body(List.of(new File("a", 10)))).failure();
        assertTrue(rejection.getMessage().contains("ignores the header If-Match"), rejection::getMessage);
        bucket.ignoresIfMatch = false;
        stored(new File("a", 10));
    }

    private Uploads.Sending sendTo(String key, InputStream body) {
        S3Form form = sinks.newForm();
        return send(form, part -> form.sink(part, "text/plain", key), body);
    }

    @Test
    void fileWithChosenKey_isWrittenLastAndNeverDeleted() throws Exception {
        for (int size : new int[] {10, 100_000, 6 * MIB}) {
            String key = "mine/" + size;
            byte[] body = Uploads.body(List.of(new File("a", size))).readAllBytes();
            sendTo(key, new ByteArrayInputStream(body, 0, body.length - 3)).failure();
            assertFalse(bucket.keys().contains(key));
            S3Form form = sinks.newForm();
            send(form, part -> form.sink(part, "text/plain", key), new ByteArrayInputStream(body))
                    .succeed();
            assertStored(form.id(), new File("a", size));
            get(sinks.delete(form.id()));
            assertTrue(bucket.keys().contains(key));
        }
        sinks = builder(budget).onlyNew().build();
        assertInstanceOf(
                FileAlreadyExistsException.class,
                sendTo("mine/10", Uploads.body(List.of(new File("a", 10)))).failure());
    }

    @Test
    void thousandSmallForms_andSixSlowOnes_shareABudget() throws Exception {
        List<PipedOutputStream> slow = new ArrayList<>();
        List<Uploads.Sending> sending = new ArrayList<>();
        byte[] large = Uploads.body(List.of(new File("large", 9 * MIB))).readAllBytes();
        for (int i = 0; i < 6; i++) {
            PipedInputStream rest = new PipedInputStream(1 << 16);
            slow.add(new PipedOutputStream(rest));
            sending.add(send(
                    sinks.newForm(),
                    new SequenceInputStream(new ByteArrayInputStream(large, 0, large.length - 1000), rest)));
        }
        List<S3Form> small = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            small.add(sinks.newForm());
            sending.add(send(small.get(i), Uploads.body(List.of(new File("small" + i, 10 << 10)))));
        }
        for (int i = 0; i < 1000; i++) {
            sending.get(6 + i).succeed();
        }
        for (PipedOutputStream rest : slow) {
            rest.write(large, large.length - 1000, 1000);
            rest.close();
        }
        for (int i = 0; i < 6; i++) {
            sending.get(i).succeed();
        }
        assertStored(small.get(999).id(), new File("small999", 10 << 10));
        assertTrue(budget.peak() <= budget.capacity(), "at most " + budget.peak());
    }

    @Test
    void forms_growingAtTheSameTime_doNotBlockEachOther() throws Exception {
        MemoryBudget least = MemoryBudget.of(8 * MIB); // room for one segment
        S3Sinks few = builder(least).build();
        List<Uploads.Sending> sending = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            S3Form form = few.newForm();
            sending.add(Uploads.send(
                    forms,
                    form.options(forms.options()),
                    Uploads.body(
                            List.of(new File("a" + i, 40_000), new File("b" + i, 6 * MIB), new File("c" + i, 70_000))),
                    allocator));
        }
        for (Uploads.Sending each : sending) {
            each.succeed();
        }
        get(few.whenIdle());
        assertEquals(0, least.used());
        assertTrue(least.peak() <= 8 * MIB, "at most " + least.peak());
    }

    @Test
    void form_waitingTooLongForMemory_isRejected() throws Exception {
        sinks = builder(budget).maxWait(Duration.ofMillis(50)).build();
        try (MemoryBudget.Account others = budget.open()) {
            others.reserve(44 * MIB);
            Throwable rejection = send(sinks.newForm(), Uploads.body(List.of(new File("a", 10))))
                    .failure();
            assertEquals(Reason.MEMORY_FULL, ((MultipartException) rejection).reason());
        }
        stored(new File("a", 6 * MIB));
    }

    @Test
    void form_waitingWhenTheStoreIsClosed_isReportedOutsideTheLock() throws Exception {
        AtomicReference<SegmentMemory> memory = new AtomicReference<>();
        CompletableFuture<Boolean> reported = new CompletableFuture<>();
        StoreMetrics metrics = new StoreMetrics() {
            @Override
            public void waited(long nanos, boolean admitted) {
                CompletableFuture<Boolean> other =
                        CompletableFuture.supplyAsync(() -> memory.get().isShort());
                reported.complete(
                        other.completeOnTimeout(null, MINUTES, TimeUnit.MINUTES).join() != null);
            }
        };
        MemoryStore closed =
                new MemoryStore(bucket, new MemoryStore.Network() {
                    @Override
                    public CompletableFuture<Void> after(Duration delay) {
                        return CompletableFuture.failedFuture(new IOException("the object store was closed"));
                    }
                }) {
                    @Override
                    public StoreMetrics metrics() {
                        return metrics;
                    }
                };
        memory.set(new SegmentMemory(budget, Duration.ofMinutes(MINUTES), closed, System::nanoTime));
        try (MemoryBudget.Account others = budget.open()) {
            others.reserve(44 * MIB);
            assertInstanceOf(
                    IOException.class,
                    assertThrows(ExecutionException.class, memory.get().admit()::get)
                            .getCause());
        }
        assertTrue(get(reported), "the lock was held");
    }

    @Test
    void budget_tooSmallForASegment_isRejected() {
        assertThrows(IllegalArgumentException.class, builder(MemoryBudget.of(7 * MIB))::build);
        builder(MemoryBudget.of(8 * MIB)).build();
    }

    @Test
    void settings_outOfRange_areRejected() {
        S3Sinks.Builder settings = builder(budget);
        assertThrows(IllegalArgumentException.class, () -> settings.maxAge(Duration.ZERO));
        assertThrows(IllegalArgumentException.class, () -> settings.maxWait(Duration.ofSeconds(-1)));
        assertThrows(IllegalArgumentException.class, () -> settings.segmentBytes(5 * MIB - 1));
        assertThrows(IllegalArgumentException.class, () -> settings.segmentsInFlight(0));
    }

    @Test
    void file_ofMorePiecesThanTheStoreAllows_isTooLarge() throws Exception {
        sinks = builder(budget).maxPieces(2).build();
        stored(new File("most", 10 * MIB));
        Throwable rejection = send(sinks.newForm(), Uploads.body(List.of(new File("more", 10 * MIB + 1))))
                .failure();
        assertEquals(Reason.PART_TOO_LARGE, ((MultipartException) rejection).reason());
    }

    @Test
    void sizeOfPieces_growsWithTheirNumber() {
        long room = 0;
        for (int piece = 1; piece <= 10_000; piece++) {
            room += S3Sinks.builder(store, budget).build().segmentBytes(piece);
        }
        assertEquals(351, room >> 30);
        S3Sinks large = S3Sinks.builder(store, budget).segmentBytes(100 * MIB).build();
        assertEquals(
                100 * MIB, large.segmentBytes(1), "the size is above the size to which pieces grow, so it is constant");
    }

    // ---- sweeps

    @Test
    void sweep_endsOldFormsOnly_andRemovesTheirTombstonesInTheEnd() throws Exception {
        PipedInputStream never = new PipedInputStream();
        PipedOutputStream client = new PipedOutputStream(never);
        byte[] body = Uploads.body(List.of(new File("a", 9 * MIB))).readAllBytes();
        S3Form abandoned = sinks.newForm();
        Uploads.Sending sending =
                send(abandoned, new SequenceInputStream(new ByteArrayInputStream(body, 0, 7 * MIB), never));
        Weed.await(() -> assertEquals(1, intents().size()));
        bucket.now = bucket.now.plus(Duration.ofHours(23));
        assertEquals(new S3Sinks.Swept(0, 0, 0), sinks.sweep().get());
        bucket.now = bucket.now.plus(Duration.ofHours(2));
        assertEquals(1, sinks.sweep().get().forms());
        client.write(body, 7 * MIB, body.length - 7 * MIB);
        client.close();
        sending.failure();
        get(sinks.whenIdle());
        assertEquals(List.of(), files(abandoned));
        bucket.objects.put(
                "test/" + abandoned.id() + "/1", // stored by a late request
                new ObjectStore.Content(new byte[1], "etag", bucket.now, bucket.now));
        assertEquals(0, sinks.sweep().get().objects()); // the form was swept a moment ago
        bucket.now = bucket.now.plus(Duration.ofDays(2));
        assertEquals(1, sinks.sweep().get().objects());
        assertEquals(2, bucket.keys().size()); // the tombstone and an intent
        bucket.now = bucket.now.plus(Duration.ofDays(7));
        sinks.sweep().get();
        assertEquals(Set.of(), bucket.keys());
    }

    @Test
    void sweep_ofAFormWithMoreIntentsThanOneRequestDeletes_deletesAll() throws Exception {
        S3Form form = stored(new File("a", 10));
        get(sinks.whenIdle());
        // These names do not begin with the number of a file, so the sweep does not look for uploads.
        for (int i = 1; i <= 1001; i++) {
            bucket.objects.put(
                    "test/.open/" + form.id() + "/x" + i,
                    new ObjectStore.Content(new byte[0], "e", bucket.now, bucket.now));
        }
        sweepLater(Duration.ofDays(2));
        assertEquals(List.of(), intents());
        assertEquals(1, files(form).size());
    }

    @Test
    void costOfSweep_dependsOnlyOnUnfinishedForms() throws Exception {
        ObjectStore.Content content = new ObjectStore.Content(new byte[1], "etag", bucket.now, bucket.now);
        for (int i = 0; i < 100_000; i++) {
            String id = "0".repeat(16) + HexFormat.of().toHexDigits((long) i);
            bucket.objects.put("test/" + id + "/form.json", content);
            bucket.objects.put("test/" + id + "/1", content);
        }
        for (int i = 0; i < 4; i++) {
            bucket.objects.put("test/.open/" + CommitProtocol.random() + "/1", content);
        }
        bucket.objects.put("test/.open/foreign", content);
        bucket.objects.put("test/.open/" + "0".repeat(32), content);
        bucket.objects.put("other/.open/" + CommitProtocol.random() + "/1", content);
        bucket.now = bucket.now.plus(Duration.ofDays(2));
        assertEquals(4, get(sinks.sweep()).forms());
        assertTrue(store.requests.size() < 4 * 8 + 4, store.requests.size() + " requests");
        assertEquals(200_000 + 2 * 4 + 3, bucket.keys().size());
    }
}
