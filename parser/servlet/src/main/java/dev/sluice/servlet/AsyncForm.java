package dev.sluice.servlet;

import dev.sluice.form.FormOptions;
import dev.sluice.form.MultipartForm;
import dev.sluice.form.PartSink;
import dev.sluice.servlet.RequestState.Use;
import io.netty.buffer.ByteBuf;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.ReadListener;
import jakarta.servlet.ServletInputStream;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A form that comes in without a thread that waits for it. Its parts go where the {@code PartDecider} of its options
 * says while they arrive: to files, to memory, or on to a {@link PartSink}.
 *
 * <p>Sinks and whatever depends on {@link #completion()} run on threads of the container, one at a time, and no lock is
 * held meanwhile. What a slow consumer does not want yet is left to TCP: {@link #pause()} it, and {@link #resume()}.
 * Jetty and Tomcat call on threads for applications. Undertow calls on a thread of its connections, which all of them
 * share: there a sink must not block for long, and parts should go to memory, or to another thread.
 *
 * <p>All methods may be called by any thread at any time, from sinks too.
 */
public final class AsyncForm {
    private final RequestState state;
    private final Reception reception;
    private final AsyncContext context;
    private final ServletInputStream in;
    private final AsyncPace pace;
    private final AsyncIntake intake; // of whoever works

    /** Counts calls for attention: whoever makes it 1 works until it is 0 again; at first that is {@link #begin()}. */
    private final AtomicInteger calls = new AtomicInteger(1);

    private final AtomicReference<@Nullable Throwable> abortion = new AtomicReference<>();

    /** The reason to end for which a thread of the container has been asked: none but that one ends the form for it. */
    private volatile @Nullable Throwable handedOver;

    private volatile boolean paused;
    private volatile boolean resumed;

    /** The container will call: nothing is to be read before. */
    private volatile boolean awaiting = true;

    private volatile boolean atEnd;
    private volatile boolean ended;

    private AsyncForm(RequestState state, AsyncContext context, FormOptions options) throws IOException {
        this.state = state;
        this.reception = state.reception();
        this.context = context;
        this.in = state.source().getInputStream();
        this.pace = new AsyncPace(reception);
        this.intake = new AsyncIntake(options);
    }

    static AsyncForm start(RequestState state, HttpServletRequest request, FormOptions options) throws IOException {
        if (!request.isAsyncSupported()) {
            throw new IllegalStateException(
                    "the request does not support asynchronous operation: the servlet and all filters have to");
        }
        if (!state.take(Use.ASYNC_FORM)) {
            throw state.taken();
        }
        AsyncForm form;
        try {
            if (!request.isAsyncStarted()) {
                request.startAsync();
            }
            // The container's own, which counts no workers: the form holds the request itself, and a container may drop
            // the worker of a request that ends.
            AsyncContext context = state.source().getAsyncContext();
            if (!state.isAsync()) {
                state.asyncStarted(context);
            }
            form = new AsyncForm(state, context, state.body().inCharset(options));
            state.hold();
        } catch (IOException | RuntimeException | Error e) {
            state.giveBack(Use.ASYNC_FORM); // nothing has been read
            throw e;
        }
        state.receives(form, options);
        form.begin();
        return form;
    }

    private void begin() {
        try {
            intake.begin(state.source());
            pace.waits();
            reception.watch().add(this);
        } catch (RuntimeException | Error e) {
            abortion.compareAndSet(null, e);
        }
        workUntilDone();
        if (!ended) {
            try {
                in.setReadListener(new Listener());
            } catch (RuntimeException | Error e) {
                abort(e);
                throw e;
            }
        }
    }

    /**
     * {@return the form, once all of it is there. It lives as long as the request and its {@linkplain
     * MultipartRequests#hold holds} do, and while what depends on this stage runs: not to be closed}
     *
     * <p>Fails with a {@link MultipartRequestException} ({@link MultipartRequests#sendError} answers it), with a {@link
     * CancellationException} after {@link #cancel()} and where the request ended before its form, with a {@link
     * java.util.concurrent.TimeoutException} where the asynchronous request timed out, with the {@link IOException} of the
     * connection, and with what a sink threw, if unchecked. All that was held has then been given back. As with every
     * stage that depends on another one, callbacks see the failure as the cause of a {@link
     * java.util.concurrent.CompletionException}.
     */
    public CompletionStage<MultipartForm> completion() {
        return state.future().minimalCompletionStage();
    }

    /** Reads no more for now; at most one chunk that is being read still comes. */
    public void pause() {
        if (!paused) {
            if (!resumed) { // else it has not gone on since the last pause
                pace.pause();
            }
            paused = true;
        }
    }

    /** Goes on reading after {@link #pause()}, on a thread of the container. */
    public void resume() {
        if (paused && !ended) {
            pace.stop();
            resumed = true;
            paused = false;
            onContainerThread();
        }
    }

    /**
     * Aborts the form: nothing is left of it on return, or, if another thread is at it, as soon as that one sees it. Does
     * nothing once the form is complete.
     */
    public void cancel() {
        abort(new CancellationException("the form was cancelled"));
    }

    void abort(Throwable reason) {
        abortion.compareAndSet(null, reason);
        arrive(); // a thread that was asked for may not come any more
    }

    void requestOver() {
        abort(new CancellationException("the request was completed before its form"));
    }

    void endIfTooSlow(long now) {
        if (!paused && pace.isTooSlow(now)) {
            pace.stop();
            SlowClientException slow = new SlowClientException(reception.minBytesPerSecond());
            handedOver = slow;
            if (abortion.compareAndSet(null, slow)) {
                onContainerThread(); // sinks and the application are not for the timer to wait for
            }
        }
    }

    private void onContainerThread() {
        try {
            context.start(this::arrive);
        } catch (RuntimeException | Error e) { // the request is just ending, or the container has no thread to give
            arrive();
        }
    }

    private void arrive() {
        handedOver = null;
        call();
    }

    // ---- one thread at a time

    private void call() {
        if (calls.getAndIncrement() == 0) {
            workUntilDone();
        }
    }

    private void workUntilDone() {
        int seen = 1;
        do {
            work();
            seen = calls.addAndGet(-seen);
        } while (seen != 0);
    }

    private void work() {
        while (!ended) {
            Throwable reason = abortion.get();
            if (reason == null) {
                reason = intake.givenUp();
            }
            if (reason != null && reason == handedOver) {
                return;
            } else if (reason != null) {
                end(reason);
            } else if (paused) {
                return;
            } else if (resumed) {
                resumed = false;
                pace.goesOn(awaiting);
            } else if (atEnd) {
                complete();
            } else if (awaiting || !isReady()) {
                return;
            } else {
                readChunk();
            }
        }
    }

    /** {@return whether something can be done; if not, the container will call} */
    private boolean isReady() {
        try {
            if (in.isFinished()) {
                atEnd = true;
                return true;
            }
            awaiting = true; // before asking: the call may come from another thread before the answer is here
            if (!in.isReady()) {
                pace.waits();
                return false;
            }
            awaiting = false;
        } catch (RuntimeException | Error e) {
            abortion.compareAndSet(null, e);
        }
        return true;
    }

    private void readChunk() {
        if (atEnd || abortion.get() != null || !intake.reserveChunk()) {
            return;
        }
        try {
            readInto(reception.chunks().take());
        } catch (IOException | RuntimeException | Error e) { // of the connection, or unchecked of a sink
            abortion.compareAndSet(null, e);
        } finally {
            intake.releaseChunk();
        }
    }

    private void readInto(ByteBuf chunk) throws IOException {
        try {
            int count = chunk.writeBytes(in, ChunkPool.CHUNK_SIZE);
            if (!pace.received(Math.max(count, 0))) {
                abortion.compareAndSet(null, new SlowClientException(reception.minBytesPerSecond()));
            } else if (count < 0) {
                atEnd = true;
            } else {
                intake.take(chunk);
            }
        } finally {
            reception.chunks().give(chunk);
        }
    }

    private void complete() {
        MultipartForm form;
        try {
            form = intake.finish();
        } catch (IOException | RuntimeException | Error e) {
            end(e);
            return;
        }
        leave();
        state.complete(form);
        state.release();
    }

    private void end(Throwable reason) {
        leave();
        state.future().completeExceptionally(intake.end(reason, atEnd));
        state.release();
    }

    private void leave() {
        ended = true;
        pace.stop();
        reception.watch().remove(this);
    }

    private final class Listener implements ReadListener {
        @Override
        public void onDataAvailable() {
            awaiting = false;
            call();
        }

        @Override
        public void onAllDataRead() {
            atEnd = true;
            awaiting = false;
            call();
        }

        @Override
        public void onError(Throwable reason) {
            abort(reason);
        }
    }
}
