package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MemoryBudget;
import dev.sluice.s3.Uploads.File;
import dev.sluice.testkit.ProofSize;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.SequenceInputStream;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@ExtendWith(Weed.IsThere.class)
class BudgetTest {
    private static final int MIB = 1 << 20;

    @Test
    @Tag("sized")
    void aHundredUploadsOnASmallBudgetAllEnd() throws Exception {
        try (Bench bench =
                new Bench(MemoryBudget.of(64 * MIB), store -> store, sinks -> sinks.maxWait(Duration.ofMinutes(3)))) {
            List<Uploads.Sending> sent = new ArrayList<>();
            List<S3Form> forms = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                forms.add(bench.sinks.newForm());
                sent.add(bench.send(
                        forms.get(i),
                        List.of(new File("file" + i, ProofSize.of("sluice.store.mebibytes", 2, 6) * MIB))));
            }
            for (int i = 0; i < 100; i++) {
                sent.get(i).form().get().close();
                assertEquals(1, forms.get(i).objects().size());
            }
            assertEquals(100, bench.keys().size());
            assertTrue(bench.budget.peak() <= 64 * MIB, "at most " + bench.budget.peak());
            bench.assertNothingLeft();
        }
    }

    @Test
    void aFormForWhichThereIsNoMemoryInTimeIsRefused() throws Exception {
        MemoryBudget budget = MemoryBudget.of(64 * MIB);
        try (Bench bench = new Bench(budget, store -> store, sinks -> sinks.maxWait(Duration.ofMillis(200)))) {
            try (MemoryBudget.Account others = budget.open()) {
                others.reserve(40 * MIB);
                ExecutionException failure = assertThrows(
                        ExecutionException.class,
                        bench.send(bench.sinks.newForm(), List.of(new File("a", 6 * MIB)))
                                .form()::get);
                MultipartException reason = (MultipartException) failure.getCause();
                assertEquals(Reason.MEMORY_FULL, reason.reason());
                assertEquals(503, reason.httpStatus());
            }
            bench.assertNothingLeft();
        }
    }

    @Test
    void aFormGetsSmallSegmentsWhereThereIsNoRoomForUsualOnes() throws Exception {
        MemoryBudget budget = MemoryBudget.of(64 * MIB);
        try (Bench bench = new Bench(budget, store -> store, sinks -> sinks);
                MemoryBudget.Account others = budget.open()) {
            others.reserve(32 * MIB);
            List<File> files = List.of(new File("a", 12 * MIB));
            S3Form objects = bench.sinks.newForm();
            bench.send(objects, files).form().get().close();
            bench.assertStored(objects, files);
            assertEquals(3, bench.distinct(".*partNumber.*"));
        }
    }

    @Test
    void manySmallFilesAreKeptUpToALimitAndThenUploaded() throws Exception {
        try (Bench bench = new Bench()) {
            List<File> files = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                files.add(new File("file" + i, 300_000));
            }
            bench.stored(files);
            assertEquals(3, bench.count("PUT [^?.]*"));
        }
    }

    @ParameterizedTest(name = "{0} MiB, then others wait, then {1}")
    @CsvSource({"6, 0", "4, 2"})
    void aSegmentThatIsLargeEnoughIsSentEarlyWhereOthersWait(int before, int after) throws Exception {
        try (Bench bench = new Bench(
                MemoryBudget.of(64 * MIB),
                store -> store,
                sinks -> sinks.segmentBytes(24 * MIB).maxWait(Duration.ofMinutes(3)))) {
            byte[] body = Uploads.body(List.of(new File("slow", 10 * MIB))).readAllBytes();
            PipedInputStream rest = new PipedInputStream(MIB);
            PipedOutputStream slow = new PipedOutputStream(rest);
            Uploads.Sending first = Uploads.send(
                    bench.forms,
                    bench.sinks.newForm().options(bench.forms.options()),
                    new SequenceInputStream(new ByteArrayInputStream(body, 0, before * MIB + 300), rest),
                    bench.allocator);
            Weed.await(() -> assertTrue(bench.allocator.unreleased().size() >= before * 16));
            List<File> files = List.of(new File("b", 6 * MIB));
            S3Form objects = bench.sinks.newForm();
            Uploads.Sending second = bench.send(objects, files);
            slow.write(body, before * MIB + 300, after * MIB);
            second.form().get(5, TimeUnit.MINUTES).close();
            bench.assertStored(objects, files);
            first.intake().abort(new IOException("gone"));
            slow.close();
            assertEquals("gone", bench.failure(first).getMessage());
        }
    }

    @Test
    void aFormMayWaitAsLongAsTheBuilderSays() throws Exception {
        Duration maxWait = Duration.ofMinutes(3);
        try (S3ObjectStore store = NodeTest.store(URI.create("http://127.0.0.1:1"))) {
            FormOptions options =
                    FormOptions.inMemory(MemoryBudget.of(64 * MIB)).build();
            S3Sinks sinks = S3Sinks.builder(store, MemoryBudget.of(64 * MIB))
                    .maxWait(maxWait)
                    .build();
            assertTrue(sinks.newForm().options(options).maxSinkWait().compareTo(maxWait) > 0);
            FormOptions patient =
                    options.toBuilder().maxSinkWait(Duration.ofMinutes(9)).build();
            assertEquals(patient.maxSinkWait(), sinks.newForm().options(patient).maxSinkWait());
        }
    }

    @Test
    void aBudgetThatIsTooSmallForAnyFormIsRefused() throws Exception {
        try (S3ObjectStore store = NodeTest.store(URI.create("http://127.0.0.1:1"))) {
            S3Sinks.builder(store, MemoryBudget.of(16_205_265)).build();
            MemoryBudget less = MemoryBudget.of(16_205_264);
            try (MemoryBudget.Account inUse = less.open()) {
                inUse.reserve(10 * MIB);
                IllegalArgumentException refusal =
                        assertThrows(IllegalArgumentException.class, S3Sinks.builder(store, less)::build);
                assertTrue(
                        refusal.getMessage().endsWith("MemoryBudget.of(16205265) is the least"), refusal::getMessage);
            }
        }
    }
}
