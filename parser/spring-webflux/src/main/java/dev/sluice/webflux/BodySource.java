package dev.sluice.webflux;

import dev.sluice.form.FormHead;
import dev.sluice.form.FormIntake;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormSource;
import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
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
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Operators;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/** The body of a request: a subscriber that requests as much as the intake of its form wants. */
final class BodySource extends BaseSubscriber<DataBuffer> implements FormSource, Disposable {
    private final ReactiveHttpInputMessage message;
    private final @Nullable Scheduler workers;
    private final Context context;
    private final FormHead head;
    private final Disposable.Swap timer = Disposables.swap();
    private final Queue<Runnable> later = new ConcurrentLinkedQueue<>();
    private final AtomicInteger laterCount = new AtomicInteger();
    private final AtomicReference<@Nullable Throwable> pending = new AtomicReference<>();
    private volatile @Nullable FormIntake intake;
    private @Nullable Consumer<Throwable> fail;

    /** @param workers null to do all of it on the thread that brings bytes or asks for more: nothing that is done blocks */
    BodySource(ReactiveHttpInputMessage message, @Nullable Scheduler workers, ContextView context) {
        this.message = message;
        this.workers = workers;
        this.context = releasing(Context.of(context));
        HttpHeaders headers = message.getHeaders();
        String codings = String.join(", ", headers.getValuesAsList(HttpHeaders.CONTENT_ENCODING));
        this.head = new FormHead(
                HeaderFields.all(headers, HttpHeaders.CONTENT_TYPE),
                codings.isEmpty() ? null : codings,
                headers.getContentLength(),
                "100-continue".equalsIgnoreCase(headers.getFirst(HttpHeaders.EXPECT)));
    }

    /**
     * Operators that the application put in front of this have queues, which they drop at a cancel or an error. In place of a
     * hook of those behind this, such as Spring's own writers, not before it: both would release one and the same buffer.
     */
    private static Context releasing(Context behind) {
        return Operators.enableOnDiscard(behind, dropped -> {
            if (dropped instanceof DataBuffer buffer) {
                DataBufferUtils.release(buffer);
            } else {
                Operators.onDiscard(dropped, behind);
            }
        });
    }

    /**
     * Exactly one of the two is called, unless this is disposed of first: on a worker, or on the thread that brought the last
     * bytes. What was refused is told of after what is worth dropping has come, because a server may close the connection as
     * soon as it has answered, and a client that is still sending does not read the answer then.
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
                failure(failure instanceof CompletionException e && e.getCause() != null ? e.getCause() : failure);
            }
        });
        if (timer.isDisposed()) {
            dispose(); // before there was a form to end
            return;
        }
        if (!opened.isOver() || opened.demand() > 0) {
            long pace = Math.min(
                                    options.minRateGrace().toNanos(),
                                    options.maxSinkWait().toNanos())
                            / 4
                    + 1;
            timer.update(Schedulers.parallel()
                    .schedulePeriodically(() -> opened.checkPace(System.nanoTime()), pace, pace, TimeUnit.NANOSECONDS));
            message.getBody().subscribe(this);
        }
    }

    private void failure(Throwable reason) {
        pending.set(reason);
        if (isDisposed() || intake().demand() == 0) { // nothing more comes, or nothing is worth dropping
            tellOfFailure();
        }
    }

    private void tellOfFailure() {
        Throwable reason = pending.getAndSet(null);
        if (reason != null) {
            timer.dispose();
            cancel();
            Objects.requireNonNull(fail).accept(reason);
        }
    }

    private FormIntake intake() {
        return Objects.requireNonNull(intake, "it has started");
    }

    /** Ends the form if it has not ended. Any thread, as often as one likes. */
    @Override
    public void dispose() {
        timer.dispose();
        cancel();
        FormIntake form = intake;
        if (form != null && !form.isOver()) {
            CancellationException reason = new CancellationException("nobody waits for the form any more");
            try {
                resume(() -> form.abort(reason)); // which deletes files
            } catch (RejectedExecutionException e) {
                form.abort(reason);
            }
        }
    }

    // ---- for the body

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

    /** {@return the bytes of {@code buffer}, which is transferred; not copied but where it is of a pool that is not Netty's} */
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
        tellOfFailure();
    }

    @Override
    protected void hookOnError(Throwable failure) {
        tellOfFailure();
        FormIntake form = intake();
        try {
            resume(() -> form.abort(failure));
        } catch (RejectedExecutionException e) {
            form.abort(failure);
        }
    }

    // ---- for the intake

    @Override
    public FormHead head() {
        return head;
    }

    /** One buffer for each time that the answer is yes; where it is no, this is called again. */
    @Override
    public void wanted() {
        if (intake().demand() > 0) {
            request(1);
        } else {
            tellOfFailure();
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

    /** Without workers on this thread, which requests more or is the timer's: after what it does now, not within. */
    @Override
    public void resume(Runnable work) {
        if (workers != null) {
            workers.schedule(work);
        } else {
            later.add(work);
            if (laterCount.getAndIncrement() == 0) {
                do {
                    later.remove().run();
                } while (laterCount.decrementAndGet() > 0);
            }
        }
    }
}
