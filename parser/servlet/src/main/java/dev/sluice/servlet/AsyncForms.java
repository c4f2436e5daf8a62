package dev.sluice.servlet;

import dev.sluice.form.FormOptions;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.List;
import java.util.Objects;

/**
 * A receiver of forms that occupy no thread while the client sends them, for applications without a {@link
 * SluiceFilter}. With the filter, use {@link MultipartRequests#receive}. Create one receiver for the web application,
 * for example in {@code Servlet.init}, and close it in {@code destroy}. Thread-safe.
 */
public final class AsyncForms implements AutoCloseable {
    private final FormService service;

    private AsyncForms(FormOptions options) {
        this.service = new FormService(Objects.requireNonNull(options, "options"), List.of(), null);
    }

    /**
     * {@return a receiver with these options}
     *
     * @param options the options of all forms. The caller still owns their spool and budget. Netty's default allocator
     *     is replaced by one without thread caches
     */
    public static AsyncForms create(FormOptions options) {
        return new AsyncForms(options);
    }

    /**
     * Starts to receive the form of a request.
     *
     * @param request the request, which is put into asynchronous mode unless it already is
     * @return the form
     * @throws IllegalStateException if the body is already being read in another way, or the request does not support asynchronous
     *     operation
     * @throws IOException if the connection fails; it is not wrapped in a {@code MultipartException}
     */
    public AsyncForm receive(HttpServletRequest request) throws IOException {
        return receive(request, service.forms.options());
    }

    /**
     * Starts to receive the form of a request, with options for this request.
     *
     * @param options the options of this receiver, changed with {@link FormOptions#toBuilder()}
     * @return the form
     * @throws IllegalStateException see {@link #receive(HttpServletRequest)}
     * @throws IOException if the connection fails; it is not wrapped in a {@code MultipartException}
     */
    public AsyncForm receive(HttpServletRequest request, FormOptions options) throws IOException {
        RequestState known = RequestState.of(request);
        RequestState state = known != null ? known : RequestState.attach(request, service);
        try {
            return AsyncForm.start(state, request, options);
        } catch (IOException | RuntimeException | Error e) {
            if (known == null && !state.isAsync()) {
                state.detach(); // no listener would report the end of the request
            }
            throw e;
        }
    }

    /** {@return the number of requests of this receiver that have not ended} */
    public int live() {
        return service.live();
    }

    /** Aborts unfinished forms, closes complete ones, and stops the thread that checks time limits. Idempotent. */
    @Override
    public void close() {
        service.close();
    }
}
