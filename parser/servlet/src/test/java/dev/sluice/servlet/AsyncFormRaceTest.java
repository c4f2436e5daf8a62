package dev.sluice.servlet;

import dev.sluice.MultipartException;
import dev.sluice.form.FormIntake;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormSummary;
import dev.sluice.form.MemoryBudget;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartDecision;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import dev.sluice.testkit.ProofSize;
import dev.sluice.testkit.TestForm;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jetbrains.kotlinx.lincheck.Actor;
import org.jetbrains.kotlinx.lincheck.execution.ExecutionScenario;
import org.jetbrains.lincheck.datastructures.ManagedStrategyGuaranteeKt;
import org.jetbrains.lincheck.datastructures.ModelCheckingOptions;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jetbrains.lincheck.datastructures.verifier.EpsilonVerifier;
import org.jetbrains.lincheck.util.LoggingLevel;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Races between events of an asynchronous form. Lincheck runs the threads in many different orders (schedules), each
 * with a new container. A schedule that hangs is a failure. The test belongs to {@code -Pfull}, because most of its time
 * is needed to instrument and compile the classes, even for few schedules. {@code -Dsluice.races=N} runs N eighths.
 */
@Tag("full")
class AsyncFormRaceTest {
    private static final int FACTOR = ProofSize.of("sluice.races", 8, 8);
    private static final int SCHEDULES = 500;

    /** The number of iterations after which Lincheck reports an endless loop. */
    private static final int LOOPS = 20_000;

    /** The time limit of one schedule. The first is slow, because Lincheck instruments the classes. */
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    private static final int SIZE = 10;
    private static final TestForm FORM = new TestForm().field("a", "1").file("f", "f", new byte[SIZE]);
    private static final byte[] BODY = FORM.body();

    /** The position inside the file at which the body is split. */
    private static final int CUT = FORM.open().length - SIZE / 2;

    /** {@return whether a class needs no thread switches: it is confined to one thread or tested elsewhere} */
    private static boolean isAside(String className) {
        return className.startsWith("io.netty.")
                || className.startsWith("dev.sluice.")
                        && !className.startsWith("dev.sluice.servlet.")
                        && !className.startsWith("dev.sluice.task.")
                        && !className.equals(FormIntake.class.getName())
                        && !className.equals("dev.sluice.form.flow.BodyQueue")
                        && !className.equals("dev.sluice.form.flow.Deadlines")
                        && !className.equals(Readiness.class.getName())
                || className.equals(FormTimer.class.getName());
    }

    private static void require(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    /** A sink that retains its first buffer until it is closed, as a queueing sink does. */
    private static final class Store implements PartSink {
        private final InMemoryContainer container;
        private boolean complete;
        private boolean closed;
        private int bytes;
        private ByteBuf kept;

        /** The readiness that the sink returns. It is pending from {@link #shut} to {@link #open}. */
        private volatile Readiness gate = Readiness.READY;

        Store(InMemoryContainer container) {
            this.container = container;
        }

        Store shut() {
            gate = Readiness.pending();
            return this;
        }

        void open() {
            Readiness waiting = gate;
            gate = Readiness.READY;
            waiting.ready();
        }

        /** Reports a failed condition instead of throwing, because the form might ignore a late exception. */
        private void demand(boolean condition, String what) {
            container.attempt(() -> require(condition, what));
        }

        @Override
        public Readiness write(ByteBuf data) {
            demand(!complete && !closed, "the sink was written to after its end");
            if (kept == null) {
                kept = data.retain();
            }
            bytes += data.readableBytes();
            return gate;
        }

        @Override
        public Readiness complete() {
            demand(!complete && !closed, "the sink was completed after its end");
            complete = true;
            return gate;
        }

        @Override
        public void close() {
            if (!closed) {
                closed = true;
                if (kept != null) {
                    kept.release();
                }
            }
        }
    }

    /** One form with its container and application. */
    private static final class Upload {
        private final InMemoryContainer container = new InMemoryContainer(BODY);
        private final MemoryBudget memory = MemoryBudget.of(1 << 20);
        private final Store store = new Store(container);
        private final AtomicInteger ended = new AtomicInteger();
        private final AtomicInteger notifications = new AtomicInteger();
        private final FormService service;
        private final boolean answers;
        private volatile AsyncForm form;
        private volatile FormSummary.Outcome outcome;
        private volatile MultipartForm whole;
        private volatile Throwable reason;
        private volatile boolean stopped;

        /** @param answers whether the application completes the request when the form ends */
        Upload(boolean answers) {
            FormOptions options = FormOptions.inMemory(memory)
                    .decider(part -> part.filename() == null ? PartDecision.storeInMemory() : PartDecision.to(store))
                    .metrics(this::ended)
                    .minBytesPerSecond(1)
                    .minRateGrace(Duration.ofHours(1))
                    .build();
            this.service = new FormService(options, List.of(), null);
            this.answers = answers;
            service.timer.close(); // otherwise the timer would use the real clock to find slow clients
        }

        private void ended(FormSummary summary) {
            ended.incrementAndGet();
            outcome = summary.outcome();
        }

        static Upload received(boolean answers) throws IOException {
            Upload upload = new Upload(answers);
            upload.receive();
            return upload;
        }

        void receive() throws IOException {
            RequestState state = RequestState.attach(container.request, service);
            AsyncForm started = AsyncForm.start(state, container.request, service.forms.options());
            form = started;
            started.completion().whenComplete((done, failure) -> container.attempt(() -> onFormEnd(done, failure)));
        }

        private void onFormEnd(MultipartForm done, Throwable failure) throws IOException {
            notifications.incrementAndGet();
            container.forbidBodyUse();
            whole = done;
            if (failure == null) {
                read();
            } else {
                reason = failure;
                requireNothingIsHeld();
            }
            if (answers) {
                container.complete();
                if (failure == null) {
                    read(); // the form stays open while this callback runs
                }
            }
        }

        private void read() throws IOException {
            try {
                require(Objects.requireNonNull(whole.part("a")).text().equals("1"), "the field has another value");
            } catch (IllegalStateException e) {
                require(stopped, "the form was closed while in use");
            }
        }

        private void requireNothingIsHeld() {
            require(memory.used() == 0, memory.used() + " bytes are still charged");
            require(store.bytes == 0 || store.closed, "the sink was not closed");
        }

        // ---- events

        void comesIn() throws IOException {
            container.arrive(CUT);
            container.arrive(BODY.length - CUT);
            container.end();
        }

        void isCancelled() {
            form.cancel();
            if (!container.isCalling() && !container.isWorking()) {
                require(
                        notifications.get() == 1,
                        "cancel() returned before the form ended, although no thread was using it");
            }
        }

        void isTooSlow() {
            form.intake.checkPace(later());
        }

        private static long later() {
            return System.nanoTime() + Duration.ofHours(2).toNanos();
        }

        void stops() {
            stopped = true;
            service.close();
        }

        /** Runs all tasks concurrently. */
        void together(InMemoryContainer.Task first, InMemoryContainer.Task... others) {
            for (InMemoryContainer.Task other : others) {
                container.fork(other);
            }
            container.attempt(first);
        }

        /** @param reasons the allowed failures if the form is not complete */
        void requireOneEnd(List<Class<? extends Throwable>> reasons) throws Exception {
            container.join();
            judge(reasons);
        }

        private void judge(List<Class<? extends Throwable>> reasons) throws Exception {
            require(
                    notifications.get() == 1 && ended.get() == 1,
                    "notified " + notifications + " times, ended " + ended + " times");
            if (whole != null) {
                require(reason == null, "the form is complete, but failed with " + reason);
                require(
                        outcome == FormSummary.Outcome.COMPLETED,
                        "the form is complete, but its outcome is " + outcome);
                require(store.complete && store.bytes == SIZE, "the form is complete, but its file is not");
            } else {
                require(reasons.stream().anyMatch(expected -> expected.isInstance(reason)), "failed with " + reason);
                require(outcome != FormSummary.Outcome.COMPLETED, "the form failed, but its outcome is " + outcome);
                requireNothingIsHeld();
            }
            require(container.completions() <= 1, "completed " + container.completions() + " times");
            if (!container.isOver() && !stopped) {
                require(service.live() == 1, "the request is not live, although it has not ended");
                if (whole != null) {
                    read();
                }
                container.timeOut();
            }
            requireNothingIsLeft();
        }

        void requireNothingIsLeft() {
            requireNothingIsHeld();
            require(service.live() == 0, "the request is still live");
            service.close();
            require(store.kept == null || store.kept.refCnt() == 0, "a buffer was not released");
        }
    }

    /** The races. Each operation creates a new form and returns when all its threads have ended. */
    public static final class Races {
        private Throwable thrown;

        private void attempt(InMemoryContainer.Task race) throws Exception {
            try {
                race.run();
            } catch (Throwable e) {
                thrown = e;
                throw e;
            }
        }

        /** Fails if an operation threw an exception, which Lincheck treats as a normal result. */
        @Validate
        public void nothingIsThrown() {
            if (thrown != null) {
                throw new AssertionError(thrown);
            }
        }

        /** Delivers the body while another thread cancels. */
        @Operation
        public void cancelledWhileItComesIn() throws Exception {
            attempt(() -> {
                Upload upload = Upload.received(false);
                upload.together(upload::comesIn, upload::isCancelled);
                upload.requireOneEnd(List.of(CancellationException.class));
            });
        }

        /** Delivers part of the body while another thread cancels. No later event would wake the form. */
        @Operation
        public void cancelledWhenNoMoreComesIn() throws Exception {
            attempt(() -> {
                Upload upload = Upload.received(true);
                upload.together(() -> upload.container.arrive(CUT), upload::isCancelled);
                upload.requireOneEnd(List.of(CancellationException.class));
            });
        }

        /** Makes the sink ready while more data arrives. */
        @Operation
        public void resumedWhileMoreComesIn() throws Exception {
            attempt(() -> {
                Upload upload = new Upload(true);
                upload.store.shut();
                upload.receive();
                upload.container.arrive(CUT);
                upload.together(
                        () -> {
                            upload.container.arrive(BODY.length - CUT);
                            upload.container.end();
                        },
                        upload.store::open);
                upload.requireOneEnd(List.of());
            });
        }

        /** Cancels the form while the body arrives and another thread makes the sink ready. */
        @Operation
        public void cancelledAndResumed() throws Exception {
            attempt(() -> {
                Upload upload = new Upload(true);
                upload.store.shut();
                upload.receive();
                upload.together(upload::comesIn, upload.form::cancel, upload.store::open);
                upload.requireOneEnd(List.of(CancellationException.class));
            });
        }

        @Operation
        public void timedOut() throws Exception {
            attempt(() -> {
                Upload upload = Upload.received(true);
                upload.together(upload::comesIn, upload.container::timeOut);
                upload.requireOneEnd(List.of(TimeoutException.class));
            });
        }

        /** Disconnects the client in the middle of the file while another thread cancels. */
        @Operation
        public void cancelledAndWithoutConnection() throws Exception {
            attempt(() -> {
                Upload upload = Upload.received(true);
                upload.together(
                        () -> {
                            upload.container.arrive(CUT);
                            upload.container.fail(new IOException("gone"));
                        },
                        upload.form::cancel);
                upload.requireOneEnd(List.of(IOException.class, CancellationException.class));
                require(upload.whole == null, "the form is complete after half a body");
            });
        }

        /** Completes the request while the body arrives. */
        @Operation
        public void withoutItsRequest() throws Exception {
            attempt(() -> {
                Upload upload = Upload.received(false);
                upload.together(upload::comesIn, upload.container::complete);
                // A stream that is used after the request was completed throws the second exception.
                upload.requireOneEnd(List.of(CancellationException.class, IllegalStateException.class));
            });
        }

        /** Detects a slow client while data arrives and another thread cancels. */
        @Operation
        public void cancelledAndTooSlow() throws Exception {
            attempt(() -> {
                Upload upload = Upload.received(true);
                upload.together(() -> upload.container.arrive(CUT), upload::isTooSlow, upload.form::cancel);
                upload.requireOneEnd(List.of(MultipartException.class, CancellationException.class));
                require(upload.whole == null, "the form is complete after half a body");
            });
        }

        /** Stops the web application while the body arrives. */
        @Operation
        public void stopped() throws Exception {
            attempt(() -> {
                Upload upload = Upload.received(true);
                upload.together(upload::comesIn, upload::stops);
                upload.requireOneEnd(List.of(CancellationException.class));
            });
        }

        /** Stops the web application while the form starts. */
        @Operation
        public void stoppedAtOnce() throws Exception {
            attempt(() -> {
                Upload upload = new Upload(true);
                upload.together(
                        () -> {
                            try {
                                upload.receive();
                            } catch (IllegalStateException e) {
                                return; // rejected because the application has stopped
                            }
                            upload.container.arrive(CUT);
                        },
                        upload::stops);
                if (upload.form != null) {
                    upload.requireOneEnd(List.of(CancellationException.class));
                } else {
                    upload.container.join();
                    upload.requireNothingIsLeft();
                }
            });
        }
    }

    private static List<Method> races() {
        return Stream.of(Races.class.getMethods())
                .filter(method -> method.isAnnotationPresent(Operation.class))
                .sorted(Comparator.comparing(Method::getName))
                .toList();
    }

    @Test
    void concurrentEvents_endFormOnceAndLeaveNothing() throws Exception {
        ModelCheckingOptions options = new ModelCheckingOptions()
                .iterations(0)
                .invocationsPerIteration(SCHEDULES * FACTOR / 8)
                .verifier(EpsilonVerifier.class)
                .invocationTimeout$lincheck(PATIENCE.toMillis())
                .loopIterationsBeforeThreadSwitch(LOOPS)
                .loopBound(LOOPS)
                .minimizeFailedScenario(false)
                .logLevel(LoggingLevel.ERROR) // hides a warning for each lambda that cannot be instrumented
                .addGuarantee(ManagedStrategyGuaranteeKt.forClasses(AsyncFormRaceTest::isAside)
                        .allMethods()
                        .ignore())
                .addGuarantee(ManagedStrategyGuaranteeKt.forClasses(InMemoryContainer.class.getName())
                        .methods("report", "forbidBodyUse")
                        .ignore())
                .addGuarantee(ManagedStrategyGuaranteeKt.forClasses(Upload.class.getName())
                        .methods("judge", "later", "read", "requireNothingIsHeld")
                        .ignore())
                .addGuarantee(ManagedStrategyGuaranteeKt.forClasses(InMemoryContainer.Wire.class.getName())
                        .allMethods()
                        .treatAsAtomic());
        Actor validation = new Actor(Races.class.getMethod("nothingIsThrown"), List.of());
        for (Method race : races()) {
            race.invoke(new Races()); // loads all classes before the first schedule, which has a time limit
            options.addCustomScenario(new ExecutionScenario(
                    List.of(), List.of(List.of(new Actor(race, List.of()))), List.of(), validation));
        }
        options.check(Races.class);
    }
}
