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
import dev.sluice.form.IdleSink;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.PushedForm;
import dev.sluice.form.Readiness;
import dev.sluice.form.SpooledTest;
import dev.sluice.form.Upload;
import dev.sluice.testkit.OpenFiles;
import io.netty.buffer.ByteBuf;
import java.io.File;
import java.io.IOException;
import java.lang.ref.Cleaner;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
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
