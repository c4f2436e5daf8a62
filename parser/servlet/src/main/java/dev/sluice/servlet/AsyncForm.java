package dev.sluice.servlet;

import dev.sluice.form.FormHead;
import dev.sluice.form.FormIntake;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormSource;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartSink;
import dev.sluice.form.Readiness;
import dev.sluice.servlet.RequestForm.BodyOwner;
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
 * A form that occupies no thread while the client sends it. The {@code PartDecider} of its options routes each part to
 * a file, to memory, or to a {@link PartSink}, which gets the data as it arrives.
 *
 * <p>Sinks run on container threads, one at a time and without a lock, and so do the stages that depend on
 * {@link #completion()}. If the form is aborted, these may also run on the thread that aborts it, such as the caller of
 * {@link #cancel()}. If a sink returns a pending {@link Readiness}, the form stops reading, and TCP slows the client
 * down. Jetty and Tomcat call sinks on application threads. Undertow calls them on an I/O thread that serves many
 * connections, so a sink must not block there for long. With Undertow, keep parts in memory, or pass the data to
 * another thread.
 *
 * <p>If the container discards a job, the form ends after a grace period on the thread {@code sluice-form-timer}, and so
 * do the stages. A callback that blocks there delays the time limits of all forms of the filter.
 *
 * <p>All methods may be called by any thread at any time, including from sinks.
 */
public final class AsyncForm {
    /** The value of {@link #jobs} after the form has ended. */
    private static final int NO_MORE = -1;

    private final RequestState state;
    private final RequestForm form;
    private final AsyncContext context;

    /** The body; null if the head was rejected. Opening it may ask a client with {@code Expect: 100-continue} for the body. */
    private final @Nullable ServletInputStream in;

    private final FormHead head;
    final FormIntake intake;
    private final AtomicReference<@Nullable Throwable> abortedFor = new AtomicReference<>();

    private final SerialTask reading = new SerialTask(this::readWhilePossible);

    /**
     * The number of jobs passed to {@code AsyncContext.start} that have not run. The form ends after the last job,
     * because the application may complete the request at the end of the form, and containers reject jobs of completed
     * requests.
     */
    private final AtomicInteger jobs = new AtomicInteger();

    /** Whether the container will call the listener. Nothing may be read before that call. */
    private volatile boolean awaiting = true;

    // Confined to the thread that reads the body.
    private long received;
    private boolean waitsForJobs;

    private volatile boolean allRead;

    /** Whether the form may end without waiting for jobs that the container has probably discarded. */
    private volatile boolean jobsLost;

    private AsyncForm(RequestState state, AsyncContext context, FormOptions options) throws IOException {
        reading.trigger(); // claims the task for begin(), so that no other trigger runs it earlier
        this.state = state;
        this.context = context;
        this.form = state.form;
        this.head = RequestForm.head(form.source);
        this.intake = form.service().forms.receive(new Source(), options);
        try {
            this.in = intake.isOver() && intake.demand() == 0 ? null : form.source.getInputStream();
        } catch (IOException | RuntimeException | Error e) {
            intake.abort(e);
            throw e;
        }
    }

    static AsyncForm start(RequestState state, HttpServletRequest request, FormOptions options) throws IOException {
        if (!request.isAsyncSupported()) {
            throw new IllegalStateException(
                    "the request does not support asynchronous mode: set async-supported for the servlet and all filters");
        }
        RequestForm body = state.form;
        if (body.claim(BodyOwner.ASYNC_FORM) != BodyOwner.NONE) {
            throw body.alreadyClaimed();
        }
        AsyncForm form;
        boolean held = false;
        try {
            if (!request.isAsyncStarted()) {
                request.startAsync();
            }
            // The container's context, not the one of the application, which counts jobs: the form has its own hold,
            // and a container may discard jobs when the request ends.
            AsyncContext context = body.source.getAsyncContext();
            if (!state.isAsync()) {
                state.asyncStarted(context);
            }
            state.lease.hold();
            held = true;
            form = new AsyncForm(state, context, body.charset.applyTo(options));
        } catch (IOException | RuntimeException | Error e) {
            body.unclaim(BodyOwner.ASYNC_FORM); // nothing was read
            if (held) {
                state.lease.release();
            }
            throw e;
        }
        state.receiveAsync(options, form::requestEnds);
        form.begin();
        return form;
    }

    private void begin() {
        form.service().timer.add(intake);
        intake.completion().whenComplete((whole, failure) -> continueReading());
        reading.run();
        if (!hasEnded() && in != null) {
            try {
                in.setReadListener(new Listener());
            } catch (RuntimeException | Error e) {
                abort(e);
                throw e;
            }
        }
    }

    /**
     * {@return a stage that completes with the form when the whole body has arrived} Do not close the form. It is
     * closed after the request, its {@linkplain MultipartRequests#hold holds} and the callbacks of this stage have
     * ended.
     *
     * <p>If the form is rejected, or does not fit into the memory budget or the spool, the stage fails with the same
     * {@link dev.sluice.MultipartException} as {@link MultipartRequests#form}. If the disk or a sink fails with an
     * {@link IOException}, that exception is the cause of a {@link MultipartRequestException}.
     * {@link MultipartRequests#sendError} sends the response for both. After a rejection, {@code setStatus}, {@code sendError} and
     * {@code sendRedirect} of the response add {@code Connection: close} if the rest of the body is not read. The response of an
     * {@link jakarta.servlet.AsyncEvent} may be the container's own, which does not add it. Other failures are:
     *
     * <ul>
     *   <li>a {@link CancellationException} after {@link #cancel()}, or if the request ends before its form
     *   <li>a {@link java.util.concurrent.TimeoutException} if the asynchronous request times out
     *   <li>the {@link IOException} of the connection
     *   <li>an unchecked exception of a sink
     * </ul>
     *
     * <p>All resources are released before the stage fails. Callbacks of this stage, such as {@code handle}, {@code
     * whenComplete} and {@code exceptionally}, get the failure itself. Dependent stages wrap it in a {@link
     * CompletionException}, as usual.
     */
    public CompletionStage<MultipartForm> completion() {
        // A new stage for each call, because the caller can complete it.
        CompletableFuture<MultipartForm> stage = new CompletableFuture<>();
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
     * Aborts the form and releases its resources. If another thread is processing the form, that thread releases them
     * soon after. Has no effect on a complete form. The stages of {@link #completion()} may be notified after this
     * method returns.
     */
    public void cancel() {
        abort(new CancellationException("the form was cancelled"));
    }

    private void abort(Throwable reason) {
        abortedFor.compareAndSet(null, reason);
        intake.abort(reason);
        continueReading();
    }

    /** Aborts the form because the container ends the request. */
    private void requestEnds(Throwable reason) {
        jobsLost = true;
        abort(reason);
    }

    // ---- reading: one thread at a time

    private void continueReading() {
        reading.triggerAndRun();
    }

    private void readWhilePossible() {
        while (!hasEnded() && advance()) {}
    }

    /** Reads once, or ends the form. Returns false if nothing can be done before the next {@link #continueReading}. */
    private boolean advance() {
        if (intake.isOver() && (abortedFor.get() != null || intake.demand() == 0)) {
            return end();
        } else if (in == null || intake.demand() == 0) {
            return false;
        } else if (allRead) {
            intake.finish();
        } else if (awaiting) {
            return false;
        } else {
            try {
                // Before isReady(), because another thread may call the listener before isReady() returns.
                awaiting = true;
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

    /**
     * Ends the form.
     *
     * @return false if a job is pending, which calls {@link #continueReading} after it has run
     */
    private boolean end() {
        if (jobsLost) {
            jobs.set(NO_MORE);
        } else if (!jobs.compareAndSet(0, NO_MORE)) {
            if (!waitsForJobs) {
                waitsForJobs = true;
                state.lease.afterGrace(this::stopWaitingForJobs); // the container may have discarded the job
            }
            return false;
        }
        form.service().timer.remove(intake);
        intake.completion().whenComplete((whole, wrapped) -> {
            Throwable failure = wrapped instanceof CompletionException ? wrapped.getCause() : wrapped;
            try {
                if (whole != null) {
                    form.complete(form.checkComplete(whole, received));
                } else if (failure instanceof IOException rejection
                        && (failure != abortedFor.get() || MultipartRequestException.isContainerRejection(failure))) {
                    throw form.rejection(rejection, received, !intake.isAtEnd());
                } else {
                    if (failure instanceof IOException) {
                        state.endAfterGrace(); // Payara does not call onComplete after the client has disconnected
                    }
                    form.future.completeExceptionally(failure);
                }
            } catch (MultipartRequestException rejected) {
                form.future.completeExceptionally(rejected);
            }
        });
        state.lease.release();
        return true;
    }

    // ---- jobs

    private void stopWaitingForJobs() {
        jobsLost = true;
        continueReading();
    }

    /**
     * Passes a job to the container. {@link #jobs} already includes it. Reading continues after the job has run or was
     * rejected.
     */
    private void start(Runnable work) {
        try {
            context.start(() -> {
                try {
                    work.run();
                } finally {
                    jobDone();
                }
            });
        } catch (RuntimeException | Error e) { // the request is ending, or the container has no free thread
            jobDone();
            throw e;
        }
    }

    private void jobDone() {
        jobs.updateAndGet(now -> now == NO_MORE ? now : now - 1);
        continueReading();
    }

    private final class Source implements FormSource {
        @Override
        public FormHead head() {
            return head;
        }

        @Override
        public void wanted() {
            if (jobs.compareAndSet(0, 1)) { // otherwise a pending job will continue to read, or the form has ended
                try {
                    start(() -> {});
                } catch (RuntimeException | Error e) {
                    // start() has called jobDone() on this thread
                }
            }
        }

        @Override
        public void resume(Runnable work) {
            if (jobsLost || jobs.getAndUpdate(now -> now == NO_MORE ? now : now + 1) == NO_MORE) {
                work.run(); // the request or the form has ended
            } else {
                start(work);
            }
        }
    }

    private final class Listener implements ReadListener {
        @Override
        public void onDataAvailable() {
            awaiting = false;
            continueReading();
        }

        @Override
        public void onAllDataRead() {
            allRead = true;
            continueReading();
        }

        @Override
        public void onError(Throwable reason) {
            abort(reason);
        }
    }
}
