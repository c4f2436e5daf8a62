package dev.sluice.servlet;

import dev.sluice.form.FormHead;
import dev.sluice.form.FormIntake;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormSource;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import dev.sluice.servlet.RequestForm.Use;
import dev.sluice.task.SerialTask;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A form that is received without a thread that waits for it. The {@code PartDecider} of its options decides where its
 * parts go while they arrive: to files, to memory, or to a {@link PartSink}.
 *
 * <p>Sinks and whatever depends on {@link #completion()} run on threads of the container, one at a time, and no lock is
 * held meanwhile. A slow consumer says so by the {@link Readiness} of its sink; TCP slows the client down. Jetty and Tomcat
 * call sinks on threads for applications. Undertow calls them on an I/O thread that all connections share: there a sink
 * must not block for long, and parts should go to memory, or to another thread.
 *
 * <p>All methods may be called by any thread at any time, from sinks too.
 */
public final class AsyncForm {
    /** Of {@link #jobs}: the form has ended, and there is to be none any more. */
    private static final int NO_MORE = -1;

    private final RequestState state;
    private final RequestForm form;
    private final AsyncContext context;
    private final ServletInputStream in;
    private final FormHead head;
    final FormIntake intake;
    private final AtomicReference<@Nullable Throwable> abortedFor = new AtomicReference<>();

    private final SerialTask reading = new SerialTask(this::readWhilePossible);

    /**
     * How many jobs the container was given that are not done. The form does not end before them: the application would
     * complete the request, and a container fails a job whose request is over.
     */
    private final AtomicInteger jobs = new AtomicInteger();

    /** The container will call: nothing is to be read before. */
    private volatile boolean awaiting = true;

    // Of the thread that reads the body.
    private long received;
    private boolean waitsForJobs;

    private volatile boolean allRead;

    /** Jobs that are not done will not come any more, or not in time. */
    private volatile boolean jobsLost;

    private AsyncForm(RequestState state, AsyncContext context, FormOptions options) throws IOException {
        reading.trigger(); // so that begin() runs it first
        this.state = state;
        this.context = context;
        this.form = state.form;
        this.in = form.source.getInputStream();
        this.head = RequestForm.head(form.source);
        this.intake = form.service().forms.receive(new Source(), options);
    }

    static AsyncForm start(RequestState state, HttpServletRequest request, FormOptions options) throws IOException {
        if (!request.isAsyncSupported()) {
            throw new IllegalStateException(
                    "the request does not support asynchronous mode: set async-supported for the servlet and all filters");
        }
        RequestForm body = state.form;
        if (!body.take(Use.ASYNC_FORM)) {
            throw body.taken();
        }
        AsyncForm form;
        boolean held = false;
        try {
            if (!request.isAsyncStarted()) {
                request.startAsync();
            }
            // The container's own, which counts no workers: the form holds the request itself, and a container may drop
            // the worker of a request that ends.
            AsyncContext context = body.source.getAsyncContext();
            if (!state.isAsync()) {
                state.asyncStarted(context);
            }
            state.life.hold();
            held = true;
            form = new AsyncForm(state, context, body.inCharset(options));
        } catch (IOException | RuntimeException | Error e) {
            body.giveBack(Use.ASYNC_FORM); // nothing has been read
            if (held) {
                state.life.release();
            }
            throw e;
        }
        state.receives(options, form::requestEnds);
        form.begin();
        return form;
    }

    private void begin() {
        form.service().watch.add(intake);
        intake.completion().whenComplete((whole, failure) -> call());
        reading.run();
        if (!hasEnded()) {
            try {
                in.setReadListener(new Listener());
            } catch (RuntimeException | Error e) {
                abort(e);
                throw e;
            }
        }
    }

    /**
     * {@return the form, once all of it is there. Do not close it: it lives as long as the request, its {@linkplain
     * MultipartRequests#hold holds}, and the callbacks of this stage}
     *
     * <p>If the form is refused, or there is no room for it, the stage fails with the same {@link
     * dev.sluice.MultipartException} as {@link MultipartRequests#form}. A failure of the disk or of a sink is a {@link
     * MultipartRequestException}. {@link MultipartRequests#sendError} answers both. The other failures are a {@link
     * CancellationException} after {@link #cancel()} and after a request that ended before its form, a {@link
     * java.util.concurrent.TimeoutException} after a timeout of the asynchronous request, the {@link IOException} of the
     * connection, and unchecked exceptions of a sink. All resources have been released by then.
     *
     * <p>{@code handle}, {@code whenComplete} and {@code exceptionally} of this stage see the failure unwrapped. Stages that
     * depend on those see it as the cause of a {@link CompletionException}, as always.
     */
    public CompletionStage<MultipartForm> completion() {
        CompletableFuture<MultipartForm> stage =
                new CompletableFuture<>(); // a new one, because the caller can complete it
        form.future.whenComplete((whole, failure) -> {
            if (failure == null) {
                stage.complete(whole);
            } else {
                stage.completeExceptionally(MultipartRequestException.unwrapped(failure));
            }
        });
        return stage;
    }

    /**
     * Aborts the form: nothing is left of it on return, or, if another thread is at it, as soon as that one sees it. Does
     * nothing once the form is complete. What depends on {@link #completion()} may hear of it a little later.
     */
    public void cancel() {
        abort(new CancellationException("the form was cancelled"));
    }

    private void abort(Throwable reason) {
        abortedFor.compareAndSet(null, reason);
        intake.abort(reason);
        call();
    }

    /** The container ends the request, whoever is at it. */
    private void requestEnds(Throwable reason) {
        jobsLost = true;
        abort(reason);
    }

    // ---- reading: one thread at a time

    private void call() {
        if (reading.trigger()) {
            reading.run();
        }
    }

    private boolean readWhilePossible() {
        while (!hasEnded() && readOn()) {}
        return false;
    }

    /** {@return false if there is nothing to do before somebody calls} */
    private boolean readOn() {
        if (intake.isOver() && (abortedFor.get() != null || intake.demand() == 0)) {
            return end();
        } else if (intake.demand() == 0) {
            return false;
        } else if (allRead) {
            intake.finish();
        } else if (awaiting) {
            return false;
        } else {
            try {
                awaiting = true; // before asking: the call may come from another thread before the answer is here
                if (!in.isReady()) {
                    return false;
                }
                awaiting = false;
                received += Math.max(intake.read(in), 0);
            } catch (IOException | RuntimeException | Error e) {
                abort(e);
            }
        }
        return true;
    }

    private boolean hasEnded() {
        return jobs.get() == NO_MORE;
    }

    /** {@return false if a job is not done, which calls then} */
    private boolean end() {
        if (jobsLost) {
            jobs.set(NO_MORE);
        } else if (!jobs.compareAndSet(0, NO_MORE)) {
            if (!waitsForJobs) {
                waitsForJobs = true;
                state.life.afterGrace(this::waitNoLonger); // a container may have dropped it
            }
            return false;
        }
        form.service().watch.remove(intake);
        intake.completion().whenComplete((whole, wrapped) -> {
            Throwable failure = wrapped instanceof CompletionException ? wrapped.getCause() : wrapped;
            try {
                if (whole != null) {
                    form.complete(form.whole(whole, received));
                } else if (failure instanceof IOException refusal
                        && (failure != abortedFor.get() || MultipartRequestException.isOfContainer(failure))) {
                    throw form.refusal(refusal, received, !intake.isAtEnd());
                } else {
                    if (failure instanceof IOException) {
                        state.overUnlessDispatched(); // Payara does not tell of the end where the client is gone
                    }
                    form.future.completeExceptionally(failure);
                }
            } catch (MultipartRequestException refused) {
                form.future.completeExceptionally(refused);
            }
        });
        state.life.release();
        return true;
    }

    // ---- jobs

    private void waitNoLonger() {
        jobsLost = true;
        call();
    }

    /** Has the container do some work that is counted already. Whether it comes or not, somebody reads on after it. */
    private void start(Runnable work) {
        try {
            context.start(() -> {
                try {
                    work.run();
                } finally {
                    jobDone();
                }
            });
        } catch (RuntimeException | Error e) { // the request is just ending, or the container has no thread to give
            jobDone();
            throw e;
        }
    }

    private void jobDone() {
        jobs.updateAndGet(now -> now == NO_MORE ? now : now - 1);
        call();
    }

    private final class Source implements FormSource {
        @Override
        public FormHead head() {
            return head;
        }

        @Override
        public void wanted() {
            if (jobs.compareAndSet(0, 1)) { // else one reads on when it is done, or there is nothing more to read
                try {
                    start(() -> {});
                } catch (RuntimeException | Error e) {
                    // this thread has read on instead
                }
            }
        }

        @Override
        public void resume(Runnable work) {
            if (jobs.getAndUpdate(now -> now == NO_MORE ? now : now + 1) == NO_MORE) {
                work.run(); // nothing is left to do
            } else {
                start(work);
            }
        }
    }

    private final class Listener implements ReadListener {
        @Override
        public void onDataAvailable() {
            awaiting = false;
            call();
        }

        @Override
        public void onAllDataRead() {
            allRead = true;
            call();
        }

        @Override
        public void onError(Throwable reason) {
            abort(reason);
        }
    }
}
