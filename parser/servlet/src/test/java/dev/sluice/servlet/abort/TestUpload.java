package dev.sluice.servlet.abort;

import dev.sluice.form.FormMetrics;
import dev.sluice.form.FormSummary;
import dev.sluice.form.MultipartForm;
import dev.sluice.servlet.AsyncForm;
import dev.sluice.servlet.MultipartRequests;
import dev.sluice.testkit.Eventually;
import jakarta.servlet.AsyncContext;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;

/** One upload of {@link AbortMatrixTest}. It serves the request, records the events of the form and can cancel it. */
final class TestUpload implements FormMetrics {
    private final boolean async;
    private final boolean servletThrows;
    private final AtomicInteger bytes = new AtomicInteger();
    private volatile boolean started;
    private volatile boolean formEnded;
    private volatile boolean served;
    private volatile Thread worker;
    private volatile AsyncForm form;

    /**
     * @param async whether the form is asynchronous rather than parsed by {@code getParts}
     * @param servletThrows whether the servlet throws after it has received the form
     */
    TestUpload(boolean async, boolean servletThrows) {
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

    /** Waits until the form has received {@code count} bytes. */
    void awaitBytes(int count) {
        Eventually.isTrue(() -> started && bytes.get() >= count, "the form did not receive the bytes");
    }

    void awaitFormEnded() {
        Eventually.isTrue(() -> formEnded, "the form did not end");
    }

    /** Waits until the servlet has returned or the asynchronous form has ended. */
    void awaitServed() {
        Eventually.isTrue(() -> served, "the servlet did not finish");
    }

    /** Cancels the asynchronous form twice, or interrupts the thread that reads the body. */
    void cancel() {
        if (async) {
            Eventually.isTrue(() -> form != null, "the form did not start");
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
            throwIfConfigured();
        } finally {
            Thread.interrupted(); // the thread belongs to the container
            served = true;
        }
    }

    private void throwIfConfigured() {
        if (servletThrows) {
            throw new ArithmeticException("a bug in the application");
        }
    }

    private void receive(HttpServletRequest request, HttpServletResponse response) throws IOException {
        AsyncContext context = request.startAsync();
        form = MultipartRequests.receive(request);
        form.completion().whenComplete((whole, failure) -> {
            try {
                answer(response, whole, failure);
            } catch (IOException e) {
                // the client has disconnected
            } finally {
                context.complete();
                served = true;
            }
        });
    }

    private void answer(HttpServletResponse response, MultipartForm whole, Throwable failure) throws IOException {
        if (whole != null) {
            throwIfConfigured();
        } else if (!MultipartRequests.sendError(response, failure) && !response.isCommitted()) {
            response.sendError(500);
        }
    }
}
