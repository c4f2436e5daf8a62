package dev.sluice.form;

import io.netty.buffer.ByteBuf;
import java.util.Objects;
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
 * A subscriber to the body of a request, which receives the form. It is a whole adapter for a server that publishes the
 * body as a {@link Flow.Publisher}, or that calls back for each buffer and can be paused.
 *
 * <p><b>Flow control.</b> One buffer at a time is requested, while the form has {@linkplain FormIntake#demand() demand}.
 * So a slow sink pauses the client.
 *
 * <p><b>Threads.</b> The methods of {@link Flow.Subscriber} are called one after the other, as usual, on any thread, and
 * never block. {@link Flow.Subscription#request} is called by one thread at a time, on the threads of the server, of the
 * executor and of sinks. If the server accepts requests only on a thread of its own, the subscription must pass them on to
 * that thread. Decoding and sinks run on the executor, one task at a time for each form. {@link #completion()} completes on
 * a thread of the executor or of the server.
 *
 * <p><b>Ownership.</b> Buffers are transferred by {@link #onNext}. The completed form belongs to the receiver of {@link
 * #completion()}, who closes it. However the form ends otherwise, everything it held is released before {@link
 * #completion()} fails.
 *
 * <p><b>Rejected forms.</b> Many clients do not read a response before they have sent the body. So the rest of the body
 * of a rejected form is requested and discarded, up to {@link FormOptions#maxDrainBytes()}, before {@link #completion()}
 * fails. If the body has not ended even then, the subscription is cancelled, {@link #isAtEnd()} is false, and the server
 * must close the connection after the response.
 *
 * <p>Experimental, for authors of adapters: it may change in any release.
 */
public final class FormSubscriber implements Flow.Subscriber<ByteBuf> {
    private final Executor executor;
    private final long paceNanos;
    private final FormIntake intake;
    private final CompletableFuture<MultipartForm> completion = new CompletableFuture<>();
    private final AtomicReference<Flow.@Nullable Subscription> subscription = new AtomicReference<>();
    private final AtomicReference<@Nullable Throwable> pendingFailure = new AtomicReference<>();

    /** Whether no more signals are expected. */
    private volatile boolean ended;

    private FormSubscriber(Forms forms, FormOptions options, FormHead head, Executor executor) {
        this.executor = Objects.requireNonNull(executor, "executor");
        this.paceNanos =
                Math.min(options.minRateGrace().toNanos(), options.maxSinkWait().toNanos()) / 4 + 1;
        this.intake = forms.receive(new Source(head), options);
    }

    /**
     * {@return a subscriber for the body of one request}
     *
     * @param options {@code forms.options()}, or options derived from them with {@link FormOptions#toBuilder()}
     * @param executor runs the work of the form, which blocks if its sinks or files do. If nothing blocks, it can be the
     *     event loop of the server
     */
    public static FormSubscriber of(Forms forms, FormOptions options, FormHead head, Executor executor) {
        FormSubscriber made = new FormSubscriber(forms, options, head, executor);
        made.intake.completion().whenComplete(made::formEnded);
        made.checkPaceLater();
        return made;
    }

    /**
     * {@return the form, which belongs to the caller, who closes it}
     *
     * <p>Fails with a {@link dev.sluice.MultipartException}, with the exception of a sink or of the application, or with
     * the failure given to {@link #onError}. A form can be completed even after {@link #onError} if its commit had begun. So
     * the stage that closes the form must not be cancelled.
     */
    public CompletionStage<MultipartForm> completion() {
        return completion.copy(); // some frameworks cancel it
    }

    /** {@return whether the whole body has arrived, so that the connection can carry another request} */
    public boolean isAtEnd() {
        return intake.isAtEnd();
    }

    /**
     * Starts to request buffers from a server that calls back. Replaces {@link #onSubscribe}.
     *
     * @param fetch requests that many buffers, as {@link Flow.Subscription#request} does
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
        proceed();
    }

    /** @param buffer <em>transferred</em> */
    @Override
    public void onNext(ByteBuf buffer) {
        intake.offer(buffer);
        proceed();
    }

    @Override
    public void onComplete() {
        ended = true;
        intake.finish();
        emitFailure();
    }

    /**
     * Ends the form, unless it has ended: the connection was lost. Unlike the other methods of a subscriber, this may be
     * called by any thread, repeatedly, and after {@link #onComplete}.
     */
    @Override
    public void onError(Throwable failure) {
        Objects.requireNonNull(failure, "failure");
        ended = true;
        try {
            executor.execute(() -> intake.abort(failure)); // deletes files
        } catch (RejectedExecutionException e) {
            intake.abort(failure);
        }
        emitFailure();
    }

    /** Requests one buffer if there is demand. Called after each buffer, and when there is demand again. */
    private void proceed() {
        Flow.Subscription given = subscription.get();
        if (given == null || ended) {
            return;
        } else if (intake.demand() > 0) {
            given.request(1);
        } else {
            emitFailure();
        }
    }

    private void formEnded(@Nullable MultipartForm form, @Nullable Throwable failure) {
        if (form != null) {
            completion.complete(form);
            return;
        }
        pendingFailure.set(failure instanceof CompletionException e && e.getCause() != null ? e.getCause() : failure);
        if (ended || intake.demand() == 0) {
            emitFailure();
        }
    }

    /** Reports the failure of the form, if it has failed. */
    private void emitFailure() {
        Throwable failure = pendingFailure.getAndSet(null);
        if (failure == null) {
            return;
        }
        Flow.Subscription given = subscription.get();
        if (!ended && given != null) {
            given.cancel();
        }
        completion.completeExceptionally(failure);
    }

    private void checkPaceLater() {
        if (!completion.isDone()) {
            CompletableFuture.delayedExecutor(paceNanos, TimeUnit.NANOSECONDS, executor)
                    .execute(() -> {
                        intake.checkPace(System.nanoTime());
                        checkPaceLater();
                    });
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
            proceed();
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
