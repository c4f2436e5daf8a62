package dev.sluice.netty;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.FormHead;
import dev.sluice.form.FormIntake;
import dev.sluice.form.FormSource;
import dev.sluice.form.Forms;
import dev.sluice.form.MultipartForm;
import io.netty.buffer.ByteBuf;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpUtil;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One form on its way in, and the answer to it on its way out. Called on the event loop, unless a method says otherwise. */
final class FormExchange implements FormSource {
    private final FormReceiver receiver;
    private final FormHead head;
    private final @Nullable Executor workers;
    private final Executor loop;
    private final Runnable wanted;
    private @Nullable FormIntake intake;
    private HttpHeaders trailers = EmptyHttpHeaders.INSTANCE;
    private @Nullable Runnable due;
    private long received;

    /**
     * @param workers null to do all of it on {@code loop}
     * @param wanted called when there may be demand again
     */
    FormExchange(
            FormReceiver receiver, HttpRequest request, @Nullable Executor workers, Executor loop, Runnable wanted) {
        this.receiver = receiver;
        List<String> codings = request.headers().getAll(HttpHeaderNames.CONTENT_ENCODING);
        this.head = new FormHead(
                request.headers().getAll(HttpHeaderNames.CONTENT_TYPE),
                codings.isEmpty() ? null : String.join(", ", codings),
                HttpUtil.getContentLength(request, -1L),
                HttpUtil.is100ContinueExpected(request));
        this.workers = workers;
        this.loop = loop;
        this.wanted = wanted;
    }

    /** @param answer takes the response, which is transferred, on any thread */
    void begin(Forms forms, Consumer<FullHttpResponse> answer) {
        FormIntake opened;
        try {
            opened = forms.receive(this, receiver.options(forms.options()));
        } catch (Throwable e) {
            answer.accept(answerTo(e));
            return;
        }
        intake = opened;
        opened.completion().whenComplete((form, failure) -> ended(form, failure, answer));
    }

    /** Any thread. */
    private void ended(@Nullable MultipartForm form, @Nullable Throwable failure, Consumer<FullHttpResponse> answer) {
        if (form == null) {
            answer.accept(answerTo(failure));
            return;
        }
        CompletionStage<FullHttpResponse> response;
        try {
            response = receiver.received(form, trailers);
        } catch (Throwable e) {
            response = CompletableFuture.failedStage(e);
        }
        response.whenComplete((made, fault) -> {
            form.close();
            answer.accept(made != null ? made : answerTo(fault));
        });
    }

    private FullHttpResponse answerTo(@Nullable Throwable failure) {
        Throwable cause = failure instanceof CompletionException e && e.getCause() != null ? e.getCause() : failure;
        try {
            return receiver.failed(cause != null ? cause : new NullPointerException("there is no answer"));
        } catch (Throwable e) {
            FormReceiver plain = (form, fields) -> CompletableFuture.failedStage(e);
            return plain.failed(e);
        }
    }

    boolean isOver() {
        return intake == null || intake.isOver();
    }

    long demand() {
        return intake == null ? 0 : intake.demand();
    }

    /** @param chunk <em>transferred</em> */
    void offer(ByteBuf chunk) {
        received += chunk.readableBytes();
        Objects.requireNonNull(intake).offer(chunk);
    }

    void finish(HttpHeaders fields) {
        trailers = fields;
        Objects.requireNonNull(intake).finish();
    }

    /** Hands to the executor what {@link #offer} and {@link #finish} have caused: once, for all that a read has brought. */
    void handOver() {
        Runnable work = due;
        due = null;
        if (work != null) {
            try {
                Objects.requireNonNull(workers).execute(work);
            } catch (RejectedExecutionException e) {
                Objects.requireNonNull(intake).abort(e);
                work.run(); // ends it, and has nothing else to do
            }
        }
    }

    void checkPace() {
        if (intake != null) {
            intake.checkPace(System.nanoTime());
        }
    }

    void abort(Throwable reason) {
        FormIntake form = intake;
        if (form == null) {
            return;
        }
        try {
            if (workers != null) {
                workers.execute(() -> form.abort(reason)); // which deletes files
                return;
            }
        } catch (RejectedExecutionException e) {
            // as well here
        }
        form.abort(reason);
    }

    /** {@return that the client went away before its body was complete} */
    MultipartException cutOff(Throwable cause) {
        return MultipartException.because(Reason.TRUNCATED)
                .saying("the connection ended before the request body did")
                .at(received)
                .cause(cause)
                .build();
    }

    /** {@return complete when nothing of the form is left but what is in the receiver's hands} */
    CompletionStage<?> end() {
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
            loop.execute(wanted);
        } catch (RejectedExecutionException e) {
            // the event loop has ended, and the connection with it
        }
    }

    @Override
    public void run(Runnable work) {
        if (workers == null) {
            work.run();
        } else {
            due = work;
        }
    }

    /** Any thread. */
    @Override
    public void resume(Runnable work) {
        (workers == null ? loop : workers).execute(work);
    }
}
