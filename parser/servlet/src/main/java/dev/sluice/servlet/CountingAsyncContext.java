package dev.sluice.servlet;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletResponse;

/**
 * A wrapper of the container's context that reports to the {@link RequestState}. Workers keep the form open while they
 * run. After {@link #complete} or {@link #dispatch()} the request ends even if the container does not report its end.
 *
 * @param wrapper the request that the application sees
 * @param wrapped the request that {@code wrapper} wraps
 */
record CountingAsyncContext(AsyncContext context, ServletRequest wrapper, ServletRequest wrapped, RequestState state)
        implements AsyncContext {
    @Override
    public void start(Runnable worker) {
        RequestLease.Worker counted = state.lease.worker(worker);
        try {
            context.start(counted);
        } catch (RuntimeException | Error e) {
            counted.expire();
            throw e;
        }
    }

    /** {@return the wrapper in place of the wrapped request, which lacks the form; any other request unchanged} */
    @Override
    public ServletRequest getRequest() {
        ServletRequest original = context.getRequest();
        return original == wrapped ? wrapper : original;
    }

    /** {@return the response in a {@link FilteredResponse}, which closes the connection after a rejection} */
    @Override
    public ServletResponse getResponse() {
        ServletResponse original = context.getResponse();
        return original instanceof HttpServletResponse http && FilteredResponse.form(http) == null
                ? new FilteredResponse(http, state.form)
                : original;
    }

    @Override
    public boolean hasOriginalRequestAndResponse() {
        return context.hasOriginalRequestAndResponse();
    }

    @Override
    public void dispatch() {
        state.expectDispatch();
        context.dispatch();
    }

    @Override
    public void dispatch(String path) {
        state.expectDispatch();
        context.dispatch(path);
    }

    @Override
    public void dispatch(ServletContext target, String path) {
        state.expectDispatch();
        context.dispatch(target, path);
    }

    @Override
    public void complete() {
        try {
            context.complete();
        } finally {
            state.endAfterGrace(); // some containers do not call onComplete after the client has disconnected
        }
    }

    @Override
    public void addListener(AsyncListener listener) {
        context.addListener(listener);
    }

    @Override
    public void addListener(AsyncListener listener, ServletRequest supplied, ServletResponse response) {
        context.addListener(listener, supplied, response);
    }

    @Override
    public <T extends AsyncListener> T createListener(Class<T> type) throws ServletException {
        return context.createListener(type);
    }

    @Override
    public void setTimeout(long millis) {
        context.setTimeout(millis);
    }

    @Override
    public long getTimeout() {
        return context.getTimeout();
    }
}
