package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.sluice.form.FormOptions;
import dev.sluice.form.Forms;
import dev.sluice.form.MemoryBudget;
import dev.sluice.s3.S3Form.StoredPart;
import dev.sluice.s3.Uploads.File;
import io.netty.buffer.UnpooledByteBufAllocator;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Forms whose files go to a store in memory, so that these tests need no server. */
class MemoryStoreTest {
    private static final int MIB = 1 << 20;

    /** Bounds a hang. */
    private static final int MINUTES = 5;

    private final MemoryStore store = new MemoryStore();
    private final MemoryBudget budget = MemoryBudget.of(64 * MIB);
    private final S3Sinks sinks =
            S3Sinks.builder(store, budget).prefix("test/").segmentBytes(5 * MIB).build();
    private final Forms forms = Forms.of(FormOptions.inMemory(budget)
            .maxBodyBytes(1L << 30)
            .maxPartBytes(1L << 30)
            .build());
    private final S3Form objects = sinks.newForm();

    @AfterEach
    void close() throws IOException {
        forms.close();
    }

    private Uploads.Sending send(List<File> files) {
        return Uploads.send(
                forms, objects.options(forms.options()), Uploads.body(files), UnpooledByteBufAllocator.DEFAULT);
    }

    private static Throwable failure(Uploads.Sending sending) {
        return assertThrows(ExecutionException.class, () -> sending.form().get(MINUTES, TimeUnit.MINUTES))
                .getCause();
    }

    private void assertNothingUnderWay() throws Exception {
        sinks.whenIdle().get(MINUTES, TimeUnit.MINUTES);
        assertEquals(Set.of(), store.uploads());
        Weed.await(() -> assertEquals(0, budget.used())); // the form returns its own memory on its thread
    }

    @Test
    void form_ofFilesOfAllSizes_isStoredWhole() throws Exception {
        List<File> files = List.of(
                new File("empty", 0), new File("small", 100_000), new File("a", 5 * MIB), new File("b", 12 * MIB + 1));
        send(files).form().get(MINUTES, TimeUnit.MINUTES).close();
        List<StoredPart> stored = objects.objects();
        assertEquals(files.size(), stored.size());
        for (int i = 0; i < files.size(); i++) {
            byte[] expected;
            try (var content = files.get(i).content()) {
                expected = content.readAllBytes();
            }
            assertArrayEquals(expected, store.object(stored.get(i).stored().key()));
        }
        assertEquals(files.size(), store.keys().size(), "the files, and no commit note");
        assertNothingUnderWay();
    }

    @Test
    void piece_arrivingAfterTheAbort_isFreedByASecondAbort() throws Exception {
        store.holdPieces();
        Uploads.Sending sending = send(List.of(new File("a", 6 * MIB)));
        store.awaitPiece();
        sending.intake().abort(new IOException("the client disconnected"));
        assertEquals("the client disconnected", failure(sending).getMessage());
        assertNothingUnderWay();
        assertEquals(Set.of(), store.keys());
    }

    @Test
    void commitNote_notDeleted_failsTheForm() throws Exception {
        store.failDeletion("/.sluice/");
        Throwable failure = failure(send(List.of(new File("a", 10), new File("b", 10))));
        assertEquals("the store deletes nothing", failure.getMessage());
        assertNothingUnderWay();
        assertEquals(Set.of(), store.keys());
    }

    @Test
    void smallFiles_beyondTheLimitForAllOfThem_areUploadedInPieces() throws Exception {
        List<File> files = IntStream.range(0, 5)
                .mapToObj(i -> new File("file" + i, 300_000))
                .toList();
        send(files).form().get(MINUTES, TimeUnit.MINUTES).close();
        assertEquals(3, store.put(), "kept until the form ended: at most 1 MiB");
        assertEquals(5, store.keys().size());
        assertNothingUnderWay();
    }
}
