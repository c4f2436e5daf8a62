package dev.sluice.threats;

import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormPart;
import dev.sluice.form.IdleSink;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.PushedForm;
import dev.sluice.form.Readiness;
import dev.sluice.form.SpoolDirectory;
import dev.sluice.form.SpooledTest;
import dev.sluice.form.Upload;
import dev.sluice.testkit.OpenFiles;
import io.netty.buffer.ByteBuf;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.Cleaner;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Section G of threats.md, temporary files, descriptors and disk: released at once on every path, without a garbage collection. */
@Timeout(180)
class TemporaryFilesTest extends SpooledTest {
    private static final byte[] BODY = Run.bytes(Run.file("one", "1", "0123456789".repeat(5))
            + Run.file("two", "2", "abcdefghij".repeat(5))
            + Run.file("three", "3", "ABCDEFGHIJ".repeat(5))
            + "--x--\r\n");

    TemporaryFilesTest() {
        super(1 << 20, 1 << 20);
    }

    private FormOptions.Builder options() {
        return FormOptions.builder(spool, budget).spillThreshold(10);
    }

    private static void feed(PushedForm assembler, int from, int to, int chunkSize) throws IOException {
        Upload.feed(assembler, BODY, from, to, chunkSize);
    }

    private interface Reading {
        void run(PushedForm assembler) throws IOException;
    }

    /** Requires that nothing is left after an exception, both before and after the form is closed. */
    private void assertNothingIsLeftBy(FormOptions options, String context, Reading reading) throws IOException {
        try (PushedForm assembler = PushedForm.create(Upload.BOUNDARY, options)) {
            try {
                reading.run(assembler);
            } catch (IOException e) {
                Upload.assertNothingIsLeft(spool, budget, context);
            }
        }
        Upload.assertNothingIsLeft(spool, budget, context);
    }

    @Test
    void cve_2025_61795_limitOrErrorAtAnyByte_leavesNoFile() throws IOException {
        for (int at = 0; at <= BODY.length; at++) {
            int limit = at;
            int chunkSize = 1 + at % 40;
            for (UnaryOperator<FormOptions.Builder> change : List.<UnaryOperator<FormOptions.Builder>>of(
                    options -> options.maxBodyBytes(limit),
                    options -> options.maxPartBytes(limit % 60),
                    options -> options.maxParts(limit % 4),
                    options -> options.maxFiles(limit % 3))) {
                assertNothingIsLeftBy(change.apply(options()).build(), "limit " + at, assembler -> {
                    feed(assembler, 0, BODY.length, chunkSize);
                    assembler.finish().close();
                });
            }
            assertNothingIsLeftBy(options().build(), "end at " + at, assembler -> {
                feed(assembler, 0, limit, chunkSize);
                assembler.finish().close();
            });
        }
    }

    @Test
    void cve_2023_42794_openStreams_areClosedWithForm() throws IOException {
        MultipartForm form = PushedForm.read(
                new ByteArrayInputStream(BODY), Upload.BOUNDARY, options().build());
        List<InputStream> streams = new ArrayList<>();
        for (FormPart part : form.parts()) {
            streams.add(part.inputStream());
            streams.add(part.inputStream());
            assertTrue(streams.get(streams.size() - 1).read() > 0);
        }
        assertEquals(6, OpenFiles.below(spool.path()).size());
        form.close();
        Upload.assertNothingIsLeft(spool, budget, "closed");
        for (InputStream stream : streams) {
            assertThrows(IOException.class, stream::read);
        }
    }

    @Test
    void cve_2026_22740_cancelAtAnyByte_leavesNoFile() throws IOException {
        for (int chunkSize : new int[] {1, 13, BODY.length}) {
            for (int at = 0; at <= BODY.length; at++) {
                int end = at;
                assertNothingIsLeftBy(
                        options().spillThreshold(chunkSize == 13 ? 0 : 10).build(),
                        "cancelled at " + at,
                        assembler -> feed(assembler, 0, end, chunkSize));
            }
        }
    }

    /** A failure while the form is received, and then two aborts. One of the sinks also fails when it is closed. */
    @Test
    void cve_2026_18549_twoFaults_leaveNoFile() throws IOException {
        for (int at = 0; at <= BODY.length; at++) {
            int first = at;
            PartSink worst = new IdleSink() {
                @Override
                public Readiness write(ByteBuf data) throws IOException {
                    throw new IOException("broken");
                }

                @Override
                public void close() {
                    throw new IllegalStateException("cannot even be closed");
                }
            };
            List<FormOptions> faults = List.of(
                    options().maxBodyBytes(first).build(),
                    options()
                            .decider(part -> part.offset() < first ? PartDecision.store() : PartDecision.to(worst))
                            .build(),
                    options()
                            .decider(part ->
                                    part.offset() < first ? PartDecision.store() : PartDecision.reject(403, "no"))
                            .build(),
                    options()
                            .decider(
                                    part -> part.offset() < first ? PartDecision.store() : PartDecision.storeInMemory())
                            .maxFieldBytes(3)
                            .build());
            for (FormOptions fault : faults) {
                assertTwoFaults(fault, at);
            }
        }
        int needed = neededRoom();
        assertTrue(needed >= 3 * 4096, "the body needs fewer than three files");
        for (int room = 0; room < needed + 4096; room += 1024) {
            try (SpoolDirectory small = SpoolDirectory.builder(root.resolve("small"))
                    .keepFreeBytes(0)
                    .maxSpoolBytes(room)
                    .open()) {
                FormOptions full =
                        FormOptions.builder(small, budget).spillThreshold(10).build();
                PushedForm assembler = PushedForm.create(Upload.BOUNDARY, full);
                if (room < needed) {
                    assertEquals(
                            Reason.SPOOL_FULL,
                            assertThrows(MultipartException.class, () -> feed(assembler, 0, BODY.length, 11))
                                    .reason());
                    Upload.assertNothingIsLeft(small, budget, "full at " + room);
                }
                assembler.close();
                assembler.close();
                Upload.assertNothingIsLeft(small, budget, "full at " + room + " and aborted");
            }
        }
        Files.delete(root.resolve("small"));
    }

    /** {@return the number of bytes of the quota that the body uses} */
    private int neededRoom() throws IOException {
        try (MultipartForm form = PushedForm.read(
                new ByteArrayInputStream(BODY),
                Upload.BOUNDARY,
                options().spillThreshold(10).build())) {
            assertEquals(3, form.parts().size());
            return (int) spool.bytes();
        }
    }

    private void assertTwoFaults(FormOptions options, int at) throws IOException {
        PushedForm assembler = PushedForm.create(Upload.BOUNDARY, options);
        try {
            feed(assembler, 0, BODY.length, 11);
            assembler.finish().close();
        } catch (IOException e) {
            Upload.assertNothingIsLeft(spool, budget, "fault at " + at);
        }
        assembler.close();
        assembler.close();
        Upload.assertNothingIsLeft(spool, budget, "fault at " + at + " and aborted");
    }

    @Test
    void cve_2025_47935_descriptors_afterAnyEnd_areClosed() throws IOException {
        for (int round = 0; round < 50; round++) {
            int end = BODY.length * round / 50;
            assertNothingIsLeftBy(options().build(), "round " + round, assembler -> {
                feed(assembler, 0, end, 7);
                assembler.finish();
            });
            assertEquals(List.of(), OpenFiles.below(spool.path()));
        }
        try (MultipartForm form = PushedForm.read(
                new ByteArrayInputStream(BODY), Upload.BOUNDARY, options().build())) {
            assertEquals(3, spool.files());
            assertEquals(List.of(), OpenFiles.below(spool.path()));
            assertEquals(3, form.parts().size());
        }
    }

    @Test
    void cve_2023_41835_fieldAboveLimit_deletesEarlierFiles() throws IOException {
        for (int broken = 0; broken < 6; broken++) {
            StringBuilder body = new StringBuilder();
            for (int part = 0; part < broken; part++) {
                body.append(Run.file("f" + part, "f", "v".repeat(50)));
            }
            byte[] bytes = Run.bytes(body + Run.field("long", "v".repeat(51)) + "--x--");
            int files = broken;
            try (PushedForm assembler = PushedForm.create(
                    Upload.BOUNDARY, options().maxPartBytes(50).build())) {
                int start = body.length();
                Upload.feed(assembler, bytes, 0, start, 9);
                assertEquals(files, spool.files());
                MultipartException e = assertThrows(
                        MultipartException.class, () -> Upload.feed(assembler, bytes, start, bytes.length, 9));
                assertEquals(Reason.PART_TOO_LARGE, e.reason());
                Upload.assertNothingIsLeft(spool, budget, broken + " files before");
            }
        }
    }

    @Test
    void cve_2017_1000098_manyFiles_useOneDescriptor() throws IOException {
        byte[] body = Run.bytes(Run.file("f", "f", "0123456789").repeat(90) + "--x--");
        int most = 0;
        try (PushedForm assembler =
                PushedForm.create(Upload.BOUNDARY, options().spillThreshold(0).build())) {
            for (int at = 0; at < body.length; at += 31) {
                Upload.feed(assembler, body, at, Math.min(body.length, at + 31), 31);
                most = Math.max(most, OpenFiles.below(spool.path()).size());
            }
            try (MultipartForm form = assembler.finish()) {
                assertEquals(90, form.files().size());
                assertEquals(90, spool.files());
                assertEquals(List.of(), OpenFiles.below(spool.path()));
            }
        }
        assertEquals(1, most);
    }

    /** The library has no threads, so the adapter decides which thread blocks. */
    @Test
    void cve_2025_54121_sinks_areCalledByFeedingThreadOnly() throws Exception {
        Set<Thread> threads = new HashSet<>();
        PartSink sink = new IdleSink() {
            @Override
            public Readiness write(ByteBuf data) {
                threads.add(Thread.currentThread());
                return Readiness.READY;
            }

            @Override
            public Readiness complete() {
                threads.add(Thread.currentThread());
                return Readiness.READY;
            }

            @Override
            public void close() {
                threads.add(Thread.currentThread());
            }
        };
        Thread feeder = new Thread(() -> {
            try (PushedForm assembler = PushedForm.create(
                    Upload.BOUNDARY,
                    options().decider(part -> PartDecision.to(sink)).build())) {
                feed(assembler, 0, BODY.length, 5);
                assembler.finish().close();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        feeder.start();
        feeder.join();
        assertEquals(Set.of(feeder), threads);
        noClasses()
                .that()
                .resideOutsideOfPackage("dev.sluice.encode") // sends bodies through a Flow.Publisher
                .and()
                // these use threads of the caller
                .haveNameNotMatching("dev\\.sluice\\.form\\.(OutgoingForm|FormSubscriber|FormBodyHandler).*")
                .should()
                .callConstructor(Thread.class, Runnable.class)
                .orShould()
                .dependOnClassesThat()
                .haveNameMatching("java\\.util\\.concurrent\\.(.*Executor.*|ForkJoin.*|Flow.*)")
                .orShould()
                .callMethodWhere(target(nameMatching(".*Async")))
                .orShould()
                .beAssignableTo(Thread.class)
                .check(Compiled.CLASSES);
    }

    @Test
    void netty_10560_deletion_doesNotWaitForJvmExitOrGarbageCollector() {
        noClasses()
                .should()
                .callMethod(File.class, "deleteOnExit")
                .orShould()
                .dependOnClassesThat()
                .areAssignableTo(Cleaner.class)
                .orShould()
                .dependOnClassesThat()
                .resideInAPackage("java.lang.ref")
                .orShould()
                .callMethod(Runtime.class, "addShutdownHook", Thread.class)
                .check(Compiled.CLASSES);
    }

    @Test
    void cve_2026_77037_abortWithinFile_closesDescriptor() throws IOException {
        int inSecond = new String(BODY, StandardCharsets.ISO_8859_1).indexOf("abcdefghij") + 25;
        for (int chunkSize : new int[] {1, 13, BODY.length}) {
            PushedForm assembler = PushedForm.create(Upload.BOUNDARY, options().build());
            feed(assembler, 0, inSecond, chunkSize);
            assertTrue(!OpenFiles.below(spool.path()).isEmpty(), "no file is open");
            assembler.close();
            Upload.assertNothingIsLeft(spool, budget, "in chunks of " + chunkSize);
        }
    }

    /** The size limit of a part also applies while its sink is not ready. */
    @Test
    void cve_2026_77063_lateSink_doesNotBypassSizeLimit() throws IOException {
        int in = new String(BODY, StandardCharsets.ISO_8859_1).indexOf("0123456789") + 3;
        for (boolean readyBeforeTheLimit : new boolean[] {false, true}) {
            Readiness ready = Readiness.pending();
            List<String> calls = new ArrayList<>();
            PartSink late = new IdleSink() {
                @Override
                public Readiness write(ByteBuf data) {
                    return calls.isEmpty() ? called("write", ready) : called("write", Readiness.READY);
                }

                private Readiness called(String name, Readiness answer) {
                    calls.add(name);
                    return answer;
                }

                @Override
                public Readiness complete() {
                    return called("complete", Readiness.READY);
                }

                @Override
                public Readiness publish() {
                    return called("publish", Readiness.READY);
                }

                @Override
                public void close() {
                    calls.add("close");
                }
            };
            FormOptions options = options()
                    .maxPartBytes(5)
                    .decider(part -> PartDecision.to(late))
                    .build();
            try (PushedForm form = PushedForm.create(Upload.BOUNDARY, options)) {
                feed(form, 0, in, in);
                MultipartException e = assertThrows(MultipartException.class, () -> {
                    if (readyBeforeTheLimit) {
                        ready.ready();
                        form.runResumed();
                    }
                    feed(form, in, BODY.length, BODY.length);
                    ready.ready();
                    form.runResumed();
                    form.finish();
                });
                assertEquals(Reason.PART_TOO_LARGE, e.reason());
                assertEquals("close", calls.get(calls.size() - 1));
                assertEquals(1, calls.stream().filter("close"::equals).count());
                assertTrue(!calls.contains("complete") && !calls.contains("publish"), calls::toString);
            }
            Upload.assertNothingIsLeft(spool, budget, "ready before: " + readyBeforeTheLimit);
        }
    }
}
