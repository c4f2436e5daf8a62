package dev.sluice.netty;

import dev.sluice.MultipartException;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MultipartForm;
import io.netty.buffer.Unpooled;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.FullHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpHeaders;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletionStage;

/**
 * The callbacks of the application for the form of one request. Either {@link #received} or {@link #failed} is called.
 * If {@code received} fails, {@code failed} is called as well.
 */
@FunctionalInterface
public interface FormReceiver {
    /**
     * {@return the options for this form: {@code defaults}, or options derived from them by {@link FormOptions#toBuilder()}} The
     * decider of the options selects the sinks of the parts. Called on the event loop, before any of the body is requested.
     *
     * @throws IOException to reject the form: {@link #failed} then returns the response
     */
    default FormOptions options(FormOptions defaults) throws IOException {
        return defaults;
    }

    /**
     * {@return the response, as a stage that may be completed later; the response is <em>transferred</em>}
     * Called on the thread that calls sinks: a thread of the executor if there is one.
     *
     * @param form the form; closed once the stage is complete
     * @param trailers the trailer fields of the request; usually empty
     * @throws Exception if the form cannot be used: {@link #failed} then returns the response
     */
    CompletionStage<FullHttpResponse> received(MultipartForm form, HttpHeaders trailers) throws Exception;

    /**
     * {@return the response if there is no form, or if {@link #received} has failed; <em>transferred</em>} If the
     * response has {@code Connection: close}, the connection is closed even if it could be kept open. By default, a
     * {@link MultipartException} determines the status and the body of the response. Any other failure leads to 500, and is
     * logged. Called on any thread: do not block.
     *
     * @param failure a {@link MultipartException}, or an exception of a sink or the application. If the request is malformed HTTP, the
     *     reason is {@link MultipartException.Reason#MALFORMED_HEADER} for its head, and {@link
     *     MultipartException.Reason#MALFORMED_TRANSFER_ENCODING} for damaged chunks or compression. The cause is the exception of Netty. If
     *     the executor rejects the form, the reason is {@link MultipartException.Reason#UNAVAILABLE}, and the status is 503. If the client
     *     has closed the connection, so that no response can be sent, the reason is {@link MultipartException.Reason#TRUNCATED}, and the
     *     cause is a {@link java.nio.channels.ClosedChannelException}
     */
    default FullHttpResponse failed(Throwable failure) {
        return rejection(failure);
    }

    private static FullHttpResponse rejection(Throwable failure) {
        int status = failure instanceof MultipartException e ? e.httpStatus() : 500;
        if (!(failure instanceof MultipartException)) { // the response does not contain the cause
            System.getLogger(FormReceiver.class.getPackageName())
                    .log(System.Logger.Level.ERROR, "the response to a form has the status 500", failure);
        }
        String message = failure instanceof MultipartException
                ? String.valueOf(failure.getMessage())
                : "the server failed to process the request";
        FullHttpResponse response = new DefaultFullHttpResponse(
                HttpVersion.HTTP_1_1,
                HttpResponseStatus.valueOf(status),
                Unpooled.copiedBuffer(message + '\n', StandardCharsets.UTF_8));
        response.headers().set(HttpHeaderNames.CONTENT_TYPE, "text/plain; charset=utf-8");
        return response;
    }
}
