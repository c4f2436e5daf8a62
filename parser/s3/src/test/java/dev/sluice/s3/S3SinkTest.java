package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecider;
import dev.sluice.form.PartDecision;
import dev.sluice.s3.S3Form.StoredPart;
import dev.sluice.s3.Uploads.File;
import java.io.ByteArrayInputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.SequenceInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;

@ExtendWith(Weed.IsThere.class)
@Execution(ExecutionMode.CONCURRENT) // most of the time is waiting
class S3SinkTest {
    private static final int MIB = 1 << 20;

    @Test
    void filesOfAllSizesAreTheSameInTheStore() throws Exception {
        try (Bench bench = new Bench()) {
            List<File> files = List.of(
                    new File("empty", 0),
                    new File("one byte", 1),
                    new File("small.bin", 100_000),
                    new File("more than is kept", 2 * MIB),
                    new File("exactly one segment", 8 * MIB),
                    new File("one more", 8 * MIB + 1),
                    new File("many", 30 * MIB + 12_345));
            S3Form objects = bench.sinks.newForm();
            try (MultipartForm form = bench.send(objects, files).form().get()) {
                assertEquals("title", form.text("title"));
            }
            bench.assertStored(objects, files);
            bench.assertNothingLeft();
        }
    }

    @Test
    void theClientChoosesNeitherKeyNorTypeAndItsNameIsKeptSafely() throws Exception {
        try (Bench bench = new Bench()) {
            S3Form objects = bench.sinks.newForm();
            bench.send(objects, List.of(new File("../é \u202E.html", 5), new File("x".repeat(3000), 9 * MIB)))
                    .form()
                    .get()
                    .close();
            StoredPart first = objects.objects().get(0);
            assertTrue(
                    first.stored().key().matches(bench.prefix + "[0-9a-f]{32}"),
                    first.stored().key());
            HeadObjectResponse head = bench.head(first);
            assertEquals("application/octet-stream", head.contentType());
            assertEquals("..%2F%C3%A9%20%E2%80%AE.html", head.metadata().get("filename"));
            assertEquals(
                    "x".repeat(1024),
                    bench.head(objects.objects().get(1)).metadata().get("filename"));
        }
    }

    @Test
    void theTypeThatTheClientSaysIsTakenWhereItCanBeAHeader() throws Exception {
        assertEquals(List.of("image/png; a=b", "application/octet-stream"), types(sinks -> sinks));
    }

    @Test
    void theFirstBytesSayTheTypeWhereTheClientDoesNot() throws Exception {
        assertEquals(
                List.of("image/png; a=b", "test/1"), types(sinks -> sinks.sniff(4, first -> "test/" + first.length)));
    }

    private static List<String> types(UnaryOperator<S3Sinks.Builder> sniffing) throws Exception {
        try (Bench bench = new Bench(
                MemoryBudget.of(256 << 20), store -> store, sinks -> sniffing.apply(sinks.clientContentType()))) {
            S3Form objects = bench.sinks.newForm();
            String part = "--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"f\"\r\nContent-Type: ";
            String body = part + "image/png; a=b\r\n\r\nx\r\n" + part
                    + "image/png; name=\"\u00E9\u4E2D.png\"\r\n\r\nx\r\n--b--";
            Uploads.send(
                            bench.forms,
                            objects.options(bench.forms.options()),
                            new ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8)),
                            bench.allocator)
                    .form()
                    .get()
                    .close();
            return objects.objects().stream()
                    .map(object -> bench.head(object).contentType())
                    .toList();
        }
    }

    @Test
    void whatTheStoreIsToDoWithObjectsIsSaid() throws Exception {
        try (Bench bench = new Bench(
                MemoryBudget.of(256 << 20),
                store -> store.tags(Map.of("kind", "upload")),
                sinks -> sinks.sniff(4, first -> "test/" + first.length))) {
            S3Form objects = bench.sinks.newForm();
            bench.send(objects, List.of(new File("small", 3), new File("large", 9 * MIB)))
                    .form()
                    .get()
                    .close();
            for (StoredPart part : objects.objects()) {
                String key = part.stored().key();
                assertEquals(
                        "[Tag(Key=kind, Value=upload)]",
                        bench.client
                                .getObjectTagging(
                                        request -> request.bucket(Weed.BUCKET).key(key))
                                .join()
                                .tagSet()
                                .toString());
            }
            assertEquals("test/3", bench.head(objects.objects().get(0)).contentType());
            assertEquals("test/4", bench.head(objects.objects().get(1)).contentType());
        }
    }

    @Test
    void anObjectThatIsThereIsNotReplaced() throws Exception {
        for (long size : new long[] {10, 9 * MIB}) {
            try (Bench bench = new Bench(MemoryBudget.of(256 << 20), S3ObjectStore.Builder::onlyNew, sinks -> sinks)) {
                String key = bench.prefix + "fixed";
                bench.client
                        .putObject(
                                request -> request.bucket(Weed.BUCKET).key(key), AsyncRequestBody.fromString("there"))
                        .join();
                S3Form objects = bench.sinks.newForm();
                PartDecider decider = part -> part.filename() == null
                        ? PartDecision.skip()
                        : PartDecision.to(objects.sink(part, "text/plain", key));
                assertInstanceOf(
                        FileAlreadyExistsException.class,
                        bench.failure(Uploads.send(
                                bench.forms,
                                bench.forms.options().toBuilder()
                                        .decider(decider)
                                        .build(),
                                Uploads.body(List.of(new File("a", size))),
                                bench.allocator)));
                assertEquals(List.of(key), bench.keys());
                assertEquals(
                        5,
                        bench.client
                                .headObject(
                                        request -> request.bucket(Weed.BUCKET).key(key))
                                .join()
                                .contentLength());
            }
        }
    }

    @Test
    void nothingIsVisibleBeforeTheFormHasEnded() throws Exception {
        try (Bench bench = new Bench()) {
            List<File> files = List.of(new File("a", 10), new File("b", 20 * MIB), new File("c", 10));
            S3Form objects = bench.sinks.newForm();
            PipedInputStream end = new PipedInputStream();
            PipedOutputStream last = new PipedOutputStream(end);
            byte[] body = Uploads.body(files).readAllBytes();
            Uploads.Sending sending = Uploads.send(
                    bench.forms,
                    objects.options(bench.forms.options()),
                    new SequenceInputStream(new ByteArrayInputStream(body, 0, body.length - 2), end),
                    bench.allocator);
            Weed.await(() -> assertEquals(3, bench.distinct(".*partNumber.*")));
            assertEquals(List.of(), bench.keys());
            assertEquals(List.of(), objects.objects());
            last.write(body, body.length - 2, 2);
            last.close();
            sending.form().get().close();
            bench.assertStored(objects, files);
            assertEquals(2, bench.distinct("PUT [^?.]*"));
            bench.assertNothingLeft();
        }
    }

    @Test
    void anObjectHasNoMorePiecesThanTheStoreTakes() throws Exception {
        try (Bench bench = new Bench(MemoryBudget.of(256 << 20), store -> store, sinks -> sinks.mostPieces(2))) {
            List<File> most = List.of(new File("a", 16 * MIB));
            bench.stored(most);
            Throwable failure = bench.failure(List.of(new File("a", 16 * MIB + 1)));
            assertEquals(Reason.PART_TOO_LARGE, ((MultipartException) failure).reason());
        }
    }

    @Test
    void segmentsGrowWithTheirNumber() throws Exception {
        try (Bench bench = new Bench()) {
            assertEquals(8 * MIB, bench.sinks.segmentBytes(1));
            assertEquals(16 * MIB, bench.sinks.segmentBytes(1250));
            assertEquals(64 * MIB, bench.sinks.segmentBytes(10_000));
            long room = 0;
            for (int piece = 1; piece <= 10_000; piece++) {
                room += bench.sinks.segmentBytes(piece);
            }
            assertEquals(351, room >> 30);
        }
    }

    @Test
    void completeFile_isNotSwept_whileAnotherOfItsFormArrives() throws Exception {
        Duration maxAge = Duration.ofSeconds(40); // of which half is the time to publish, on a busy machine too
        try (Bench bench = new Bench(MemoryBudget.of(256 << 20), store -> store, sinks -> sinks.maxAge(maxAge))) {
            List<File> files = List.of(new File("a", 20 * MIB), new File("slow", 1000));
            byte[] body = Uploads.body(files).readAllBytes();
            PipedInputStream rest = new PipedInputStream();
            PipedOutputStream slow = new PipedOutputStream(rest);
            S3Form objects = bench.sinks.newForm();
            Uploads.Sending sending = Uploads.send(
                    bench.forms,
                    objects.options(bench.forms.options()),
                    new SequenceInputStream(new ByteArrayInputStream(body, 0, body.length - 300), rest),
                    bench.allocator);
            Weed.await(() -> assertEquals(3, bench.distinct(".*partNumber.*")));
            Weed.await(() -> assertEquals(0, bench.proxy.underWay()));
            Instant complete = Instant.now();
            int sent = body.length - 300;
            slow.write(body, sent++, 1);
            slow.flush();
            Weed.await(() -> {
                assertEquals(1, bench.distinct(".*partNumber=10000&.*"));
                assertEquals(0, bench.proxy.underWay());
            });
            // The store tells whole seconds. All but the sign of life is older than what this sweep spares.
            Duration age = Duration.between(complete.plusSeconds(2), Instant.now());
            S3Sinks sweeper = S3Sinks.builder(bench.store, bench.budget)
                    .prefix(bench.prefix)
                    .maxAge(age)
                    .build();
            assertEquals(List.of(), sweeper.sweep().get().uploads());
            assertEquals(1, bench.uploads().size());
            slow.write(body, sent, body.length - sent);
            slow.close();
            sending.form().get().close();
            bench.assertStored(objects, files);
            bench.assertNothingLeft();
        }
    }

    @Test
    void anUploadThatNobodyGoesOnWithIsEnded() throws Exception {
        try (Bench bench =
                new Bench(MemoryBudget.of(256 << 20), store -> store, sinks -> sinks.maxAge(Duration.ofMillis(1500)))) {
            PipedInputStream never = new PipedInputStream();
            PipedOutputStream stalled = new PipedOutputStream(never);
            byte[] body = Uploads.body(List.of(new File("a", 9 * MIB))).readAllBytes();
            Uploads.Sending sending = Uploads.send(
                    bench.forms,
                    bench.sinks.newForm().options(bench.forms.options()),
                    new SequenceInputStream(new ByteArrayInputStream(body, 0, body.length - 100), never),
                    bench.allocator);
            Weed.await(() -> assertTrue(bench.count("DELETE.*") > 0));
            stalled.write(body, body.length - 100, 100);
            stalled.close();
            assertEquals(
                    "the upload was idle for half of PT1.5S",
                    bench.failure(sending).getMessage());
        }
    }
}
