package dev.sluice.form;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.Preset;
import dev.sluice.Throwing;
import dev.sluice.form.flow.ChunkPool;
import dev.sluice.form.storage.Spool;
import dev.sluice.testkit.OpenFiles;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The flow control of a form, the visibility of its parts, and how it ends. */
class FormIntakeTest extends SpooledTest {
    private static final int CHUNK = 16 << 10;
    private static final int RACERS = 50;

    /** A sink that becomes ready when the test decides, like a store on the network. */
    private static final class Remote implements PartSink {
        final StringBuilder stored = new StringBuilder();
        final List<String> calls = new ArrayList<>();
        Readiness last = Readiness.READY;
        boolean inCall;
        boolean closeFails;

        private Readiness later(String call) {
            assertFalse(inCall, "two calls of the sink overlap");
            assertTrue(last.isReady(), "the sink was called before it was ready");
            calls.add(call);
            last = Readiness.pending();
            return last;
        }

        @Override
        public Readiness write(ByteBuf data) {
            stored.append(data.toString(StandardCharsets.ISO_8859_1));
            return later("write");
        }

        @Override
        public Readiness complete() {
            return later("complete");
        }

        @Override
        public Readiness publish() {
            return later("publish");
        }

        @Override
        public void retract() {
            calls.add("retract");
        }

        @Override
        public void close() {
            calls.add("close");
            if (closeFails) {
                last.fail(new IOException("closed"));
            }
        }
    }

    private FormOptions options(PartSink... sinks) {
        return FormOptions.inMemory(budget)
                .decider(part -> PartDecision.to(sinks[part.index()]))
                .build();
    }

    private static Upload twoParts() {
        return new Upload().field("a", "first").file("b", "b", "second");
    }

    /** {@return a form of two parts, one for each sink, after its last byte} */
    private PushedForm received(PartSink first, PartSink second) throws IOException {
        return twoParts().receive(options(first, second));
    }

    private static Throwable failure(PushedForm form) {
        return assertThrows(
                        CompletionException.class,
                        () -> form.intake().completion.join())
                .getCause();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 3, 1000})
    void sink_notReady_pausesTheSourceWithoutBlockingAThread(int chunk) throws IOException {
        byte[] body = twoParts().toBytes();
        Remote first = new Remote();
        Remote second = new Remote();
        PushedForm form = PushedForm.create(Upload.BOUNDARY, options(first, second));
        FormIntake intake = form.intake();
        int at = 0;
        int stops = 0;
        while (!intake.isOver()) {
            if (intake.demand() > 0) {
                int count = Math.min(chunk, body.length - at);
                if (count == 0) {
                    intake.finish();
                } else {
                    Upload.feed(form, body, at, at + count, count);
                    at += count;
                }
            } else {
                stops++;
                int wanted = form.wanted;
                assertEquals(0, form.resumed.size());
                first.last.ready();
                second.last.ready();
                assertEquals(wanted, form.wanted, "calls of wanted() within the call of the sink");
                form.runResumed();
            }
        }
        intake.completion.join().close();
        assertEquals("first", first.stored.toString());
        assertEquals("second", second.stored.toString());
        assertTrue(stops >= 4, "stops: " + stops);
        for (Remote sink : List.of(first, second)) {
            assertEquals(
                    List.of("write", "complete", "publish", "close"),
                    sink.calls.stream().distinct().toList());
        }
    }

    private PushedForm formInFiles(Path one, Path two) throws IOException {
        return received(PartSink.toFile(spool, one), PartSink.toFile(spool, two));
    }

    @Test
    void publish_isNotCalledBeforeTheFormIsComplete() throws IOException {
        Path one = root.resolve("one");
        Path two = root.resolve("two");
        PushedForm form = formInFiles(one, two);
        assertFalse(Files.exists(one) || Files.exists(two));
        form.finish().close();
        assertEquals("first", Files.readString(one));
        assertEquals("second", Files.readString(two));
    }

    @Test
    void publish_laterPartFails_retractsEarlierParts() throws IOException {
        Path one = root.resolve("one");
        Path two = Files.writeString(root.resolve("two"), "there before");
        assertThrows(IOException.class, formInFiles(one, two)::finish);
        assertFalse(Files.exists(one));
        assertEquals("there before", Files.readString(two));
    }

    @Test
    void publishedParts_areRetractedInReverseOrder() throws IOException {
        List<String> retracted = new ArrayList<>();
        PartSink[] sinks = new PartSink[3];
        for (int i = 0; i < sinks.length; i++) {
            String name = "part " + i;
            boolean fails = i == 2;
            sinks[i] = new IdleSink() {
                @Override
                public Readiness publish() throws IOException {
                    if (fails) {
                        throw new IOException("broken");
                    }
                    return Readiness.READY;
                }

                @Override
                public void retract() {
                    retracted.add(name);
                }
            };
        }
        PushedForm form =
                new Upload().field("a", "1").field("b", "2").field("c", "3").receive(options(sinks));
        assertThrows(IOException.class, form::finish);
        assertEquals(List.of("part 1", "part 0"), retracted);
    }

    @Test
    void failureOfRetraction_isAddedToTheFailureOfTheForm() throws IOException {
        Path target = Files.writeString(root.resolve("target"), "old");
        Remote second = new Remote();
        List<Integer> reported = new ArrayList<>();
        FormMetrics metrics =
                end -> reported.add(Objects.requireNonNull(end.failure()).getSuppressed().length);
        PartSink first = PartSink.toFile(spool, target, StandardCopyOption.REPLACE_EXISTING);
        PushedForm form = twoParts()
                .receive(options(first, second).toBuilder().metrics(metrics).build());
        form.intake().finish();
        for (int call = 0; call < 2; call++) { // write, complete
            second.last.ready();
            form.runResumed();
        }
        IOException broken = new IOException("broken");
        second.last.fail(broken);
        form.runResumed();
        assertSame(broken, failure(form));
        assertEquals("the replaced file cannot be restored: " + target, broken.getSuppressed()[0].getMessage());
        assertEquals(List.of(1), reported);
        assertEquals(List.of("write", "complete", "publish", "close"), second.calls);
    }

    @Test
    void pipe_laterSinkCannotBePublished_streamFails() throws IOException {
        PartPipe pipe = PartPipe.create(100, budget);
        Remote second = new Remote();
        PushedForm form = received(pipe, second);
        form.intake().finish();
        for (int call = 0; call < 2; call++) { // write, complete
            second.last.ready();
            form.runResumed();
        }
        InputStream content = pipe.inputStream();
        assertEquals(5, content.readNBytes("first".length()).length);
        IOException broken = new IOException("broken");
        second.last.fail(broken);
        form.runResumed();
        assertSame(broken, failure(form));
        assertEquals(0, broken.getSuppressed().length);
        assertThrows(IOException.class, content::read);
    }

    @Test
    void pipe_formAbortedAfterItsPublication_streamFails() throws IOException {
        PartPipe pipe = PartPipe.create(100, budget);
        Remote store = new Remote();
        PushedForm form = received(PartSink.tee(pipe, store), new IdleSink());
        form.intake().finish();
        for (int call = 0; call < 2; call++) { // write, complete
            store.last.ready();
            form.runResumed();
        }
        InputStream content = pipe.inputStream();
        assertEquals(5, content.readNBytes("first".length()).length);
        store.last.ready(); // the form is aborted before it finds this out
        form.close();
        assertEquals(List.of("write", "complete", "publish", "retract", "close"), store.calls);
        assertThrows(IOException.class, content::read);
    }

    @Test
    void emptyChunks_doNotFillTheWindow() throws IOException {
        try (PushedForm form =
                PushedForm.create(Upload.BOUNDARY, FormOptions.inMemory(budget).build())) {
            ByteBuf read = Unpooled.buffer(64 << 10).writeZero(64 << 10);
            long demand = form.intake().demand();
            for (int i = 0; i < 10; i++) {
                form.intake().offer(read.retainedSlice(i, 0));
                form.intake().offer(Unpooled.EMPTY_BUFFER);
            }
            assertEquals(demand, form.intake().demand());
            assertEquals(1, read.refCnt());
            read.release();
        }
    }

    @Test
    void sink_releasesBorrowedDataAndThrows_formLeavesNothing() throws IOException {
        IOException broken = new IOException("broken");
        PartSink careless = new PartSink() {
            @Override
            public Readiness write(ByteBuf data) throws IOException {
                data.release();
                throw broken;
            }

            @Override
            public Readiness complete() {
                return Readiness.READY;
            }

            @Override
            public void close() {}
        };
        FormOptions options = FormOptions.builder(spool, budget)
                .spillThreshold(0)
                .decider(part -> part.index() == 0 ? PartDecision.store() : PartDecision.to(careless))
                .build();
        PushedForm form = PushedForm.create(Upload.BOUNDARY, options);
        form.intake().offer(Unpooled.wrappedBuffer(twoParts().toBytes()));
        assertSame(broken, failure(form));
    }

    @Test
    void waitingForm_holdsNoSpareMemory() throws IOException {
        FormOptions all = FormOptions.inMemory(budget).build();
        byte[] body = twoParts().toBytes();
        try (PushedForm form = PushedForm.create(Upload.BOUNDARY, all)) {
            Upload.feed(form, body, 0, body.length - 40, body.length);
            long needed = all.multipart().maxHeaderBytesPerPart() + 2 * 1024; // for a header section, and for each part
            assertTrue(budget.used() <= needed, budget.used() + " bytes instead of " + needed);
        }
    }

    /** Tests a complete part and a part that is being received. */
    @ParameterizedTest
    @ValueSource(ints = {61_000, 55_000})
    void memoryFull_atChunk_movesPartsToFiles(int bytesWhileThereIsMemory) throws IOException {
        MemoryBudget shared = MemoryBudget.of(1 << 20);
        byte[] body = new Upload()
                .file("a", "a", "a".repeat(60_000))
                .file("b", "b", "b".repeat(20_000))
                .toBytes();
        PushedForm form = PushedForm.create(
                Upload.BOUNDARY, FormOptions.builder(spool, shared).build());
        Upload.feed(form, body, 0, bytesWhileThereIsMemory, 1000);
        assertEquals(0, spool.files());
        try (MemoryBudget.Account others = shared.open()) {
            others.reserve(shared.capacity() * 3 / 4 - shared.used());
            Upload.feed(form, body, bytesWhileThereIsMemory, body.length, 16 << 10);
            try (MultipartForm whole = form.finish()) {
                assertFalse(whole.parts().get(0).isInMemory());
                assertEquals(60_000, whole.parts().get(0).inputStream().readAllBytes().length);
                assertEquals(20_000, whole.parts().get(1).inputStream().readAllBytes().length);
            }
        }
        assertEquals(0, shared.used());
    }

    @Test
    void smallParts_memoryFull_areRejectedAndNotMovedToFiles() throws IOException {
        MemoryBudget shared = MemoryBudget.of(1 << 20);
        AtomicReference<@Nullable FormSummary> end = new AtomicReference<>();
        PushedForm form = PushedForm.create(
                Upload.BOUNDARY,
                FormOptions.builder(spool, shared).metrics(end::set).build());
        Upload upload = new Upload();
        for (int i = 0; i < 400; i++) {
            upload.field("f" + i, "a".repeat(20));
        }
        byte[] body = upload.toBytes();
        Upload.feed(form, body, 0, body.length - 100, 1000);
        try (MemoryBudget.Account others = shared.open()) {
            others.reserve(shared.capacity() * 3 / 4 - shared.used());
            ByteBuf large = Unpooled.buffer(256 << 10).writeBytes(body, body.length - 100, 50);
            MultipartException full = assertThrows(MultipartException.class, () -> form.feed(large));
            assertEquals(Reason.MEMORY_FULL, full.reason());
        }
        assertEquals(0, Objects.requireNonNull(end.get()).spilledParts());
        assertEquals(0, shared.used());
    }

    /** If each part moved to a file, this body of 253 KB would become hundreds of files of one byte. */
    @Test
    void smallPartsWithLongNames_memoryFull_createFewFiles() throws IOException {
        FormOptions options =
                FormOptions.builder(spool, MemoryBudget.unlimited()).build();
        Upload upload = new Upload();
        for (int i = 0; i < 1000; i++) {
            upload.field("n".repeat(198) + (i + 1000), "v");
        }
        byte[] body = upload.toBytes();
        List<PushedForm> forms = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            PushedForm form = PushedForm.create(Upload.BOUNDARY, options);
            forms.add(form);
            Upload.feed(form, body, 0, body.length / 2, 8192);
        }
        assertTrue(spool.files() <= 8, spool.files() + " files");
        for (PushedForm form : forms) {
            MultipartException full = assertThrows(
                    MultipartException.class, () -> Upload.feed(form, body, body.length / 2, body.length, 8192));
            assertEquals(Reason.IN_MEMORY_TOO_LARGE, full.reason());
        }
    }

    @Test
    void memoryFull_largestPartMovesToAFileOnlyIfThatIsEnough() throws IOException {
        FormOptions options = FormOptions.builder(spool, MemoryBudget.unlimited())
                .maxInMemoryBytes(40_000)
                .build();
        Upload upload = new Upload();
        for (int size : new int[] {3_000, 6_000, 20_000, 5_000}) {
            upload.file("f" + size, "f", "v".repeat(size));
        }
        upload.field("n".repeat(1_200), ""); // charged with 512 bytes, its headers and its name
        try (MultipartForm form = upload.read(options)) {
            assertEquals(
                    List.of(true, true, false, true, true),
                    form.parts().stream().map(FormPart::isInMemory).toList());
            assertEquals(List.of(), OpenFiles.below(spool.path()));
        }
        upload.field("n".repeat(3_900), "") // each is charged with 12 KB
                .field("n".repeat(3_900), "") // fits if the part of 6,000 bytes moves
                .field("n".repeat(3_900), ""); // does not fit even if the part of 5,000 bytes moves
        AtomicReference<@Nullable FormSummary> end = new AtomicReference<>();
        FormOptions counted = options.toBuilder().metrics(end::set).build();
        MultipartException full = assertThrows(MultipartException.class, () -> upload.read(counted));
        assertEquals(Reason.IN_MEMORY_TOO_LARGE, full.reason());
        assertEquals(2, Objects.requireNonNull(end.get()).spilledParts());
    }

    @Test
    void content_smallerThanADiskBlock_staysInMemory() throws IOException {
        AtomicReference<@Nullable FormSummary> end = new AtomicReference<>();
        FormOptions options = FormOptions.builder(spool, MemoryBudget.unlimited())
                .maxInMemoryBytes(40_000)
                .metrics(end::set)
                .build();
        Upload upload = new Upload();
        for (int i = 0; i < 10; i++) {
            upload.file("f", "f", "v".repeat(Spool.BLOCK - 1000));
        }
        upload.field("n".repeat(2_000), ""); // would fit if three files moved
        MultipartException full = assertThrows(MultipartException.class, () -> upload.read(options));
        assertEquals(Reason.IN_MEMORY_TOO_LARGE, full.reason());
        assertEquals(0, Objects.requireNonNull(end.get()).spilledParts());
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0})
    void content_ofExactlyOneBlock_makesRoom(int more) throws IOException {
        FormOptions options = FormOptions.builder(spool, MemoryBudget.unlimited())
                .maxInMemoryBytes(6_000)
                .build();
        Upload upload =
                new Upload().file("f", "f", "v".repeat(Spool.BLOCK + more)).field("n".repeat(1_000), "");
        if (more < 0) {
            MultipartException full = assertThrows(MultipartException.class, () -> upload.read(options));
            assertEquals(Reason.IN_MEMORY_TOO_LARGE, full.reason());
        } else {
            try (MultipartForm form = upload.read(options)) {
                assertFalse(form.parts().get(0).isInMemory());
            }
        }
    }

    @Test
    void nestedBody_thatEnded_holdsNoMemoryForItsHeaders() throws IOException {
        MemoryBudget small = MemoryBudget.of(48 << 10, 0, 0); // two header sections and 20 small parts
        Upload upload = new Upload();
        for (int i = 0; i < 20; i++) {
            upload.nested("f", "--y\r\n\r\nA\r\n--y--");
        }
        FormOptions options =
                FormOptions.inMemory(small).preset(Preset.COMPATIBLE).build();
        byte[] body = upload.toBytes();
        PushedForm form = PushedForm.create(Upload.BOUNDARY, options);
        Upload.feed(form, body, 0, body.length, 100);
        try (MultipartForm whole = form.finish()) {
            assertEquals(20, whole.parts().size());
        }
        assertEquals(0, small.used());
    }

    @Test
    void maxFilesOnDisk_exceeded_isRejected() throws IOException {
        FormOptions options = FormOptions.builder(spool, MemoryBudget.unlimited())
                .maxFiles(200)
                .spillThreshold(0)
                .build();
        Upload upload = new Upload();
        for (int i = 0; i < 129; i++) {
            upload.file("f", "f", "v");
        }
        MultipartException many = assertThrows(MultipartException.class, () -> upload.read(options));
        assertEquals(Reason.TOO_MANY_FILES_ON_DISK, many.reason());
        assertEquals(128, many.partIndex());
        assertEquals(0, spool.files());
        FormOptions more = options.toBuilder().unlimitedFilesOnDisk().build();
        try (MultipartForm form = upload.read(more)) {
            assertEquals(129, spool.files());
            assertEquals(129, form.parts().size());
        }
    }

    @Test
    void abort_duringASinkCall_doesNotWait() throws IOException {
        Remote sink = new Remote();
        PushedForm form = received(sink, sink);
        assertEquals(0, form.intake().demand());
        form.close();
        assertTrue(form.intake().isOver());
        assertEquals(List.of("write", "close"), sink.calls);
        assertEquals(0, budget.used());
        sink.last.ready(); // too late
        form.runResumed();
        assertEquals(List.of("write", "close"), sink.calls);
    }

    @Test
    void part_publishedDuringAbort_isRetracted() throws IOException {
        for (String publication : List.of("is pending", "is ready", "fails")) {
            boolean seen = publication.equals("is ready");
            Remote first = new Remote();
            first.closeFails = publication.equals("fails");
            Remote second = new Remote();
            PushedForm form = received(first, second);
            form.intake().finish();
            for (int call = 0; call < 3; call++) { // write and complete of both
                first.last.ready();
                form.runResumed();
                second.last.ready();
                form.runResumed();
            }
            if (seen) {
                first.last.ready(); // the form is aborted before it finds this out
            }
            form.close();
            assertEquals(
                    seen
                            ? List.of("write", "complete", "publish", "retract", "close")
                            : List.of("write", "complete", "publish", "close", "close"),
                    first.calls);
            assertEquals(List.of("write", "complete", "close"), second.calls);
            assertEquals(0, budget.used());
        }
    }

    /** An admission that becomes ready when the test decides. If it is created with {@link Readiness#READY}, it throws instead. */
    private static final class DelayedAdmission implements FormAdmission {
        private final Readiness readiness;
        private Throwable fault = new IOException("closed");
        private int ended;

        private DelayedAdmission(Readiness readiness) {
            this.readiness = readiness;
        }

        @Override
        public Readiness admit() {
            if (readiness == Readiness.READY) {
                throw Throwing.<RuntimeException>unchecked(fault);
            }
            return readiness;
        }

        @Override
        public void ended() {
            ended++;
        }
    }

    private FormOptions optionsWith(DelayedAdmission admission) {
        return options(new IdleSink(), new IdleSink()).toBuilder()
                .admission(admission)
                .build();
    }

    @Test
    void demand_beforeAdmission_isZero() throws IOException {
        DelayedAdmission admission = new DelayedAdmission(Readiness.pending());
        PushedForm form = PushedForm.create(Upload.BOUNDARY, optionsWith(admission));
        assertEquals(0, form.intake().demand());
        admission.readiness.ready();
        assertEquals(0, form.wanted, "calls of wanted() within the call of the admission");
        form.runResumed();
        assertEquals(1, form.wanted);
        assertTrue(form.intake().demand() > 0);
        byte[] body = twoParts().toBytes();
        Upload.feed(form, body, 0, body.length, 1000);
        assertEquals(0, admission.ended);
        form.finish().close();
        assertEquals(1, admission.ended);
    }

    @Test
    void completeForm_hasNoSpareMemory_whileTheApplicationHandlesIt() throws IOException {
        DelayedAdmission admission = new DelayedAdmission(Readiness.pending());
        FormOptions options = FormOptions.inMemory(budget).admission(admission).build();
        PushedForm form = PushedForm.create(Upload.BOUNDARY, options);
        AtomicLong used = new AtomicLong();
        CompletionStage<Void> handled = form.intake().completion().thenAccept(complete -> used.set(budget.used()));
        byte[] body = twoParts().toBytes();
        Upload.feed(form, body, 0, body.length, 1000);
        form.intake().finish();
        admission.readiness.ready(); // the whole form is decoded in one turn
        form.runResumed();
        assertTrue(handled.toCompletableFuture().isDone());
        assertEquals(budget.used(), used.get());
        form.intake().completion().toCompletableFuture().join().close();
    }

    @Test
    void commit_followsThePublicationOfAllSinks() throws IOException {
        for (boolean fails : new boolean[] {false, true}) {
            List<String> calls = new ArrayList<>();
            Readiness commit = Readiness.pending();
            final class Recording extends IdleSink {
                @Override
                public Readiness publish() {
                    calls.add("publish");
                    return Readiness.READY;
                }

                @Override
                public void retract() {
                    calls.add("retract");
                }
            }
            FormAdmission admission = new FormAdmission() {
                @Override
                public Readiness admit() {
                    return Readiness.READY;
                }

                @Override
                public Readiness commit() {
                    calls.add("commit");
                    return commit;
                }
            };
            PushedForm form = twoParts()
                    .receive(options(new Recording(), new Recording()).toBuilder()
                            .admission(admission)
                            .build());
            form.intake().finish();
            assertEquals(List.of("publish", "publish", "commit"), calls);
            if (fails) {
                commit.fail(new IOException("unknown"));
                form.runResumed();
                ExecutionException failure = assertThrows(
                        ExecutionException.class, form.intake().completion().toCompletableFuture()::get);
                assertEquals("unknown", failure.getCause().getMessage());
                assertEquals(List.of("publish", "publish", "commit", "retract", "retract"), calls);
            } else {
                commit.ready();
                form.runResumed();
                form.intake().completion().toCompletableFuture().join().close();
                assertEquals(List.of("publish", "publish", "commit"), calls);
            }
        }
    }

    /** An admission whose commit is decided by the test. */
    private static final class Commit implements FormAdmission {
        private final Readiness outcome = Readiness.pending();
        private final List<Throwable> cancelled = new ArrayList<>();
        private Runnable whenBegun = () -> {};

        @Override
        public Readiness admit() {
            return Readiness.READY;
        }

        @Override
        public Readiness commit() {
            whenBegun.run();
            return outcome;
        }

        @Override
        public void cancelCommit(Throwable reason) {
            cancelled.add(reason);
        }
    }

    @Test
    void commit_pendingDuringAbortOrTimeout_decidesTheOutcome() throws IOException {
        IOException unknown = new IOException("unknown");
        for (boolean isAborted : new boolean[] {true, false}) {
            for (boolean fails : new boolean[] {true, false}) {
                Commit commit = new Commit();
                AtomicReference<@Nullable FormSummary> end = new AtomicReference<>();
                PushedForm form = twoParts()
                        .receive(options(new IdleSink(), new IdleSink()).toBuilder()
                                .admission(commit)
                                .metrics(end::set)
                                .build());
                form.intake().finish();
                IOException gone = new IOException("gone");
                if (isAborted) {
                    form.intake().abort(gone);
                } else {
                    form.intake().checkPace(System.nanoTime() + TimeUnit.HOURS.toNanos(1));
                    form.runResumed();
                }
                assertFalse(form.intake().isOver());
                assertEquals(1, commit.cancelled.size());
                assertTrue(!isAborted || commit.cancelled.get(0) == gone);
                form.intake().abort(new IOException("once more"));
                assertEquals(1, commit.cancelled.size());
                if (fails) {
                    commit.outcome.fail(unknown);
                } else {
                    commit.outcome.ready();
                }
                form.runResumed();
                assertEquals(
                        fails, form.intake().completion().toCompletableFuture().isCompletedExceptionally());
                FormSummary.Outcome failed = isAborted ? FormSummary.Outcome.ABORTED : FormSummary.Outcome.FAILED;
                assertEquals(
                        fails ? failed : FormSummary.Outcome.COMPLETED,
                        Objects.requireNonNull(end.get()).outcome());
                if (!fails) {
                    form.intake().completion().toCompletableFuture().join().close();
                }
                assertEquals(0, budget.used());
            }
        }
    }

    @Test
    void commit_threadInterrupted_decidesTheOutcome() throws Exception {
        Commit commit = new Commit();
        Thread reader = Thread.currentThread();
        commit.whenBegun = () -> {
            reader.interrupt();
            CompletableFuture.runAsync(
                    commit.outcome::ready, CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS));
        };
        FormOptions options = options(new IdleSink(), new IdleSink()).toBuilder()
                .admission(commit)
                .build();
        MultipartForm form = twoParts().read(options);
        assertTrue(Thread.interrupted());
        assertEquals(1, commit.cancelled.size());
        form.close();
    }

    @Test
    void failedAdmission_failsTheForm() throws IOException {
        IOException full = new IOException("full");
        DelayedAdmission later = new DelayedAdmission(Readiness.pending());
        PushedForm waiting = PushedForm.create(Upload.BOUNDARY, optionsWith(later));
        later.readiness.fail(full);
        waiting.runResumed();
        assertSame(full, assertThrows(IOException.class, waiting::finish));
        DelayedAdmission atOnce = new DelayedAdmission(Readiness.pending());
        atOnce.readiness.fail(full);
        FormOptions refusing = optionsWith(atOnce);
        assertSame(full, assertThrows(IOException.class, () -> PushedForm.create(Upload.BOUNDARY, refusing)));
        DelayedAdmission throwing = new DelayedAdmission(Readiness.READY);
        FormOptions closed = optionsWith(throwing);
        assertThrows(IOException.class, () -> PushedForm.create(Upload.BOUNDARY, closed));
        DelayedAdmission dying = new DelayedAdmission(Readiness.READY);
        dying.fault = new StackOverflowError();
        FormOptions dead = optionsWith(dying);
        assertThrows(StackOverflowError.class, () -> PushedForm.create(Upload.BOUNDARY, dead));
        DelayedAdmission checked = new DelayedAdmission(Readiness.READY);
        checked.fault = new Exception("such as a SQLException in Kotlin");
        FormOptions unable = optionsWith(checked);
        assertThrows(IOException.class, () -> PushedForm.create(Upload.BOUNDARY, unable));
        DelayedAdmission never = new DelayedAdmission(Readiness.pending());
        PushedForm gone = PushedForm.create(Upload.BOUNDARY, optionsWith(never));
        gone.close();
        for (DelayedAdmission admission : List.of(later, atOnce, throwing, dying, checked, never)) {
            assertEquals(1, admission.ended);
        }
    }

    @Test
    void rejectedHead_isNotAdmitted() {
        DelayedAdmission admission = new DelayedAdmission(Readiness.pending());
        FormOptions options = optionsWith(admission);
        assertThrows(
                MultipartException.class,
                () -> Forms.of(options).read(new ByteArrayInputStream(new byte[0]), "text/plain"));
        assertEquals(0, admission.ended);
    }

    @Test
    void sink_neverReady_endsTheForm() throws IOException {
        Remote sink = new Remote();
        PushedForm form = received(sink, sink);
        form.intake().checkPace(System.nanoTime());
        assertEquals(0, form.resumed.size());
        form.intake().checkPace(System.nanoTime() + options().maxSinkWait().toNanos() + 1);
        assertFalse(form.intake().isOver(), "the timer ended the form itself");
        form.runResumed();
        assertTrue(form.intake().isOver());
        MultipartException stalled = (MultipartException) failure(form);
        assertEquals(MultipartException.Reason.SINK_STALLED, stalled.reason());
        assertEquals(503, stalled.httpStatus());
        assertEquals("the upload could not be stored in time (maxSinkWait; part 0 \"a\")", stalled.getMessage());
    }

    @Test
    void abort_isReportedAsAbortedOnlyIfTheClientDisconnected() throws IOException {
        assertAborted(FormSummary.Outcome.LIMIT_EXCEEDED, Reason.BODY_TOO_LARGE, rejection(Reason.BODY_TOO_LARGE));
        assertAborted(FormSummary.Outcome.MALFORMED, Reason.MALFORMED_HEADER, rejection(Reason.MALFORMED_HEADER));
        assertAborted(FormSummary.Outcome.FAILED, null, new OutOfMemoryError("no thread, on purpose"));
        assertAborted(FormSummary.Outcome.ABORTED, null, rejection(Reason.TRUNCATED));
        assertAborted(FormSummary.Outcome.ABORTED, null, new IOException("connection reset, on purpose"));
    }

    private static MultipartException rejection(Reason reason) {
        return MultipartException.because(reason).build();
    }

    private void assertAborted(FormSummary.Outcome outcome, @Nullable Reason reason, Throwable failure)
            throws IOException {
        AtomicReference<@Nullable FormSummary> end = new AtomicReference<>();
        FormOptions options = FormOptions.inMemory(budget).metrics(end::set).build();
        PushedForm.create(Upload.BOUNDARY, options).intake().abort(failure);
        FormSummary summary = Objects.requireNonNull(end.get());
        assertEquals(outcome, summary.outcome());
        assertEquals(reason, summary.reason());
    }

    /** A stage that depends on a failed one passes a {@link CompletionException} to its callbacks. */
    @Test
    void sink_failsWithTheFailureOfAStage_formHasItsCause() throws IOException {
        Remote sink = new Remote();
        AtomicReference<@Nullable FormSummary> end = new AtomicReference<>();
        FormOptions options = options(sink).toBuilder().metrics(end::set).build();
        PushedForm form = new Upload().field("a", "first").receive(options);
        Readiness written = sink.last;
        CompletableFuture<Void> upload = new CompletableFuture<>();
        upload.thenRun(written::ready).whenComplete((nothing, failure) -> written.fail(failure));
        upload.completeExceptionally(
                MultipartException.because(Reason.UNAVAILABLE).build());
        form.runResumed();
        assertEquals(Reason.UNAVAILABLE, ((MultipartException) failure(form)).reason());
        assertEquals(
                FormSummary.Outcome.OVERLOADED,
                Objects.requireNonNull(end.get()).outcome());
        assertTrue(form.intake().demand() > 0, "the rest of the body is not requested");
    }

    @Test
    void abort_whileAnotherEndIsRequested_endsTheFormAtOnce() throws IOException {
        Remote sink = new Remote();
        PushedForm form = received(sink, sink);
        form.intake().checkPace(System.nanoTime() + options().maxSinkWait().toNanos() + 1);
        IOException gone = new IOException("gone");
        form.intake().abort(gone);
        assertTrue(form.intake().isOver());
        form.runResumed(); // the thread comes too late
        assertSame(gone, failure(form));
        assertEquals(List.of("write", "close"), sink.calls);
    }

    /** A decompressing stream reports 1 available byte until its end, even if the next byte takes long. */
    @ParameterizedTest
    @CsvSource({"0, 40", "1, 40", "2, 2"})
    void read_availableBytes_areDecodedTogether(int available, int chunks) throws IOException {
        List<Integer> received = new ArrayList<>();
        FormOptions options = FormOptions.inMemory(budget)
                .metrics(new FormMetrics() {
                    @Override
                    public void bodyReceived(int bytes) {
                        received.add(bytes);
                    }

                    @Override
                    public void formEnded(FormSummary summary) {
                        assertEquals(FormSummary.Outcome.COMPLETED, summary.outcome());
                    }
                })
                .build();
        byte[] body = new Upload().field("a", "a".repeat(39_800)).toBytes();
        InputStream thousands = new ByteArrayInputStream(body) {
            @Override
            public int read(byte[] target, int index, int length) {
                return super.read(target, index, Math.min(length, 1000));
            }

            @Override
            public int available() {
                return available; // even at its end
            }
        };
        PushedForm.read(thousands, Upload.BOUNDARY, options).close();
        assertEquals(chunks, received.size());
        assertEquals(body.length, received.stream().mapToInt(Integer::intValue).sum());
    }

    @Test
    void clientPace_countsOnlyTimeSpentWaitingForTheClient() throws IOException {
        AtomicLong now = new AtomicLong();
        Remote sink = new Remote();
        FormOptions options = options(sink, sink).toBuilder().clock(now::get).build();
        long second = 1_000_000_000L;
        byte[] body = twoParts().toBytes();
        PushedForm slow = PushedForm.create(Upload.BOUNDARY, options);
        now.addAndGet(4 * second);
        slow.intake().checkPace(now.get());
        Upload.feed(slow, body, 0, body.length, 1000); // the sink is not ready now
        now.addAndGet(20 * second);
        slow.intake().checkPace(now.get());
        assertEquals(0, slow.resumed.size());
        for (int call = 0; call < 4; call++) { // write and complete of both
            sink.last.ready();
            slow.runResumed();
        }
        assertTrue(slow.intake().demand() > 0);
        now.addAndGet(20 * second);
        slow.intake().checkPace(now.get());
        slow.intake().checkPace(now.get());
        assertEquals(1, slow.resumed.size());
        slow.intake().offer(Unpooled.wrappedBuffer(new byte[1]));
        assertFalse(slow.intake().isOver(), "the form ended before the thread of the source ended it");
        slow.runResumed();
        assertTrue(slow.intake().isOver());
        assertEquals(0, slow.intake().demand());
        int wakeUps = slow.wanted;
        slow.intake().checkPace(now.get() + second);
        assertEquals(wakeUps, slow.wanted, "the source was woken after its form had ended");
    }

    /** Many clients send nothing more until they have the response, and some then send nothing at all. */
    @ParameterizedTest
    @ValueSource(strings = {"multipart/form-data; boundary=x", "text/plain"})
    void rejectedClient_thatSendsNothingMore_isWaitedForOnlyBriefly(String type) throws IOException {
        AtomicLong now = new AtomicLong();
        FormOptions options =
                FormOptions.inMemory(budget).maxParts(1).clock(now::get).build();
        byte[] body = twoParts().toBytes();
        PushedForm source = new PushedForm(new FormHead(type, body.length + 10L, false));
        FormIntake intake = Forms.of(options).receive(source, options);
        if (!intake.isOver()) {
            intake.offer(Unpooled.wrappedBuffer(body));
        }
        assertTrue(intake.isOver());
        assertTrue(intake.demand() > 0, "the rest of the body is not requested");
        now.addAndGet(TimeUnit.SECONDS.toNanos(4));
        intake.checkPace(now.get());
        assertTrue(intake.demand() > 0);
        now.addAndGet(TimeUnit.SECONDS.toNanos(3));
        intake.checkPace(now.get());
        assertEquals(0, intake.demand());
        assertEquals(1, source.wanted, "wake-ups of the source to stop discarding");
    }

    @Test
    void rejectedClient_thatStopsAfterFewBytes_isWaitedForOnlyBriefly() {
        AtomicLong now = new AtomicLong();
        FormOptions options = FormOptions.inMemory(budget).clock(now::get).build();
        PushedForm source = new PushedForm(new FormHead("text/plain", 10_000, false));
        FormIntake intake = Forms.of(options).receive(source, options);
        intake.offer(Unpooled.wrappedBuffer(new byte[10]));
        assertTrue(intake.demand() > 0);
        now.addAndGet(TimeUnit.SECONDS.toNanos(10));
        intake.checkPace(now.get());
        assertEquals(0, intake.demand());
        assertEquals(1, source.wanted);
    }

    @Test
    void rejectedClient_afterItsBody_doesNotWakeTheSource() {
        AtomicLong now = new AtomicLong();
        FormOptions options = FormOptions.inMemory(budget).clock(now::get).build();
        PushedForm source = new PushedForm(new FormHead("text/plain", 10, false));
        FormIntake intake = Forms.of(options).receive(source, options);
        intake.offer(Unpooled.wrappedBuffer(new byte[10]));
        intake.finish();
        now.addAndGet(TimeUnit.SECONDS.toNanos(10));
        intake.checkPace(now.get());
        assertEquals(0, source.wanted);
    }

    @Test
    void slowClient_sendsBeforeTheEndIsConfirmed_continues() throws IOException {
        AtomicLong now = new AtomicLong();
        FormOptions options = FormOptions.inMemory(budget).clock(now::get).build();
        PushedForm form = PushedForm.create(Upload.BOUNDARY, options);
        byte[] body = new Upload().field("a", "a".repeat(5000)).toBytes();
        now.addAndGet(TimeUnit.SECONDS.toNanos(6));
        form.intake().checkPace(now.get());
        assertEquals(1, form.resumed.size());
        Upload.feed(form, body, 0, body.length, body.length); // sent in time, but read by no thread until now
        form.runResumed();
        form.finish().close();
    }

    @Test
    void stalledSink_readyBeforeTheEndIsConfirmed_continues() throws IOException {
        Remote sink = new Remote();
        PushedForm form = received(sink, sink);
        form.intake().finish();
        form.intake().checkPace(System.nanoTime() + options().maxSinkWait().toNanos() + 1);
        while (!form.intake().isOver()) {
            sink.last.ready();
            form.runResumed();
        }
        form.intake().completion.join().close();
    }

    /** Streams of containers and applications may throw anything in the middle of a part. */
    @ParameterizedTest
    @ValueSource(classes = {IOException.class, IllegalStateException.class, StackOverflowError.class, Exception.class})
    void stream_throws_endsTheForm(Class<? extends Throwable> type) throws Exception {
        Throwable thrown = type.getConstructor().newInstance();
        DelayedAdmission admission = new DelayedAdmission(Readiness.pending());
        admission.readiness.ready();
        Blocking sink = new Blocking();
        sink.go.countDown();
        InputStream broken = new ByteArrayInputStream(twoParts().toBytes()) {
            @Override
            public int read(byte[] target, int index, int length) {
                if (sink.written > 0) {
                    throw Throwing.<RuntimeException>unchecked(thrown);
                }
                return super.read(target, index, 1);
            }

            @Override
            public int available() {
                return 0;
            }
        };
        FormOptions options = options(sink).toBuilder().admission(admission).build();
        Throwable failure = assertThrows(type, () -> PushedForm.read(broken, Upload.BOUNDARY, options));
        assertSame(thrown, type == Exception.class ? failure.getCause() : failure);
        assertTrue(sink.closed);
        assertEquals(1, admission.ended);
    }

    @ParameterizedTest
    @ValueSource(classes = {RejectedExecutionException.class, StackOverflowError.class})
    void source_withoutThreads_failsTheFormAndReleasesEverything(Class<? extends Throwable> type) throws Exception {
        Throwable none = type.getConstructor().newInstance();
        byte[] body = twoParts().toBytes();
        for (boolean atOnce : new boolean[] {true, false}) {
            Remote sink = new Remote();
            FormSource dead = new FormSource() {
                @Override
                public FormHead head() {
                    return FormHead.of("multipart/form-data; boundary=x");
                }

                @Override
                public void wanted() {}

                @Override
                public void run(Runnable work) {
                    if (atOnce) {
                        throw Throwing.<RuntimeException>unchecked(none);
                    }
                    work.run();
                }

                @Override
                public void resume(Runnable work) {
                    throw Throwing.<RuntimeException>unchecked(none);
                }
            };
            FormIntake intake = Forms.of(options(sink, sink)).receive(dead, options(sink, sink));
            assertNull(intake.read(new ByteArrayInputStream(body)) < 0 ? "end" : null);
            sink.last.ready();
            assertTrue(intake.isOver());
            Throwable failure = assertThrows(
                            ExecutionException.class, intake.completion().toCompletableFuture()::get)
                    .getCause();
            if (none instanceof RejectedExecutionException) {
                assertEquals(Reason.UNAVAILABLE, ((MultipartException) failure).reason());
                assertSame(none, failure.getCause());
            } else {
                assertSame(none, failure);
            }
            assertEquals(0, budget.used());
        }
    }

    /** A source that runs its sinks, which may block, on a worker thread. */
    private static final class WithWorker implements FormSource {
        final ExecutorService worker = Executors.newSingleThreadExecutor();
        final Semaphore wanted = new Semaphore(0);

        @Override
        public FormHead head() {
            return FormHead.of("multipart/form-data; boundary=" + Upload.BOUNDARY.value());
        }

        @Override
        public void wanted() {
            wanted.release();
        }

        @Override
        public void run(Runnable work) {
            worker.execute(work);
        }

        @Override
        public void resume(Runnable work) {
            worker.execute(work);
        }

        /** Offers bytes while there is demand, and returns their number. */
        long fill(FormIntake intake) {
            long offered = 0;
            while (intake.demand() > 0) {
                intake.offer(Unpooled.buffer(CHUNK).writeZero(CHUNK));
                offered += CHUNK;
            }
            return offered;
        }

        /** Waits until all tasks have run, and ends the worker. */
        void end() throws Exception {
            worker.submit(() -> {}).get(2, TimeUnit.MINUTES);
            worker.shutdown();
        }
    }

    /** A sink that blocks its thread until the test releases it, and may then throw. */
    private static final class Blocking extends IdleSink {
        final CountDownLatch blocks = new CountDownLatch(1);
        final CountDownLatch go = new CountDownLatch(1);

        @Nullable
        Throwable fault;

        long written;
        boolean closed;

        @Override
        public Readiness write(ByteBuf data) throws IOException {
            try {
                blocks.countDown();
                go.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            if (fault != null) {
                throw Throwing.<RuntimeException>unchecked(fault);
            }
            written += data.readableBytes();
            return Readiness.READY;
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"continues", "is aborted", "fails", "dies"})
    void blockingSink_boundsTheReceivedBytes(String then) throws Exception {
        Blocking sink = new Blocking();
        WithWorker source = new WithWorker();
        FormIntake intake = Forms.of(options(sink)).receive(source, options(sink));
        byte[] body = new Upload().file("f", "f", "").toBytes();
        int close = Upload.BOUNDARY.value().length() + 8;
        intake.offer(Unpooled.copiedBuffer(body, 0, body.length - close));
        long offered = source.fill(intake);
        assertTrue(sink.blocks.await(2, TimeUnit.MINUTES));
        assertTrue(offered <= (512 << 10) + CHUNK, () -> "offered: " + offered);
        IOException broken = new IOException("broken");
        if (then.equals("continues")) {
            sink.go.countDown();
            assertTrue(source.wanted.tryAcquire(2, TimeUnit.MINUTES));
            assertTrue(intake.demand() > 0);
            intake.offer(Unpooled.copiedBuffer(body, body.length - close, close));
            intake.finish();
            intake.completion.get(2, TimeUnit.MINUTES).close();
            assertEquals(offered, sink.written);
        } else {
            sink.fault = then.equals("fails") ? broken : then.equals("dies") ? new NoClassDefFoundError() : null;
            if (then.equals("is aborted")) {
                intake.abort(broken); // does not wait
            }
            sink.go.countDown();
            ExecutionException failure =
                    assertThrows(ExecutionException.class, () -> intake.completion.get(2, TimeUnit.MINUTES));
            assertSame(sink.fault == null ? broken : sink.fault, failure.getCause());
            assertTrue(sink.written <= CHUNK, () -> "written: " + sink.written);
        }
        source.end();
        assertTrue(sink.closed);
    }

    @Test
    void demand_whileManyFormsWait_isZeroUntilOwnBytesAreDecoded() throws Exception {
        int forms = 24;
        byte[] body = new Upload().file("f", "f", "").toBytes();
        int close = Upload.BOUNDARY.value().length() + 8;
        Blocking sink = new Blocking();
        List<WithWorker> sources = new ArrayList<>();
        List<FormIntake> intakes = new ArrayList<>();
        long offered = 0;
        for (int i = 0; i < forms; i++) {
            WithWorker source = new WithWorker();
            FormIntake intake = Forms.of(options(sink)).receive(source, options(sink));
            intake.offer(Unpooled.copiedBuffer(body, 0, body.length - close));
            offered += source.fill(intake);
            sources.add(source);
            intakes.add(intake);
        }
        long most = Math.max(1 << 20, budget.capacity() / 8) + (forms + 1L) * (body.length + CHUNK);
        assertTrue(offered <= most, "offered: " + offered);
        sink.go.countDown();
        for (int i = 0; i < forms; i++) {
            assertTrue(sources.get(i).wanted.tryAcquire(2, TimeUnit.MINUTES), "form " + i);
            intakes.get(i).offer(Unpooled.copiedBuffer(body, body.length - close, close));
            intakes.get(i).finish();
            intakes.get(i).completion.get(2, TimeUnit.MINUTES).close();
            sources.get(i).end();
        }
    }

    @Test
    void progress_isReportedOncePerChunk_alsoWhileMoreChunksWait() throws IOException {
        DelayedAdmission admission = new DelayedAdmission(Readiness.pending());
        Remote sink = new Remote();
        List<Long> decoded = new ArrayList<>();
        FormOptions options = options(sink).toBuilder()
                .admission(admission)
                .progress(progress -> decoded.add(progress.bodyBytes()), Duration.ZERO)
                .build();
        byte[] body = new Upload().file("f", "f", "x".repeat(1000)).toBytes();
        try (PushedForm form = PushedForm.create(Upload.BOUNDARY, options)) {
            admission.readiness.ready();
            form.runResumed();
            assertEquals(List.of(), decoded);
            Upload.feed(form, body, 0, 900, 300);
            for (int chunk = 1; chunk <= 3; chunk++) {
                sink.last.ready();
                form.runResumed();
                assertEquals(List.of(300L, 600L, 900L).subList(0, chunk), decoded);
            }
        }
    }

    /** A client that sends faster than the disk writes would otherwise occupy a worker until it has sent everything. */
    @Test
    void slowDecoding_yieldsTheWorkerToOtherForms() {
        List<Runnable> jobs = new ArrayList<>();
        FormSource source = new FormSource() {
            @Override
            public FormHead head() {
                return FormHead.of("multipart/form-data; boundary=x");
            }

            @Override
            public void wanted() {}

            @Override
            public void run(Runnable work) {
                jobs.add(work);
            }

            @Override
            public void resume(Runnable work) {
                jobs.add(work);
            }
        };
        AtomicReference<@Nullable FormIntake> open = new AtomicReference<>();
        AtomicLong written = new AtomicLong();
        PartSink sink = new IdleSink() {
            @Override
            public Readiness write(ByteBuf data) {
                FormIntake intake = open.get();
                if (intake != null && written.addAndGet(data.readableBytes()) < 40 << 20) {
                    while (intake.demand() > 0) { // as another thread would
                        intake.offer(Unpooled.buffer(CHUNK).writeZero(CHUNK));
                    }
                }
                return Readiness.READY;
            }
        };
        FormIntake intake = Forms.of(options(sink)).receive(source, options(sink));
        open.set(intake);
        byte[] body = new Upload().file("f", "f", "x").toBytes();
        int close = Upload.BOUNDARY.value().length() + 8;
        intake.offer(Unpooled.copiedBuffer(body, 0, body.length - close));
        while (!jobs.isEmpty()) {
            long before = written.get();
            jobs.remove(0).run();
            long inOneTurn = written.get() - before;
            assertTrue(inOneTurn <= 2 << 20, () -> "in one turn: " + inOneTurn);
        }
        assertTrue(written.get() >= 40 << 20, "written: " + written);
        intake.offer(Unpooled.copiedBuffer(body, body.length - close, close));
        intake.finish();
        while (!jobs.isEmpty()) {
            jobs.remove(0).run();
        }
        intake.completion.join().close();
    }

    /** Each read occupies a buffer of 32 KiB, even if few bytes arrive. */
    @Test
    void waitingChunks_countByTheirCapacity() throws Exception {
        Blocking sink = new Blocking();
        WithWorker source = new WithWorker();
        FormIntake intake = Forms.of(options(sink)).receive(source, options(sink));
        byte[] body = new Upload().file("f", "f", "x".repeat(2000)).toBytes();
        intake.offer(Unpooled.copiedBuffer(body, 0, 1000));
        assertTrue(sink.blocks.await(2, TimeUnit.MINUTES));
        int at = 1000;
        while (intake.demand() > 0 && at < 1900) {
            int next = at++;
            assertEquals(1, intake.read(new ByteArrayInputStream(body, next, 1)));
        }
        int chunks = at - 1000;
        assertTrue(chunks <= 20, () -> chunks + " buffers wait, each of " + ChunkPool.CHUNK_SIZE + " bytes");
        intake.abort(new IOException("gone"));
        sink.go.countDown();
        source.end();
    }

    /** A sink that becomes ready on another thread, nanoseconds before or after the form checks it. */
    private static final class Racer extends IdleSink {
        final AtomicReference<@Nullable Readiness> asked;
        final List<String> calls = new ArrayList<>();

        Racer(AtomicReference<@Nullable Readiness> asked) {
            this.asked = asked;
        }

        private Readiness soon(String call) {
            calls.add(call);
            Readiness soon = Readiness.pending();
            asked.set(soon);
            return soon;
        }

        @Override
        public Readiness write(ByteBuf data) {
            return soon(data.toString(StandardCharsets.ISO_8859_1));
        }

        @Override
        public Readiness complete() {
            return soon("complete");
        }

        @Override
        public Readiness publish() {
            return soon("publish");
        }
    }

    @Test
    void sink_becomesReadyDuringTheCheck_formContinues() throws Exception {
        AtomicReference<@Nullable Readiness> asked = new AtomicReference<>();
        Upload upload = new Upload();
        for (int i = 0; i < RACERS; i++) {
            upload.field("a" + i, "x");
        }
        byte[] body = upload.toBytes();
        WithWorker source = new WithWorker();
        Thread other = new Thread(() -> {
            for (int delay = 0; !Thread.interrupted(); ) {
                Readiness soon = asked.getAndSet(null);
                if (soon != null) {
                    delay = (delay + 1) % 64;
                    for (int i = 0; i < delay; i++) {
                        Thread.onSpinWait();
                    }
                    soon.ready();
                }
            }
        });
        other.start();
        try {
            for (int round = 0; round < 200; round++) {
                List<Racer> sinks = new ArrayList<>();
                FormOptions options = FormOptions.inMemory(budget)
                        .decider(part -> {
                            sinks.add(new Racer(asked));
                            return PartDecision.to(sinks.get(sinks.size() - 1));
                        })
                        .build();
                FormIntake intake = Forms.of(options).receive(source, options);
                for (int at = 0; at < body.length; at += 100) {
                    intake.offer(Unpooled.wrappedBuffer(body, at, Math.min(100, body.length - at)));
                }
                intake.finish();
                intake.completion.get(2, TimeUnit.MINUTES).close();
                assertEquals(RACERS, sinks.size());
                for (Racer sink : sinks) {
                    assertEquals(List.of("x", "complete", "publish"), sink.calls);
                }
            }
        } finally {
            other.interrupt();
            other.join();
            source.end();
        }
    }
}
