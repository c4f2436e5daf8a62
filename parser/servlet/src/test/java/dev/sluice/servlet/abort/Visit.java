package dev.sluice.servlet.abort;

import dev.sluice.form.FormMetrics;
import dev.sluice.form.FormSummary;
import dev.sluice.form.MultipartForm;
import dev.sluice.servlet.AsyncForm;
import dev.sluice.servlet.Eventually;
import dev.sluice.servlet.MultipartRequests;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;

/** One request: how it is served, what its form was told, and what a test may lay hands on. */
final class Visit implements FormMetrics {
    private final boolean async;
    private final boolean servletThrows;
    private final AtomicInteger bytes = new AtomicInteger();
    private volatile boolean started;
    private volatile boolean formEnded;
    private volatile boolean served;
    private volatile Thread worker;
    private volatile AsyncForm form;

    /**
     * @param async whether its form is received, or else parsed behind the filter
     * @param servletThrows whether it does once it has the whole form
     */
    Visit(boolean async, boolean servletThrows) {
        this.async = async;
        this.servletThrows = servletThrows;
    }

    @Override
    public void formStarted() {
        started = true;
    }

    @Override
    public void bodyReceived(int count) {
        bytes.addAndGet(count);
    }

    @Override
    public void formEnded(FormSummary summary) {
        formEnded = true;
    }

    /** Waits until the form has been given as many bytes. */
    void awaitBytes(int count) {
        Eventually.isTrue(() -> started && bytes.get() >= count, "the bytes do not come in");
    }

    void awaitFormEnded() {
        Eventually.isTrue(() -> formEnded, "the form does not end");
    }

    /** Waits until the servlet has returned, or its asynchronous form is through. */
    void awaitServed() {
        Eventually.isTrue(() -> served, "the request is not served");
    }

    /** Cancels the asynchronous form, twice; or interrupts the thread that reads behind the filter. */
    void cancel() {
        if (async) {
            Eventually.isTrue(() -> form != null, "the form does not begin");
            form.cancel();
            form.cancel();
        } else {
            worker.interrupt();
        }
        awaitFormEnded();
    }

    void serve(HttpServletRequest request, HttpServletResponse response) throws IOException, ServletException {
        if (async) {
            receive(request, response);
            return;
        }
        worker = Thread.currentThread();
        try {
            request.getParts();
            throwIfItShall();
        } finally {
            Thread.interrupted(); // the thread is the container's
            served = true;
        }
    }

    private void throwIfItShall() {
        if (servletThrows) {
            throw new ArithmeticException("a bug of the application");
        }
    }

    private void receive(HttpServletRequest request, HttpServletResponse response) throws IOException {
        AsyncContext context = request.startAsync();
        form = MultipartRequests.receive(request);
        form.completion().whenComplete((whole, failure) -> {
            try {
                answer(response, whole, failure);
            } catch (IOException e) {
                // nobody is there to be answered
            } finally {
                context.complete();
                served = true;
            }
        });
    }

    private void answer(HttpServletResponse response, MultipartForm whole, Throwable failure) throws IOException {
        if (whole != null) {
            throwIfItShall();
        } else if (!MultipartRequests.sendError(response, failure) && !response.isCommitted()) {
            response.sendError(500);
        }
    }
}
