package dev.sluice.servlet;

import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Tells when an asynchronous request is over, and its form that it will be. */
final class RequestEnd implements AsyncListener {
    private final RequestState state;

    RequestEnd(RequestState state) {
        this.state = state;
    }

    @Override
    public void onComplete(AsyncEvent event) {
        state.requestOver();
    }

    @Override
    public void onTimeout(AsyncEvent event) {
        abort(new TimeoutException("the asynchronous request has timed out"));
    }

    @Override
    public void onError(AsyncEvent event) {
        @Nullable Throwable cause = event.getThrowable();
        abort(cause != null ? cause : new IllegalStateException("the asynchronous request has failed"));
    }

    private void abort(Throwable reason) {
        AsyncForm form = state.asyncForm();
        if (form != null) {
            form.abort(reason);
        }
    }

    /** Another cycle of the same request: listeners have to be added again. */
    @Override
    public void onStartAsync(AsyncEvent event) {
        event.getAsyncContext().addListener(this);
    }
}
