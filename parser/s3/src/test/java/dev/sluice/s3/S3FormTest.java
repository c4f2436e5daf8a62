package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
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

    /** Responds on a thread of the store, after a delay. Requests of one kind are lost. */
    private static final class SlowNetwork implements MemoryStore.Network {
        private final ScheduledExecutorService thread = new ScheduledThreadPoolExecutor(1);
        private volatile String failing = "none";
        private volatile String forged = "none";
        private volatile String throwing = "none";

        @Override
        public <T> CompletableFuture<T> send(String name, Supplier<T> work) {
            if (name.startsWith(throwing)) {
                throw new IllegalStateException(name + " cannot be sent");
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
        sinks.whenIdle().get(MINUTES, TimeUnit.MINUTES);
        Weed.await(() -> {
            assertEquals(
                    0, budget.used()); // the form releases its memory to the budget on a thread of its own, maybe later
            assertEquals(List.of(), allocator.unreleased());
        });
        assertEquals(Set.of(), bucket.uploads.keySet());
        forms.close();
        network.thread.shutdown();
    }

    private Uploads.Sending send(S3Form form, InputStream body) {
        return Uploads.send(forms, form.options(forms.options()), body, allocator);
    }

    private S3Form stored(File... files) throws Exception {
        S3Form form = sinks.newForm();
        send(form, Uploads.body(List.of(files)))
                .form()
                .get(MINUTES, TimeUnit.MINUTES)
                .close();
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
        MultipartForm received = send(form, new ByteArrayInputStream(body.getBytes(StandardCharsets.US_ASCII)))
                .form()
                .get(MINUTES, TimeUnit.MINUTES);
        assertEquals(
                List.of(true), received.parts().stream().map(FormPart::isEmpty).toList());
        received.close();
        assertEquals(
                List.of(4L, 0L),
                form.objects().stream().map(object -> object.stored().size()).toList());
    }

    private static Throwable failure(Uploads.Sending sending) {
        return assertThrows(ExecutionException.class, () -> sending.form().get(MINUTES, TimeUnit.MINUTES))
                .getCause();
    }

    /** Reads a form by the documented rule, from its identifier. */
    private void assertStored(String id, File... files) throws Exception {
        FormRecord record = sinks.find(id).get(MINUTES, TimeUnit.MINUTES).orElseThrow();
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
        sinks.whenIdle().get(MINUTES, TimeUnit.MINUTES);
        assertEquals(List.of(), intents());
    }

    @Test
    void smallForm_makesThreeRequests() throws Exception {
        sinks.probe().get(MINUTES, TimeUnit.MINUTES);
        store.requests.clear();
        S3Form form = stored(new File("a", 10 << 10));
        String open = "test/.open/" + form.id() + "/1";
        assertEquals(
                List.of("put " + open, "put test/" + form.id() + "/1", "write test/" + form.id() + "/form.json"),
                List.copyOf(store.requests).subList(0, 3));
        sinks.whenIdle().get(MINUTES, TimeUnit.MINUTES);
        assertEquals(
                "delete [" + open + "]", store.requests.get(store.requests.size() - 1), "with those of other forms");
    }

    @Test
    void form_withoutFiles_isNotStored() throws Exception {
        S3Form form = sinks.newForm();
        send(form, Uploads.body(List.of()))
                .form()
                .get(MINUTES, TimeUnit.MINUTES)
                .close();
        assertEquals(Set.of(), bucket.keys());
        assertTrue(sinks.find(form.id()).get(MINUTES, TimeUnit.MINUTES).isEmpty());
    }

    @Test
    void form_truncatedAnywhere_leavesATombstoneAtMost() throws Exception {
        byte[] body =
                Uploads.body(List.of(new File("a", 6 * MIB), new File("b", 10))).readAllBytes();
        for (int length : new int[] {20, 150, 4 * MIB, 6 * MIB, body.length - 3}) {
            S3Form form = sinks.newForm();
            Uploads.Sending sending = send(form, new ByteArrayInputStream(body, 0, length));
            assertEquals(Reason.TRUNCATED, ((MultipartException) failure(sending)).reason());
            sinks.whenIdle().get(MINUTES, TimeUnit.MINUTES);
            assertEquals(List.of(), files(form));
            assertTrue(sinks.find(form.id()).get(MINUTES, TimeUnit.MINUTES).isEmpty());
        }
    }

    @Test
    void request_failing_failsTheForm() throws Exception {
        for (String request : List.of("put test/.open", "create", "upload", "complete", "write test/", "put test/")) {
            sinks = builder(budget).build();
            sinks.probe().get(MINUTES, TimeUnit.MINUTES);
            network.failing = request;
            S3Form form = sinks.newForm();
            failure(send(form, Uploads.body(List.of(new File("a", 6 * MIB), new File("b", 10)))));
            network.failing = "none";
            sinks.whenIdle().get(MINUTES, TimeUnit.MINUTES);
            assertTrue(sinks.find(form.id()).get(MINUTES, TimeUnit.MINUTES).isEmpty(), request);
            bucket.now = bucket.now.plus(Duration.ofDays(2));
            sinks.sweep().get(MINUTES, TimeUnit.MINUTES);
            assertEquals(List.of(), files(form), request);
        }
    }

    @Test
    void tombstone_notReadBack_deletesNothing() throws Exception {
        sinks.probe().get(MINUTES, TimeUnit.MINUTES);
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
        failure(sending);
        sinks.whenIdle().get(MINUTES, TimeUnit.MINUTES);
        network.forged = "none";
        assertEquals(1, files(form).size());
        bucket.now = bucket.now.plus(Duration.ofDays(2));
        sinks.sweep().get(MINUTES, TimeUnit.MINUTES);
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
        FormOptions options = form.options(forms.options()).toBuilder()
                .decider(part -> "last".equals(part.filename()) ? PartDecision.to(failing) : form.decide(part))
                .build();
        InputStream body = Uploads.body(List.of(new File("a", 10), new File("last", 10)));
        assertEquals(
                "the disk is full",
                failure(Uploads.send(forms, options, body, allocator)).getMessage());
        assertTrue(sinks.find(form.id()).get(MINUTES, TimeUnit.MINUTES).isEmpty());
    }

    @Test
    void form_withoutTheAdmissionOfTheStore_isRejected() {
        S3Form form = sinks.newForm();
        FormOptions options = forms.options().toBuilder().decider(form).build();
        Throwable failure = failure(Uploads.send(forms, options, Uploads.body(List.of(new File("a", 1))), allocator));
        assertInstanceOf(IllegalStateException.class, failure);
    }

    @Test
    void form_usedTwice_isRejectedAtOnce() throws Exception {
        S3Form form = sinks.newForm();
        byte[] body = Uploads.body(List.of(new File("a", 10))).readAllBytes();
        PipedInputStream rest = new PipedInputStream();
        PipedOutputStream client = new PipedOutputStream(rest);
        Uploads.Sending first = send(form, new SequenceInputStream(new ByteArrayInputStream(body, 0, 100), rest));
        Throwable second = failure(send(form, new ByteArrayInputStream(body)));
        assertInstanceOf(IllegalStateException.class, second);
        assertTrue(second.getMessage().contains("call S3Sinks.newForm()"), second::getMessage);
        client.write(body, 100, body.length - 100);
        client.close();
        first.form().get(MINUTES, TimeUnit.MINUTES).close();
        assertStored(form.id(), new File("a", 10));
        sinks.whenIdle().get(MINUTES, TimeUnit.MINUTES);
        assertInstanceOf(
                IllegalStateException.class, failure(send(form, new ByteArrayInputStream(body))), "after its end");
    }

    private Uploads.Sending sendTwoCopies(S3Sinks to) {
        S3Form form = to.newForm();
        FormOptions options = form.options(forms.options()).toBuilder()
                .decider(part -> part.filename() == null
                        ? PartDecision.skip()
                        : PartDecision.to(PartSink.tee(form.sink(part), form.sink(part))))
                .build();
        return Uploads.send(forms, options, Uploads.body(List.of(new File("a", 6 * MIB))), allocator);
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
            MultipartException failure = assertInstanceOf(MultipartException.class, failure(each));
            assertEquals(Reason.MEMORY_FULL, failure.reason());
            assertTrue(failure.getMessage().contains("two files of the form"), failure::getMessage);
        }
        few.whenIdle().get(MINUTES, TimeUnit.MINUTES);
        assertEquals(0, least.used());
        sendTwoCopies(sinks).form().get(MINUTES, TimeUnit.MINUTES).close(); // with memory for both
    }

    @Test
    void store_throwing_failsTheForm() throws Exception {
        for (String request : List.of("list", "put test/.open", "create", "upload", "complete", "write", "put test/")) {
            sinks = builder(budget).build();
            network.throwing = request;
            S3Form form = sinks.newForm();
            failure(send(form, Uploads.body(List.of(new File("a", 6 * MIB), new File("b", 10)))));
            network.throwing = "none";
            sinks.whenIdle().get(MINUTES, TimeUnit.MINUTES);
            bucket.now = bucket.now.plus(Duration.ofDays(2));
            sinks.sweep().get(MINUTES, TimeUnit.MINUTES);
            assertEquals(List.of(), files(form), request);
        }
    }

    @Test
    void form_deleted_isGoneAndItsFilesAreDeleted() throws Exception {
        File[] files = new File[7]; // more than a page of a listing
        Arrays.setAll(files, i -> new File("file" + i, i == 1 ? 6 * MIB : 10));
        S3Form form = stored(files);
        assertTrue(sinks.delete(form.id()).get(MINUTES, TimeUnit.MINUTES));
        assertTrue(sinks.find(form.id()).get(MINUTES, TimeUnit.MINUTES).isEmpty());
        assertEquals(List.of(), files(form));
        assertFalse(sinks.delete(form.id()).get(MINUTES, TimeUnit.MINUTES));
    }

    @Test
    void damagedRecord_isNeitherFoundNorSweptNorDeleted() throws Exception {
        S3Form form = stored(new File("a", 10));
        sinks.whenIdle().get(MINUTES, TimeUnit.MINUTES);
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
        Throwable rejection = failure(send(sinks.newForm(), Uploads.body(List.of(new File("a", 10)))));
        assertTrue(rejection.getMessage().contains("ignores the header If-None-Match"), rejection::getMessage);
        bucket.ignoresIfNoneMatch = false;
        bucket.ignoresIfMatch = true;
        rejection = failure(send(sinks.newForm(), Uploads.body(List.of(new File("a", 10)))));
        assertTrue(rejection.getMessage().contains("ignores the header If-Match"), rejection::getMessage);
        bucket.ignoresIfMatch = false;
        stored(new File("a", 10));
    }

    @Test
    void fileWithChosenKey_isWrittenLastAndNeverDeleted() throws Exception {
        for (int size : new int[] {10, 100_000, 6 * MIB}) {
            String key = "mine/" + size;
            S3Form form = sinks.newForm();
            FormOptions options = form.options(forms.options()).toBuilder()
                    .decider(part -> part.filename() == null
                            ? PartDecision.skip()
                            : PartDecision.to(form.sink(part, "text/plain", key)))
                    .build();
            byte[] body = Uploads.body(List.of(new File("a", size))).readAllBytes();
            failure(Uploads.send(forms, options, new ByteArrayInputStream(body, 0, body.length - 3), allocator));
            assertFalse(bucket.keys().contains(key));
            S3Form second = sinks.newForm();
            FormOptions again = options.toBuilder()
                    .admission(second)
                    .decider(part -> part.filename() == null
                            ? PartDecision.skip()
                            : PartDecision.to(second.sink(part, "text/plain", key)))
                    .build();
            Uploads.send(forms, again, new ByteArrayInputStream(body), allocator)
                    .form()
                    .get(MINUTES, TimeUnit.MINUTES)
                    .close();
            assertStored(second.id(), new File("a", size));
            sinks.delete(second.id()).get(MINUTES, TimeUnit.MINUTES);
            assertTrue(bucket.keys().contains(key));
        }
        sinks = builder(budget).onlyNew().build();
        S3Form form = sinks.newForm();
        FormOptions options = form.options(forms.options()).toBuilder()
                .decider(part -> part.filename() == null
                        ? PartDecision.skip()
                        : PartDecision.to(form.sink(part, "text/plain", "mine/10")))
                .build();
        assertInstanceOf(
                FileAlreadyExistsException.class,
                failure(Uploads.send(forms, options, Uploads.body(List.of(new File("a", 10))), allocator)));
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
            sending.get(6 + i).form().get(MINUTES, TimeUnit.MINUTES).close();
        }
        for (PipedOutputStream rest : slow) {
            rest.write(large, large.length - 1000, 1000);
            rest.close();
        }
        for (int i = 0; i < 6; i++) {
            sending.get(i).form().get(MINUTES, TimeUnit.MINUTES).close();
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
            each.form().get(MINUTES, TimeUnit.MINUTES).close();
        }
        few.whenIdle().get(MINUTES, TimeUnit.MINUTES);
        assertEquals(0, least.used());
        assertTrue(least.peak() <= 8 * MIB, "at most " + least.peak());
    }

    @Test
    void form_waitingTooLongForMemory_isRejected() throws Exception {
        sinks = builder(budget).maxWait(Duration.ofMillis(50)).build();
        try (MemoryBudget.Account others = budget.open()) {
            others.reserve(44 * MIB);
            Throwable rejection = failure(send(sinks.newForm(), Uploads.body(List.of(new File("a", 10)))));
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
        assertTrue(reported.get(MINUTES, TimeUnit.MINUTES), "the lock was held");
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
        sinks = builder(budget).mostPieces(2).build();
        stored(new File("most", 10 * MIB));
        Throwable rejection = failure(send(sinks.newForm(), Uploads.body(List.of(new File("more", 10 * MIB + 1)))));
        assertEquals(Reason.PART_TOO_LARGE, ((MultipartException) rejection).reason());
    }

    @Test
    void sizeOfPieces_growsWithTheirNumber() {
        long room = 0;
        for (int piece = 1; piece <= 10_000; piece++) {
            room += S3Sinks.builder(store, budget).build().segmentBytes(piece);
        }
        assertEquals(351, room >> 30);
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
        failure(sending);
        sinks.whenIdle().get(MINUTES, TimeUnit.MINUTES);
        assertEquals(List.of(), files(abandoned));
        bucket.objects.put(
                "test/" + abandoned.id() + "/1", // stored by a late request
                new ObjectStore.Content(new byte[1], "etag", bucket.now, bucket.now));
        assertEquals(0, sinks.sweep().get().objects(), "swept a moment ago");
        bucket.now = bucket.now.plus(Duration.ofDays(2));
        assertEquals(1, sinks.sweep().get().objects());
        assertEquals(2, bucket.keys().size(), "the tombstone and an intent");
        bucket.now = bucket.now.plus(Duration.ofDays(7));
        sinks.sweep().get();
        assertEquals(Set.of(), bucket.keys());
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
        assertEquals(4, sinks.sweep().get(MINUTES, TimeUnit.MINUTES).forms());
        assertTrue(store.requests.size() < 4 * 8 + 4, store.requests.size() + " requests");
        assertEquals(200_000 + 2 * 4 + 3, bucket.keys().size());
    }
}
