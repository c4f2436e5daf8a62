package dev.sluice.servlet;

import dev.sluice.form.FormOptions;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.DispatcherType;
import jakarta.servlet.ServletContext;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.http.HttpServletRequest;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One request over all its dispatches, until it is over: an attribute of it, from which its {@linkplain #form form} is had. */
final class RequestState implements AsyncListener {
    private static final String ATTRIBUTE = RequestState.class.getName();

    private final HttpServletRequest source;
    final ServletContext context;
    private final FormService first;
    final RequestLife life;
    final RequestForm form;
    private final AtomicInteger dispatches = new AtomicInteger();
    /** Dispatches that have not returned. */
    private final AtomicInteger under = new AtomicInteger();

    private volatile @Nullable Consumer<Throwable> abort;
    private volatile @Nullable Future<?> grace;
    private volatile boolean async;

    private RequestState(HttpServletRequest source, FormService service) {
        this.source = source;
        this.context = source.getServletContext();
        this.first = service;
        this.life = new RequestLife(service.watch, this::end);
        this.form = new RequestForm(source, service, life);
    }

    static RequestState attach(HttpServletRequest request, FormService service) {
        RequestState state = new RequestState(request, service);
        request.setAttribute(ATTRIBUTE, state);
        service.add(state, state::shutDown);
        return state;
    }

    /** Forgets the request, with which nothing has been done. */
    void detach() {
        source.removeAttribute(ATTRIBUTE);
        requestOver();
    }

    static @Nullable RequestState of(ServletRequest request) {
        return request.getAttribute(ATTRIBUTE) instanceof RequestState state ? state : null;
    }

    // ---- the end

    /** The container is done with the request; idempotent. */
    void requestOver() {
        abort(() -> new CancellationException("the request was completed before its form"));
        life.requestOver();
        cancelGrace();
    }

    /**
     * Ends the request after the grace, where it has completed, timed out or failed: not every container says that it is over
     * then. But a listener may dispatch it.
     */
    void overUnlessDispatched() {
        overUnlessDispatchedSince(dispatches.get());
    }

    private void overUnlessDispatchedSince(int before) {
        if (life.isRequestOver()) {
            return;
        }
        cancelGrace();
        grace = life.afterGrace(() -> {
            if (dispatches.get() != before) {
                return; // its end ends the request, or what it has started
            } else if (under.get() > 0) {
                overUnlessDispatchedSince(before); // who completes a request early may go on with its form
            } else {
                requestOver();
            }
        });
        if (life.isRequestOver()) {
            cancelGrace();
        }
    }

    /**
     * Ends the request if the container forgets it before the coming dispatch. Jetty notifies no listener if a filter in
     * front throws in that dispatch after the response was committed.
     */
    void awaitDispatch() {
        int before = dispatches.get();
        cancelGrace();
        grace = life.afterGrace(() -> {
            if (dispatches.get() != before || life.isRequestOver()) {
                return;
            } else if (isForgotten()) {
                requestOver();
            } else {
                awaitDispatch(); // it takes longer, or does not come through the filter
            }
        });
        if (life.isRequestOver()) {
            cancelGrace();
        }
    }

    /** {@return whether the container has recycled the request, which loses its attributes or rejects calls then} */
    private boolean isForgotten() {
        try {
            return source.getAttribute(ATTRIBUTE) != this;
        } catch (RuntimeException e) { // NullPointerException of Jetty, IllegalStateException of Tomcat
            return true;
        }
    }

    /** As it is kept it keeps all there was of the request. */
    private void cancelGrace() {
        Future<?> running = grace;
        if (running != null) {
            running.cancel(false);
        }
    }

    void entered() {
        under.incrementAndGet();
    }

    void returned() {
        under.decrementAndGet();
    }

    /** @param inner of another filter that sees the request for the first time, behind the first; or null */
    void dispatched(DispatcherType type, @Nullable FormService inner) {
        if (type != DispatcherType.ERROR) { // after an error page nothing more comes
            dispatches.incrementAndGet();
        }
        if (type == DispatcherType.ASYNC) {
            async = false; // until it is started anew, which its end would not be awaited without
        }
        FormService now = form.service();
        if (inner == null || inner == now) {
            return;
        }
        if (form.isTaken()) {
            inner.complain("the options of a SluiceFilter are not used: another one in front of it has already read the"
                    + " body, with options of its own");
        } else {
            if (now != first) {
                now.remove(this);
            }
            form.takenBy(inner);
            inner.add(this, this::shutDown);
        }
    }

    /** The web application ends, whoever holds what. */
    private void shutDown() {
        abort(() -> new CancellationException("the web application is being stopped"));
        form.shutDown();
        life.shutDown();
    }

    private void end() {
        form.end();
        form.service().remove(this);
        first.remove(this); // last: what is not live any more has nothing left
    }

    // ---- asynchronous requests

    /** {@return whether an end of the request is awaited that is not that of the dispatch} */
    boolean isAsync() {
        return async;
    }

    /** The request goes on after the dispatch: listens for its end. */
    void asyncStarted(AsyncContext started) {
        async = true;
        started.addListener(this);
    }

    /** A form comes in while no thread waits for it. */
    void receives(FormOptions changed, Consumer<Throwable> whenAborted) {
        form.options(changed);
        abort = whenAborted;
        if (form.service().isClosed()) { // whoever closed it may have looked for the form before it was there
            shutDown();
        }
    }

    private void abort(Supplier<Throwable> reason) {
        Consumer<Throwable> running = abort;
        if (running != null) { // mostly not: a stack trace for nobody costs more than many a part
            running.accept(reason.get());
        }
    }

    @Override
    public void onComplete(AsyncEvent event) {
        requestOver();
    }

    @Override
    public void onTimeout(AsyncEvent event) {
        abort(() -> new TimeoutException("the asynchronous request has timed out"));
        overUnlessDispatched();
    }

    @Override
    public void onError(AsyncEvent event) {
        @Nullable Throwable cause = event.getThrowable();
        abort(() -> cause != null ? cause : new IllegalStateException("the asynchronous request has failed"));
        overUnlessDispatched();
    }

    /** Another cycle of the same request: listeners have to be added again. */
    @Override
    public void onStartAsync(AsyncEvent event) {
        asyncStarted(event.getAsyncContext());
    }
}
