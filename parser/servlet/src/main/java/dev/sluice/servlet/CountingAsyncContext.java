package dev.sluice.servlet;

import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;

/**
 * The context of the container. In addition, a worker keeps the form until it is done, {@link #complete} ends the request,
 * and a dispatch is awaited.
 */
final class CountingAsyncContext implements AsyncContext {
    private final AsyncContext context;
    private final ServletRequest seen;
    private final ServletRequest behind;
    private final RequestState state;

    /**
     * @param seen the request that the application sees
     * @param behind the one behind it
     */
    CountingAsyncContext(AsyncContext context, ServletRequest seen, ServletRequest behind, RequestState state) {
        this.context = context;
        this.seen = seen;
        this.behind = behind;
        this.state = state;
    }

    @Override
    public void start(Runnable worker) {
        RequestLife.Worker counted = state.life.worker(worker);
        try {
            context.start(counted);
        } catch (RuntimeException | Error e) {
            counted.letGo();
            throw e;
        }
    }

    /** {@return what the container has; this request where that is the one behind it, of which workers get no parts} */
    @Override
    public ServletRequest getRequest() {
        ServletRequest original = context.getRequest();
        return original == behind ? seen : original;
    }

    @Override
    public ServletResponse getResponse() {
        return context.getResponse();
    }

    @Override
    public boolean hasOriginalRequestAndResponse() {
        return context.hasOriginalRequestAndResponse();
    }

    @Override
    public void dispatch() {
        state.awaitDispatch();
        context.dispatch();
    }

    @Override
    public void dispatch(String path) {
        state.awaitDispatch();
        context.dispatch(path);
    }

    @Override
    public void dispatch(ServletContext target, String path) {
        state.awaitDispatch();
        context.dispatch(target, path);
    }

    @Override
    public void complete() {
        try {
            context.complete();
        } finally {
            state.overUnlessDispatched(); // not every container tells listeners of it where the client is gone
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
