package dev.sluice.s3;

import static dev.sluice.s3.Uploads.failure;
import static dev.sluice.s3.Uploads.get;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.MultipartReader;
import dev.sluice.PartHead;
import dev.sluice.form.FormHead;
import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.PartDecider;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import dev.sluice.form.StoreMetrics;
import dev.sluice.s3.Uploads.File;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** Forms whose commit is disturbed, and the objects that they leave, in a store in memory. */
class CommitTest {
    private static final int MIB = 1 << 20;

    /** The time after which a test that hangs fails. */
    private static final int MINUTES = 2;

    private static final int RACES = 200_000;

    private static final Predicate<String> NONE = name -> false;
    private static final Predicate<String> RECORD = name -> name.matches("write .*/form.json");

    /** Responds on the calling thread, except requests that the test delays, loses, or leaves unproven. */
    private static final class Disturbed implements MemoryStore.Network {
        private final CompletableFuture<Void> released = new CompletableFuture<>();
        private volatile Predicate<String> late = NONE;
        private volatile Predicate<String> lost = NONE;
        private volatile Predicate<String> rejected = NONE;
        private volatile int status;
        private volatile Predicate<String> unproven = NONE;
        private volatile Predicate<String> thrown = NONE;
        private volatile boolean changesETag;
        private volatile boolean isClosed;
        private volatile boolean isBusy;
        private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();
        private volatile boolean hasNoTimer;
        private volatile boolean hasNoPauses;

        /** The timers of commits, which the test completes. */
        private final List<CompletableFuture<Void>> limits = new CopyOnWriteArrayList<>();

        @Override
        public <T> CompletableFuture<T> send(String name, Supplier<T> work) {
            if (thrown.test(name)) {
                throw new IllegalStateException("the client is broken");
            } else if (lost.test(name)) {
                CompletableFuture<T> none = CompletableFuture.failedFuture(new IOException(name + " was lost"));
                return late.test(name) ? released.thenCompose(passed -> none) : none;
            } else if (rejected.test(name)) {
                return CompletableFuture.failedFuture(Retries.explained(
                        "PutObject", S3Exception.builder().statusCode(status).build()));
            }
            CompletableFuture<T> made = MemoryStore.Network.super.send(name, work);
            if (unproven.test(name)) {
                return CompletableFuture.failedFuture(ResponseException.incomplete("no checksum"));
            }
            return late.test(name) ? released.thenCompose(passed -> made) : made;
        }

        @Override
        public ObjectStore.Content seen(String key, ObjectStore.Content content) {
            boolean changes = changesETag;
            changesETag = false; // only once
            return changes
                    ? new ObjectStore.Content(content.bytes(), "other", content.modified(), content.now())
                    : content;
        }

        @Override
        public Executor executor() {
            return task -> {
                if (isClosed) {
                    throw new RejectedExecutionException();
                } else if (isBusy) {
                    tasks.add(task);
                } else {
                    task.run();
                }
            };
        }

        @Override
        public CompletableFuture<Void> after(Duration delay) {
            if (hasNoTimer) {
                throw new IllegalStateException("no timer");
            } else if (delay.equals(CommitProtocol.MAX_SETTLE_TIME)) {
                limits.add(new CompletableFuture<>());
                return limits.get(limits.size() - 1);
            }
            if (hasNoPauses) {
                return CompletableFuture.completedFuture(null);
            }
            return isClosed
                    ? CompletableFuture.failedFuture(new IOException("closed"))
                    : new CompletableFuture<Void>().completeOnTimeout(null, 1, TimeUnit.MILLISECONDS);
        }
    }

    private final MemoryStore.Bucket bucket = new MemoryStore.Bucket();
    private final Disturbed network = new Disturbed();
    private final AtomicInteger aborts = new AtomicInteger();
    private final StoreMetrics metrics = new StoreMetrics() {
        @Override
        public void aborted() {
            aborts.incrementAndGet();
        }
    };
    private final MemoryStore store = new MemoryStore(bucket, network) {
        @Override
        public StoreMetrics metrics() {
            return metrics;
        }
    };
    private final MemoryBudget budget = MemoryBudget.of(64 * MIB);
    private final S3Sinks sinks = sinks().build();
    private final Forms forms = Forms.of(FormOptions.inMemory(budget)
            .maxBodyBytes(1L << 30)
            .maxPartBytes(1L << 30)
            .build());

    private S3Sinks.Builder sinks() {
        return S3Sinks.builder(store, budget)
                .prefix("test/")
                .segmentBytes(5 * MIB)
                .maxWait(Duration.ofMinutes(MINUTES));
    }

    @AfterEach
    void close() throws Exception {
        get(sinks.whenIdle());
        Weed.await(() -> assertEquals(0, budget.used()));
        forms.close();
    }

    private Uploads.Sending send(S3Form form, PartDecider decider, File... files) {
        FormOptions options =
                form.options(forms.options()).toBuilder().decider(decider).build();
        return Uploads.send(forms, options, Uploads.body(List.of(files)), UnpooledByteBufAllocator.DEFAULT);
    }

    private static PartDecider files(Function<PartHead, PartSink> sink) {
        return part -> part.filename() == null ? PartDecision.storeInMemory() : PartDecision.to(sink.apply(part));
    }

    private boolean exists(S3Form form) throws Exception {
        return get(sinks.find(form.id())).isPresent();
    }

    private String key(S3Form form, String name) {
        return "test/" + form.id() + '/' + name;
    }

    private void sweepLater(Duration later) throws Exception {
        synchronized (bucket) {
            bucket.now = bucket.now.plus(later);
        }
        get(sinks.sweep());
    }

    // ---- the commit

    @Test
    void unpublishedFile_withUnsentPieces_isReleased() throws Exception {
        S3Form form = sinks.newForm();
        assertTrue(form.admit().isReady());
        PartSink published = form.sink(head());
        published.write(Unpooled.buffer().writeZero(5 * MIB - 1));
        published.complete();
        network.late = name -> name.startsWith("upload");
        PartSink other = form.sink(head());
        for (int i = 0; i < 3; i++) { // two pieces are being sent, and one waits
            other.write(Unpooled.buffer().writeZero(5 * MIB));
        }
        other.complete();
        published.publish();
        assertTrue(form.commit().checkReady());
        published.close();
        other.close();
        form.ended();
        network.released.complete(null);
        get(sinks.whenIdle());
        assertEquals(0, budget.used());
    }

    @Test
    void form_abortedWhileItsRecordIsWritten_isCommitted() throws Exception {
        network.late = RECORD;
        S3Form form = sinks.newForm();
        Uploads.Sending sending = send(form, form, new File("a", 10));
        Weed.await(() -> assertTrue(bucket.keys().contains(key(form, "form.json"))));
        sending.intake().abort(new IOException("gone"));
        sending.intake().checkPace(System.nanoTime() + TimeUnit.HOURS.toNanos(1));
        assertFalse(sending.form().isDone());
        network.released.complete(null);
        sending.succeed();
        assertEquals(1, form.objects().size());
        assertTrue(exists(form));
    }

    @Test
    void form_abortedBeforeItsRecordIsWritten_fails() throws Exception {
        network.late = name -> name.matches("put test/[0-9a-f]{32}/1");
        S3Form form = sinks.newForm();
        Uploads.Sending sending = send(form, form, new File("a", 10));
        Weed.await(() -> assertTrue(bucket.keys().contains(key(form, "1"))));
        IOException gone = new IOException("gone");
        sending.intake().abort(gone);
        assertEquals(gone, sending.failure());
        get(sinks.whenIdle()); // the request is cancelled: its response never arrives
        assertFalse(bucket.keys().contains(key(form, "1")));
    }

    @Test
    void commit_ofAClientThatThrowsOnce_isRepeated() throws Exception {
        AtomicInteger writes = new AtomicInteger();
        network.thrown = RECORD.and(name -> writes.incrementAndGet() == 1);
        assertTrue(exists(stored(new File("a", 10))));
    }

    @Test
    void commit_thatIsNotWritten_isEndedByATombstone() throws Exception {
        AtomicInteger writes = new AtomicInteger();
        network.lost = RECORD.and(name -> writes.incrementAndGet() <= CommitProtocol.MAX_ATTEMPTS);
        S3Form form = sinks.newForm();
        Throwable failure = send(form, form, new File("a", 10)).failure();
        assertTrue(failure.getMessage().endsWith("form.json was lost"), failure::getMessage);
        get(sinks.whenIdle());
        assertFalse(exists(form));
        assertFalse(bucket.keys().contains(key(form, "1")));
    }

    @ParameterizedTest
    @ValueSource(ints = {404, 409, 412, 500, 503})
    void commit_rejectedOnceForATransientReason_isRepeated(int status) throws Exception {
        AtomicInteger writes = new AtomicInteger();
        network.rejected = RECORD.and(name -> writes.incrementAndGet() == 1);
        network.status = status;
        assertTrue(exists(stored(new File("a", 10))));
        assertEquals(2, writes.get());
    }

    @Test
    void commit_thatTheStoreForbids_isNotRepeated() throws Exception {
        network.rejected = RECORD;
        network.status = 403;
        S3Form form = sinks.newForm();
        send(form, form, new File("a", 10)).failure();
        get(sinks.whenIdle());
        assertEquals(
                3,
                store.requests.stream().filter(RECORD).count(),
                "writes: the record, a tombstone of the form, and a tombstone of the clean-up");
    }

    @Test
    void commit_thatIsFoundBySettlingATombstone_succeeds() throws Exception {
        AtomicInteger reads = new AtomicInteger();
        network.unproven = RECORD;
        network.lost = name -> name.matches("read .*/form.json") && reads.incrementAndGet() == 1;
        S3Form form = sinks.newForm();
        send(form, form, new File("a", 10)).succeed();
        assertTrue(exists(form));
    }

    @Test
    void commit_unknown_failsWith503AndDeletesNothing() throws Exception {
        network.unproven = RECORD;
        network.lost = name -> name.matches("read .*/form.json");
        S3Form form = sinks.newForm();
        MultipartException failure = assertInstanceOf(
                MultipartException.class, send(form, form, new File("a", 10)).failure());
        assertEquals(Reason.UNAVAILABLE, failure.reason());
        assertEquals(503, failure.httpStatus());
        assertTrue(failure.getMessage().contains("it is not known whether the form is stored"), failure::getMessage);
        get(sinks.whenIdle());
        network.lost = NONE;
        assertTrue(exists(form));
        assertTrue(bucket.keys().contains(key(form, "1")));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void commit_toASilentStore_isUnknownAfterItsTimeLimit(boolean isCarriedOut) throws Exception {
        AtomicInteger writes = new AtomicInteger();
        network.late = RECORD;
        network.lost = RECORD.and(name -> writes.incrementAndGet() == 1 && !isCarriedOut);
        S3Form form = sinks.newForm();
        form.admit();
        PartSink sink = form.sink(head());
        sink.write(Unpooled.wrappedBuffer(new byte[1]));
        sink.complete();
        sink.publish();
        Readiness committed = form.commit();
        assertFalse(committed.isReady());
        network.limits.get(0).complete(null);
        MultipartException failure = assertInstanceOf(MultipartException.class, committed.failure());
        assertEquals(Reason.UNAVAILABLE, failure.reason());
        assertTrue(failure.getMessage().contains("it is not known whether the form is stored"), failure::getMessage);
        network.hasNoPauses = true;
        network.released.complete(null);
        assertEquals(isCarriedOut, exists(form), "no record may be written after the time limit");
        sink.close();
        form.ended();
        get(sinks.whenIdle());
        assertEquals(isCarriedOut, bucket.keys().contains(key(form, "1")));
    }

    @Test
    void timerOfACommit_isCancelled() throws Exception {
        stored(new File("a", 10));
        assertTrue(network.limits.get(0).isCancelled());
    }

    @Test
    void commit_whoseKeyHasTheRecordOfAnotherWriter_fails() throws Exception {
        S3Form form = sinks.newForm();
        byte[] other = new FormRecord(form.id(), true, "other", List.of()).bytes();
        bucket.objects.put(key(form, "form.json"), new ObjectStore.Content(other, "etag", bucket.now, bucket.now));
        assertInstanceOf(
                MultipartException.class, send(form, form, new File("a", 10)).failure());
    }

    @ParameterizedTest
    @CsvSource({"false, false", "true, false", "true, true"})
    void form_olderThanTheTimeLimitByOneClock_failsWith503(boolean byNanoClock, boolean isSwept) throws Exception {
        AtomicReference<Instant> now = new AtomicReference<>(Instant.now());
        AtomicLong nanos = new AtomicLong();
        S3Form form = sinks().clock(now::get).nanoClock(nanos::get).build().newForm();
        network.late = name -> name.matches("put test/[0-9a-f]{32}/1");
        Uploads.Sending sending = send(form, form, new File("a", 10));
        Weed.await(() -> assertTrue(bucket.keys().contains(key(form, "1"))));
        if (byNanoClock) {
            nanos.set(CommitProtocol.MAX_COMMIT_TIME.toNanos());
        } else {
            now.set(now.get().plus(CommitProtocol.MAX_COMMIT_TIME));
        }
        if (isSwept) {
            byte[] tombstone = FormRecord.tombstone(form.id(), "sweep").bytes();
            bucket.objects.put(
                    key(form, "form.json"), new ObjectStore.Content(tombstone, "etag", bucket.now, bucket.now));
        }
        network.released.complete(null);
        MultipartException failure = assertInstanceOf(MultipartException.class, sending.failure());
        assertEquals(Reason.UNAVAILABLE, failure.reason());
        String reason = isSwept ? "was ended by a sweep" : "can no longer be committed";
        assertTrue(failure.getMessage().contains(reason), failure::getMessage);
        assertFalse(exists(form));
        get(form.sinks.whenIdle());
        assertFalse(bucket.keys().contains(key(form, "1")));
    }

    @Test
    void record_ofAFileWhoseTypeIsUnknown_isIntact() throws Exception {
        S3Sinks sniffing = sinks().sniff(4, first -> null).build();
        S3Form form = sniffing.newForm();
        send(form, form, new File("a", 10)).succeed();
        assertEquals(
                "application/octet-stream",
                get(sniffing.find(form.id())).orElseThrow().files().get(0).contentType());
        get(sniffing.whenIdle());
    }

    @Test
    void form_ofATextThatIsNoIdentifier_isNotLookedFor() throws Exception {
        for (String id : List.of("", "../" + "0".repeat(29), "a/b", "0".repeat(2000))) {
            assertFalse(get(sinks.find(id)).isPresent());
            assertFalse(get(sinks.delete(id)));
        }
        assertEquals(List.of(), store.requests);
    }

    @Test
    void commit_ofAFailedForm_fails() throws Exception {
        S3Form form = sinks.newForm();
        form.admit();
        form.cancelCommit(new IOException("gone"));
        assertEquals("gone", form.commit().failure().getMessage());
        form.ended();
    }

    // ---- what is left

    @Test
    void intent_isRenewedAfterAQuarterOfTheMaximumAge() throws Exception {
        AtomicLong nanos = new AtomicLong(1);
        S3Form form = sinks().nanoClock(nanos::get).build().newForm(); // the maximum age is a day
        PartSink sink = beginFile(form);
        for (int i = 1; i <= 3; i++) {
            nanos.addAndGet(TimeUnit.HOURS.toNanos(6));
            sink.write(Unpooled.wrappedBuffer(new byte[1]));
            assertEquals(i, intentWrites());
            nanos.addAndGet(1);
            sink.write(Unpooled.wrappedBuffer(new byte[1]));
            assertEquals(i + 1, intentWrites());
        }
        sink.close();
        form.ended();
        get(form.sinks.whenIdle());
    }

    @Test
    void intent_ofAnEndedForm_isNotRenewed() throws Exception {
        AtomicLong nanos = new AtomicLong(1);
        S3Form form = sinks().nanoClock(nanos::get).build().newForm();
        PartSink sink = beginFile(form);
        nanos.addAndGet(TimeUnit.DAYS.toNanos(1));
        network.isBusy = true;
        form.ended();
        sink.write(Unpooled.wrappedBuffer(new byte[1])); // the form has not processed its end yet
        sink.close();
        network.isBusy = false;
        network.tasks.remove().run();
        get(form.sinks.whenIdle());
        assertEquals(1, intentWrites());
    }

    /** Each read of the body advances the clocks of the store and of the process by a time for each byte, and then sweeps. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void form_sweptWhileItIsReceived_isEndedOnlyIfTheClientPauses(boolean pauses) throws Exception {
        AtomicLong nanos = new AtomicLong(1);
        Instant start = bucket.now;
        S3Sinks slow = sinks().maxAge(Duration.ofHours(8))
                .clock(() -> start.plusNanos(nanos.get()))
                .nanoClock(nanos::get)
                .build();
        AtomicInteger ended = new AtomicInteger();
        AtomicLong received = new AtomicLong();
        InputStream body = new FilterInputStream(Uploads.body(List.of(new File("a", 12 * MIB)))) {
            @Override
            public int read(byte[] into, int offset, int length) throws IOException {
                int read = super.read(into, offset, length);
                int count = Math.max(read, 0);
                boolean isPause = pauses && received.get() < 8 * MIB && received.addAndGet(count) >= 8 * MIB;
                nanos.addAndGet(TimeUnit.HOURS.toNanos(isPause ? 9 : 0) + count * TimeUnit.MILLISECONDS.toNanos(27));
                bucket.now = start.plusNanos(nanos.get());
                ended.addAndGet(slow.sweep().join().forms());
                return read;
            }
        };
        S3Form form = slow.newForm();
        FormHead head = FormHead.of(Uploads.CONTENT_TYPE);
        if (pauses) {
            MultipartException failure =
                    assertThrows(MultipartException.class, () -> forms.read(body, head, form.options(forms.options())));
            assertEquals(503, failure.httpStatus());
            assertTrue(failure.getMessage().contains("a sweep may have ended the form"), failure::getMessage);
        } else {
            forms.read(body, head, form.options(forms.options())).close();
        }
        get(slow.whenIdle());
        assertEquals(pauses ? 1 : 0, ended.get());
        assertEquals(!pauses, exists(form));
        assertEquals(
                Set.of(pauses ? "test/.open/" + form.id() + "/1" : key(form, "1"), key(form, "form.json")),
                bucket.keys());
    }

    @Test
    void renewal_withoutAResponse_delaysTheCleanUp() throws Exception {
        AtomicLong nanos = new AtomicLong(1);
        S3Form form = sinks().nanoClock(nanos::get).build().newForm();
        PartSink sink = beginFile(form);
        nanos.addAndGet(TimeUnit.DAYS.toNanos(1));
        network.late = name -> name.startsWith("put test/.open/");
        sink.write(Unpooled.wrappedBuffer(new byte[1]));
        sink.close();
        form.ended();
        assertFalse(
                bucket.keys().contains(key(form, "form.json")),
                "the tombstone is written, although the renewal of an intent may still be carried out");
        network.released.complete(null);
        get(form.sinks.whenIdle());
        assertTrue(bucket.keys().contains(key(form, "form.json")));
    }

    /** {@return a sink of the form, which has sent its first piece} */
    private static PartSink beginFile(S3Form form) throws IOException {
        form.admit();
        PartSink sink = form.sink(head());
        sink.write(Unpooled.wrappedBuffer(new byte[6 * MIB]));
        return sink;
    }

    private long intentWrites() {
        return store.requests.stream()
                .filter(request -> request.startsWith("put test/.open/"))
                .count();
    }

    @Test
    void nothingOfAFile_isSentBeforeItsIntentIsWritten() throws Exception {
        network.lost = name -> name.startsWith("put test/.open/");
        for (File file : List.of(new File("a", 6 * MIB), new File("b", 10))) {
            S3Form form = sinks.newForm();
            send(form, form, file).failure();
            get(sinks.whenIdle());
            assertEquals(
                    List.of(),
                    store.requests.stream()
                            .filter(request -> request.endsWith(key(form, "1")))
                            .toList());
        }
    }

    @Test
    void form_abortedWhileItsUploadIsCreated_abortsTheUpload() throws Exception {
        network.late = name -> name.startsWith("create");
        S3Form form = sinks.newForm();
        Uploads.Sending sending = send(form, form, new File("a", 6 * MIB));
        Weed.await(() -> assertEquals(1, bucket.uploads.size()));
        sending.intake().abort(new IOException("gone"));
        sending.failure();
        network.released.complete(null);
        get(sinks.whenIdle());
        assertEquals(Set.of(), bucket.uploads.keySet());
    }

    @Test
    void uploads_ofAllFilesOfAKilledProcess_areAbortedByASweep() throws Exception {
        S3Form form = sinks.newForm();
        form.admit();
        List<PartSink> files = List.of(form.sink(head()), form.sink(head()));
        for (PartSink file : files) {
            file.write(Unpooled.wrappedBuffer(new byte[5 * MIB]));
        }
        assertEquals(2, bucket.uploads.size());
        sweepLater(Duration.ofDays(2));
        assertEquals(Set.of(), bucket.uploads.keySet());
        files.forEach(PartSink::close);
        form.ended();
    }

    @Test
    void form_whoseUploadCannotBeAborted_isEnded() throws Exception {
        network.late = name -> name.startsWith("complete");
        network.lost = name -> name.startsWith("abort");
        S3Form form = sinks.newForm();
        Uploads.Sending sending = send(form, form, new File("a", 6 * MIB));
        Weed.await(() -> assertTrue(bucket.keys().contains(key(form, "1"))));
        sending.intake().abort(new IOException("gone"));
        sending.failure();
        get(sinks.whenIdle());
        assertTrue(bucket.keys().contains(key(form, "form.json")));
        assertFalse(bucket.keys().contains(key(form, "1")));
    }

    @Test
    void upload_createdByALostResponse_isAbortedByASweep() throws Exception {
        bucket.repeatsCreate = true;
        S3Form form = stored(new File("a", 6 * MIB));
        assertEquals(1, bucket.uploads.size());
        sweepLater(Duration.ofDays(2));
        assertEquals(Set.of(), bucket.uploads.keySet());
        assertEquals(Set.of(key(form, "1"), key(form, "form.json")), bucket.keys());
    }

    @Test
    void deletion_whoseFirstWriteIsLost_isRepeated() throws Exception {
        S3Form form = stored(new File("a", 10));
        AtomicInteger writes = new AtomicInteger();
        network.lost = RECORD.and(name -> writes.incrementAndGet() == 1);
        assertTrue(get(sinks.delete(form.id())));
        assertFalse(exists(form));
        assertFalse(bucket.keys().contains(key(form, "1")));
    }

    @Test
    void deletion_withoutAnIntent_replacesNothing() throws Exception {
        S3Form form = stored(new File("a", 10));
        network.lost = name -> name.endsWith(CommitProtocol.DELETION);
        failure(sinks.delete(form.id()));
        assertTrue(exists(form));
    }

    @Test
    void deletion_thatReadAWrongETag_fails() throws Exception {
        S3Form form = stored(new File("a", 10));
        network.changesETag = true;
        MultipartException failure = assertInstanceOf(MultipartException.class, failure(sinks.delete(form.id())));
        assertEquals("the form may still be stored; delete it again", failure.getMessage());
        assertTrue(exists(form));
        assertTrue(bucket.keys().contains(key(form, "1")));
    }

    private void putIntent(S3Form form, String name) {
        synchronized (bucket) {
            bucket.objects.put(
                    "test/.open/" + form.id() + '/' + name,
                    new ObjectStore.Content(new byte[1], "etag", bucket.now, bucket.now));
        }
    }

    private S3Form stored(File... files) throws Exception {
        S3Form form = sinks.newForm();
        send(form, form, files).succeed();
        get(sinks.whenIdle());
        return form;
    }

    @Test
    void sweep_ofACommittedForm_abortsOnlyUploadsThatBecameNoFile() throws Exception {
        S3Form form = stored(new File("a", 6 * MIB), new File("b", 10));
        List<FormRecord.File> files = sinks.find(form.id()).get().orElseThrow().files();
        String completed = files.get(0).upload();
        assertNotNull(completed);
        assertEquals(null, files.get(1).upload());
        // The store still lists the completed upload, a repeated request has created another, and the node died.
        for (String id : List.of(completed, "other")) {
            bucket.uploads.put(id, new ObjectStore.Upload(key(form, "1"), id));
        }
        putIntent(form, "1");
        sweepLater(Duration.ofDays(2));
        assertEquals(Set.of(completed), bucket.uploads.keySet());
        assertEquals(Set.of(key(form, "1"), key(form, "2"), key(form, "form.json")), bucket.keys());
    }

    @Test
    void intentOfADeletion_staysAsLongAsTheDeletionMayBeInProgress() throws Exception {
        S3Form form = stored(new File("a", 10));
        putIntent(form, CommitProtocol.DELETION);
        String intent = "test/.open/" + form.id() + '/' + CommitProtocol.DELETION;
        bucket.uploads.put("foreign", new ObjectStore.Upload(key(form, CommitProtocol.DELETION), "foreign"));
        sweepLater(Duration.ofDays(2));
        assertTrue(bucket.keys().contains(intent));
        sweepLater(Duration.ofDays(5));
        assertFalse(bucket.keys().contains(intent));
        assertTrue(exists(form));
        assertEquals(Set.of("foreign"), bucket.uploads.keySet());
    }

    @Test
    void intents_ofCommittedForms_areDeletedAfterATimerFailed() throws Exception {
        network.hasNoTimer = true;
        S3Form first = stored(new File("a", 10));
        network.hasNoTimer = false;
        S3Form second = stored(new File("a", 10));
        get(sinks.whenIdle());
        assertEquals(
                Set.of(key(first, "1"), key(first, "form.json"), key(second, "1"), key(second, "form.json")),
                bucket.keys());
    }

    @ParameterizedTest
    @ValueSource(ints = {100_000, 6 * MIB})
    void file_notPublished_isDeletedByASweep(int size) throws Exception {
        S3Form form = sinks.newForm();
        Uploads.Sending sending = send(
                form,
                files(part -> {
                    PartSink sink = form.sink(part);
                    return "b".equals(part.filename()) ? sink : unpublished(sink);
                }),
                new File("a", size),
                new File("b", 6 * MIB),
                new File("c", 10));
        sending.succeed();
        get(sinks.whenIdle());
        assertEquals(1, form.objects().size());
        sweepLater(Duration.ofDays(2));
        assertEquals(Set.of(key(form, "2"), key(form, "form.json")), bucket.keys());
    }

    private static PartSink unpublished(PartSink sink) {
        return new PartSink() {
            @Override
            public Readiness write(ByteBuf data) throws IOException {
                return sink.write(data);
            }

            @Override
            public Readiness complete() throws IOException {
                return sink.complete();
            }

            @Override
            public void close() {
                sink.close();
            }
        };
    }

    @Test
    void sweep_ofAnEndedForm_keepsForeignObjects() throws Exception {
        S3Form form = stored(new File("a", 10));
        for (String foreign : List.of("notes.txt", "01", "1/a")) {
            bucket.objects.put(
                    key(form, foreign), new ObjectStore.Content(new byte[1], "etag", bucket.now, bucket.now));
        }
        assertTrue(sinks.delete(form.id()).get());
        sweepLater(Duration.ofDays(2));
        assertEquals(
                List.of("01", "1/a", "form.json", "notes.txt"),
                bucket.keys().stream()
                        .filter(key -> key.startsWith(key(form, "")))
                        .map(key -> key.substring(key(form, "").length()))
                        .toList());
    }

    @Test
    void tombstone_sweptEachDay_isRemovedAfterSevenDaysAndALastCleanUp() throws Exception {
        S3Form form = stored(new File("a", 10));
        get(sinks.delete(form.id()));
        for (int day = 1; day <= 6; day++) {
            sweepLater(Duration.ofDays(1));
            assertTrue(bucket.keys().contains(key(form, "form.json")), "day " + day);
        }
        bucket.objects.put( // by a late request
                key(form, "1"), new ObjectStore.Content(new byte[1], "etag", bucket.now, bucket.now));
        network.lost = name -> name.startsWith("delete [" + key(form, "form.json"));
        bucket.now = bucket.now.plus(Duration.ofDays(1));
        failure(sinks.sweep());
        network.lost = NONE;
        get(sinks.sweep());
        assertEquals(Set.of(), bucket.keys());
    }

    @Test
    void tombstone_staysUntilBothClocksSayThatItIsOld() throws Exception {
        S3Form form = stored(new File("a", 10));
        assertTrue(sinks.delete(form.id()).get());
        Instant deleted = bucket.now;
        bucket.now = deleted.plus(Duration.ofDays(30)); // the clock of a gateway is wrong
        sinks().clock(() -> deleted.plus(Duration.ofDays(6))).build().sweep().get();
        assertTrue(bucket.keys().contains(key(form, "form.json")));
        bucket.now = bucket.now.plus(Duration.ofDays(2));
        sinks().clock(() -> deleted.plus(Duration.ofDays(8))).build().sweep().get();
        assertEquals(Set.of(), bucket.keys());
    }

    @Test
    void twoSweepers_oneTwoDaysAhead_leaveUnfinishedAndCommittedFormsAlone() throws Exception {
        S3Form committed = stored(new File("a", 10));
        putIntent(committed, "1");
        S3Form open = sinks.newForm();
        putIntent(open, "1");
        bucket.now = bucket.now.plus(Duration.ofHours(23));
        Instant ahead = bucket.now.plus(Duration.ofDays(2));
        CompletableFuture<S3Sinks.Swept> one = sinks.sweep();
        CompletableFuture<S3Sinks.Swept> other =
                sinks().clock(() -> ahead).build().sweep();
        assertEquals(new S3Sinks.Swept(0, 0, 0), one.get());
        assertEquals(new S3Sinks.Swept(0, 0, 0), other.get());
        assertTrue(exists(committed));
        assertTrue(bucket.keys().contains("test/.open/" + open.id() + "/1"));
        sweepLater(Duration.ofDays(9));
        sweepLater(Duration.ofDays(9));
        assertTrue(exists(committed));
        assertEquals(2, bucket.keys().size());
    }

    /** A form renews only one of its intents. */
    @Test
    void form_withAYoungIntent_isNotSwept() throws Exception {
        S3Form open = sinks.newForm();
        putIntent(open, "1");
        bucket.now = bucket.now.plus(Duration.ofHours(23));
        putIntent(open, "2");
        sweepLater(Duration.ofHours(2));
        String intents = "test/.open/" + open.id() + '/';
        assertEquals(Set.of(intents + "1", intents + "2"), bucket.keys());
    }

    @Test
    void sweep_ofDamagedForms_reportsEachAndContinues() {
        S3Form abandoned = sinks.newForm();
        putIntent(abandoned, "1");
        ObjectStore.Content content = new ObjectStore.Content(new byte[1], "etag", bucket.now, bucket.now);
        // The sweep comes to these two forms first, because of their keys.
        for (String damaged : List.of("0".repeat(32), "0".repeat(31) + "1")) {
            bucket.objects.put("test/.open/" + damaged + "/1", content);
            bucket.objects.put("test/" + damaged + "/form.json", content);
        }
        bucket.now = bucket.now.plus(Duration.ofDays(2));
        Throwable failure = failure(sinks.sweep());
        assertEquals("the record is damaged: test/" + "0".repeat(32) + "/form.json", failure.getMessage());
        assertEquals(
                List.of("the record is damaged: test/" + "0".repeat(31) + "1/form.json"),
                Stream.of(failure.getSuppressed()).map(Throwable::getMessage).toList());
        assertTrue(bucket.keys().contains(key(abandoned, "form.json")));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void sweep_isReportedToTheMetrics(boolean fails) {
        List<Integer> swept = new ArrayList<>();
        StoreMetrics metrics = new StoreMetrics() {
            @Override
            public void swept(int uploads, int objects) {
                swept.addAll(List.of(uploads, objects));
            }
        };
        MemoryStore measured = new MemoryStore(bucket, network) {
            @Override
            public StoreMetrics metrics() {
                return metrics;
            }
        };
        S3Form abandoned = sinks.newForm();
        for (String number : List.of("1", "2")) {
            putIntent(abandoned, number);
            bucket.objects.put(
                    key(abandoned, number), new ObjectStore.Content(new byte[1], "etag", bucket.now, bucket.now));
        }
        bucket.uploads.put("left", new ObjectStore.Upload(key(abandoned, "1"), "left"));
        S3Form other = sinks.newForm();
        if (fails) {
            putIntent(other, "1");
            bucket.uploads.put("stays", new ObjectStore.Upload(key(other, "1"), "stays"));
            network.lost = name -> name.equals("abort " + key(other, "1"));
        }
        bucket.now = bucket.now.plus(Duration.ofDays(2));
        assertEquals(
                fails,
                S3Sinks.builder(measured, budget)
                        .prefix("test/")
                        .build()
                        .sweep()
                        .isCompletedExceptionally());
        assertEquals(List.of(1, 2), swept);
    }

    // ---- keys of the application

    /** The object may be complete. An upload under a key of the protocol is aborted anyway, and its object is deleted. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void form_abortedDuringComplete_abortsNoUploadUnderAChosenKey(boolean isChosen) throws Exception {
        network.late = name -> name.startsWith("complete");
        S3Form form = sinks.newForm();
        PartDecider decider = files(part -> isChosen ? form.sink(part, "text/plain", "mine") : form.sink(part));
        Uploads.Sending sending = send(form, decider, new File("a", 6 * MIB));
        Weed.await(() -> assertTrue(bucket.keys().contains(isChosen ? "mine" : key(form, "1"))));
        sending.intake().abort(new IOException("gone"));
        sending.failure();
        network.released.complete(null);
        get(sinks.whenIdle());
        assertEquals(
                isChosen ? 0 : 1,
                store.requests.stream()
                        .filter(request -> request.startsWith("abort"))
                        .count());
        assertEquals(isChosen ? 0 : 1, aborts.get());
    }

    @ParameterizedTest
    @ValueSource(ints = {10, 100_000, 6 * MIB})
    void chosenKey_inFrontOfAnotherFile_isStoredAfterIt(int size) throws Exception {
        network.late = name -> name.matches("put test/[0-9a-f]{32}/2");
        S3Form form = sinks.newForm();
        Uploads.Sending sending = send(
                form,
                files(part -> "mine".equals(part.filename()) ? form.sink(part, "text/plain", "mine") : form.sink(part)),
                new File("mine", size),
                new File("other", 10));
        Weed.await(() -> assertTrue(bucket.keys().contains(key(form, "2"))));
        assertFalse(bucket.keys().contains("mine"));
        network.released.complete(null);
        sending.succeed();
        assertTrue(bucket.keys().contains("mine"));
    }

    @Test
    void chosenKeys_areStoredInTheirOrder() throws Exception {
        network.late = name -> name.equals("put first");
        S3Form form = sinks.newForm();
        Uploads.Sending sending = send(
                form,
                files(part -> form.sink(part, "text/plain", part.filename())),
                new File("first", 10),
                new File("second", 10));
        Weed.await(() -> assertTrue(bucket.keys().contains("first")));
        assertFalse(bucket.keys().contains("second"));
        network.released.complete(null);
        sending.succeed();
        assertTrue(bucket.keys().contains("second"));
    }

    @Test
    void chosenKey_ofTheProtocol_isRejected() throws Exception {
        S3Form form = sinks.newForm();
        String id = CommitProtocol.random();
        PartHead head = head();
        for (String key : List.of("test/" + id + "/1", "test/" + id + "/form.json", "test/.open/" + id + "/1")) {
            assertThrows(IllegalArgumentException.class, () -> form.sink(head, "text/plain", key), key);
        }
        for (String key : List.of("test/" + id + "/a", "test/1", id + "/1", "form.json")) {
            form.sink(head, "text/plain", key);
        }
    }

    private static PartHead head() throws IOException {
        try (MultipartReader reader =
                MultipartReader.create(Uploads.body(List.of(new File("a", 1))), Uploads.CONTENT_TYPE)) {
            reader.nextPart();
            return reader.nextPart().head();
        }
    }

    // ---- the probe

    @Test
    void probe_afterTransientFailures_stillRejectsAStoreThatIgnoresAHeader() throws Exception {
        bucket.ignoresIfNoneMatch = true;
        AtomicInteger writes = new AtomicInteger();
        network.lost = name -> name.startsWith("write") && writes.incrementAndGet() % 2 == 0;
        assertTrue(failure(sinks.probe()).getMessage().contains("If-None-Match"));
        bucket.ignoresIfNoneMatch = false;
        bucket.ignoresIfMatch = true;
        assertTrue(failure(sinks.probe()).getMessage().contains("If-Match"));
        bucket.ignoresIfMatch = false;
        get(sinks.probe());
        assertEquals(Set.of(), bucket.keys());
    }

    @Test
    void probe_ofAStoreWhoseResponsesProveNothing_succeeds() throws Exception {
        MemoryStore.Network unproven = new MemoryStore.Network() {
            @Override
            public <T> CompletableFuture<T> send(String name, Supplier<T> work) {
                return MemoryStore.Network.super
                        .send(name, work)
                        .thenCompose(done -> name.startsWith("write")
                                ? CompletableFuture.failedFuture(ResponseException.incomplete("no checksum"))
                                : CompletableFuture.completedFuture(done));
            }
        };
        get(S3Sinks.builder(new MemoryStore(bucket, unproven), budget).build().probe());
    }

    /** The credentials provider of the SDK is called on the thread that makes a request, and may look for credentials on the network. */
    @Test
    void probe_whoseRequestBlocks_blocksOneThread() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch released = new CountDownLatch(1);
        MemoryStore.Network blocking = new MemoryStore.Network() {
            @Override
            public <T> CompletableFuture<T> send(String name, Supplier<T> work) {
                begun.countDown();
                try {
                    released.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
                return MemoryStore.Network.super.send(name, work);
            }
        };
        S3Sinks blocked =
                S3Sinks.builder(new MemoryStore(bucket, blocking), budget).build();
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            Future<CompletableFuture<Void>> first = threads.submit(blocked::probe);
            begun.await();
            CompletableFuture<Void> second = threads.submit(blocked::probe).get(10, TimeUnit.SECONDS);
            assertFalse(second.isDone());
            released.countDown();
            get(first.get());
            get(second);
        } finally {
            released.countDown();
            threads.shutdown();
        }
    }

    @Test
    void probe_ofAProcessThatDied_isDeletedBySweeps() throws Exception {
        network.lost = name -> name.startsWith("delete");
        get(sinks.probe());
        network.lost = NONE;
        Set<String> left = bucket.keys();
        assertEquals(1, left.size());
        get(sinks.sweep());
        assertEquals(left, bucket.keys());
        sweepLater(Duration.ofDays(1));
        sweepLater(Duration.ofDays(8));
        assertEquals(Set.of(), bucket.keys());
    }

    @Test
    void idleSinks_becomingActiveAtTheSameTime_areNotReportedAsIdle() throws Exception {
        S3Sinks raced = sinks().build();
        AtomicBoolean isOver = new AtomicBoolean();
        ExecutorService other = Executors.newSingleThreadExecutor();
        Future<?> others = other.submit(() -> {
            while (!isOver.get()) {
                raced.begun();
                raced.ended();
            }
        });
        int wrong = 0;
        try {
            for (int i = 0; i < RACES; i++) {
                raced.begun();
                CompletableFuture<Void> idle = raced.whenIdle();
                Thread.onSpinWait();
                wrong += raced.whenIdle().isDone() || idle.isDone() ? 1 : 0;
                raced.ended();
            }
        } finally {
            isOver.set(true);
            other.shutdown();
        }
        others.get();
        assertEquals(0, wrong);
        get(raced.whenIdle());
    }

    // ---- memory

    private S3Sinks sharing(MemoryBudget few) {
        return S3Sinks.builder(store, few)
                .segmentBytes(5 * MIB)
                .maxWait(Duration.ofMinutes(MINUTES))
                .maxPieces(2)
                .build();
    }

    @Test
    void continuingForms_waitForMemoryAsLongAsOneOfThemGetsSome() {
        AtomicLong now = new AtomicLong();
        SegmentMemory memory = new SegmentMemory(MemoryBudget.of(8 * MIB), Duration.ofSeconds(30), store, now::get);
        memory.admit().join();
        long size = memory.lease(5 * MIB, false).join();
        List<CompletableFuture<Long>> continuing =
                List.of(memory.lease(size, true), memory.lease(size, true), memory.lease(size, true));
        CompletableFuture<Long> beginning = memory.lease(size, false);
        for (CompletableFuture<Long> next : continuing) {
            now.addAndGet(TimeUnit.SECONDS.toNanos(20));
            memory.returnSegment(size);
            assertEquals(size, next.getNow(0L), "the form has not received memory");
        }
        assertInstanceOf(
                MultipartException.class, failure(beginning)); // it has stored nothing, and has waited for 60 s
        CompletableFuture<Long> late = memory.lease(size, true);
        now.addAndGet(TimeUnit.SECONDS.toNanos(31));
        assertInstanceOf(MultipartException.class, failure(late)); // no form was served for 31 s
        memory.returnSegment(size);
        memory.end();
    }

    @Test
    void segments_becomeSmallerAndLeaveMemoryToOthers() {
        MemoryBudget few = MemoryBudget.of(64 * MIB);
        SegmentMemory memory = new SegmentMemory(few, Duration.ofSeconds(30), store, System::nanoTime);
        memory.admit().join();
        List<Long> leased = new ArrayList<>();
        for (long capacity; (capacity = memory.tryLease(8 * MIB)) > 0; ) {
            leased.add(capacity / MIB);
        }
        assertEquals(List.of(8L, 8L, 8L, 5L, 5L, 5L), leased);
        leased.forEach(mebibytes -> memory.returnSegment(mebibytes * MIB));
        memory.end();
        assertEquals(0, few.used());
    }

    @Test
    void segmentOfAnEndedForm_staysChargedUntilItIsReturned() {
        MemoryBudget few = MemoryBudget.of(64 * MIB);
        SegmentMemory memory = new SegmentMemory(few, Duration.ofSeconds(30), store, System::nanoTime);
        memory.admit().join();
        long capacity = memory.tryLease(5 * MIB);
        memory.end();
        assertEquals(capacity, few.used());
        memory.returnSegment(capacity);
        assertEquals(0, few.used());
    }

    /** {@return a store whose timers complete like {@code timer}} */
    private MemoryStore store(CompletableFuture<Void> timer) {
        return new MemoryStore(bucket, new MemoryStore.Network() {
            @Override
            public CompletableFuture<Void> after(Duration delay) {
                return timer;
            }
        });
    }

    @Test
    void cancelledWait_isRemoved() {
        SegmentMemory memory = new SegmentMemory(MemoryBudget.of(8 * MIB), Duration.ofSeconds(30), store, () -> 0);
        memory.admit().join();
        memory.admit().join();
        long size = memory.lease(5 * MIB, false).join();
        CompletableFuture<Long> waiting = memory.lease(size, false);
        assertTrue(memory.isShort());
        waiting.cancel(true);
        memory.end();
        assertFalse(memory.isShort(), "there is still no memory for the form that no longer waits");
        memory.returnSegment(size);
        memory.end();
    }

    @Test
    void memoryOfAWait_cancelledAtTheSameTime_isReturned() throws Exception {
        AtomicReference<CompletableFuture<Long>> cancelled = new AtomicReference<>(new CompletableFuture<>());
        MemoryBudget few = MemoryBudget.of(8 * MIB);
        SegmentMemory memory = new SegmentMemory(few, Duration.ofSeconds(30), store(new CompletableFuture<>()), () -> {
            cancelled.get().cancel(true); // the clock is read after the memory was reserved
            return 0;
        });
        memory.admit().join();
        long size = memory.lease(5 * MIB, true).join();
        cancelled.set(memory.lease(size, true));
        memory.returnSegment(size);
        assertTrue(cancelled.get().isCancelled());
        try (MemoryBudget.Account others = few.open()) {
            assertEquals(size, memory.tryLease(size), "the segment was not returned");
            others.reserve(500 << 10);
            cancelled.set(memory.admit());
        }
        memory.returnSegment(size);
        assertTrue(cancelled.get().isCancelled());
        memory.end();
        assertEquals(0, few.used(), "the admitted form has not ended");
    }

    @Test
    void formThatWaits_isServedBeforeOthers() throws Exception {
        MemoryBudget few = MemoryBudget.of(64 * MIB);
        SegmentMemory memory =
                new SegmentMemory(few, Duration.ofMinutes(MINUTES), store(new CompletableFuture<>()), System::nanoTime);
        memory.admit().join();
        memory.admit().join();
        long first = memory.tryLease(5 * MIB);
        CompletableFuture<Long> waiting;
        try (MemoryBudget.Account others = few.open()) {
            others.reserve(38 * MIB);
            waiting = memory.lease(5 * MIB, true);
            assertFalse(waiting.isDone());
        }
        assertEquals(0, memory.tryLease(5 * MIB));
        CompletableFuture<Long> beginning = memory.lease(5 * MIB, false);
        CompletableFuture<Long> second = memory.lease(5 * MIB, true);
        assertFalse(beginning.isDone() || second.isDone());
        memory.end();
        for (CompletableFuture<Long> each :
                List.of(waiting, second, beginning, CompletableFuture.completedFuture(first))) {
            assertEquals(5L * MIB, each.getNow(0L));
            memory.returnSegment(5 * MIB);
        }
        memory.end();
    }

    @Test
    void form_withThreeUnsentSegments_getsNoMoreMemory() throws Exception {
        network.late = name -> name.startsWith("upload");
        S3Form form = sinks.newForm();
        form.admit();
        PartSink sink = form.sink(head());
        for (int i = 0; i < 3; i++) {
            assertTrue(sink.write(Unpooled.wrappedBuffer(new byte[5 * MIB])).isReady());
        }
        Readiness fourth = sink.write(Unpooled.wrappedBuffer(new byte[MIB]));
        assertFalse(fourth.isReady());
        network.released.complete(null);
        assertTrue(fourth.isReady());
        sink.close();
        form.ended();
    }

    @Test
    void teeOfTwoSinks_waitingForMemory_continue() throws Exception {
        MemoryBudget budget = MemoryBudget.of(32 * MIB);
        S3Sinks few = sharing(budget);
        S3Form form = few.newForm();
        assertTrue(form.admit().isReady());
        List<PartSink> sinks = List.of(form.sink(head()), form.sink(head()));
        long reserved = few.memory.lease(5 * MIB, true).get();
        List<Readiness> written = new ArrayList<>();
        try (MemoryBudget.Account others = budget.open()) {
            others.reserve(17 * MIB);
            for (PartSink sink : sinks) {
                written.add(sink.write(Unpooled.wrappedBuffer(new byte[MIB])));
            }
            assertTrue(written.stream().noneMatch(Readiness::isReady));
        }
        few.memory.returnSegment(reserved);
        Weed.await(() -> assertTrue(written.stream().allMatch(Readiness::isReady)));
        assertTrue(written.stream().allMatch(ready -> ready.failure() == null));
        sinks.forEach(PartSink::close);
        form.ended();
        get(few.whenIdle());
    }

    @Test
    void sinkClosedEarly_isNoLongerFilled() throws Exception {
        S3Sinks few = sharing(MemoryBudget.of(8 * MIB)); // room for one segment
        S3Form form = few.newForm();
        form.admit();
        PartSink first = form.sink(head());
        assertTrue(first.write(Unpooled.wrappedBuffer(new byte[MIB])).isReady());
        first.close();
        long capacity = few.memory.lease(5 * MIB, true).get();
        PartSink second = form.sink(head());
        Readiness written = second.write(Unpooled.wrappedBuffer(new byte[MIB]));
        assertFalse(written.isReady());
        few.memory.returnSegment(capacity);
        Weed.await(() -> assertTrue(written.isReady()));
        assertTrue(written.checkReady());
        second.close();
        form.ended();
        get(few.whenIdle());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void form_thatHasStoredAPiece_isServedBeforeOneThatHasNot(boolean isChosen) throws Exception {
        S3Sinks few = sharing(MemoryBudget.of(8 * MIB)); // room for one segment
        List<S3Form> forms = new ArrayList<>();
        List<PartSink> sinks = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            S3Form form = few.newForm();
            forms.add(form);
            form.admit();
            sinks.add(isChosen ? form.sink(head(), "text/plain", "mine" + i) : form.sink(head()));
        }
        assertTrue(sinks.get(0).write(Unpooled.wrappedBuffer(new byte[5 * MIB])).isReady()); // stored at once
        assertTrue(sinks.get(1).write(Unpooled.wrappedBuffer(new byte[MIB])).isReady());
        Readiness later = sinks.get(2).write(Unpooled.wrappedBuffer(new byte[MIB]));
        Readiness first = sinks.get(0).write(Unpooled.wrappedBuffer(new byte[MIB]));
        assertFalse(later.isReady() || first.isReady());
        sinks.get(1).close();
        Weed.await(() -> assertTrue(first.isReady()));
        assertFalse(later.isReady());
        sinks.forEach(PartSink::close);
        forms.forEach(S3Form::ended);
        get(few.whenIdle());
    }

    @Test
    void segmentOfMoreThanTheMinimum_isSentEarlyIfOthersWait() throws Exception {
        MemoryBudget budget = MemoryBudget.of(64 * MIB);
        S3Sinks large = S3Sinks.builder(store, budget).segmentBytes(8 * MIB).build();
        S3Form form = large.newForm();
        form.admit();
        PartSink filling = form.sink(head());
        filling.write(Unpooled.wrappedBuffer(new byte[6 * MIB]));
        CompletableFuture<Long> waiting;
        try (MemoryBudget.Account others = budget.open()) {
            others.reserve(38 * MIB);
            waiting = large.memory.lease(5 * MIB, false);
            filling.write(Unpooled.wrappedBuffer(new byte[1]));
            assertEquals(
                    1,
                    store.requests.stream()
                            .filter(name -> name.startsWith("upload"))
                            .count());
        }
        large.memory.returnSegment(get(waiting));
        filling.close();
        form.ended();
        get(large.whenIdle());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void memory_grantedToASinkThatNoLongerWaits_isReturned(boolean isClosed) throws Exception {
        S3Sinks few = sharing(MemoryBudget.of(8 * MIB)); // room for one segment
        S3Form form = few.newForm();
        form.admit();
        long capacity = few.memory.lease(5 * MIB, true).get();
        PartSink sink = form.sink(head());
        Readiness written = sink.write(Unpooled.wrappedBuffer(new byte[MIB]));
        network.isBusy = true;
        if (isClosed) {
            sink.close();
        } else {
            form.cancelCommit(new IOException("gone"));
        }
        few.memory.returnSegment(capacity);
        network.isBusy = false;
        network.tasks.remove().run();
        assertEquals(!isClosed, written.isReady());
        assertEquals(capacity, few.memory.tryLease(capacity), "the memory was not returned");
        few.memory.returnSegment(capacity);
        sink.close();
        form.ended();
        get(few.whenIdle());
    }

    @Test
    void segmentFilledBeforeAFailureIsNoticed_isReleased() throws Exception {
        S3Form form = sinks.newForm();
        form.admit();
        PartSink sink = form.sink(head());
        assertTrue(sink.write(Unpooled.wrappedBuffer(new byte[MIB])).isReady());
        network.isBusy = true;
        form.cancelCommit(new IOException("gone"));
        Readiness written =
                sink.write(Unpooled.wrappedBuffer(new byte[5 * MIB])); // one piece, and a part of the next one
        assertFalse(written.isReady());
        network.isBusy = false;
        network.tasks.remove().run();
        assertEquals(
                "gone", assertThrows(IOException.class, written::checkReady).getMessage());
        sink.close();
        form.ended();
        get(sinks.whenIdle());
    }

    @Test
    void sink_usedForASecondPart_throws() throws Exception {
        S3Form form = sinks.newForm();
        form.admit();
        PartSink sink = form.sink(head());
        sink.complete();
        assertThrows(IllegalStateException.class, () -> sink.write(Unpooled.wrappedBuffer(new byte[1])));
        sink.close();
        form.ended();
        get(sinks.whenIdle());
    }

    @Test
    void sink_failingAfterAWaitForMemory_failsItsReadiness() throws Exception {
        S3Sinks few = sharing(MemoryBudget.of(8 * MIB)); // room for one segment
        S3Form form = few.newForm();
        assertTrue(form.admit().isReady());
        long capacity = few.memory.lease(5 * MIB, true).get();
        PartSink sink = form.sink(head());
        Readiness written = sink.write(Unpooled.wrappedBuffer(new byte[11 * MIB])); // more than two pieces
        assertFalse(written.isReady());
        few.memory.returnSegment(capacity);
        Weed.await(() -> assertTrue(written.isReady()));
        assertEquals(
                Reason.PART_TOO_LARGE,
                assertInstanceOf(MultipartException.class, written.failure()).reason());
        sink.close();
        form.ended();
        get(few.whenIdle());
    }

    @Test
    void closedStore_failsFormsThatWaitForMemory() throws Exception {
        CompletableFuture<Void> timer = new CompletableFuture<>();
        MemoryBudget few = MemoryBudget.of(8 * MIB);
        SegmentMemory memory = new SegmentMemory(few, Duration.ofSeconds(30), store(timer), () -> 0);
        memory.admit().join();
        long size = memory.lease(5 * MIB, false).join();
        try (MemoryBudget.Account others = few.open()) {
            others.reserve(few.room());
            List<CompletableFuture<Long>> waiting =
                    List.of(memory.lease(size, true), memory.lease(size, false), memory.admit());
            timer.completeExceptionally(new IOException("closed"));
            for (CompletableFuture<Long> each : waiting) {
                assertTrue(each.isDone());
                assertEquals("closed", failure(each).getMessage());
            }
        }
        memory.returnSegment(size);
        memory.end();
    }
}
