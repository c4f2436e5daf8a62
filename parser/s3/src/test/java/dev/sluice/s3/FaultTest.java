package dev.sluice.s3;

import static dev.sluice.testkit.FaultProxy.HANG;
import static dev.sluice.testkit.FaultProxy.LOSE_ANSWER;
import static dev.sluice.testkit.FaultProxy.RESET;
import static dev.sluice.testkit.FaultProxy.answer;
import static dev.sluice.testkit.FaultProxy.answerAfter;
import static dev.sluice.testkit.FaultProxy.lateAnswer;
import static dev.sluice.testkit.FaultProxy.lateRequest;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.PartDecider;
import dev.sluice.form.PartDecision;
import dev.sluice.s3.Uploads.File;
import dev.sluice.testkit.FaultProxy;
import dev.sluice.testkit.FaultProxy.Fault;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.core.async.AsyncRequestBody;

/** What stores and networks do at the n-th request: the form is whole, or it has left nothing. */
@ExtendWith(Weed.IsThere.class)
@Execution(ExecutionMode.CONCURRENT) // most of the time is waiting
class FaultTest {
    private static final int MIB = 1 << 20;
    private static final int ALWAYS = 1000;
    private static final String CREATE = "POST [^.]*\\?uploads";
    private static final String PIECE_2 = "PUT .*partNumber=2&.*";
    private static final String COMPLETE = "POST [^.]*uploadId=.*";
    private static final String PUT = "PUT [^?.]*";
    private static final String ABORT = "DELETE .*uploadId=.*";
    private static final String DELETE = "DELETE [^?.]*";
    private static final String CREATE_NOTE = "POST .*/\\.sluice/.*\\?uploads";
    private static final String FILL_NOTE = "PUT .*/\\.sluice/.*partNumber=1&.*";
    private static final String COMPLETE_NOTE = "POST .*/\\.sluice/.*uploadId=.*";
    private static final String DELETE_NOTE = "DELETE .*/\\.sluice/[0-9a-f]{32}";
    private static final List<File> FILES = List.of(new File("a", 5 * MIB + 1000), new File("b", 10));
    private static final List<File> TWO_OF_PIECES =
            List.of(new File("a", 5 * MIB + 1000), new File("b", 5 * MIB + 10), new File("c", 10));

    private record On(String request, int first, int last, Fault fault) {}

    private static Fault error(int status, String code) {
        return answer(status, xml(code));
    }

    private static String xml(String code) {
        return "<?xml version=\"1.0\"?><Error><Code>" + code + "</Code><Message>m</Message></Error>";
    }

    /** An attempt has time enough on a busy machine. It has less if one must time out. */
    private static Bench bench(On... faults) throws Exception {
        return bench(Stream.of(faults).anyMatch(on -> on.fault == HANG) ? 15 : 120, faults);
    }

    private static Bench bench(int seconds, On... faults) throws Exception {
        Bench bench = new Bench(
                MemoryBudget.of(128 << 20),
                store -> store.attempts(6).pauseMillis(5).attemptTimeout(Duration.ofSeconds(seconds)),
                sinks -> sinks.segmentBytes(5 * MIB));
        for (On on : faults) {
            bench.proxy.on(request -> request.matches(on.request), on.first, on.last, on.fault);
        }
        return bench;
    }

    private static DynamicTest whole(String name, On... faults) {
        return DynamicTest.dynamicTest(name, () -> {
            try (Bench bench = bench(faults)) {
                bench.stored(FILES);
                assertTrue(bench.proxy.faults() > 0, "no fault");
            }
        });
    }

    private static DynamicTest nothing(String name, On... faults) {
        return nothing(name, FILES, faults);
    }

    private static DynamicTest nothing(String name, List<File> files, On... faults) {
        return DynamicTest.dynamicTest(name, () -> {
            try (Bench bench = bench(faults)) {
                bench.failure(files);
                assertTrue(bench.proxy.faults() > 0, "no fault");
                assertEquals(List.of(), bench.keys());
            }
        });
    }

    @TestFactory
    Stream<DynamicTest> whatPassesIsTriedAgain() {
        return Stream.of(
                whole("a piece is cut off", new On(PIECE_2, 1, 1, RESET)),
                whole("a piece meets a busy store", new On(PIECE_2, 1, 2, error(503, "SlowDown"))),
                whole("a piece hangs", new On(PIECE_2, 1, 1, HANG)),
                whole("a piece arrives damaged", new On(PIECE_2, 1, 1, error(400, "BadDigest"))),
                whole("credentials expire", new On(PIECE_2, 1, 1, error(403, "ExpiredToken"))),
                whole("the answer to a piece is lost", new On(PIECE_2, 1, 1, LOSE_ANSWER)),
                whole("the answer to Create is lost", new On(CREATE, 1, 1, LOSE_ANSWER)),
                whole("the answer to Complete is lost", new On(COMPLETE, 1, 1, LOSE_ANSWER)),
                whole(
                        "Complete is done and the answer is that it is not known",
                        new On(COMPLETE, 1, 1, answerAfter(404, xml("NoSuchUpload")))),
                whole("Complete fails with 200", new On(COMPLETE, 1, 1, answer(200, xml("InternalError")))),
                whole(
                        "Complete fails with 200 and is done",
                        new On(COMPLETE, 1, 1, answerAfter(200, xml("InternalError")))),
                whole("Complete meets another", new On(COMPLETE, 1, 1, error(409, "ConditionalRequestConflict"))),
                whole("the answer to Put is lost", new On(PUT, 1, 1, LOSE_ANSWER)),
                whole("Put is cut off", new On(PUT, 1, 1, RESET)),
                whole("the answer to Create of the note is lost", new On(CREATE_NOTE, 1, 1, LOSE_ANSWER)),
                whole("the note is cut off", new On(FILL_NOTE, 1, 1, RESET)),
                whole("the answer to the note is lost", new On(COMPLETE_NOTE, 1, 1, LOSE_ANSWER)),
                whole("the note stays at first", new On(DELETE_NOTE, 1, 1, error(503, "SlowDown"))),
                whole("the answer that the note is gone is lost", new On(DELETE_NOTE, 1, 1, LOSE_ANSWER)));
    }

    @TestFactory
    Stream<DynamicTest> whatDoesNotPassLeavesNothing() {
        return Stream.of(
                nothing("a piece is refused", new On(PIECE_2, 1, ALWAYS, error(400, "InvalidArgument"))),
                nothing("a piece is always cut off", new On(PIECE_2, 1, ALWAYS, RESET)),
                nothing("Create is refused", new On(CREATE, 1, ALWAYS, error(403, "AccessDenied"))),
                nothing("Complete is refused", new On(COMPLETE, 1, ALWAYS, error(412, "PreconditionFailed"))),
                nothing(
                        "the second Complete fails",
                        TWO_OF_PIECES,
                        new On(COMPLETE, 2, ALWAYS, error(500, "InternalError"))),
                nothing("the last Put fails", new On(PUT, 1, ALWAYS, error(403, "AccessDenied"))),
                nothing(
                        "the last Put is done and nobody can tell",
                        new On(PUT, 1, ALWAYS, answerAfter(403, xml("AccessDenied"))),
                        new On("HEAD .*", 1, 1, error(403, ""))),
                nothing("the note is refused", new On(CREATE_NOTE, 1, ALWAYS, error(403, "AccessDenied"))),
                nothing("the note is refused in the end", new On(COMPLETE_NOTE, 1, ALWAYS, error(403, "AccessDenied"))),
                nothing("the note stays", new On(DELETE_NOTE, 1, 1, error(403, "AccessDenied"))),
                nothing(
                        "Abort fails at first",
                        new On(PIECE_2, 1, ALWAYS, error(400, "InvalidArgument")),
                        new On(ABORT, 1, 1, error(503, "SlowDown"))));
    }

    private static CompletableFuture<?> seconds(int count) {
        return new CompletableFuture<>().completeOnTimeout(null, count, TimeUnit.SECONDS);
    }

    /** Answers within the time of an attempt. */
    @TestFactory
    Stream<DynamicTest> aSlowStoreIsWaitedFor() {
        On refused = new On(PIECE_2, 1, ALWAYS, error(400, "InvalidArgument"));
        return Stream.of(
                whole("Create", new On(CREATE, 1, 2, lateAnswer(seconds(1)))),
                whole("the pieces", new On(PIECE_2, 1, 2, lateAnswer(seconds(1)))),
                whole("the pieces are read late", new On(PIECE_2, 1, 2, lateRequest(seconds(1)))),
                whole("Complete", new On(COMPLETE, 1, 2, lateAnswer(seconds(1)))),
                whole("Put", new On(PUT, 1, 1, lateAnswer(seconds(1)))),
                nothing("Abort", refused, new On(ABORT, 1, ALWAYS, lateAnswer(seconds(1)))));
    }

    /** The first attempt, whose connection was cut, is still on its way when the second succeeds and the form ends. */
    @TestFactory
    Stream<DynamicTest> whatComesAfterTheEndChangesNothing() {
        return Stream.of(CREATE, PIECE_2, CREATE_NOTE, FILL_NOTE, COMPLETE_NOTE, COMPLETE, PUT, DELETE_NOTE)
                .flatMap(request -> Stream.of(
                        DynamicTest.dynamicTest(
                                "the answer: " + request, () -> late(request, FaultProxy::abandonedAnswer)),
                        DynamicTest.dynamicTest(
                                "the request: " + request, () -> late(request, FaultProxy::abandonedRequest))));
    }

    private static void late(String request, Function<CompletableFuture<?>, Fault> fault) throws Exception {
        CompletableFuture<Void> end = new CompletableFuture<>();
        try (Bench bench = bench(new On(request, 1, 1, fault.apply(end)))) {
            S3Form objects = bench.stored(FILES);
            assertEquals(1, bench.proxy.faults());
            end.complete(null);
            Weed.await(() -> assertEquals(0, bench.proxy.underWay()));
            bench.impatient().sweep().get(); // of what was created late nobody else knows
            bench.assertStored(objects, FILES);
            bench.assertNothingLeft();
        }
    }

    @Test
    void aStoreThatStaysBusyIsAReasonToComeLater() throws Exception {
        try (Bench bench = bench(new On(PIECE_2, 1, ALWAYS, error(503, "SlowDown")))) {
            assertEquals(503, ((MultipartException) bench.failure(FILES)).httpStatus());
        }
    }

    @ParameterizedTest
    @CsvSource({"409, ConditionalRequestConflict", "404, NoSuchUpload"})
    void aKeyThatOthersGoOnWritingIsAReasonToComeLater(int status, String code) throws Exception {
        try (Bench bench = bench(
                new On(COMPLETE, 1, 1, error(409, "ConditionalRequestConflict")),
                new On(COMPLETE, 1, ALWAYS, error(status, code)))) {
            MultipartException failure = (MultipartException) bench.failure(FILES);
            assertEquals(Reason.SINK_STALLED, failure.reason());
            assertEquals(503, failure.httpStatus());
            assertTrue(failure.getMessage().contains("for another (CompleteMultipartUpload)"), failure::getMessage);
            assertEquals(List.of(), bench.keys());
        }
    }

    @Test
    void aStoreThatKnowsNoChecksumOfWholeObjectsIsAskedForThoseOfPieces() throws Exception {
        for (Fault refusal : List.of(error(400, "InvalidArgument"), error(501, "NotImplemented"))) {
            try (Bench bench = bench(new On(CREATE, 1, 1, refusal))) {
                bench.stored(TWO_OF_PIECES);
                assertEquals(3, bench.count(CREATE), "the second file is not asked twice");
            }
        }
    }

    @Test
    void whatCannotBeTakenBackIsNamedAndSwept() throws Exception {
        try (Bench bench = bench(
                new On(COMPLETE, 2, ALWAYS, error(403, "AccessDenied")),
                new On(DELETE, 1, 1, error(403, "AccessDenied")))) {
            Throwable failure = bench.failure(TWO_OF_PIECES);
            List<String> objects =
                    bench.keys().stream().filter(key -> !key.contains("/.")).toList();
            assertEquals(1, objects.size());
            assertEquals(
                    List.of("the object " + objects.get(0) + " may be in the store"),
                    Arrays.stream(failure.getSuppressed())
                            .map(Throwable::getMessage)
                            .toList());
            assertEquals(List.of(), bench.sinks.sweep().get().objects(), "younger than a day");
            assertEquals(2, bench.keys().size());
            // Two at a time, as on two nodes.
            CompletableFuture<S3Sinks.Swept> one = bench.impatient().sweep();
            CompletableFuture<S3Sinks.Swept> other = bench.impatient().sweep();
            int most =
                    Math.max(one.get().objects().size(), other.get().objects().size());
            assertEquals(TWO_OF_PIECES.size(), most, "of the one that was first, or both");
            assertEquals(List.of(), bench.keys());
        }
    }

    @Test
    void aFormThatIsNotVisibleInTimeIsTakenBack() throws Exception {
        try (Bench bench = new Bench(
                MemoryBudget.of(128 << 20),
                store -> store.attemptTimeout(Duration.ofSeconds(16)),
                sinks -> sinks.maxAge(Duration.ofSeconds(30)))) {
            bench.proxy.on(request -> request.matches(DELETE_NOTE), 1, 1, HANG);
            Throwable failure = bench.failure(List.of(new File("a", 10), new File("b", 10)));
            assertEquals("the objects took longer than half of PT30S to become visible", failure.getMessage());
            assertEquals(List.of(), bench.keys());
            assertEquals(2, bench.distinct(COMPLETE_NOTE), "known again before the first is deleted");
        }
    }

    @Test
    void upload_thatCannotBeAborted_isSwept() throws Exception {
        AtomicBoolean denied = new AtomicBoolean(true); // a late piece may cause a second abort
        try (Bench bench = bench(new On(PIECE_2, 1, ALWAYS, error(400, "InvalidArgument")))) {
            bench.proxy.on(request -> denied.get() && request.matches(ABORT), 1, ALWAYS, error(403, "AccessDenied"));
            assertThrows(
                    ExecutionException.class,
                    bench.send(bench.sinks.newForm(), FILES).form()::get);
            bench.sinks.whenIdle().get();
            denied.set(false);
            assertEquals(1, bench.uploads().size());
            assertEquals(List.of(), bench.sinks.sweep().get().uploads(), "younger than a day");
            assertEquals(1, bench.impatient().sweep().get().uploads().size());
            bench.assertNothingLeft();
        }
    }

    @Test
    void whatCannotBeSweptDoesNotKeepTheRestFromIt() throws Exception {
        try (Bench bench = bench(new On(ABORT, 1, 1, error(403, "AccessDenied")))) {
            for (String key : List.of("left", "left too")) {
                bench.client
                        .createMultipartUpload(
                                request -> request.bucket(Weed.BUCKET).key(bench.prefix + key))
                        .join();
            }
            String notes = bench.prefix + ".sluice/";
            put(bench, notes + "0".repeat(32), "sluice 1\ndamaged");
            put(bench, notes + "1".repeat(32), "sluice 1\n" + bench.prefix + "object token ");
            put(bench, bench.prefix + "object", "text");
            ExecutionException failure =
                    assertThrows(ExecutionException.class, bench.impatient().sweep()::get);
            assertEquals(
                    "AbortMultipartUpload was answered with 403 AccessDenied",
                    failure.getCause().getMessage());
            assertEquals(
                    "the note " + notes + "0".repeat(32) + " is damaged: damaged",
                    failure.getCause().getSuppressed()[0].getMessage());
            assertEquals(1, bench.uploads().size());
            assertEquals(List.of(notes + "0".repeat(32)), bench.keys());
        }
    }

    private static void put(Bench bench, String key, String text) {
        bench.client
                .putObject(
                        request -> request.bucket(Weed.BUCKET).key(key).metadata(Map.of("sluice-token", token(key))),
                        AsyncRequestBody.fromString(text))
                .join();
    }

    /** {@return that of a note, which is its name, or "token"} */
    private static String token(String key) {
        return key.contains("/.") ? key.substring(key.lastIndexOf('/') + 1) : "token";
    }

    @Test
    void aClientThatGoesLeavesNothing() throws Exception {
        byte[] body = Uploads.body(TWO_OF_PIECES).readAllBytes();
        for (int length : new int[] {20, 150, 4 * MIB, 5 * MIB + 1250, 8 * MIB, body.length - 20, body.length - 3}) {
            try (Bench bench = bench()) {
                Uploads.Sending sending = Uploads.send(
                        bench.forms,
                        bench.sinks.newForm().options(bench.forms.options()),
                        new ByteArrayInputStream(body, 0, length),
                        bench.allocator);
                assertEquals(Reason.TRUNCATED, ((MultipartException) bench.failure(sending)).reason());
                assertEquals(List.of(), bench.keys());
            }
        }
    }

    @Test
    void anAbortWhilePiecesAreUnderWayLeavesNothing() throws Exception {
        for (String request :
                List.of(CREATE, PIECE_2, CREATE_NOTE, FILL_NOTE, COMPLETE_NOTE, COMPLETE, PUT, DELETE_NOTE)) {
            try (Bench bench = bench(120, new On(request, 1, 1, HANG))) {
                Uploads.Sending sending = bench.send(bench.sinks.newForm(), FILES);
                Weed.await(() -> assertEquals(1, bench.proxy.faults()));
                sending.intake().abort(new IOException("gone"));
                bench.failure(sending);
                assertEquals(List.of(), bench.keys(), request);
            }
        }
    }

    @Test
    void aThirdPartThatIsRefusedLeavesNothingOfTheOthers() throws Exception {
        try (Bench bench = bench()) {
            List<File> five = List.of(
                    new File("a", 6 * MIB),
                    new File("b", 2 * MIB),
                    new File("c", 10),
                    new File("d", 10),
                    new File("e", 10));
            S3Form objects = bench.sinks.newForm();
            PartDecider decider =
                    part -> "c".equals(part.filename()) ? PartDecision.reject(422, "no c") : objects.decide(part);
            Throwable failure = bench.failure(Uploads.send(
                    bench.forms,
                    bench.forms.options().toBuilder().decider(decider).build(),
                    Uploads.body(five),
                    bench.allocator));
            assertEquals(422, ((MultipartException) failure).httpStatus());
            assertEquals(List.of(), bench.keys());
        }
    }
}
