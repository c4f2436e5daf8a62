package dev.sluice.servlet;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.MultipartReader;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MultipartForm;
import dev.sluice.servlet.RequestForm.BodyOwner;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;

/**
 * Operations beyond the servlet API, for requests that have passed a {@link SluiceFilter}. Use one of {@link #form},
 * {@link #reader} and {@link #receive} per request: the body can be read only once.
 */
public final class MultipartRequests {
    private MultipartRequests() {}

    /**
     * A handle that keeps the form of a request open until it is closed, even after the end of the request.
     * Thread-safe.
     */
    public static final class Hold implements Closeable {
        private final RequestState state;
        private final AtomicBoolean closed = new AtomicBoolean();

        private Hold(RequestState state) {
            this.state = state;
        }

        /** Ends the hold. If the request has ended, closing its last hold closes the form. Idempotent. */
        @Override
        public void close() {
            if (closed.compareAndSet(false, true)) {
                state.lease.release();
            }
        }
    }

    /**
     * {@return the form of the request, parsed now if necessary} Do not close the form. It is closed when the request
     * and all its holds have ended.
     *
     * @throws MultipartException if the body is not a form, is rejected, or does not fit into the memory budget or the
     *     spool
     * @throws MultipartRequestException if the disk or a sink fails
     * @throws IOException if the connection fails; not wrapped
     * @throws IllegalStateException if the request did not go through the filter, or the body is already being read in another way
     */
    public static MultipartForm form(HttpServletRequest request) throws IOException {
        return unwrapping(ofForm(request).form::parsed);
    }

    private interface Call<T> {
        T result() throws IOException;
    }

    /**
     * {@return the result of {@code call}} If {@code call} throws a {@link MultipartRequestException} with a {@link MultipartException} as
     * its cause, throws that cause.
     */
    private static <T> T unwrapping(Call<T> call) throws IOException {
        try {
            return call.result();
        } catch (MultipartRequestException e) {
            throw unwrapped(e);
        }
    }

    private static RuntimeException unwrapped(MultipartRequestException e) throws MultipartException {
        if (MultipartRequestException.unwrapped(e) instanceof MultipartException rejected) {
            throw rejected;
        }
        return e;
    }

    /**
     * {@return the parameters of the query string in order, decoded as UTF-8} Does not read the body, unlike {@code
     * getParameterMap}. A name or value with a malformed escape is not decoded.
     */
    public static Map<String, String[]> queryParameters(HttpServletRequest request) {
        return QueryString.parameters(request.getQueryString(), null, false);
    }

    /**
     * {@return the form of the request, parsed with options for this request}
     *
     * @param change changes the options of the filter for this request, for example a {@link
     *     FormOptions.Builder#decider}, limits or a progress listener
     * @throws MultipartException if the body is not a form, is rejected, or does not fit into the memory budget or the
     *     spool
     * @throws MultipartRequestException if the disk or a sink fails
     * @throws IOException if the connection fails; not wrapped
     * @throws IllegalStateException if the request did not go through the filter, the form was parsed before, or the body is already
     *     being read in another way. Calls to {@code getParts} and {@code getParameter} parse the form. Spring MVC calls {@code
     *     getParts} before the controller, unless {@code spring.servlet.multipart.resolve-lazily} is {@code true}
     */
    public static MultipartForm form(HttpServletRequest request, UnaryOperator<FormOptions.Builder> change)
            throws IOException {
        RequestForm form = ofForm(request).form;
        return unwrapping(() -> form.parsedWith(changed(form, change)));
    }

    /**
     * Starts to receive the form without blocking a thread, with the options of the filter.
     *
     * <p>The timeout of asynchronous requests, by default 30 seconds, also ends a request whose client is still sending. Call {@code
     * AsyncContext.setTimeout(0)} to turn it off. Clients that are too slow are still rejected: see {@link
     * FormOptions#minBytesPerSecond()}.
     *
     * @param request the request, which is put into asynchronous mode unless it already is
     * @return the form
     * @throws MultipartException if the request is not a form; all other rejections fail {@link AsyncForm#completion()}
     * @throws IllegalStateException if the request did not go through the filter, the body is already being read in another way, or the
     *     request does not support asynchronous operation
     */
    public static AsyncForm receive(HttpServletRequest request) throws IOException {
        RequestState state = ofForm(request);
        return unwrapping(() -> AsyncForm.start(state, request, state.form.options()));
    }

    /**
     * Starts to receive the form like {@link #receive(HttpServletRequest)}, with options for this request.
     *
     * @param change changes the options of the filter for this request, for example a {@link
     *     FormOptions.Builder#decider}, limits or a progress listener
     */
    public static AsyncForm receive(HttpServletRequest request, UnaryOperator<FormOptions.Builder> change)
            throws IOException {
        RequestState state = ofForm(request);
        return unwrapping(() -> AsyncForm.start(state, request, changed(state.form, change)));
    }

    private static FormOptions changed(RequestForm form, UnaryOperator<FormOptions.Builder> change) {
        return change.apply(form.options().toBuilder()).build();
    }

    /**
     * {@return a reader that returns the body part by part and does not store it} The caller must close the reader. The
     * reader has the limits and the minimum rate of the filter, or, without a filter, the {@linkplain
     * MultipartOptions#defaults() default options}.
     *
     * @throws MultipartException if the body is not {@code multipart/form-data}, or its boundary cannot be used
     * @throws IOException if the connection fails; not wrapped
     * @throws IllegalStateException if the body is already being read in another way
     */
    public static MultipartReader reader(HttpServletRequest request) throws IOException {
        RequestState state = RequestState.of(request);
        return reader(request, state != null ? state.form.options().multipart() : MultipartOptions.defaults());
    }

    /**
     * {@return a reader that returns the body part by part and does not store it} The caller must close the reader.
     *
     * @param options the limits, the preset and the allocator. Netty's pooled allocator, the default, leaves a cache of
     *     buffers in the calling thread
     * @throws MultipartException if the body is not {@code multipart/form-data}, or its boundary cannot be used
     * @throws IOException if the connection fails; not wrapped
     * @throws IllegalStateException if the body is already being read in another way
     */
    public static MultipartReader reader(HttpServletRequest request, MultipartOptions options) throws IOException {
        checkMultipart(request);
        RequestState state = RequestState.of(request);
        MultipartRequestException rejection = state == null ? null : state.form.rejection();
        if (rejection != null) {
            throw unwrapped(rejection);
        }
        Boundary boundary = RequestForm.head(request).boundary(options.preset());
        InputStream body;
        if (state == null) {
            body = request.getInputStream();
        } else if (state.form.claim(BodyOwner.READER) == BodyOwner.NONE) {
            body = state.form.open(state.form.options());
        } else {
            throw state.form.alreadyClaimed();
        }
        return MultipartReader.create(body, boundary, options);
    }

    /**
     * {@return a hold that keeps the form open for a thread of the application} Workers started with {@link
     * jakarta.servlet.AsyncContext#start} do not need a hold.
     *
     * @throws IllegalStateException if the request did not go through the filter, or has ended
     */
    public static Hold hold(ServletRequest request) {
        RequestState state = filtered(request);
        state.lease.hold();
        return new Hold(state);
    }

    /**
     * Sends the error response that the filter would send for a {@link MultipartException} or a {@link
     * MultipartRequestException}: its status and message, through the error page of the container. The exception may be the
     * failure itself or one of its causes. A failure of the disk or of a sink is logged, because its message is not for the
     * client.
     *
     * @param failure the failure of {@link AsyncForm#completion()}, {@link #form} or {@code getParts}
     * @return true if a response was sent; false if {@code failure} contains neither exception or the response is
     *     committed
     * @throws IOException if the connection fails
     */
    public static boolean sendError(HttpServletResponse response, Throwable failure) throws IOException {
        if (response.isCommitted()) {
            return false;
        }
        RequestForm form = FilteredResponse.form(response);
        MultipartRequestException known =
                form != null ? form.recordRejection(failure) : MultipartRequestException.of(failure, null, false);
        if (known == null) {
            return false;
        }
        if (known.isServerFailure()) {
            System.getLogger(MultipartRequests.class.getPackageName())
                    .log(System.Logger.Level.ERROR, "a form was not stored", known);
        }
        response.sendError(known.httpStatus(), known.getMessage());
        return true;
    }

    private static RequestState ofForm(HttpServletRequest request) throws MultipartException {
        checkMultipart(request);
        return filtered(request);
    }

    private static void checkMultipart(HttpServletRequest request) throws MultipartException {
        NonMultipartRequest other = NonMultipartRequest.of(request);
        if (other != null) {
            throw other.reject();
        }
    }

    private static RequestState filtered(ServletRequest request) {
        RequestState state = RequestState.of(request);
        if (state == null) {
            throw new IllegalStateException(
                    "the request did not go through a SluiceFilter: map the filter to this path and dispatcher type; it"
                            + " handles multipart/form-data with POST, PUT, PATCH and, if serveDelete is set, DELETE");
        }
        return state;
    }
}
