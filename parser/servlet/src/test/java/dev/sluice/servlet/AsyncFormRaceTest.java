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
 * What may happen to an asynchronous form at the same time: schedules of the threads are tried one by one, each with a
 * container of its own; one that hangs is a failure too. An eighth of them
 * is for each build, {@code -Dsluice.races=N} for N eighths.
 */
@Tag("sized")
class AsyncFormRaceTest {
    private static final int FACTOR = ProofSize.of("sluice.races", 1, 8);
    private static final int SCHEDULES = 500;

    /** More than any loop here has. */
    private static final int LOOPS = 20_000;

    /** For one schedule; the first is slow, while Lincheck makes its way into the classes. */
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    private static final int SIZE = 10;
    private static final Form FORM = new Form().field("a", "1").file("f", "f", new byte[SIZE]);
    private static final byte[] BODY = FORM.body();

    /** Where the body is cut in two: within the file. */
    private static final int CUT = FORM.open().length - SIZE / 2;

    /** {@return whether threads need not be switched within: it is the same thread's for long, or has tests of its own} */
    private static boolean isAside(String className) {
        return className.startsWith("io.netty.")
                || className.startsWith("dev.sluice.")
                        && !className.startsWith("dev.sluice.servlet.")
                        && !className.startsWith("dev.sluice.task.")
                        && !className.equals(FormIntake.class.getName())
                        && !className.equals("dev.sluice.form.BodyQueue")
                        && !className.equals("dev.sluice.form.Deadlines")
                        && !className.equals(Readiness.class.getName())
                || className.equals(PaceWatch.class.getName());
    }

    private static void require(boolean condition, String what) {
        if (!condition) {
            throw new AssertionError(what);
        }
    }

    /** Where the file goes. Keeps its first bytes as they came until it is closed, as one that queues would. */
    private static final class Store implements PartSink {
        private final SmallContainer container;
        private boolean complete;
        private boolean closed;
        private int bytes;
        private ByteBuf kept;

        /** Null until {@link #open}: whether it is ready for more is not said yet. */
        private volatile Readiness gate = Readiness.READY;

        Store(SmallContainer container) {
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

        /** What is thrown here might be taken for a reason that comes too late. */
        private void demand(boolean condition, String what) {
            container.attempt(() -> require(condition, what));
        }

        @Override
        public Readiness write(ByteBuf data) {
            demand(!complete && !closed, "written to after its end");
            if (kept == null) {
                kept = data.retain();
            }
            bytes += data.readableBytes();
            return gate;
        }

        @Override
        public Readiness complete() {
            demand(!complete && !closed, "completed after its end");
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

    /** One form that comes in, and who waits for it. */
    private static final class Upload {
        private final SmallContainer container = new SmallContainer(BODY);
        private final MemoryBudget memory = MemoryBudget.of(1 << 20);
        private final Store store = new Store(container);
        private final AtomicInteger ended = new AtomicInteger();
        private final AtomicInteger told = new AtomicInteger();
        private final FormService service;
        private final boolean answers;
        private volatile AsyncForm form;
        private volatile FormSummary.Outcome outcome;
        private volatile MultipartForm whole;
        private volatile Throwable reason;
        private volatile boolean stopped;

        /** @param answers whether the application completes the request as soon as it hears of the form */
        Upload(boolean answers) {
            FormOptions options = FormOptions.inMemory(memory)
                    .decider(part -> part.filename() == null ? PartDecision.storeInMemory() : PartDecision.to(store))
                    .metrics(this::ended)
                    .minBytesPerSecond(1)
                    .minRateGrace(Duration.ofHours(1))
                    .build();
            this.service = new FormService(options, List.of(), null);
            this.answers = answers;
            service.watch.close(); // it would look for slow clients by the clock
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
            started.completion().whenComplete((done, failure) -> container.attempt(() -> hear(done, failure)));
        }

        private void hear(MultipartForm done, Throwable failure) throws IOException {
            told.incrementAndGet();
            container.letGo();
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
                    read(); // it lives while this runs, be the request over or not
                }
            }
        }

        private void read() throws IOException {
            try {
                require(Objects.requireNonNull(whole.part("a")).text().equals("1"), "another form");
            } catch (IllegalStateException e) {
                require(stopped, "closed while it is used");
            }
        }

        private void requireNothingIsHeld() {
            require(memory.used() == 0, memory.used() + " bytes are held");
            require(store.bytes == 0 || store.closed, "the sink is open");
        }

        // ---- what happens

        void comesIn() throws IOException {
            container.arrive(CUT);
            container.arrive(BODY.length - CUT);
            container.end();
        }

        void isCancelled() {
            form.cancel();
            if (!container.isCalling() && !container.isWorking()) {
                require(told.get() == 1, "cancel() has returned, and nobody is at the form");
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

        /** Lets all of it happen at the same time. */
        void together(SmallContainer.Task first, SmallContainer.Task... others) {
            for (SmallContainer.Task other : others) {
                container.fork(other);
            }
            container.attempt(first);
        }

        /** @param reasons what the form may have failed with, if it is not whole */
        void requireOneEnd(List<Class<? extends Throwable>> reasons) throws Exception {
            container.join();
            judge(reasons);
        }

        private void judge(List<Class<? extends Throwable>> reasons) throws Exception {
            require(told.get() == 1 && ended.get() == 1, "told " + told + " times, ended " + ended + " times");
            if (whole != null) {
                require(reason == null, "whole, and " + reason);
                require(outcome == FormSummary.Outcome.COMPLETED, "whole, but " + outcome);
                require(store.complete && store.bytes == SIZE, "whole, but its file is not");
            } else {
                require(reasons.stream().anyMatch(expected -> expected.isInstance(reason)), "failed with " + reason);
                require(outcome != FormSummary.Outcome.COMPLETED, "failed, but " + outcome);
                requireNothingIsHeld();
            }
            require(container.completions() <= 1, "completed " + container.completions() + " times");
            if (!container.isOver() && !stopped) {
                require(service.live() == 1, "forgotten before its request is over");
                if (whole != null) {
                    read();
                }
                container.timeOut();
            }
            requireNothingIsLeft();
        }

        void requireNothingIsLeft() {
            requireNothingIsHeld();
            require(service.live() == 0, "the request is remembered");
            service.close();
            require(store.kept == null || store.kept.refCnt() == 0, "a buffer is left");
        }
    }

    /** What happens at the same time: operations that begin with a new form each, and end when all its threads have. */
    public static final class Races {
        private Throwable thrown;

        private void attempt(SmallContainer.Task race) throws Exception {
            try {
                race.run();
            } catch (Throwable e) {
                thrown = e;
                throw e;
            }
        }

        /** For Lincheck an exception is a result as good as another. */
        @Validate
        public void nothingIsThrown() {
            if (thrown != null) {
                throw new AssertionError(thrown);
            }
        }

        /** By a thread that does nothing else. */
        @Operation
        public void cancelledWhileItComesIn() throws Exception {
            attempt(() -> {
                Upload upload = Upload.received(false);
                upload.together(upload::comesIn, upload::isCancelled);
                upload.requireOneEnd(List.of(CancellationException.class));
            });
        }

        /** There is no other call that would make good for one that is lost. */
        @Operation
        public void cancelledWhenNoMoreComesIn() throws Exception {
            attempt(() -> {
                Upload upload = Upload.received(true);
                upload.together(() -> upload.container.arrive(CUT), upload::isCancelled);
                upload.requireOneEnd(List.of(CancellationException.class));
            });
        }

        /** Its sink is ready again just when more comes. */
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

        /** Two do not agree. */
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

        /** The container loses patience, and completes the request if the application does not. */
        @Operation
        public void timedOut() throws Exception {
            attempt(() -> {
                Upload upload = Upload.received(true);
                upload.together(upload::comesIn, upload.container::timeOut);
                upload.requireOneEnd(List.of(TimeoutException.class));
            });
        }

        /** The client goes away in the middle of its file. */
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
                require(upload.whole == null, "whole, of half a body");
            });
        }

        /** The application does not wait for its form. */
        @Operation
        public void withoutItsRequest() throws Exception {
            attempt(() -> {
                Upload upload = Upload.received(false);
                upload.together(upload::comesIn, upload.container::complete);
                // The second is what a stream throws that is used after that.
                upload.requireOneEnd(List.of(CancellationException.class, IllegalStateException.class));
            });
        }

        /** The watch has seen nothing come for too long, just when something comes or somebody cancels. */
        @Operation
        public void cancelledAndTooSlow() throws Exception {
            attempt(() -> {
                Upload upload = Upload.received(true);
                upload.together(() -> upload.container.arrive(CUT), upload::isTooSlow, upload.form::cancel);
                upload.requireOneEnd(List.of(MultipartException.class, CancellationException.class));
                require(upload.whole == null, "whole, of half a body");
            });
        }

        /** The web application ends. */
        @Operation
        public void stopped() throws Exception {
            attempt(() -> {
                Upload upload = Upload.received(true);
                upload.together(upload::comesIn, upload::stops);
                upload.requireOneEnd(List.of(CancellationException.class));
            });
        }

        /** The web application ends when the form is only just asked for. */
        @Operation
        public void stoppedAtOnce() throws Exception {
            attempt(() -> {
                Upload upload = new Upload(true);
                upload.together(
                        () -> {
                            try {
                                upload.receive();
                            } catch (IllegalStateException e) {
                                return; // refused, as it has to be then
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
    void whateverHappensAtTheSameTimeAFormHasOneEndAndLeavesNothing() throws Exception {
        ModelCheckingOptions options = new ModelCheckingOptions()
                .iterations(0)
                .invocationsPerIteration(SCHEDULES * FACTOR / 8)
                .verifier(EpsilonVerifier.class)
                .invocationTimeout$lincheck(PATIENCE.toMillis())
                .loopIterationsBeforeThreadSwitch(LOOPS)
                .loopBound(LOOPS)
                .minimizeFailedScenario(false)
                .logLevel(LoggingLevel.ERROR) // it warns of every lambda that it cannot look into
                .addGuarantee(ManagedStrategyGuaranteeKt.forClasses(AsyncFormRaceTest::isAside)
                        .allMethods()
                        .ignore())
                .addGuarantee(ManagedStrategyGuaranteeKt.forClasses(SmallContainer.class.getName())
                        .methods("report", "letGo")
                        .ignore())
                .addGuarantee(ManagedStrategyGuaranteeKt.forClasses(Upload.class.getName())
                        .methods("judge", "later", "read", "requireNothingIsHeld")
                        .ignore())
                .addGuarantee(ManagedStrategyGuaranteeKt.forClasses(SmallContainer.Wire.class.getName())
                        .allMethods()
                        .treatAsAtomic());
        Actor validation = new Actor(Races.class.getMethod("nothingIsThrown"), List.of());
        for (Method race : races()) {
            race.invoke(new Races()); // as the threads come: all classes are there before the first schedule is timed
            options.addCustomScenario(new ExecutionScenario(
                    List.of(), List.of(List.of(new Actor(race, List.of()))), List.of(), validation));
        }
        options.check(Races.class);
    }
}
