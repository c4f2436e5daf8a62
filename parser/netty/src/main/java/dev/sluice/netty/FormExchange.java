package dev.sluice.netty;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.FormHead;
import dev.sluice.form.FormIntake;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormSource;
import dev.sluice.form.MultipartForm;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.CorruptedFrameException;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One form on its way in, and the answer to it on its way out. Called on the event loop, unless a method says otherwise. */
final class FormExchange implements FormSource {
    private final FormReceiver receiver;
    private final FormHead head;
    /** Why no body follows; null where one does. */
    private final @Nullable Throwable malformed;

    private final Connections shared;
    private final Executor loop;
    private FormOptions options;
    private boolean awaitsContinue;
    private @Nullable FormIntake intake;
    private HttpHeaders trailers = EmptyHttpHeaders.INSTANCE;
    private @Nullable Runnable due;
    private boolean aborted;
    private long received;
    private int turnBytes;

    /** @param loop the event loop; looks for demand behind each task */
    FormExchange(FormReceiver receiver, HttpRequest request, Connections shared, Executor loop) {
        this.receiver = receiver;
        this.shared = shared;
        this.loop = loop;
        options = shared.forms().options();
        malformed = request.decoderResult().cause();
        awaitsContinue = HttpUtil.is100ContinueExpected(request);
        List<String> codings = request.headers().getAll(HttpHeaderNames.CONTENT_ENCODING);
        head = new FormHead(
                request.headers().getAll(HttpHeaderNames.CONTENT_TYPE),
                codings.isEmpty() ? null : String.join(", ", codings),
                malformed == null ? HttpUtil.getContentLength(request, -1L) : -1,
                awaitsContinue);
    }

    /** @param answer takes the response, which is transferred, on the event loop */
    void begin(Consumer<FullHttpResponse> answer) {
        FormIntake opened;
        try {
            if (malformed != null) {
                throw new CorruptedFrameException(malformed);
            }
            options = Objects.requireNonNull(receiver.options(options), "options answers null");
            opened = shared.forms().receive(this, options);
        } catch (Throwable e) {
            answer(answerTo(e), answer);
            return;
        }
        intake = opened;
        opened.completion().whenComplete((form, failure) -> ended(form, failure, answer));
    }

    /** Any thread. */
    private void ended(@Nullable MultipartForm form, @Nullable Throwable failure, Consumer<FullHttpResponse> answer) {
        if (form == null) {
            answer(answerTo(failure), answer);
            return;
        }
        CompletionStage<FullHttpResponse> response;
        try {
            response = Objects.requireNonNull(receiver.received(form, trailers), "received answers null");
        } catch (Throwable e) {
            response = CompletableFuture.failedStage(e);
        }
        response.whenComplete((made, fault) -> {
            form.close();
            answer(made != null ? made : answerTo(fault), answer);
        });
    }

    /** Any thread. */
    private void answer(FullHttpResponse response, Consumer<FullHttpResponse> answer) {
        if (!HttpUtil.isContentLengthSet(response)) {
            HttpUtil.setContentLength(response, response.content().readableBytes());
        }
        try {
            loop.execute(() -> answer.accept(response));
        } catch (RejectedExecutionException e) {
            response.release();
        }
    }

    private FullHttpResponse answerTo(@Nullable Throwable failure) {
        Throwable cause = failure instanceof CompletionException e && e.getCause() != null ? e.getCause() : failure;
        try {
            return Objects.requireNonNull(
                    receiver.failed(cause != null ? cause : new NullPointerException("there is no answer")),
                    "failed answers null");
        } catch (Throwable e) {
            FormReceiver plain = (form, fields) -> CompletableFuture.failedStage(e);
            return plain.failed(e);
        }
    }

    FormOptions options() {
        return options;
    }

    boolean isOver() {
        return intake == null || intake.isOver();
    }

    /** {@return whether what still comes is for nobody: also while the abort is on its way, for something may be missing} */
    boolean takesNoMore() {
        return aborted || isOver();
    }

    /** {@return how many bytes may come now, in this turn of the event loop} */
    int demand() {
        return intake == null || takesNoMore() ? 0 : (int) Math.min(intake.demand(), shared.bytesPerTurn() - turnBytes);
    }

    /** {@return whether there may be a read without demand, to see whether the client is still there} */
    boolean mayReadAhead() {
        return intake != null && intake.mayReadAhead();
    }

    /** {@return whether the client has still to be told that it may send the body; once} */
    boolean isContinueAwaited() {
        boolean awaited = awaitsContinue;
        awaitsContinue = false;
        return awaited;
    }

    /** @param content the next of the body, of which no more is left than there is demand for: <em>transferred</em> */
    void offer(HttpContent content) {
        if (content.content().isReadable()) {
            offer(content.content());
        } else {
            content.release();
        }
        if (content.decoderResult().isFailure()) {
            abort(new CorruptedFrameException(content.decoderResult().cause()));
        } else if (content instanceof LastHttpContent last) {
            trailers = last.trailingHeaders();
            Objects.requireNonNull(intake).finish();
        }
    }

    /** @param chunk <em>transferred</em> */
    void offer(ByteBuf chunk) {
        int size = chunk.readableBytes();
        if (turnBytes == 0) {
            loop.execute(() -> turnBytes = 0); // when that has seen to what else there is to do now
        }
        turnBytes += size;
        received += size;
        awaitsContinue = false;
        Objects.requireNonNull(intake).offer(chunk);
    }

    /** Hands to the executor what {@link #offer} has caused: once, for all that a read has brought. */
    void handOver() {
        Runnable work = due;
        due = null;
        if (work != null) {
            Runnable once = once(work);
            try {
                Objects.requireNonNull(shared.executor()).execute(once);
            } catch (RuntimeException | Error e) { // there may be no thread to be had
                Objects.requireNonNull(intake).abort(overloadedIfRejected(e));
                once.run(); // ends it, and has nothing else to do
            }
        }
    }

    /** {@return the reason to end a form whose executor threw {@code failure}} */
    private static Throwable overloadedIfRejected(Throwable failure) {
        return failure instanceof RejectedExecutionException
                ? MultipartException.because(Reason.SINK_STALLED)
                        .saying("the server is too busy to take the upload: its executor rejects tasks")
                        .cause(failure)
                        .build()
                : failure;
    }

    /** An executor may have put it into its queue before it fails, and run it later. */
    private static Runnable once(Runnable work) {
        AtomicBoolean begun = new AtomicBoolean();
        return () -> {
            if (begun.compareAndSet(false, true)) {
                work.run();
            }
        };
    }

    void checkPace() {
        if (intake != null) {
            intake.checkPace(System.nanoTime());
        }
    }

    void abort(Throwable reason) {
        FormIntake form = intake;
        aborted = true;
        if (form != null) {
            Executor workers = shared.executor() == null ? Runnable::run : shared.executor();
            Runnable once = once(() -> form.abort(reason)); // which deletes files
            try {
                workers.execute(once);
            } catch (RuntimeException | Error e) {
                once.run();
            }
        }
    }

    /** Ends it, for the client is gone; {@return complete when nothing of it is left but what is in the receiver's hands} */
    CompletionStage<?> cutOff() {
        abort(MultipartException.because(Reason.TRUNCATED)
                .saying("the connection ended before the request body did")
                .at(received)
                .cause(new ClosedChannelException())
                .build());
        handOver();
        return intake == null ? CompletableFuture.completedStage(null) : intake.completion();
    }

    // ---- for the intake

    @Override
    public FormHead head() {
        return head;
    }

    /** Any thread. */
    @Override
    public void wanted() {
        try {
            loop.execute(() -> {});
        } catch (RejectedExecutionException e) {
            // the event loop has ended, and the connection with it
        }
    }

    @Override
    public void run(Runnable work) {
        if (shared.executor() == null) {
            work.run();
        } else {
            due = work;
        }
    }

    /** Any thread. */
    @Override
    public void resume(Runnable work) {
        Executor workers = shared.executor();
        if (workers == null) {
            loop.execute(work);
            return;
        }
        try {
            workers.execute(work);
        } catch (RejectedExecutionException e) {
            FormIntake form = intake;
            if (form != null) { // otherwise the form ends with what this throws, before it has begun
                form.abort(overloadedIfRejected(e));
            }
            throw e;
        }
    }
}
