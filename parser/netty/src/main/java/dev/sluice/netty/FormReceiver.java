package dev.sluice.netty;

import dev.sluice.MultipartException;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MultipartForm;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletionStage;

/** Takes the form of one request, and says what to answer. Exactly one of {@link #received} and {@link #failed} is called first. */
@FunctionalInterface
public interface FormReceiver {
    /**
     * {@return how to take this form: {@code defaults}, or made of them by {@link FormOptions#toBuilder()}; its decider says
     * which parts go to sinks}
     * Called on the event loop, before any of the body is asked for.
     *
     * @throws IOException to refuse the form: {@link #failed} is then asked what to answer
     */
    default FormOptions options(FormOptions defaults) throws IOException {
        return defaults;
    }

    /**
     * {@return what to answer, now or later; the response is <em>transferred</em>}
     * Called where sinks are: on the executor, if there is one.
     *
     * @param form closed once the stage is complete
     * @param trailers the header fields behind the body; mostly none
     * @throws Exception if that went wrong: {@link #failed} is then asked what to answer
     */
    CompletionStage<FullHttpResponse> received(MultipartForm form, HttpHeaders trailers) throws Exception;

    /**
     * {@return what to answer where there is no form, with {@code Connection: close} to close in any case; by default the
     * status of a {@link MultipartException} with its message, 400, or 500, which is logged; the response is
     * <em>transferred</em>}
     * Called on any thread: do not block.
     *
     * @param failure a {@link MultipartException}, a {@link DecoderException} where the request is not well-formed HTTP, or what a
     *     sink or the application threw. If the executor rejects the form, {@link MultipartException.Reason#SINK_STALLED} with the
     *     status 503. Where the client is gone, which will see no answer, {@link
     *     MultipartException.Reason#TRUNCATED} with a {@link java.nio.channels.ClosedChannelException} as its cause
     */
    default FullHttpResponse failed(Throwable failure) {
        return refusal(failure);
    }

    private static FullHttpResponse refusal(Throwable failure) {
        int status = failure instanceof MultipartException e
                ? e.httpStatus()
                : failure instanceof DecoderException ? 400 : 500;
        if (!(failure instanceof MultipartException) && status == 500) { // the client is not told why
            System.getLogger(FormReceiver.class.getPackageName())
                    .log(System.Logger.Level.ERROR, "a form was answered with 500", failure);
        }
        String message = failure instanceof MultipartException
                ? String.valueOf(failure.getMessage())
                : status == 400 ? "the request is not well-formed HTTP" : "the server failed at this request";
        FullHttpResponse response = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1,
                HttpResponseStatus.valueOf(status),
                Unpooled.copiedBuffer(message + '\n', StandardCharsets.UTF_8));
        response.headers().set(HttpHeaderNames.CONTENT_TYPE, "text/plain; charset=utf-8");
        return response;
    }
}
