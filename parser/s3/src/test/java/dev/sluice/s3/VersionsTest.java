package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.sluice.form.MemoryBudget;
import dev.sluice.form.PartDecider;
import dev.sluice.form.PartDecision;
import dev.sluice.s3.Uploads.File;
import dev.sluice.testkit.FaultProxy;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import software.amazon.awssdk.core.async.AsyncRequestBody;
import software.amazon.awssdk.core.async.AsyncResponseTransformer;
import software.amazon.awssdk.services.s3.S3AsyncClient;
import software.amazon.awssdk.services.s3.model.BucketVersioningStatus;
import software.amazon.awssdk.services.s3.model.ListObjectVersionsResponse;

/** A bucket that keeps what was replaced or deleted: what is taken back leaves neither a version nor a mark. */
@ExtendWith(Weed.IsThere.class)
class VersionsTest {
    private static final int MIB = 1 << 20;
    private static final List<File> FILES = List.of(new File("a", 9 * MIB), new File("b", 10), new File("c", 10));
    private static final String PUT = "PUT [^?.]*";
    private static final String DELETE_NOTE = "DELETE .*/\\.sluice/.*";

    private static Bench bench(BucketVersioningStatus status) throws Exception {
        String bucket = "versions-" + status.name().toLowerCase(Locale.ROOT);
        try (S3AsyncClient client = Weed.client(Weed.running().address())) {
            if (client.listBuckets().join().buckets().stream()
                    .noneMatch(there -> there.name().equals(bucket))) {
                client.createBucket(request -> request.bucket(bucket)).join();
                client.putBucketVersioning(request ->
                                request.bucket(bucket).versioningConfiguration(versions -> versions.status(status)))
                        .join();
            }
        }
        Bench bench = new Bench(
                bucket, MemoryBudget.of(128 << 20), store -> store.attempts(2).pauseMillis(5), sinks -> sinks);
        assertEquals(
                status,
                bench.client
                        .getBucketVersioning(request -> request.bucket(bucket))
                        .join()
                        .status());
        return bench;
    }

    /** {@return the keys of all versions, and of the marks of what was deleted} */
    private static List<String> all(Bench bench) {
        ListObjectVersionsResponse found = bench.client
                .listObjectVersions(request -> request.bucket(bench.bucket).prefix(bench.prefix))
                .join();
        return Stream.concat(
                        found.versions().stream().map(version -> version.key()),
                        found.deleteMarkers().stream().map(mark -> "deleted " + mark.key()))
                .toList();
    }

    private static void refuse(Bench bench, String requests, int first) {
        bench.proxy.on(
                request -> request.matches(requests),
                first,
                1000,
                FaultProxy.answer(403, "<Error><Code>AccessDenied</Code><Message>m</Message></Error>"));
    }

    private static void loseAnswer(Bench bench, String requests) {
        bench.proxy.on(request -> request.matches(requests), 1, 1, FaultProxy.LOSE_ANSWER);
    }

    private static void put(Bench bench, String key, String token, String text) {
        bench.client
                .putObject(
                        request -> request.bucket(bench.bucket).key(key).metadata(Map.of("sluice-token", token)),
                        AsyncRequestBody.fromString(text))
                .join();
    }

    @ParameterizedTest
    @EnumSource(names = {"ENABLED", "SUSPENDED"})
    void aFormIsStoredOnceAndItsNoteIsGoneForGood(BucketVersioningStatus status) throws Exception {
        try (Bench bench = bench(status)) {
            bench.stored(FILES);
            assertEquals(FILES.size(), all(bench).size());
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"ENABLED", "SUSPENDED"})
    void whatIsTakenBackIsGoneForGood(BucketVersioningStatus status) throws Exception {
        try (Bench bench = bench(status)) {
            refuse(bench, PUT, 2);
            bench.failure(FILES);
            assertEquals(List.of(), all(bench));
        }
    }

    @Test
    void whatWasWrittenTwiceIsTakenBackTwice() throws Exception {
        try (Bench bench = bench(BucketVersioningStatus.ENABLED)) {
            loseAnswer(bench, PUT);
            bench.proxy.on(
                    request -> request.matches(DELETE_NOTE),
                    1,
                    1,
                    FaultProxy.answer(403, "<Error><Code>No</Code></Error>"));
            bench.failure(FILES);
            assertEquals(2, bench.proxy.faults());
            assertEquals(List.of(), all(bench));
        }
    }

    @Test
    void whatTheAbandonedObjectHadReplacedIsThereAgain() throws Exception {
        try (Bench bench = bench(BucketVersioningStatus.ENABLED)) {
            String key = bench.prefix + "fixed";
            put(bench, key, "other", "there");
            S3Form objects = bench.sinks.newForm();
            PartDecider decider = part -> part.filename() == null
                    ? PartDecision.skip()
                    : PartDecision.to(
                            objects.sink(part, "text/plain", part.filename().equals("a") ? key : key + "2"));
            refuse(bench, PUT, 1);
            bench.failure(Uploads.send(
                    bench.forms,
                    bench.forms.options().toBuilder().decider(decider).build(),
                    Uploads.body(FILES.subList(0, 2)),
                    bench.allocator));
            assertEquals(1, bench.count("DELETE .*fixed.versionId=.*"));
            assertEquals(List.of(key), all(bench));
            assertEquals(
                    "there",
                    bench.client
                            .getObject(
                                    request -> request.bucket(bench.bucket).key(key),
                                    AsyncResponseTransformer.toBytes())
                            .join()
                            .asUtf8String());
        }
    }

    @Test
    void whatIsSweptIsGoneForGood() throws Exception {
        try (Bench bench = bench(BucketVersioningStatus.ENABLED)) {
            String id = "1".repeat(32);
            String object = bench.prefix + "object";
            put(bench, object, "token", "one");
            put(bench, object, "token", "again");
            put(bench, bench.prefix + ".sluice/" + id, id, "sluice 1\n" + object + " token ");
            assertEquals(List.of(object), bench.impatient().sweep().get().objects());
            assertEquals(List.of(), all(bench));
        }
    }
}
