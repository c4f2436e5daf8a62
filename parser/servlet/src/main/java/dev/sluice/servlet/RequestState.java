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

/**
 * The state of one request across its dispatches, stored as a request attribute.
 *
 * <p><b>Body.</b> {@link #form} records the owner of the body: the form, an {@link AsyncForm}, a {@code
 * MultipartReader} or the application. The first call that needs the body claims it for its owner. Later calls for
 * another owner throw an exception. A form is read on the first thread that requests it. An asynchronous form is read
 * by one container thread at a time.
 *
 * <p><b>End.</b> {@link #lease} counts the users of the form: the request itself, the thread that parses, workers of
 * {@code AsyncContext.start}, and {@linkplain MultipartRequests.Hold holds}. The last user to finish closes the form.
 * The request stops being a user in {@link #requestEnded()}, which the filter calls after a synchronous dispatch and
 * this listener calls in {@code onComplete}. Afterwards the body is not read, because the connection may already carry
 * the next request.
 *
 * <p><b>Missing notifications.</b> Some containers do not call {@code onComplete} after a timeout, an error or a failed
 * dispatch. {@link #endAfterGrace()} and {@link #expectDispatch()} end the request after a grace period.
 *
 * <p><b>Dispatches.</b> A request may pass the filter several times: REQUEST, FORWARD and INCLUDE, then any number of
 * ASYNC cycles, and ERROR last. Dispatches can overlap with worker threads and with container threads that call this
 * listener. Two filters in a row share one state. The options of the inner filter apply if the body was not claimed
 * before the request reached it.
 *
 * <p><b>Threads.</b> All methods can be called by any thread. {@link #shutDown} ends the request while other threads
 * still use it, and interrupts a thread that waits for the client.
 */
final class RequestState implements AsyncListener {
    private static final String ATTRIBUTE = RequestState.class.getName();

    private final HttpServletRequest source;
    final ServletContext context;
    private final FormService firstService;
    final RequestLease lease;
    final RequestForm form;
    private final AtomicInteger dispatches = new AtomicInteger();
    /** The number of dispatches that have not returned. */
    private final AtomicInteger activeDispatches = new AtomicInteger();

    private volatile @Nullable Consumer<Throwable> abort;
    private volatile @Nullable Future<?> graceTask;
    private volatile boolean async;

    private RequestState(HttpServletRequest source, FormService service) {
        this.source = source;
        this.context = source.getServletContext();
        this.firstService = service;
        this.lease = new RequestLease(service.timer, this::end);
        this.form = new RequestForm(source, service, lease);
    }

    static RequestState attach(HttpServletRequest request, FormService service) {
        RequestState state = new RequestState(request, service);
        request.setAttribute(ATTRIBUTE, state);
        service.add(state, state::shutDown);
        return state;
    }

    /** Removes this state from a request whose body has not been read. */
    void detach() {
        source.removeAttribute(ATTRIBUTE);
        requestEnded();
    }

    static @Nullable RequestState of(ServletRequest request) {
        return request.getAttribute(ATTRIBUTE) instanceof RequestState state ? state : null;
    }

    // ---- the end

    /** Ends the request on behalf of the container, which has finished with it. Idempotent. */
    void requestEnded() {
        abort(() -> new CancellationException("the request was completed before its form"));
        lease.requestEnded();
        cancelGrace();
    }

    /**
     * After a grace period, ends the request, which has completed, timed out or failed. An asynchronous dispatch within
     * the period, for example by a listener, prevents this. Forwards and includes do not.
     */
    void endAfterGrace() {
        endAfterGraceUnlessDispatched(dispatches.get());
    }

    private void endAfterGraceUnlessDispatched(int before) {
        if (lease.hasRequestEnded()) {
            return;
        }
        scheduleGrace(() -> {
            if (dispatches.get() != before) {
                return; // the end of that dispatch, or of its asynchronous cycle, ends the request
            } else if (activeDispatches.get() > 0) {
                endAfterGraceUnlessDispatched(before); // code that completes a request early may still use its form
            } else {
                requestEnded();
            }
        });
    }

    /**
     * Ends the request if the container recycles it before the requested dispatch arrives. Jetty notifies no listener if an
     * outer filter throws in that dispatch after the response was committed.
     */
    void expectDispatch() {
        int before = dispatches.get();
        scheduleGrace(() -> {
            if (dispatches.get() != before || lease.hasRequestEnded()) {
                return;
            } else if (isForgotten()) {
                requestEnded();
            } else {
                expectDispatch(); // the dispatch is late, or does not pass this filter
            }
        });
    }

    /** Runs {@code task} after the grace period in place of the previous task, unless the request has ended. */
    private void scheduleGrace(Runnable task) {
        cancelGrace();
        graceTask = lease.afterGrace(task);
        if (lease.hasRequestEnded()) {
            cancelGrace();
        }
    }

    /** {@return whether the container has recycled the request, which then has no attributes or rejects calls} */
    private boolean isForgotten() {
        try {
            return source.getAttribute(ATTRIBUTE) != this;
        } catch (RuntimeException e) { // NullPointerException in Jetty, IllegalStateException in Tomcat
            return true;
        }
    }

    /** Cancels the scheduled task, which would keep the request reachable. */
    private void cancelGrace() {
        Future<?> running = graceTask;
        if (running != null) {
            running.cancel(false);
        }
    }

    void dispatchEntered() {
        activeDispatches.incrementAndGet();
    }

    void dispatchReturned() {
        activeDispatches.decrementAndGet();
    }

    /**
     * Records a dispatch of a request that already has a state.
     *
     * @param inner the service of the current filter, which may be the second in the chain; null to keep the options
     */
    void dispatched(DispatcherType type, @Nullable FormService inner) {
        if (type == DispatcherType.ASYNC) {
            dispatches.incrementAndGet();
            async = false; // until the dispatch calls startAsync again
        }
        FormService now = form.service();
        if (inner == null || inner == now) {
            return;
        }
        if (form.isClaimed()) {
            inner.warnOnce("the options of a SluiceFilter are not used, because a filter before it has already read the"
                    + " body with its own options");
        } else {
            if (now != firstService) {
                now.remove(this);
            }
            form.useService(inner);
            inner.add(this, this::shutDown);
        }
    }

    /** Ends the request because the web application stops, even if the request is still in use. */
    private void shutDown() {
        abort(() -> new CancellationException("the web application is being stopped"));
        form.shutDown();
        lease.shutDown();
    }

    private void end() {
        form.end();
        form.service().remove(this);
        firstService.remove(this); // last: a request counts as live until everything is released
    }

    // ---- asynchronous requests

    /** {@return whether the request continues asynchronously after the current dispatch} */
    boolean isAsync() {
        return async;
    }

    /** Listens for the end of an asynchronous request. */
    void asyncStarted(AsyncContext started) {
        async = true;
        started.addListener(this);
    }

    /** Sets the options of an asynchronous form, and the action that aborts it. */
    void receiveAsync(FormOptions changed, Consumer<Throwable> whenAborted) {
        form.options(changed);
        abort = whenAborted;
        if (form.service().isClosed()) { // close() may have run before this form was registered
            shutDown();
        }
    }

    private void abort(Supplier<Throwable> reason) {
        Consumer<Throwable> running = abort;
        if (running != null) { // usually null; stack traces are expensive, so the exception is created on demand
            running.accept(reason.get());
        }
    }

    @Override
    public void onComplete(AsyncEvent event) {
        requestEnded();
    }

    @Override
    public void onTimeout(AsyncEvent event) {
        abort(() -> new TimeoutException("the asynchronous request timed out"));
        endAfterGrace();
    }

    @Override
    public void onError(AsyncEvent event) {
        @Nullable Throwable cause = event.getThrowable();
        abort(() -> cause != null ? cause : new IllegalStateException("the asynchronous request failed"));
        endAfterGrace();
    }

    /** Adds this listener to the next asynchronous cycle, because the container removes listeners at the start of each. */
    @Override
    public void onStartAsync(AsyncEvent event) {
        asyncStarted(event.getAsyncContext());
    }
}
