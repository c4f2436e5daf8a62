package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.MultipartForm;
import dev.sluice.s3.Uploads.File;
import dev.sluice.testkit.FaultProxy;
import dev.sluice.testkit.FaultProxy.Fault;
import dev.sluice.testkit.Installed;
import dev.sluice.testkit.ProofSize;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.io.SequenceInputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Faults at each request of the protocol, in front of two real stores. After a sweep by another process, a form that was confirmed with
 * success is whole, and nothing else is left.
 */
@ExtendWith(Weed.IsThere.class)
@Execution(ExecutionMode.CONCURRENT) // most of the time is waiting
class FaultTest {
    private static final int MIB = 1 << 20;

    /** The time after which a test that hangs fails. */
    private static final int MINUTES = 5;

    private static final Map<String, List<File>> FORMS = new TreeMap<>(Map.of(
            "small", List.of(new File("a", 10)),
            "large", List.of(new File("a", 11 * MIB)), // three pieces
            "mixed", List.of(new File("a", 10), new File("b", 100_000), new File("c", 6 * MIB))));

    /** The operation during which the fault occurs. */
    private enum Act {
        /** A form is sent. */
        STORE,
        /** The client of a form disconnects before the end. */
        ABORT,
        /** A sweep ends a form that is being sent, and removes the intents of a committed one. */
        SWEEP,
        /** A committed form is deleted. */
        DELETE
    }

    /**
     * A request of the protocol.
     *
     * @param forms the forms that make it
     * @param before how often an earlier request must fail, so that the form makes this one
     */
    private record Request(Act act, String name, String pattern, String forms, int before, String earlier) {
        Request(Act act, String name, String pattern, String forms) {
            this(act, name, pattern, forms, 0, "");
        }
    }

    private static final String RECORD = "/form\\.json";
    private static final String FILE = "/[0-9a-f]{32}/[0-9]+";
    private static final String ALL = "small large mixed";
    private static final String SOME = "large mixed";
    private static final List<Request> REQUESTS = List.of(
            new Request(Act.STORE, "intent", "PUT .*/\\.open/.*", ALL),
            new Request(Act.STORE, "create", "POST .*\\?uploads", SOME),
            new Request(Act.STORE, "piece", "PUT .*partNumber=1&.*", SOME),
            new Request(Act.STORE, "complete", "POST .*uploadId=.*", SOME),
            new Request(Act.STORE, "put", "PUT .*" + FILE, "small mixed"),
            new Request(Act.STORE, "head of a put", "HEAD .*", "small", 6, "PUT .*" + FILE),
            new Request(Act.STORE, "head of a complete", "HEAD .*", SOME, 6, "POST .*uploadId=.*"),
            new Request(Act.STORE, "record", "PUT .*" + RECORD, ALL),
            new Request(Act.STORE, "read", "GET .*" + RECORD, ALL, 1, "PUT .*" + RECORD),
            new Request(Act.STORE, "forget", "POST .*\\?delete", ALL),
            new Request(Act.ABORT, "abort", "DELETE .*uploadId=.*", SOME),
            new Request(Act.ABORT, "parts", "GET .*uploadId=.*", SOME),
            new Request(Act.ABORT, "tombstone", "PUT .*" + RECORD, SOME),
            new Request(Act.ABORT, "read", "GET .*" + RECORD, SOME),
            new Request(Act.ABORT, "list", "GET .*list-type=2.*", SOME),
            new Request(Act.SWEEP, "intents", "GET .*prefix=[^&]*open.*", ALL),
            new Request(Act.SWEEP, "record", "GET .*" + RECORD, ALL),
            new Request(Act.SWEEP, "tombstone", "PUT .*" + RECORD, SOME),
            new Request(Act.SWEEP, "uploads", "GET .*[?&]uploads($|[=&].*)", ALL),
            new Request(Act.SWEEP, "abort", "DELETE .*uploadId=.*", SOME),
            new Request(Act.SWEEP, "parts", "GET .*uploadId=.*", SOME),
            new Request(Act.SWEEP, "files", "GET .*prefix=[^&]*[0-9a-f]{32}.*", ALL),
            new Request(Act.SWEEP, "renewal", "PUT .*/\\.open/.*", SOME),
            new Request(Act.SWEEP, "deletion", "POST .*\\?delete", ALL),
            new Request(Act.DELETE, "record", "GET .*" + RECORD, ALL),
            new Request(Act.DELETE, "intent", "PUT .*/\\.open/.*", ALL),
            new Request(Act.DELETE, "tombstone", "PUT .*" + RECORD, ALL),
            new Request(Act.DELETE, "files", "GET .*list-type=2.*", ALL),
            new Request(Act.DELETE, "deletion", "POST .*\\?delete", ALL));

    /** The faults after which a retry must succeed, in any request. */
    private static final Set<Fault> PASSING = EnumSet.of(
            Fault.CUT_IN_HEAD,
            Fault.CUT_IN_BODY,
            Fault.CUT_AFTER,
            Fault.RESET,
            Fault.LOST_RESPONSE,
            Fault.HANG,
            Fault.SLOW,
            Fault.LATE_REQUEST,
            Fault.DUPLICATE,
            Fault.SERVER_ERROR,
            Fault.BUSY);

    @TestFactory
    @Tag("sized")
    Stream<DynamicTest> fault_losesNoForm() {
        return tests(
                ProofSize.of("sluice.store.faults", 47, 5), () -> Weed.running().port());
    }

    @TestFactory
    @Tag("sized")
    Stream<DynamicTest> fault_onTheSecondStore_losesNoForm() {
        Installed.require("versitygw", Versity.program().isPresent());
        return tests(ProofSize.of("sluice.store.second.faults", 127, 11), Versity::port);
    }

    /** @param stride 1 to test all 2,982 combinations of both stores, which took about half an hour on a busy machine; n for every n-th */
    private static Stream<DynamicTest> tests(int stride, Callable<Integer> port) {
        List<DynamicTest> tests = new ArrayList<>();
        int counter = 0;
        for (Request request : REQUESTS) {
            for (String form : request.forms.split(" ")) {
                for (Fault fault : Fault.values()) {
                    if (fault != Fault.NONE && counter++ % stride == 0) {
                        tests.add(DynamicTest.dynamicTest(
                                form + ", " + request.act + ' ' + request.name + ", " + fault, () -> {
                                    try (Bench bench = new Bench(
                                            Weed.BUCKET,
                                            port.call(),
                                            store -> store.attemptTimeout(Duration.ofSeconds(waits(fault) ? 3 : 10)),
                                            sinks -> sinks.segmentBytes(5 * MIB))) {
                                        new Run(bench, FORMS.get(form), request, fault).run();
                                        bench.keys().forEach(bench::delete); // otherwise the tests would fill the disk
                                    }
                                }));
                    }
                }
            }
        }
        return tests.stream();
    }

    /** {@return whether a request with this fault ends only by its time limit} */
    private static boolean waits(Fault fault) {
        return fault == Fault.HANG || fault == Fault.LATE_RESPONSE;
    }

    /** One act with one fault. */
    private static final class Run {
        private final Bench bench;
        private final List<File> files;
        private final Request request;
        private final Fault fault;
        private final S3Form form;
        private boolean isConfirmed;

        Run(Bench bench, List<File> files, Request request, Fault fault) {
            this.bench = bench;
            this.files = files;
            this.request = request;
            this.fault = fault;
            this.form = bench.sinks.newForm();
        }

        void run() throws Exception {
            bench.sinks.probe().get(MINUTES, TimeUnit.MINUTES);
            switch (request.act) {
                case STORE -> {
                    injectInto(bench.proxy);
                    isConfirmed = isConfirmed(bench.send(form, files), PASSING.contains(fault));
                    bench.assertNothingHeld();
                    release(bench.proxy);
                    assertLeft(true);
                }
                case ABORT -> {
                    injectInto(bench.proxy);
                    try (PipedOutputStream rest = new PipedOutputStream()) {
                        sendUntilStored(rest).intake().abort(new IOException("gone"));
                    }
                    bench.assertNothingHeld();
                    release(bench.proxy);
                    assertLeft(false);
                }
                case SWEEP -> sweep();
                case DELETE -> delete();
            }
        }

        private void injectInto(FaultProxy proxy) {
            if (request.before > 0) {
                proxy.on(sent -> sent.matches(request.earlier), 1, request.before, Fault.EMPTY_200);
            }
            proxy.on(sent -> sent.matches(request.pattern), 1, 1, fault);
        }

        private void release(FaultProxy proxy) throws Exception {
            proxy.release();
            assertTrue(proxy.faults() > request.before, () -> "the request was not made: " + proxy.requests());
        }

        /** Sends all but the end of the last file, and waits until the store gets the first piece of a file that has pieces. */
        private Uploads.Sending sendUntilStored(PipedOutputStream rest) throws Exception {
            byte[] body = Uploads.body(files).readAllBytes();
            InputStream sent = new SequenceInputStream(
                    new ByteArrayInputStream(body, 0, body.length - 100), new PipedInputStream(rest));
            Uploads.Sending sending = bench.send(form, sent);
            if (!files.equals(FORMS.get("small"))) { // a small form sends nothing before its end
                Weed.await(() -> assertTrue(bench.count("PUT .*partNumber=1&.*") > 0));
            }
            return sending;
        }

        /** Sweeps while a form is being sent, and another is committed, whose intents were not deleted. */
        private void sweep() throws Exception {
            bench.proxy.on(sent -> sent.matches("POST .*\\?delete"), 1, 100, Fault.FORBIDDEN);
            S3Form committed = bench.sinks.newForm();
            assertTrue(isConfirmed(bench.send(committed, files), true));
            bench.sinks.whenIdle().get(MINUTES, TimeUnit.MINUTES);
            PipedOutputStream rest = new PipedOutputStream();
            Uploads.Sending sending = sendUntilStored(rest);
            try (FaultProxy proxy = new FaultProxy(bench.proxy.port());
                    Bench.Sweeper sweeper = bench.sweeper(proxy.address())) {
                injectInto(proxy);
                Weed.await(() -> {
                    var unused =
                            sweeper.sweep().handle((swept, failure) -> failure).join();
                    assertTrue(proxy.faults() > 0);
                });
                release(proxy);
            }
            sending.intake().abort(new IOException("gone"));
            rest.close();
            bench.assertNothingHeld();
            assertLeft(false, committed);
        }

        private void delete() throws Exception {
            assertTrue(isConfirmed(bench.send(form, files), true));
            bench.assertNothingHeld();
            injectInto(bench.proxy);
            boolean isDeleted = bench.sinks
                    .delete(form.id())
                    .handle((deleted, failure) -> failure == null && deleted)
                    .get(MINUTES, TimeUnit.MINUTES);
            release(bench.proxy);
            assertTrue(isDeleted || !PASSING.contains(fault), "not deleted");
            isConfirmed = false;
            assertLeft(!isDeleted);
        }

        /**
         * Sweeps until nothing is left but committed forms, which must be whole.
         *
         * @param mayExist whether the form of this run may be committed
         */
        private void assertLeft(boolean mayExist, S3Form... others) throws Exception {
            List<S3Form> left = new ArrayList<>(List.of(others));
            // No record lists the upload of a repeated request: the lifecycle rule of the bucket deletes it.
            int unknown = fault == Fault.DUPLICATE && request.name.equals("create") ? 1 : 0;
            try (Bench.Sweeper sweeper = bench.sweeper()) {
                boolean exists = sweeper.sinks()
                        .find(form.id())
                        .get(MINUTES, TimeUnit.MINUTES)
                        .isPresent();
                assertTrue(exists || !isConfirmed, "a form that was confirmed with success is lost");
                assertTrue(mayExist || !exists, "the form exists");
                if (exists) {
                    left.add(form);
                }
                Weed.await(() -> {
                    sweeper.sweep().join();
                    List<String> keys = bench.keys();
                    assertEquals(left.size() * (files.size() + 1), keys.size(), keys::toString);
                    List<String> uploads = bench.uploads();
                    assertTrue(uploads.size() <= unknown, uploads::toString);
                });
            }
            for (S3Form each : left) {
                bench.assertStored(each, files);
            }
        }

        private static boolean isConfirmed(Uploads.Sending sending, boolean mustSucceed) throws Exception {
            try (MultipartForm received = sending.form().get(MINUTES, TimeUnit.MINUTES)) {
                assertEquals("title", received.text("title"));
                return true;
            } catch (ExecutionException e) {
                if (mustSucceed) {
                    throw e;
                }
                return false;
            }
        }
    }
}
