package dev.sluice.servlet;

import dev.sluice.form.FormOptions;
import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import java.util.List;
import java.util.Objects;

/**
 * Receives forms without a thread for each, where no {@link SluiceFilter} is in front (behind one, {@link
 * MultipartRequests#receive} is enough). Make one for the web application, say in {@code Servlet.init}, and close it in
 * {@code destroy}: its thread ends then, and so does every form that is still coming in. Thread-safe.
 */
public final class AsyncForms implements AutoCloseable {
    private final FormService service;

    private AsyncForms(FormOptions options) {
        this.service = new FormService(Objects.requireNonNull(options, "options"), List.of(), null);
    }

    /**
     * {@return one for the web application}
     *
     * @param options spool and budget stay the caller's. Where they have netty's default allocator, memory comes from
     *     one that keeps nothing per thread
     */
    public static AsyncForms create(FormOptions options) {
        return new AsyncForms(options);
    }

    /**
     * {@return the form of the request, which begins to come in now}
     *
     * @param request of which the asynchronous mode is started, if it was not
     * @throws IllegalStateException if somebody else has the body, or the request does not support asynchronous operation
     * @throws IOException of the connection, as it comes
     */
    public AsyncForm receive(HttpServletRequest request) throws IOException {
        return receive(request, service.forms.options());
    }

    /**
     * {@return the form of the request, which begins to come in now}
     *
     * @param options for this request: those given at first, changed ({@link FormOptions#toBuilder()})
     * @throws IllegalStateException as {@link #receive(HttpServletRequest)}
     * @throws IOException of the connection, as it comes
     */
    public AsyncForm receive(HttpServletRequest request, FormOptions options) throws IOException {
        RequestState known = RequestState.of(request);
        RequestState state = known != null ? known : RequestState.attach(request, service);
        try {
            return AsyncForm.start(state, request, options);
        } catch (IOException | RuntimeException | Error e) {
            if (known == null && !state.isAsync()) {
                state.detach(); // nobody would tell of its end
            }
            throw e;
        }
    }

    /** {@return how many requests whose forms this has received are not over yet} */
    public int live() {
        return service.live();
    }

    /** Cancels the forms that come in, closes those that are there, and stops the thread. Idempotent. */
    @Override
    public void close() {
        service.close();
    }
}
