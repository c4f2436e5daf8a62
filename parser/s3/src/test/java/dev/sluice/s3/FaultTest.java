package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.form.MultipartForm;
import dev.sluice.s3.Uploads.File;
import dev.sluice.testkit.FaultProxy.Fault;
import dev.sluice.testkit.Installed;
import dev.sluice.testkit.ProofSize;
import java.io.IOException;
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
 * Faults at each request of the protocol, in front of two real stores. After a sweep by another process, a form that was answered with
 * success is whole, and nothing else is left.
 */
@ExtendWith(Weed.IsThere.class)
@Execution(ExecutionMode.CONCURRENT) // most of the time is waiting
class FaultTest {
    private static final int MIB = 1 << 20;
    private static final Map<String, List<File>> FORMS = new TreeMap<>(Map.of(
            "small", List.of(new File("a", 10)),
            "large", List.of(new File("a", 20 * MIB)),
            "mixed", List.of(new File("a", 10), new File("b", 9 * MIB), new File("c", 100_000))));

    private static final Map<String, String> REQUESTS = new TreeMap<>(Map.of(
            "intent", "PUT .*/\\.open/.*",
            "create", "POST .*\\?uploads",
            "piece", "PUT .*partNumber=1&.*",
            "complete", "POST .*uploadId=.*",
            "put", "PUT .*/[0-9a-f]{32}/[0-9]+",
            "record", "PUT .*/form\\.json",
            "read", "GET .*/form\\.json",
            "forget", "POST .*\\?delete",
            "abort", "DELETE .*uploadId=.*",
            "list", "GET .*list-type=2.*"));

    /** Requests that only a form makes that fails; its client disconnects before the end. */
    private static final Set<String> CLEANING = Set.of("abort", "list", "read");

    /** The faults after which a retry must succeed, wherever they are. */
    private static final Set<Fault> PASSING = EnumSet.of(
            Fault.CUT_IN_HEAD,
            Fault.CUT_IN_BODY,
            Fault.CUT_AFTER,
            Fault.RESET,
            Fault.LOST_ANSWER,
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
                ProofSize.of("sluice.store.faults", 7, 1), () -> Weed.running().port());
    }

    @TestFactory
    @Tag("sized")
    Stream<DynamicTest> fault_onTheSecondStore_losesNoForm() {
        Installed.require("versitygw", Versity.program().isPresent());
        return tests(ProofSize.of("sluice.store.second.faults", 19, 1), Versity::port);
    }

    private static Stream<DynamicTest> tests(int stride, Callable<Integer> port) {
        List<DynamicTest> tests = new ArrayList<>();
        int counter = 0;
        for (String form : FORMS.keySet()) {
            for (String request : REQUESTS.keySet()) {
                boolean isMade = !(form.equals("small")
                                && (Set.of("create", "piece", "complete").contains(request)
                                        || CLEANING.contains(request)))
                        && !(form.equals("large") && request.equals("put"));
                for (Fault fault : Fault.values()) {
                    if (isMade && fault != Fault.NONE && counter++ % stride == 0) {
                        tests.add(DynamicTest.dynamicTest(
                                form + ", " + request + ", " + fault,
                                () -> run(port.call(), FORMS.get(form), request, fault, CLEANING.contains(request))));
                    }
                }
            }
        }
        return tests.stream();
    }

    private static void run(int port, List<File> files, String request, Fault fault, boolean isAborted)
            throws Exception {
        try (Bench bench =
                new Bench(Weed.BUCKET, port, store -> store.attemptTimeout(Duration.ofSeconds(10)), sinks -> sinks)) {
            bench.sinks.probe().get(1, TimeUnit.MINUTES);
            String pattern = REQUESTS.get(request);
            bench.proxy.on(sent -> sent.matches(pattern) && !sent.contains("/.probe/"), 1, 1, fault);
            S3Form form = bench.sinks.newForm();
            Uploads.Sending sending = bench.send(form, files);
            if (isAborted) {
                Weed.await(() -> assertTrue(bench.count(".*/" + form.id() + "/.*") > 0));
                sending.intake().abort(new IOException("gone"));
            }
            boolean isAnswered = answered(sending, isAborted || !PASSING.contains(fault));
            bench.assertNothingHeld();
            bench.proxy.release();
            assertTrue(bench.proxy.faults() > 0 || isAborted && (isAnswered || request.equals("abort")), "no fault");
            S3Sinks sweeper = bench.sweeper();
            boolean exists = sweeper.find(form.id()).get(1, TimeUnit.MINUTES).isPresent();
            assertTrue(exists || !isAnswered, "a form that was answered with success is lost");
            if (exists) {
                bench.assertStored(form, files);
            }
            // A duplicate that nobody knows of is what the lifecycle rule of the bucket is for.
            boolean isUnknown = fault == Fault.DUPLICATE && request.equals("create");
            Weed.await(
                    () -> { // times of the store are whole seconds
                        sweeper.sweep().join();
                        assertEquals(
                                exists ? files.size() + 1 : 0,
                                bench.keys().size(),
                                () -> bench.keys().toString());
                        assertTrue(
                                bench.uploads().size() <= (isUnknown ? 1 : 0),
                                () -> bench.uploads().toString());
                    });
            sweeper.store.close();
            if (exists) {
                bench.assertStored(form, files);
            }
        }
    }

    private static boolean answered(Uploads.Sending sending, boolean mayFail) throws Exception {
        try (MultipartForm received = sending.form().get(2, TimeUnit.MINUTES)) {
            assertEquals("title", received.text("title"));
            return true;
        } catch (ExecutionException e) {
            if (!mayFail) {
                throw e;
            }
            return false;
        }
    }
}
