package dev.sluice.webflux;

import dev.sluice.form.FormHead;
import dev.sluice.form.FormIntake;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormSource;
import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import dev.sluice.task.SerialTask;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.net.InetSocketAddress;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import org.springframework.core.io.buffer.DataBuffer;
import org.springframework.core.io.buffer.DataBufferUtils;
import org.springframework.core.io.buffer.DefaultDataBuffer;
import org.springframework.core.io.buffer.NettyDataBuffer;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ReactiveHttpInputMessage;
import org.springframework.http.server.reactive.ServerHttpRequest;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * The body of a request, as the source of a form. It requests one buffer at a time while the form's intake has demand.
 *
 * <p>If a form is rejected, the rest of the body is read and discarded, up to a limit. The failure is reported only
 * after that. A server may close the connection once it has sent the response, and a client that is still sending would
 * then miss it.
 */
final class BodySource extends BaseSubscriber<DataBuffer> implements FormSource, Disposable {
    private final ReactiveHttpInputMessage message;
    private final @Nullable Scheduler workers;
    private final Context context;
    private final FormHead head;
    private final Disposable.Swap timer = Disposables.swap();
    private final Queue<Runnable> queued = new ConcurrentLinkedQueue<>();
    private final SerialTask runningQueued = new SerialTask(this::runQueued);
    private final AtomicReference<@Nullable Throwable> pendingFailure = new AtomicReference<>();
    private volatile @Nullable FormIntake intake;
    private @Nullable Consumer<Throwable> fail;

    /**
     * @param workers the scheduler for work that may block; null to run all work on the calling thread, which is
     *     allowed only if none of it blocks
     */
    BodySource(ReactiveHttpInputMessage message, @Nullable Scheduler workers, ContextView context) {
        this.message = message;
        this.workers = workers;
        this.context = releasingDiscarded(Context.of(context));
        HttpHeaders headers = message.getHeaders();
        this.head = FormHead.of(
                name -> HeaderFields.all(headers, name),
                message instanceof ServerHttpRequest request ? address(request.getRemoteAddress()) : null);
    }

    private static @Nullable String address(@Nullable InetSocketAddress remote) {
        return remote == null || remote.getAddress() == null
                ? null
                : remote.getAddress().getHostAddress();
    }

    /**
     * Returns a context that releases the buffers that upstream operators discard when they are cancelled or fail. Its
     * hook replaces the downstream hook for buffers, because Spring's writers install one that would release the same
     * buffer again.
     */
    private static Context releasingDiscarded(Context downstream) {
        return Operators.enableOnDiscard(downstream, discarded -> {
            if (discarded instanceof DataBuffer buffer) {
                DataBufferUtils.release(buffer);
            } else {
                Operators.onDiscard(discarded, downstream);
            }
        });
    }

    /**
     * Starts to receive the form. Unless this source is disposed first, exactly one of {@code received} and {@code
     * failed} is called, on a worker or on the thread that delivered the last bytes.
     */
    void start(Forms forms, FormOptions options, Consumer<MultipartForm> received, Consumer<Throwable> failed) {
        FormIntake opened = forms.receive(this, options);
        intake = opened;
        fail = failed;
        opened.completion().whenComplete((form, failure) -> {
            if (form != null) {
                timer.dispose();
                received.accept(form);
            } else {
                holdFailure(failure instanceof CompletionException e && e.getCause() != null ? e.getCause() : failure);
            }
        });
        if (timer.isDisposed()) {
            dispose(); // disposed before the form existed: end it now
            return;
        }
        if (!opened.isOver() || opened.demand() > 0) {
            long pace = options.paceCheckNanos();
            timer.update(Schedulers.parallel()
                    .schedulePeriodically(() -> opened.checkPace(System.nanoTime()), pace, pace, TimeUnit.NANOSECONDS));
            message.getBody().subscribe(this);
        }
    }

    private void holdFailure(Throwable reason) {
        pendingFailure.set(reason);
        if (isDisposed() || intake().demand() == 0) { // the body has ended, or no more of it will be discarded
            emitFailure();
        }
    }

    private void emitFailure() {
        Throwable reason = pendingFailure.getAndSet(null);
        if (reason != null) {
            timer.dispose();
            cancel();
            Objects.requireNonNull(fail).accept(reason);
        }
    }

    private FormIntake intake() {
        return Objects.requireNonNull(intake, "start has not been called");
    }

    /** Ends the form if it has not ended. May be called repeatedly and from any thread. */
    @Override
    public void dispose() {
        timer.dispose();
        cancel();
        FormIntake form = intake;
        if (form != null && !form.isOver()) {
            CancellationException reason = new CancellationException("the request was cancelled or has ended");
            try {
                resume(() -> form.abort(reason)); // deletes files, which may block
            } catch (RejectedExecutionException e) {
                form.abort(reason);
            }
        }
    }

    // ---- Subscriber of the body

    @Override
    public Context currentContext() {
        return context;
    }

    @Override
    protected void hookOnSubscribe(Subscription subscription) {
        wanted();
    }

    @Override
    protected void hookOnNext(DataBuffer buffer) {
        intake().offer(bytes(buffer));
        wanted();
    }

    /**
     * {@return the bytes of {@code buffer}, which is <em>transferred</em>. The bytes of Netty buffers and of {@link
     * DefaultDataBuffer}s are shared, and the bytes of all others are copied}
     */
    private static ByteBuf bytes(DataBuffer buffer) {
        if (buffer instanceof NettyDataBuffer netty) {
            return netty.getNativeBuffer();
        } else if (buffer instanceof DefaultDataBuffer heap) {
            return Unpooled.wrappedBuffer(heap.getNativeBuffer());
        }
        byte[] copy = new byte[buffer.readableByteCount()];
        buffer.read(copy);
        DataBufferUtils.release(buffer);
        return Unpooled.wrappedBuffer(copy);
    }

    @Override
    protected void hookOnComplete() {
        intake().finish();
        emitFailure();
    }

    @Override
    protected void hookOnError(Throwable failure) {
        emitFailure();
        FormIntake form = intake();
        try {
            resume(() -> form.abort(failure));
        } catch (RejectedExecutionException e) {
            form.abort(failure);
        }
    }

    // ---- Source of the intake

    @Override
    public FormHead head() {
        return head;
    }

    /**
     * Requests one buffer if there is demand; otherwise reports the held failure, if there is one. Called after each
     * buffer, and by the intake once it has demand again.
     */
    @Override
    public void wanted() {
        if (intake().demand() > 0) {
            request(1);
        } else {
            emitFailure();
        }
    }

    @Override
    public void run(Runnable work) {
        if (workers == null) {
            work.run();
        } else {
            workers.schedule(work);
        }
    }

    /**
     * Schedules {@code work} on a worker. Without workers, runs it on the calling thread, or, if another thread is
     * already running queued work, on that thread.
     */
    @Override
    public void resume(Runnable work) {
        if (workers != null) {
            workers.schedule(work);
        } else {
            queued.add(work);
            if (runningQueued.trigger()) {
                runningQueued.run();
            }
        }
    }

    private boolean runQueued() {
        for (Runnable work; (work = queued.poll()) != null; ) {
            work.run();
        }
        return false;
    }
}
