package dev.sluice.form;

import dev.sluice.MultipartException;
import dev.sluice.task.IsolatedCall;
import dev.sluice.task.SerialTask;
import io.netty.buffer.ByteBuf;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * A subscriber that receives the form in the body of a request. It is a complete adapter for a server that publishes the
 * body as a {@link Flow.Publisher}, or that calls back for each buffer and can be paused.
 *
 * <p><b>Flow control.</b> One buffer at a time is requested, while the form has {@linkplain FormIntake#demand() demand}. A slow sink
 * therefore slows the client down.
 *
 * <p><b>Threads.</b> The methods of {@link Flow.Subscriber} are called one after the other, as usual, on any thread. They do not block,
 * unless the executor runs tasks on the calling thread or rejects one, and a sink or a file operation blocks. The methods of {@link
 * Flow.Subscription} are called by one thread at a time: a thread of the server, of the executor or of a sink, or the thread that completes
 * {@link #completion()}. If the server requires these calls on a certain thread, the subscription must pass them on to that thread.
 * Decoding and sinks run on the executor, one task at a time for each form. {@link #completion()} completes on a thread of the executor or
 * of the server. If the executor rejects a task, the form fails with {@link MultipartException.Reason#UNAVAILABLE}, on the thread that
 * submitted the task. A rejected check of the time limits is repeated: the form fails if eight in a row are rejected.
 *
 * <p><b>Ownership.</b> Buffers are transferred by {@link #onNext}. The completed form belongs to the receiver of {@link
 * #completion()}, who closes it. If the form fails, everything it held is released before {@link #completion()} fails.
 *
 * <p><b>Rejected forms.</b> Many clients do not read a response before they have sent the body. The rest of the body of a rejected form is
 * therefore requested and discarded, up to {@link FormOptions#maxDrainBytes()}, before {@link #completion()} fails. If the body has not
 * ended even then, the subscription is cancelled, {@link #isAtEnd()} is false, and the server must close the connection after the response.
 *
 * <p>Experimental, for authors of adapters: it may change in any release.
 */
public final class FormSubscriber implements Flow.Subscriber<ByteBuf> {
    private static final int MAX_REJECTED_CHECKS = 8;

    private final Executor executor;
    private final Executor timeChecks;
    private final long paceNanos;
    private final FormIntake intake;
    private final CompletableFuture<MultipartForm> completion = new CompletableFuture<>();
    private final AtomicReference<Flow.@Nullable Subscription> subscription = new AtomicReference<>();
    private final SerialTask signalling = new SerialTask(this::signal);

    /** Whether a requested buffer has not arrived yet. */
    private volatile boolean requested;

    /** Whether no more signals are expected. */
    private volatile boolean ended;

    /** The failure of the form, reported once the rest of the body has been discarded. */
    private volatile @Nullable Throwable failure;

    /** The number of time checks that the executor has rejected in a row. Each check is scheduled by the one before it. */
    private int rejectedChecks;

    private FormSubscriber(Forms forms, FormOptions options, FormHead head, Executor executor, Executor timeChecks) {
        this.executor = Objects.requireNonNull(executor, "executor");
        this.timeChecks = Objects.requireNonNull(timeChecks, "timeChecks");
        this.paceNanos = options.paceCheckNanos();
        this.intake = forms.receive(new Source(head), options);
    }

    /**
     * {@return a subscriber for the body of one request}
     *
     * @param options {@code forms.options()}, or options derived from them with {@link FormOptions#toBuilder()}
     * @param executor the executor on which the form is decoded, stored and passed to sinks. These tasks block if a sink or a file
     *     operation blocks. If nothing blocks, the executor can be the event loop of the server
     */
    public static FormSubscriber of(Forms forms, FormOptions options, FormHead head, Executor executor) {
        return of(forms, options, head, executor, executor);
    }

    /**
     * {@return a subscriber for the body of one request, like {@link #of(Forms, FormOptions, FormHead, Executor)}} Use this method if
     * {@code executor} runs tasks on the calling thread.
     *
     * @param timeChecks the executor on which time limits are checked. With {@code executor} alone, the checks would run on the timer thread
     *     that the whole JVM shares
     */
    public static FormSubscriber of(
            Forms forms, FormOptions options, FormHead head, Executor executor, Executor timeChecks) {
        FormSubscriber made = new FormSubscriber(forms, options, head, executor, timeChecks);
        made.intake.completion().whenComplete(made::formEnded);
        made.completion.whenComplete(made::completed);
        made.checkPaceLater();
        return made;
    }

    /**
     * {@return the form, which belongs to the caller, who closes it}
     *
     * <p>The stage fails with a {@link MultipartException}, with the exception of a sink or of the application, or with the failure given
     * to {@link #onError}. If the commit of a form has begun, the form can complete even after {@link #onError}.
     *
     * <p>This is always the same future. If the receiver cancels it, or completes it in another way such as {@link
     * CompletableFuture#orTimeout}, the subscription is cancelled as well, and the form is aborted, or closed if it still completes. Do not
     * cancel a stage that depends on it: the form would continue, and nothing would close it.
     */
    public CompletionStage<MultipartForm> completion() {
        return completion;
    }

    /** {@return whether the whole body has arrived, so that the connection can carry another request} */
    public boolean isAtEnd() {
        return intake.isAtEnd();
    }

    /**
     * Starts to request buffers from a server that calls back for each buffer. Replaces {@link #onSubscribe}.
     *
     * @param fetch receives the number of buffers to request from the server, like {@link Flow.Subscription#request}
     */
    public void start(LongConsumer fetch) {
        onSubscribe(new Flow.Subscription() {
            @Override
            public void request(long count) {
                fetch.accept(count);
            }

            @Override
            public void cancel() {} // no more buffers are requested
        });
    }

    @Override
    public void onSubscribe(Flow.Subscription given) {
        if (!subscription.compareAndSet(null, Objects.requireNonNull(given, "subscription"))) {
            given.cancel();
            return;
        }
        signalling.triggerAndRun();
    }

    /** @param buffer <em>transferred</em> */
    @Override
    public void onNext(ByteBuf buffer) {
        requested = false;
        intake.offer(buffer);
        signalling.triggerAndRun();
    }

    @Override
    public void onComplete() {
        ended = true;
        intake.finish();
        signalling.triggerAndRun();
    }

    /**
     * Ends the form because the connection was lost, unless the form has already ended. Unlike the other methods of a
     * subscriber, this may be called by any thread, repeatedly, and after {@link #onComplete}.
     */
    @Override
    public void onError(Throwable reason) {
        Objects.requireNonNull(reason, "reason");
        ended = true;
        abort(reason);
        signalling.triggerAndRun();
    }

    private void abort(Throwable reason) {
        try {
            executor.execute(() -> intake.abort(reason)); // may delete files, which blocks
        } catch (RuntimeException | Error e) {
            intake.abort(reason);
        }
    }

    /** Requests a buffer if there is demand. Otherwise, if the form has failed, cancels the subscription and reports the failure. */
    private void signal() {
        Flow.Subscription given = subscription.get();
        Throwable reason = failure;
        if (!ended && !completion.isDone() && intake.demand() > 0) {
            if (given != null && !requested) {
                requested = true;
                try {
                    given.request(1);
                } catch (Throwable e) { // nothing else would end the form
                    onError(e);
                }
            }
        } else if (reason != null) {
            if (!ended && given != null) {
                ended = true;
                IsolatedCall.run(given::cancel);
            }
            completion.completeExceptionally(reason);
        }
    }

    private void formEnded(@Nullable MultipartForm form, @Nullable Throwable thrown) {
        if (form == null) {
            failure = thrown instanceof CompletionException e && e.getCause() != null ? e.getCause() : thrown;
            signalling.triggerAndRun();
        } else if (!completion.complete(form)) { // the receiver has completed it already
            form.close();
        }
    }

    private void completed(@Nullable MultipartForm form, @Nullable Throwable thrown) {
        if (!intake.isOver()) { // completed by the receiver
            Throwable reason =
                    thrown == null ? new CancellationException("the receiver has completed the form") : thrown;
            failure = reason;
            abort(reason);
        }
        signalling.triggerAndRun(); // cancels the subscription, unless the body has ended
    }

    private void checkPaceLater() {
        if (!completion.isDone()) {
            CompletableFuture.delayedExecutor(paceNanos, TimeUnit.NANOSECONDS, this::executeOrAbort)
                    .execute(() -> {
                        intake.checkPace(System.nanoTime());
                        checkPaceLater();
                    });
        }
    }

    /**
     * Runs a task of the timer. If the executor rejects it, the form waits for the next one, because a bounded queue may be full for a
     * moment. If the executor rejects several in a row, it is probably shut down. The form is then aborted and the task runs on this
     * thread, so that the time limits also apply while the rest of the body is discarded.
     */
    private void executeOrAbort(Runnable check) {
        try {
            timeChecks.execute(() -> {
                rejectedChecks = 0;
                check.run();
            });
        } catch (RuntimeException | Error e) {
            if (e instanceof RejectedExecutionException && ++rejectedChecks < MAX_REJECTED_CHECKS) {
                checkPaceLater();
            } else {
                intake.abort(e);
                check.run();
            }
        }
    }

    private final class Source implements FormSource {
        private final FormHead head;

        Source(FormHead head) {
            this.head = head;
        }

        @Override
        public FormHead head() {
            return head;
        }

        @Override
        public void wanted() {
            signalling.triggerAndRun();
        }

        @Override
        public void run(Runnable work) {
            executor.execute(work);
        }

        @Override
        public void resume(Runnable work) {
            executor.execute(work);
        }
    }
}
