package dev.sluice.netty;

import dev.sluice.MultipartException;
import dev.sluice.MultipartException.Reason;
import dev.sluice.form.FormHead;
import dev.sluice.form.FormIntake;
import dev.sluice.form.FormOptions;
import dev.sluice.form.FormSource;
import dev.sluice.form.MultipartForm;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpHeaders;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.EmptyHttpHeaders;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.LastHttpContent;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One form request and the response to it: the source of the form's {@link FormIntake}, and the caller of its {@link FormReceiver}.
 * Confined to the event loop, except for the methods that may be called on any thread.
 */
final class FormExchange implements FormSource {
    private final FormReceiver receiver;
    private final FormHead head;
    /** The reason why the request head is malformed; null if it is well-formed. No body follows a malformed head. */
    private final @Nullable Throwable malformed;

    private final HandlerGroup group;
    private final Executor loop;
    private FormOptions options;
    private boolean continueExpected;
    private @Nullable FormIntake intake;
    private HttpHeaders trailers = EmptyHttpHeaders.INSTANCE;
    private @Nullable Runnable pendingWork;
    private boolean aborted;
    private long received;
    private int turnBytes;

    /** @param loop runs tasks on the event loop; the handler checks the demand after each task */
    FormExchange(FormReceiver receiver, HttpRequest request, HandlerGroup group, Channel channel, Executor loop) {
        this.receiver = receiver;
        this.group = group;
        this.loop = loop;
        options = group.forms().options();
        malformed = request.decoderResult().cause();
        continueExpected = HttpUtil.is100ContinueExpected(request);
        List<String> codings = request.headers().getAll(HttpHeaderNames.CONTENT_ENCODING);
        head = new FormHead(
                request.headers().getAll(HttpHeaderNames.CONTENT_TYPE),
                codings.isEmpty() ? null : String.join(", ", codings),
                malformed == null ? HttpUtil.getContentLength(request, -1L) : -1,
                continueExpected,
                address(channel.remoteAddress()));
    }

    private static @Nullable String address(@Nullable SocketAddress remote) {
        return remote instanceof InetSocketAddress inet && inet.getAddress() != null
                ? inet.getAddress().getHostAddress()
                : remote == null ? null : remote.toString();
    }

    /** @param sender the callback for the response, which is <em>transferred</em>; called once on the event loop */
    void begin(Consumer<FullHttpResponse> sender) {
        FormIntake opened;
        try {
            if (malformed != null) {
                throw malformedHttp(Reason.MALFORMED_HEADER, malformed);
            }
            options = Objects.requireNonNull(receiver.options(options), "FormReceiver.options returned null");
            opened = group.forms().receive(this, options);
        } catch (Throwable e) {
            respond(responseTo(e), sender);
            return;
        }
        intake = opened;
        opened.completion().whenComplete((form, failure) -> onFormEnd(form, failure, sender));
    }

    /** May be called on any thread. */
    private void onFormEnd(
            @Nullable MultipartForm form, @Nullable Throwable failure, Consumer<FullHttpResponse> sender) {
        if (form == null) {
            respond(responseTo(failure), sender);
            return;
        }
        CompletionStage<FullHttpResponse> response;
        try {
            response = Objects.requireNonNull(receiver.received(form, trailers), "FormReceiver.received returned null");
        } catch (Throwable e) {
            response = CompletableFuture.failedStage(e);
        }
        response.whenComplete((made, fault) -> {
            form.close();
            respond(made != null ? made : responseTo(fault), sender);
        });
    }

    /** May be called on any thread. */
    private void respond(FullHttpResponse response, Consumer<FullHttpResponse> sender) {
        FullHttpResponse complete = complete(response);
        try {
            loop.execute(() -> sender.accept(complete));
        } catch (RejectedExecutionException e) {
            complete.release();
        }
    }

    /** {@return the response with a length if its status allows content, and with headers that the handler can change} */
    private static FullHttpResponse complete(FullHttpResponse response) {
        FullHttpResponse complete = (FullHttpResponse) changeable(response);
        int status = complete.status().code();
        if (status != 204
                && status != 304
                && !HttpUtil.isContentLengthSet(complete)
                && !HttpUtil.isTransferEncodingChunked(complete)) {
            HttpUtil.setContentLength(complete, complete.content().readableBytes());
        }
        return complete;
    }

    /** {@return the response, or a copy with the same content if its headers are read-only} */
    static HttpResponse changeable(HttpResponse response) {
        if (response.headers() instanceof DefaultHttpHeaders) {
            return response;
        }
        HttpHeaders headers = response.headers().copy();
        return response instanceof FullHttpResponse full
                ? new DefaultFullHttpResponse(
                        full.protocolVersion(), full.status(), full.content(), headers, full.trailingHeaders())
                : new DefaultHttpResponse(response.protocolVersion(), response.status(), headers);
    }

    private FullHttpResponse responseTo(@Nullable Throwable failure) {
        Throwable cause = failure instanceof CompletionException e && e.getCause() != null ? e.getCause() : failure;
        try {
            return Objects.requireNonNull(
                    receiver.failed(
                            cause != null
                                    ? cause
                                    : new NullPointerException("FormReceiver.received completed with null")),
                    "FormReceiver.failed returned null");
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

    /**
     * {@return whether the rest of the body is discarded, because the form has ended or a worker is about to abort it}
     */
    boolean discardsBody() {
        return aborted || isOver();
    }

    /** {@return the number of bytes that may be offered in this turn of the event loop} */
    int demand() {
        return intake == null || discardsBody() ? 0 : (int) Math.min(intake.demand(), group.bytesPerTurn() - turnBytes);
    }

    /** {@return whether a read without demand is allowed, in order to notice that the client has disconnected} */
    boolean mayReadAhead() {
        return intake != null && intake.mayReadAhead();
    }

    /** {@return whether the client expects 100 (Continue) before it sends the body; true only once} */
    boolean takeContinueExpected() {
        boolean expected = continueExpected;
        continueExpected = false;
        return expected;
    }

    /** @param content the next content of the body, not larger than the {@link #demand}: <em>transferred</em> */
    void offer(HttpContent content) {
        if (content.content().isReadable()) {
            offer(content.content());
        } else {
            content.release();
        }
        if (content.decoderResult().isFailure()) {
            abort(malformedHttp(
                    Reason.MALFORMED_TRANSFER_ENCODING, content.decoderResult().cause()));
        } else if (content instanceof LastHttpContent last) {
            trailers = last.trailingHeaders();
            Objects.requireNonNull(intake).finish();
        }
    }

    /** @param chunk <em>transferred</em> */
    void offer(ByteBuf chunk) {
        int size = chunk.readableBytes();
        if (turnBytes == 0) {
            loop.execute(() -> turnBytes = 0); // the next turn, after all tasks that are queued now
        }
        turnBytes += size;
        received += size;
        continueExpected = false;
        Objects.requireNonNull(intake).offer(chunk);
    }

    /** Submits the work that the intake has passed to {@link #run}, if there is any, to the executor. */
    void dispatch() {
        Runnable work = pendingWork;
        pendingWork = null;
        if (work != null) {
            try {
                Objects.requireNonNull(group.executor()).execute(work);
            } catch (RuntimeException | Error e) { // such as an OutOfMemoryError if no thread can be created
                Objects.requireNonNull(intake).abort(e);
            }
        }
    }

    static MultipartException malformedHttp(Reason reason, Throwable cause) {
        return MultipartException.because(reason)
                .saying("the request is malformed HTTP")
                .cause(cause)
                .build();
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
            Executor workers = group.executor() == null ? Runnable::run : group.executor();
            try {
                workers.execute(() -> form.abort(reason)); // may delete files, which blocks
            } catch (RuntimeException | Error e) {
                form.abort(reason);
            }
        }
    }

    /**
     * Aborts the form, because the connection has ended before the end of the body.
     *
     * @return a stage that completes when the form has ended
     */
    CompletionStage<?> abortTruncated() {
        abort(MultipartException.because(Reason.TRUNCATED)
                .saying("the connection ended before the request body did")
                .at(received)
                .cause(new ClosedChannelException())
                .build());
        dispatch();
        return intake == null ? CompletableFuture.completedStage(null) : intake.completion();
    }

    // ---- called by the intake

    @Override
    public FormHead head() {
        return head;
    }

    /** May be called on any thread. */
    @Override
    public void wanted() {
        try {
            loop.execute(() -> {});
        } catch (RejectedExecutionException e) {
            // the event loop has ended, and with it the connection
        }
    }

    @Override
    public void run(Runnable work) {
        if (group.executor() == null) {
            work.run();
        } else {
            pendingWork = work;
        }
    }

    /** May be called on any thread. */
    @Override
    public void resume(Runnable work) {
        Executor workers = group.executor();
        (workers == null ? loop : workers).execute(work);
    }
}
