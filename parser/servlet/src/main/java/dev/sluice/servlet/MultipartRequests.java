package dev.sluice.servlet;

import dev.sluice.Boundary;
import dev.sluice.MultipartException;
import dev.sluice.MultipartOptions;
import dev.sluice.MultipartReader;
import dev.sluice.form.FormOptions;
import dev.sluice.form.MultipartForm;
import dev.sluice.servlet.RequestForm.Use;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.UnaryOperator;

/**
 * What a servlet behind {@link SluiceFilter} can do beyond the servlet API. Use one of {@link #form}, {@link #reader} and
 * {@link #receive} per request: the body can be read only once.
 */
public final class MultipartRequests {
    private MultipartRequests() {}

    /** Keeps the form of a request open until this is closed, even after the end of the request. Thread-safe. */
    public static final class Hold implements Closeable {
        private final RequestState state;
        private final AtomicBoolean closed = new AtomicBoolean();

        private Hold(RequestState state) {
            this.state = state;
        }

        /** Ends the hold. When the request is over, the end of the last hold closes the form. Idempotent. */
        @Override
        public void close() {
            if (closed.compareAndSet(false, true)) {
                state.life.release();
            }
        }
    }

    /**
     * {@return the form of the request, parsed now if that has not happened yet. Do not close it: it lives as long as the
     * request and its holds}
     *
     * @throws MultipartException if the body is not a form, is refused, or there is no room for it
     * @throws MultipartRequestException if the disk or a sink fails
     * @throws IOException if the connection fails; not wrapped
     * @throws IllegalStateException if there is no filter in front, or the body is read in another way
     */
    public static MultipartForm form(HttpServletRequest request) throws IOException {
        RequestState state = ofForm(request);
        try {
            return state.form.parsed();
        } catch (MultipartRequestException e) {
            throw unwrapped(e);
        }
    }

    private static RuntimeException unwrapped(MultipartRequestException e) throws MultipartException {
        if (MultipartRequestException.unwrapped(e) instanceof MultipartException refused) {
            throw refused;
        }
        return e;
    }

    /**
     * {@return the form of the request, taken by options of its own}
     *
     * @param change changes the options of the filter for this request: a {@link FormOptions.Builder#decider}, limits, a
     *     progress listener
     * @throws MultipartException if the body is not a form, is refused, or there is no room for it
     * @throws MultipartRequestException if the disk or a sink fails
     * @throws IOException if the connection fails; not wrapped
     * @throws IllegalStateException if there is no filter in front, or the form was parsed before, or the body is read in
     *     another way. Calls of {@code getParts} and {@code getParameter} parse the form. Spring MVC calls {@code getParts}
     *     before the controller, unless {@code spring.servlet.multipart.resolve-lazily} is {@code true}
     */
    public static MultipartForm form(HttpServletRequest request, UnaryOperator<FormOptions.Builder> change)
            throws IOException {
        RequestState state = ofForm(request);
        try {
            return state.form.parsedBy(changed(state, change));
        } catch (MultipartRequestException e) {
            throw unwrapped(e);
        }
    }

    /**
     * {@return a form that comes in while no thread waits for it, see {@link AsyncForm}; by the options of the filter}
     *
     * @param request put into asynchronous mode, if it is not yet
     * @throws MultipartException if the request is not a form; all other refusals fail {@link AsyncForm#completion()}
     * @throws IllegalStateException if there is no filter in front, the body is read in another way, or the request does
     *     not support asynchronous operation
     */
    public static AsyncForm receive(HttpServletRequest request) throws IOException {
        RequestState state = ofForm(request);
        return AsyncForm.start(state, request, state.form.options());
    }

    /**
     * {@return a form that comes in while no thread waits for it, by options of its own}
     *
     * @param request put into asynchronous mode, if it is not yet
     * @param change changes the options of the filter for this request: a {@link FormOptions.Builder#decider}, limits, a
     *     progress listener
     * @throws MultipartException as {@link #receive(HttpServletRequest)}
     * @throws IllegalStateException as {@link #receive(HttpServletRequest)}
     */
    public static AsyncForm receive(HttpServletRequest request, UnaryOperator<FormOptions.Builder> change)
            throws IOException {
        RequestState state = ofForm(request);
        return AsyncForm.start(state, request, changed(state, change));
    }

    static FormOptions changed(RequestState state, UnaryOperator<FormOptions.Builder> change) {
        return change.apply(state.form.options().toBuilder()).build();
    }

    /**
     * {@return the body part by part, nothing of it stored; to be closed by the caller. With the limits of the filter
     * where there is one, else with the {@linkplain MultipartOptions#defaults() default options}; with a filter its
     * minimum rate holds}
     *
     * @throws MultipartException if the body is not {@code multipart/*} or its boundary cannot be used
     * @throws IOException if the connection fails; not wrapped
     * @throws IllegalStateException if somebody else has the body
     */
    public static MultipartReader reader(HttpServletRequest request) throws IOException {
        RequestState state = RequestState.of(request);
        return reader(request, state != null ? state.form.options().multipart() : MultipartOptions.defaults());
    }

    /**
     * {@return the body part by part, nothing of it stored; to be closed by the caller}
     *
     * @param options what is accepted. Netty's pooled allocator, the default, leaves a cache on the thread
     * @throws MultipartException if the body is not {@code multipart/*} or its boundary cannot be used
     * @throws IOException if the connection fails; not wrapped
     * @throws IllegalStateException if somebody else has the body
     */
    public static MultipartReader reader(HttpServletRequest request, MultipartOptions options) throws IOException {
        Boundary boundary = RequestForm.head(request).boundary(options.preset());
        RequestState state = RequestState.of(request);
        InputStream body;
        if (state == null) {
            body = request.getInputStream();
        } else if (state.form.take(Use.READER)) {
            body = state.form.open(state.form.options());
        } else {
            throw state.form.taken();
        }
        return MultipartReader.create(body, boundary, options);
    }

    /**
     * {@return a hold on the form of the request, for a worker that the container does not know of. Those started with
     * {@link jakarta.servlet.AsyncContext#start} need none}
     *
     * @throws IllegalStateException if there is no filter in front, or the request is over
     */
    public static Hold hold(ServletRequest request) {
        RequestState state = filtered(request);
        state.life.hold();
        return new Hold(state);
    }

    /**
     * Answers a {@link MultipartException} or a {@link MultipartRequestException}, whether it is the failure itself or one of
     * its causes, as the filter does: with its status and message, through the error page of the container. A failure of
     * the disk or of a sink is logged, because its message is not for the client.
     *
     * @param failure of {@link AsyncForm#completion()}, {@link #form} or {@code getParts}
     * @return whether it was one of the two, and the response was not committed
     * @throws IOException of the connection
     */
    public static boolean sendError(HttpServletResponse response, Throwable failure) throws IOException {
        MultipartRequestException known = MultipartRequestException.in(failure, FilteredResponse.refusal(response));
        if (known == null) {
            known = MultipartRequestException.ofReason(failure);
        }
        if (known == null || response.isCommitted()) {
            return false;
        }
        if (known.isOfServer()) {
            System.getLogger(MultipartRequests.class.getPackageName())
                    .log(System.Logger.Level.ERROR, "a form was not taken", known);
        }
        if (known.closesConnection()) {
            response.setHeader("Connection", "close");
        }
        response.sendError(known.httpStatus(), known.getMessage());
        return true;
    }

    private static RequestState ofForm(HttpServletRequest request) throws MultipartException {
        OtherRequest other = OtherRequest.of(request);
        if (other != null) {
            throw other.refused();
        }
        return filtered(request);
    }

    private static RequestState filtered(ServletRequest request) {
        RequestState state = RequestState.of(request);
        if (state == null) {
            throw new IllegalStateException(
                    "no SluiceFilter has seen the request: map it to this path and dispatcher type; it takes"
                            + " multipart/form-data with POST, PUT and PATCH only");
        }
        return state;
    }
}
