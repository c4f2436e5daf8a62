package dev.sluice.s3;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.sluice.MultipartReader;
import dev.sluice.PartHead;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import dev.sluice.s3.Uploads.File;
import dev.sluice.testkit.ProofSize;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * Two nodes that store a form of two files each, and two sweepers for which every form is old, under faults at any of their requests. The
 * test runs on one thread with a simulated clock, so that a failure can be repeated.
 */
@Execution(ExecutionMode.CONCURRENT)
class ScheduleTest {
    private enum Fault {
        LOST_REQUEST,
        LOST_RESPONSE,
        LATE_RESPONSE,
        /** The client gives up, and the store carries out the request after a few later ones. */
        LATE_REQUEST,
        /** The client gives up, and the store carries out the request after all others. */
        LAST_REQUEST,
        /** The store carries out the request a second time after all others. */
        DUPLICATE,
        /** A read returns nothing. */
        STALE,
        DAMAGED,
        CRASH,
        /** Both sweepers start. */
        SWEEP
    }

    private static final List<PartHead> HEADS = heads();
    private static final byte[] CONTENT = "content".getBytes(StandardCharsets.UTF_8);

    private record Timer(long due, int number, Runnable task) {}

    /** One execution of all nodes and sweepers. */
    private static final class Run {
        private final Map<Integer, Fault> faults;
        private final MemoryStore.Bucket bucket = new MemoryStore.Bucket();
        private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
        private final PriorityQueue<Timer> timers =
                new PriorityQueue<>(Comparator.comparing(Timer::due).thenComparing(Timer::number));
        private final List<Runnable> last = new ArrayList<>();
        private final List<Node> nodes = List.of(new Node(), new Node());
        private final List<Node> sweepers = List.of(new Node(), new Node());
        private long now;
        private int requests;
        private int timerNumber;

        /** A process. */
        private final class Node implements MemoryStore.Network {
            private final S3Sinks sinks = S3Sinks.builder(new MemoryStore(bucket, this), MemoryBudget.of(8 << 20))
                    .prefix("p/")
                    .maxAge(Duration.ofNanos(1))
                    .build();
            private final S3Form form = sinks.newForm();
            private boolean crashed;
            private boolean damages;
            private boolean stale;
            private Readiness committed;
            private final String recordKey = "p/" + form.id() + "/form.json";
            private ObjectStore.Content lastRecord;
            private FormRecord parsed;

            @Override
            public <T> CompletableFuture<T> send(String name, Supplier<T> work) {
                Fault fault = faults.get(requests++);
                bucket.now = bucket.now.plusMillis(1);
                CompletableFuture<T> response = new CompletableFuture<>();
                if (fault == Fault.CRASH) {
                    crashed = true;
                } else if (fault == Fault.SWEEP) {
                    sweepers.forEach(sweeper -> tasks.add(sweeper.sinks::sweep));
                }
                if (!crashed) {
                    execute(() -> carryOut(fault, work, response));
                }
                return response;
            }

            private <T> void carryOut(Fault fault, Supplier<T> work, CompletableFuture<T> response) {
                Runnable once = () -> {
                    try {
                        var unused = work.get();
                    } catch (RuntimeException e) {
                        // the client does not wait for this response
                    }
                };
                if (fault == Fault.LATE_REQUEST) {
                    timers.add(new Timer(now + 10, timerNumber++, once));
                } else if (fault == Fault.LAST_REQUEST || fault == Fault.DUPLICATE) {
                    last.add(once);
                } else if (fault == Fault.LOST_RESPONSE) {
                    once.run();
                }
                boolean isLost = fault == Fault.LATE_REQUEST
                        || fault == Fault.LAST_REQUEST
                        || fault == Fault.LOST_RESPONSE
                        || fault == Fault.LOST_REQUEST;
                if (isLost) {
                    response.completeExceptionally(new IOException("no response"));
                    return;
                }
                damages = fault == Fault.DAMAGED;
                stale = fault == Fault.STALE;
                CompletableFuture<T> made = MemoryStore.Network.super.send("", work);
                damages = false;
                stale = false;
                after(fault == Fault.LATE_RESPONSE ? Duration.ofSeconds(30) : Duration.ZERO)
                        .thenRun(() -> made.whenComplete((value, failure) -> {
                            if (failure == null) {
                                response.complete(value);
                            } else {
                                response.completeExceptionally(failure);
                            }
                        }));
            }

            @Override
            public ObjectStore.Content seen(String key, ObjectStore.Content content) {
                if (content == null || stale) {
                    return null;
                }
                byte[] bytes = damages ? Arrays.copyOf(content.bytes(), content.bytes().length / 2) : content.bytes();
                return new ObjectStore.Content(bytes, content.etag(), content.modified(), content.now());
            }

            @Override
            public CompletableFuture<Void> after(Duration delay) {
                CompletableFuture<Void> passed = new CompletableFuture<>();
                timers.add(
                        new Timer(now + delay.toMillis(), timerNumber++, () -> execute(() -> passed.complete(null))));
                return passed;
            }

            @Override
            public Executor executor() {
                return this::execute;
            }

            private void execute(Runnable task) {
                tasks.add(() -> {
                    if (!crashed) {
                        task.run();
                    }
                });
            }

            private void store() throws IOException {
                for (PartHead head : HEADS) {
                    PartSink sink = form.sink(head);
                    sink.write(Unpooled.wrappedBuffer(CONTENT));
                    sink.complete();
                    sink.publish();
                }
                committed = form.commit();
                committed.whenReady(() -> tasks.add(form::ended));
            }

            private boolean isConfirmed() {
                return committed.isReady() && committed.failure() == null;
            }

            private FormRecord record() {
                ObjectStore.Content found = bucket.objects.get(recordKey);
                if (found != lastRecord) { // parsing after each step would take most of the time
                    lastRecord = found;
                    parsed = found == null ? null : FormRecord.parse(form.id(), found.bytes());
                }
                return parsed;
            }

            /** Asserts that a reader that reads only committed forms sees a whole form or none. */
            private void assertWholeOrAbsent() {
                FormRecord record = record();
                if (record != null && record.isCommitted()) {
                    assertEquals(2, record.files().size());
                    for (FormRecord.File file : record.files()) {
                        ObjectStore.Content content =
                                bucket.objects.get(file.stored().key());
                        assertNotNull(content, "a file is missing");
                        assertArrayEquals(CONTENT, content.bytes());
                    }
                }
            }
        }

        Run(Map<Integer, Fault> faults) {
            this.faults = faults;
        }

        private void untilIdle() {
            while (!tasks.isEmpty() || !timers.isEmpty()) {
                if (tasks.isEmpty()) {
                    Timer next = timers.remove();
                    now = Math.max(now, next.due);
                    tasks.add(next.task);
                }
                tasks.remove().run();
                nodes.forEach(Node::assertWholeOrAbsent);
            }
        }

        private void sweepLater(Duration later) {
            bucket.now = bucket.now.plus(later);
            sweepers.get(0).sinks.sweep();
            untilIdle();
        }

        int execute() throws IOException {
            for (Node node : nodes) {
                node.form.admit();
            }
            untilIdle();
            for (Node node : nodes) {
                node.store();
            }
            untilIdle();
            int made = requests;
            requests = Integer.MIN_VALUE; // no more faults
            sweepers.forEach(sweeper -> sweeper.crashed = false);
            for (Node node : nodes) {
                assertTrue(node.crashed || node.committed.isReady(), "the form hangs");
            }
            sweepLater(Duration.ofDays(2));
            tasks.addAll(last);
            untilIdle();
            sweepLater(Duration.ofDays(2));
            for (Node node : nodes) {
                boolean exists = node.record() != null && node.record().isCommitted();
                assertTrue(exists || !node.isConfirmed(), "a form confirmed with status 200 is lost");
                String prefix = "p/" + node.form.id() + "/";
                long files = bucket.keys().stream()
                        .filter(key -> key.startsWith(prefix) && !key.endsWith("form.json"))
                        .count();
                assertEquals(exists ? 2 : 0, files, "files");
            }
            // Each sweep deletes one kind of object (see CommitProtocol): intents, tombstones, late intents.
            for (int i = 0; i < 3; i++) {
                sweepLater(Duration.ofDays(8));
            }
            for (Node node : nodes) {
                boolean exists = node.record() != null;
                long all = bucket.keys().stream()
                        .filter(key -> key.contains(node.form.id()))
                        .count();
                assertEquals(exists ? 3 : 0, all, "objects in the end");
                assertTrue(exists || !node.isConfirmed(), "a form confirmed with status 200 is lost");
            }
            return made;
        }
    }

    private static List<PartHead> heads() {
        List<PartHead> heads = new ArrayList<>();
        try (MultipartReader reader = MultipartReader.create(
                Uploads.body(List.of(new File("a", 1), new File("b", 1))), Uploads.CONTENT_TYPE)) {
            for (MultipartReader.Part part; (part = reader.nextPart()) != null; ) {
                if (part.filename() != null) {
                    heads.add(part.head());
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return heads;
    }

    private static int run(Map<Integer, Fault> faults) {
        try {
            return new Run(faults).execute();
        } catch (IOException | AssertionError | RuntimeException e) {
            throw new AssertionError("with the faults " + faults, e);
        }
    }

    @Test
    void oneFault_atAnyRequest_losesNothing() {
        int requests = run(Map.of());
        assertTrue(requests > 15, requests + " requests");
        for (int i = 0; i < requests; i++) {
            for (Fault fault : Fault.values()) {
                run(Map.of(i, fault));
            }
        }
    }

    @Test
    @Tag("sized")
    void twoFaults_atAnyRequests_loseNothing() {
        int requests = run(Map.of());
        int stride = ProofSize.of("sluice.store.stride", 211, 7);
        int counter = 0;
        for (int first = 0; first < requests; first++) {
            for (int second = first + 1; second < requests + 10; second++) {
                for (Fault one : Fault.values()) {
                    for (Fault other : Fault.values()) {
                        if (counter++ % stride == 0) {
                            run(Map.of(first, one, second, other));
                        }
                    }
                }
            }
        }
    }

    @Test
    @Tag("sized")
    void manyFaults_atRandomRequests_loseNothing() {
        int runs = ProofSize.of("sluice.store.schedules", 250, 20_000);
        for (int seed = 0; seed < runs; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            Map<Integer, Fault> faults = new TreeMap<>();
            for (int i = 2 + random.nextInt(8); i > 0; i--) {
                faults.put(random.nextInt(60), Fault.values()[random.nextInt(Fault.values().length)]);
            }
            run(faults);
        }
    }
}
